// Which records of a value differ: one may tell less than the other.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { areAlike } from "viewer/model/alike.js";
import { detailOf } from "viewer/model/compare.js";
import { toldOnce } from "viewer/model/records.js";

const GLANCE = { type: "Tensor", dtype: "float32", shape: [2, 3], storage: 4, object: 7 };
const FEW = { ...GLANCE, elements: [1, 2, 3, 4, 5, 6] };
const WHOLE = {
  ...{ type: "Tensor", dtype: "float32", shape: [2, 3], strides: [3, 1], offset: 0, device: "cpu" },
  ...{ contiguous: true, requires_grad: false, bytes: 24, storage: 4, storage_bytes: 24 },
  elements: [1, 2, 3, 4, 5, 6],
};
const THIN = { ...WHOLE, shape: [6, 1], strides: [1, 6] };
/** @param {any[]} numbers @param {any} [rest] */
const list = (numbers, rest) => ({
  ...{ type: "list", items: numbers.map((value) => ({ type: "int", value })) },
  ...rest,
});
/** @param {string} value @param {any} [rest] */
const text = (value, rest) => ({ type: "str", value, ...rest });
const node = { type: "Node", object: 3, fields: { rest: list([1]) } };

/** @type {[name: string, one: Value, other: Value, areAlike: boolean][]} */
const PAIRS = [
  ["a glance and all of a tensor", FEW, WHOLE, true],
  ["no elements, and all", GLANCE, WHOLE, true],
  ["a glance and an element that changed", FEW, { ...WHOLE, elements: [1, 2, 3, 4, 5, 0] }, false],
  ["a glance of what has strides", FEW, { ...WHOLE, strides: [1, 2], contiguous: false }, false],
  ["packed, with strides that nobody takes", { ...FEW, shape: [6, 1] }, THIN, true],
  ["a glance and an offset", FEW, { ...WHOLE, offset: 2 }, false],
  ["a glance and a device", GLANCE, { ...WHOLE, device: "cuda:0" }, false],
  ["a glance and a gradient", GLANCE, { ...WHOLE, requires_grad: true }, false],
  ["another storage", FEW, { ...WHOLE, storage: 5 }, false],
  ["no storage to be seen", { ...FEW, storage: undefined }, { ...WHOLE, offset: 2 }, true],
  [
    "statistics of one alone",
    { ...WHOLE, statistics: { min: 1, max: 6 } },
    { ...WHOLE, statistics: { min: 1 } },
    true,
  ],
  ["statistics", { ...WHOLE, statistics: { min: 1 } }, { ...WHOLE, statistics: { min: 0 } }, false],
  ["a list and its beginning", list([1, 2, 3]), list([1], { cut: true, length: 3 }), true],
  [
    "a longer list",
    list([1], { cut: true, length: 4 }),
    list([1], { cut: true, length: 3 }),
    false,
  ],
  ["a list without its items", { type: "list", object: 3, cut: true }, list([1]), true],
  ["a list that lost an item", list([1, 2]), list([1]), false],
  ["an equal list of another identity", list([1], { object: 1 }), list([1], { object: 2 }), true],
  ["a part of a part", node, { ...node, fields: { rest: list([2]) } }, false],
  ["a text and its beginning", text("abcdef"), text("abc", { cut: true, length: 6 }), true],
  ["another text", text("abcdef"), text("abx", { cut: true, length: 6 }), false],
  ["a whole text that another begins with", text("abcdef"), text("abc"), false],
  ["numbers of two types", { type: "int", value: 1 }, { type: "float", value: 1 }, false],
  ["None", { type: "NoneType", value: null }, { type: "NoneType", value: null }, true],
  ["True and False", { type: "bool", value: true }, { type: "bool", value: false }, false],
  [
    "a picture and its name",
    { type: "Figure", svg: "<svg/>" },
    { type: "Figure", cut: true },
    true,
  ],
  ["two pictures", { type: "Figure", svg: "<svg/>" }, { type: "Figure", svg: "<svg>" }, false],
];
describe("two records", () => {
  for (const [name, one, other, expected] of PAIRS)
    test(name, () => {
      assert.equal(areAlike(one, other), expected);
      assert.equal(areAlike(other, one), expected);
      assert.equal(detailOf(one, other) === null, expected, "the panel says the same");
    });
});

test("what a glance leaves out is no change, what it tells is", () => {
  const found = detailOf(FEW, { ...WHOLE, strides: [1, 2], contiguous: false });
  assert.deepEqual(found?.notes, ["strides (3, 1) → (1, 2)"]);
});

test("a tensor in a container is told apart where its text is not", () => {
  const long = Array.from({ length: 12 }, (_, at) => at);
  const of = (/** @type {number[]} */ elements) => ({
    type: "dict",
    entries: [[text("w"), { ...WHOLE, shape: [12], strides: [1], elements }]],
  });
  const found = detailOf(of(long), of(long.with(3, 9)));
  assert.deepEqual(found?.by === "parts" && found.parts, [
    ["['w']", "float32 [12]", "float32 [12], other contents"],
  ]);
});

test("records in a row of one call that do not differ are told once", () => {
  const point = (/** @type {any} */ rest) => ({ row: 0, number: null, value: FEW, ...rest });
  const told = toldOnce([
    point({ step: 1, activation: 1, changed: true }),
    point({ step: 2, activation: 1, changed: false, value: WHOLE }),
    point({ step: 5, activation: 2, changed: false }),
    point({ step: 6, activation: 2, changed: true, value: null }),
  ]);
  assert.deepEqual(
    told.map(({ first, count, last, value }) => [first, count, last, value]),
    [
      [0, 2, 2, WHOLE],
      [2, 1, 5, FEW],
      [3, 1, 6, null],
    ],
  );
});
