// The graph of objects, where its boxes stand, and what stands on a timeline: on states written by
// hand.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { graphOf } from "viewer/model/graph.js";
import { heightOf, placed } from "viewer/model/placement.js";
import { bandsOf, stretchOf } from "viewer/model/stretch.js";

/** @param {string} title @param {[name: string, found: any, expected: any][]} rows */
function table(title, rows) {
  describe(title, () => {
    for (const [name, found, expected] of rows) test(name, () => assert.deepEqual(found, expected));
  });
}

/** @param {number} value */
const int = (value) => ({ type: "int", value });
/** @param {number} object @param {...any} items @returns {any} */
const list = (object, ...items) => ({ type: "list", object, length: items.length, items });
/** @param {number} object @returns {any} */
const stub = (object) => ({ type: "list", object, cut: true });

/**
 * The graph of one call with these names; what is cut is what a name stands for, if one does.
 * @param {Record<string, any>} names
 * @returns {Graph}
 */
function drawn(names) {
  const variables = Object.entries(names).map(([text, value], name) => ({
    ...{ name, text, value, row: 0, count: 1, isReturn: false, object: value?.object },
    ...{ changed: false, since: -1 },
  }));
  const whole = new Map(
    Object.values(names).flatMap((value) => (value?.object ? [[value.object, value]] : [])),
  );
  const contentOf = (/** @type {any} */ value) => ({
    value: (value.cut && whole.get(value.object)) || value,
    changed: false,
    since: -1,
  });
  const functions = [{ name: "main" }];
  const model = /** @type {any} */ ({ document: { functions }, events: [-1], stayEvent: [0] });
  return graphOf(model, {
    frames: [{ activation: 0, step: 0, variables }],
    leftOut: 0,
    contentOf,
  });
}

/** @param {Graph} graph */
const arrowsOf = ({ arrows }) => arrows.map(({ from, row, to }) => `${from}.${row} > ${to}`);
/** @param {Graph} graph @param {string} key */
const boxOf = ({ boxes }, key) => /** @type {Box} */ (boxes.find((box) => box.key === key));
/** @param {Graph} graph @param {string} key */
const linesOf = (graph, key) => boxOf(graph, key).rows.map(({ label, text }) => label + text);

const shared = drawn({ n: int(3), a: list(1, int(1)), b: list(1, int(1)), c: list(2, stub(1)) });
const cycle = drawn({ a: list(1, int(1), stub(2)), b: list(2, stub(1)), c: list(3, stub(3)) });
const long = drawn({ a: list(1, ...Array.from({ length: 99 }, (_, at) => int(at))), x: null });
const pairs = drawn({ a: { type: "tuple", length: 2, items: [int(1), list(5)] } });
const closed = drawn({ a: { type: "Cost", object: 7 } });
const many = drawn(
  Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`n${at}`, list(at + 1)])),
);
table("a graph", [
  ["numbers stand in their row", linesOf(shared, "call 0")[0], "n3"],
  [
    "each object stands once",
    shared.boxes.map(({ key }) => key),
    ["call 0", "object 1", "object 2"],
  ],
  [
    "with an arrow for each reference",
    arrowsOf(shared),
    ["call 0.1 > object 1", "call 0.2 > object 1", "call 0.3 > object 2", "object 2.0 > object 1"],
  ],
  ["shared ones are counted", shared.boxes.map(({ count }) => count), [0, 3, 1]],
  ["cycles are seen", cycle.boxes.map(({ isCyclic }) => isCyclic), [false, true, true, true]],
  [
    "and their arrows",
    cycle.arrows.filter(({ isBack }) => isBack).map(({ from, to }) => `${from} > ${to}`),
    ["object 1 > object 2", "object 2 > object 1", "object 3 > object 3"],
  ],
  ["nothing else is one", shared.arrows.some(({ isBack }) => isBack), false],
  ["a large container is cut", boxOf(long, "object 1").rows.length, 8],
  ["with a count, 7 + 6 + 6 × 5 stand there", boxOf(long, "object 1").note, "and 56 more"],
  ["what is gone", linesOf(long, "call 0")[1], "xno longer bound"],
  ["what has no identity and holds an object", arrowsOf(pairs)[1], "call 0 a.1 > object 5"],
  ["an empty one says so", boxOf(pairs, "object 5").note, "empty"],
  ["but none that was not looked into", boxOf(closed, "object 7").note, ""],
  ["too many objects are counted", [many.boxes.length, many.leftOut], [41, 10]],
]);

