// The map of chapters: what is left of their needs; lines in the drawing can be told apart.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drawingOf, linesOfTitle } from "viewer/model/map.js";
import { reachable, usersOf, withoutDetours } from "viewer/model/detours.js";
import { Tracks } from "viewer/model/tracks.js";

/** Numbers that are the same on every run. @param {number} seed @returns {() => number} */
function random(seed) {
  let state = 1 + ((seed * 2654435761) % 2147483646);
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Chapters that need some of those before them. @param {number} seed @param {number} count */
function someNeeds(seed, count) {
  const next = random(seed + 1);
  const share = 4 * next();
  return Array.from({ length: count }, (_, index) =>
    Array.from({ length: index }, (_, before) => before + 1).filter(
      () => next() < share / (index + 1),
    ),
  );
}

/** @param {number} count @param {number} seed */
function someChapters(count, seed) {
  const next = random(seed + 7);
  let part = 0;
  return Array.from({ length: count }, (_, index) => ({
    title: `Chapter ${index}`,
    part: `Part ${(part += next() < 0.25 ? 1 : 0)}: all of it.`,
  }));
}

describe("what chapters need", () => {
  /** @type {[string, number[][], number[][]][]} */
  const CASES = [
    ["nothing", [[], []], [[], []]],
    ["a chain", [[], [1], [2]], [[], [1], [2]]],
    ["a shortcut", [[], [1], [1, 2]], [[], [1], [2]]],
    ["two ways", [[], [1], [1], [3, 1, 2]], [[], [1], [1], [2, 3]]],
    ["a long shortcut", [[], [1], [2], [3], [4, 1]], [[], [1], [2], [3], [4]]],
  ];
  for (const [name, needs, expected] of CASES)
    test(name, () => assert.deepEqual(withoutDetours(needs), expected));

  test("what is left leads to the same, and none of it can be spared", () => {
    for (let seed = 0; seed < 60; seed++) {
      const needs = someNeeds(seed, 12);
      const left = withoutDetours(needs);
      needs.forEach((own, index) => {
        assert.deepEqual(reachable(left, index + 1), new Set([...reachable(needs, index + 1)]));
        for (const spared of left[index]) {
          const fewer = left.map((other, at) =>
            at === index ? other.filter((number) => number !== spared) : other,
          );
          assert.ok(!reachable(fewer, index + 1).has(spared));
        }
        assert.ok(left[index].every((number) => own.includes(number)));
      });
    }
  });

  test("who needs a chapter", () =>
    assert.deepEqual(usersOf([[], [1], [1, 2], []]), [[2, 3], [3], [], []]));
});

test("titles are cut into lines", () => {
  assert.deepEqual(linesOfTitle("Tensors and their bytes", 15), ["Tensors and", "their bytes"]);
  assert.deepEqual(linesOfTitle("a bb ccc dddd eeeee", 6), ["a bb", "ccc", "dddd …"]);
  assert.deepEqual(linesOfTitle("Supercalifragilistic", 6), ["Supercalifragilistic"]);
});

test("stretches that meet have different tracks", () => {
  const tracks = new Tracks();
  tracks.claim(0, 1, 5, 0);
  tracks.claim(0, 2, 3, 9);
  tracks.claim(0, 3, 7, 9);
  tracks.claim(0, 1, 2, 4);
  tracks.claim(1, 2, 0, 1);
  tracks.assign(1);
  assert.deepEqual([tracks.of(0, 1), tracks.of(0, 2), tracks.of(0, 3)], [0, 1, 0]);
  assert.deepEqual([tracks.count(0), tracks.count(1), tracks.count(2)], [2, 1, 0]);
});

/** The corners of a line: where it begins, where it turns, where it ends. @param {string} path */
function cornersOf(path) {
  const begin = /^M([-\d.]+),([-\d.]+)/.exec(path)?.slice(1);
  const turns = [...path.matchAll(/Q([-\d.]+),([-\d.]+)/g)].map((found) => found.slice(1));
  const end = /L([-\d.]+),([-\d.]+)$/.exec(path)?.slice(1);
  assert.ok(begin && end, path);
  return [begin, ...turns, end].map((corner) => corner.map(Number));
}

/** Its straight pieces. @param {string} path */
function piecesOf(path) {
  const corners = cornersOf(path);
  return corners.slice(1).map(([x, y], index) => {
    const [beforeX, beforeY] = corners[index];
    assert.ok(Math.abs(x - beforeX) < 0.01 || Math.abs(y - beforeY) < 0.01, `oblique: ${path}`);
    return {
      left: Math.min(x, beforeX),
      right: Math.max(x, beforeX),
      top: Math.min(y, beforeY),
      bottom: Math.max(y, beforeY),
    };
  });
}

/** @typedef {ReturnType<typeof piecesOf>[0]} Piece */

/** How long two pieces lie on each other. @param {Piece} one @param {Piece} other */
function shared(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide < -2 || high < -2 ? 0 : Math.max(wide, high);
}

/** Whether a piece runs through a box. @param {Piece} piece @param {Drawing["boxes"][0]} box */
function cuts(piece, { x, y, width, height }) {
  return (
    piece.right > x + 1 &&
    piece.left < x + width - 1 &&
    piece.bottom > y + 1 &&
    piece.top < y + height - 1
  );
}

describe("the drawing", () => {
  for (const columns of [3, 4, 5])
    test(`in ${columns} columns`, () => {
      let drawn = 0;
      for (let seed = 0; seed < 40; seed++) {
        const count = 2 + ((seed * 7) % 33);
        const needs = withoutDetours(someNeeds(seed, count));
        const drawing = drawingOf(someChapters(count, seed), needs, columns);
        assertReadable(drawing, needs);
        drawn += drawing.lines.length;
      }
      assert.ok(drawn > 400, `${drawn} lines`);
    });

  test("one chapter, and none that needs another", () => {
    assert.equal(drawingOf([{ title: "One", part: "" }], [[]], 5).lines.length, 0);
    const { boxes, bands } = drawingOf(someChapters(9, 3), Array(9).fill([]), 3);
    assert.deepEqual([boxes.length, bands[0].lines[0]], [9, "Part 0"]);
  });
});

/** @param {Drawing} drawing @param {number[][]} needs */
function assertReadable({ boxes, lines, bands, width, height }, needs) {
  boxes.forEach((box, index) => {
    assert.equal(box.number, index + 1);
    assert.ok(box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height);
    const before = boxes[index - 1];
    assert.ok(!before || box.y > before.y + before.height || box.x > before.x + before.width);
  });
  assert.deepEqual(
    lines.map(({ from, to }) => `${from} ${to}`).sort(),
    needs.flatMap((own, index) => own.map((from) => `${from} ${index + 1}`)).sort(),
  );
  const pieces = lines.map(({ path }) => piecesOf(path));
  lines.forEach((line, one) => {
    for (const piece of pieces[one]) {
      for (const box of boxes) assert.ok(!cuts(piece, box), `${line.from} ${line.to}: box`);
      assert.ok(piece.left >= 0 && piece.right <= width && piece.bottom <= height);
      lines.forEach((otherLine, other) => {
        if (otherLine.from === line.from) return;
        for (const second of pieces[other])
          assert.ok(shared(piece, second) < 3, `${line.from} ${line.to} on ${otherLine.from}`);
      });
    }
  });
  for (const { y, height: high } of bands) assert.ok(y >= 0 && y + high <= height);
}
