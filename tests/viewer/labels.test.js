// Names of marks in a chart.

import assert from "node:assert/strict";
import { test } from "node:test";
import { namesBeside } from "viewer/model/labels.js";

const anywhere = () => true;

/** Names that are nearer to each other read as one. */
const LETTER = 7;

/** @param {ReturnType<typeof namesBeside>} all */
function lieApart(all) {
  return all.every(({ box: one }, index) =>
    all
      .slice(index + 1)
      .every(
        ({ box: other }) =>
          one.right + LETTER <= other.left ||
          other.right + LETTER <= one.left ||
          one.bottom <= other.top ||
          other.bottom <= one.top,
      ),
  );
}

test("a name stands to the right of its mark", () => {
  const [{ box }] = namesBeside([{ x: 50, y: 40, size: 6 }], ["mm"], anywhere, 8);
  assert.ok(box.left > 56 && box.top < 40 && box.bottom > 40);
});

test("names lie neither on each other nor on a mark", () => {
  const marks = Array.from({ length: 12 }, (_, at) => ({
    x: 30 * (at % 4),
    y: 9 * Math.floor(at / 4),
    size: 4,
  }));
  const found = namesBeside(
    marks,
    marks.map((_, at) => `line ${at}`),
    anywhere,
    12,
  );
  assert.ok(found.length > 3, "some have room");
  assert.ok(lieApart(found));
  for (const { x, y } of marks)
    for (const { box } of found)
      assert.ok(box.left >= x + 4 || box.right <= x - 4 || box.top >= y + 4 || box.bottom <= y - 4);
});

test("a name that has no room is left out, and others are not", () => {
  const marks = [
    { x: 10, y: 10, size: 4 },
    { x: 200, y: 10, size: 4 },
  ];
  const found = namesBeside(marks, ["there", "here"], ({ left }) => left > 150, 8);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["here"],
  );
});

test("no more than so many are named", () => {
  const marks = [0, 100, 200].map((x) => ({ x, y: 0, size: 4 }));
  assert.equal(namesBeside(marks, ["a", "b", "c"], anywhere, 2).length, 2);
});

test("without other room a name lies on slight marks, and on no other", () => {
  const named = { x: 0, y: 0, size: 4 };
  const around = [-20, 0, 20].flatMap((y) =>
    [-30, -15, 15, 30].map((x) => ({ x, y, size: 4, isSlight: true })),
  );
  assert.equal(namesBeside([named, ...around], ["mm"], anywhere, 1).length, 1);
  const heavy = around.map((mark) => ({ ...mark, isSlight: false }));
  assert.equal(namesBeside([named, ...heavy], ["a name"], anywhere, 1).length, 0);
});

/** How far a name is from a mark. @param {any} found @param {any} mark */
function away({ box: { left, right, top, bottom } }, { x, y, size }) {
  const aside = Math.max(left - x, 0, x - right);
  const apart = Math.max(top - y, 0, y - bottom);
  return Math.hypot(aside, apart) - size;
}

// The largest mark has small ones on three sides, as in a crowd, and a roof right above it.
const crowd = [
  { x: 200, y: 200, size: 10 },
  ...[-24, 0, 24].map((x) => ({ x: 200 + x, y: 218, size: 5 })),
  ...[-24, 24].map((x) => ({ x: 200 + x, y: 200, size: 5 })),
];
const offTheRoof = (/** @type {{top: number, bottom: number}} */ { top, bottom }) =>
  top > 185 || bottom < 180;

test("the largest mark in a crowd has its name, and a line leads to it", () => {
  const [first] = namesBeside(crowd, ["line 1"], offTheRoof, 1);
  const { leader } = first;
  assert.ok(leader);
  const length = Math.hypot(leader.x2 - leader.x1, leader.y2 - leader.y1);
  assert.ok(Math.abs(length - away(first, crowd[0])) < 1e-9, "from its edge to the name");
});

test("a name beside its mark needs no line", () => {
  const [{ leader }] = namesBeside([{ x: 50, y: 40, size: 6 }], ["mm"], anywhere, 1);
  assert.equal(leader, null);
});

test("no name stands nearer to another mark than to its own", () => {
  const names = crowd.map((_, at) => `line ${at}`);
  const found = namesBeside(crowd, names, offTheRoof, crowd.length);
  assert.ok(found.length > 3, "some have room");
  for (const one of found) {
    const own = away(one, crowd[names.indexOf(one.name)]);
    for (const mark of crowd) assert.ok(away(one, mark) >= own - 1e-9, one.name);
  }
});

test("right beside a larger mark no name of a smaller one stands", () => {
  const marks = [
    { x: 100, y: 100, size: 10 },
    { x: 119, y: 112, size: 4 },
  ];
  const isRight = (/** @type {{left: number, top: number}} */ { left, top }) =>
    left > 120 && top < 112;
  const [{ box }] = namesBeside(marks, ["a", "b"], isRight, 2).slice(-1);
  assert.ok(box.left >= 130 || box.bottom <= 90 || box.top >= 110);
});

test("a name that no line leads to is clearly nearer to its mark than to another", () => {
  const marks = [
    { x: 200, y: 74, size: 4 },
    { x: 84, y: 71, size: 4 },
  ];
  const inFrame = (/** @type {{right: number, bottom: number}} */ { right, bottom }) =>
    right < 260 && bottom > 80;
  const [{ box, leader }] = namesBeside(marks, ["time_call(fused)…"], inFrame, 1);
  assert.ok(leader || away({ box }, marks[1]) > away({ box }, marks[0]) + 5);
});