/** @param {number} object @param {any} rest @returns {any} */
const tensor = (object, rest) => ({
  ...{ type: "Tensor", object, storage: 1, dtype: "int64", shape: [2, 2], elements: [1, 2, 3, 4] },
  ...rest,
});
const views = drawn({
  x: tensor(1, {}),
  row: tensor(2, { shape: [2], elements: [3, 4], offset: 2 }),
  every: tensor(4, { shape: [2], elements: [1, 3], strides: [2] }),
  other: tensor(3, { storage: 2 }),
});
const board = drawn({
  x: tensor(5, { shape: [8, 8], elements: Array.from(Array(64).keys()) }),
});
table("tensors", [
  ["elements by rows", linesOf(views, "object 1"), ["1  2", "3  4", "storage #1"]],
  [
    "views point at one storage",
    arrowsOf(views).slice(4),
    ["object 1.2 > storage 1", "object 2.1 > storage 1", "object 4.1 > storage 1"],
  ],
  [
    "which says where they lie",
    boxOf(views, "storage 1").rows.map(({ parts }) => parts),
    [
      [[0, 1]],
      [[0.5, 1]],
      [
        [0, 0.25],
        [0.5, 0.75],
      ],
    ],
  ],
  ["by name", boxOf(views, "storage 1").rows.map(({ label }) => label), ["x", "row", "every"]],
  ["a step over cells is said", boxOf(views, "object 4").note, "strides (2,)"],
  ["of many rows a few stand for all", linesOf(board, "object 5").length, 3 + 1],
  ["and the others are counted", boxOf(board, "object 5").note, "5 more rows"],
  ["a storage of one tensor is a line of it", linesOf(views, "object 3").at(-1), "storage #2"],
]);

/** @param {Map<string, Place>} places @param {Graph} graph */
const overlaps = (places, { boxes }) =>
  boxes.flatMap(({ key }, at) =>
    boxes.slice(at + 1).flatMap(({ key: other }) => {
      const [one, two] = [places.get(key), places.get(other)];
      const isOver =
        one &&
        two &&
        one.column === two.column &&
        one.top < two.top + two.height &&
        two.top < one.top + one.height;
      return isOver ? [`${key} ${other}`] : [];
    }),
  );

describe("room", () => {
  const empty = { kind: "call", rows: [], note: "" };
  const call = (/** @type {string} */ key, /** @type {any[]} */ rows) => ({ ...empty, key, rows });
  const boxes = [
    call("call 0", []),
    call("call 1", []),
    call("call 2", Array(5).fill({})),
    ...[1, 2, 3, 4, 5].map((at) => ({
      ...{ key: `object ${at}`, kind: "tensor", column: 1, rows: [{}, {}, {}], note: "" },
    })),
  ];
  const arrows = [1, 2, 3, 4, 5].map((at) => ({ from: "call 2", row: at - 1, to: `object ${at}` }));
  const graph = /** @type {any} */ ({ boxes, arrows, leftOut: 0 });
  const places = placed(graph, new Map());
  test("calls without variables are no more than their names", () => {
    assert.ok((places.get("call 2")?.top ?? 99) < 60);
  });
  test("tensors, which do not grow, stand below each other without room between", () => {
    const last = places.get("object 5");
    assert.ok(
      last && last.top + last.height < 60 + 5 * ((places.get("object 1")?.height ?? 0) + 24),
    );
    assert.deepEqual(overlaps(places, graph), []);
  });
});

describe("places", () => {
  const steps = [
    { a: list(1, int(1)), b: list(2) },
    { a: list(1, stub(3), stub(4)), b: list(2), c: list(3, int(1)) },
    { a: list(1, stub(3), stub(4), stub(2), stub(5), stub(6)), b: list(2), d: list(7) },
    { b: list(2), d: list(7), e: list(8), f: list(9, stub(8)) },
    { a: list(1, int(1)), b: list(2), c: list(3, int(1)), d: list(7) },
  ];
  /** @type {Map<string, Place>} */
  let before = new Map();
  /** @type {Graph | null} */
  let last = null;
  for (const [at, names] of steps.entries())
    test(`step ${at}: what did not grow stays, nothing overlaps`, () => {
      const graph = drawn(names);
      const places = placed(graph, before);
      for (const box of graph.boxes) {
        const [old, place] = [before.get(box.key), places.get(box.key)];
        assert.equal(place?.height, heightOf(box));
        if (last?.boxes.some(({ key }) => key === box.key) && heightOf(box) <= (old?.height ?? 0))
          assert.deepEqual([place?.top, place?.column], [old?.top, old?.column]);
      }
      assert.deepEqual(overlaps(places, graph), []);
      [before, last] = [places, graph];
    });
  test("what comes back stands where it stood, if there is room", () => {
    const there = placed(drawn({ a: list(1), b: list(2) }), new Map());
    const again = placed(drawn({ b: list(2), a: list(1) }), placed(drawn({ x: int(1) }), there));
    assert.equal(again.get("object 2")?.top, there.get("object 2")?.top);
    assert.equal(again.get("object 1")?.top, there.get("object 1")?.top);
  });
});

/** Sections of a run of 100 steps: two chapters, with a section inside a section. @type {any[]} */
const sections = [
  { depth: 0, first: 0, beyond: 100, chapter: "", activation: 0, order: 0 },
  { depth: 1, first: 10, beyond: 40, chapter: "One", activation: 1, order: 1 },
  { depth: 2, first: 20, beyond: 30, chapter: "", activation: 2, order: 2 },
  { depth: 1, first: 50, beyond: 90, chapter: "Two", activation: 3, order: 3 },
];
/** Each begins with the call of its first section. @type {any[]} */
const chapters = [
  { number: 1, title: "One", first: 9, beyond: 49 },
  { number: 2, title: "Two", first: 49, beyond: 100 },
];
const functions = ["main", "one", "inner", "two"].map((name) => ({ name, title: "" }));
/** @type {any} */
const run = {
  steps: 100,
  events: [-1, -2, -3, -4],
  stayEvent: [0, 1, 2, 3],
  document: { functions },
};
const whole = stretchOf(run, sections, [25, 25], "run", chapters);
const inside = stretchOf(run, sections, [15, 15], "section", chapters);
table("a timeline", [
  ["of the run", whole, { first: 0, beyond: 100, title: "" }],
  ["of a section", inside, { first: 10, beyond: 40, title: "one" }],
  ["of the innermost one", stretchOf(run, sections, [25, 25], "section", chapters).first, 20],
  ["before there is one", stretchOf(run, sections, [5, 5], "section", chapters).beyond, 100],
  [
    "of a chapter between its sections",
    stretchOf(run, sections, [45, 45], "section", chapters),
    { first: 9, beyond: 49, title: "One", isChapter: true },
  ],
  [
    "of the chapter in which the calls of a step have ended",
    stretchOf(run, sections, [5, 89], "section", chapters).title,
    "Two",
  ],
  [
    "of the chapter that the call of its first section begins",
    stretchOf(run, sections, [49, 49], "section", chapters),
    { first: 49, beyond: 100, title: "Two", isChapter: true },
  ],
  ["chapters reach to the next", bandsOf(run, sections, whole, chapters), chapters],
  [
    "or the sections inside",
    bandsOf(run, sections, inside, chapters),
    [{ number: 0, title: "inner", first: 20, beyond: 30 }],
  ],
]);
