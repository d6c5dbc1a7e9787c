// The bars of a histogram.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { barsOf, barsOfBins, drawnBars } from "viewer/model/bars.js";

/** @param {number} count @param {(index: number) => number} number */
const many = (count, number) => Array.from({ length: count }, (_, index) => number(index));

/**
 * Elements that are all known, what their bars lie around, and how many are in each.
 * @type {[name: string, numbers: number[], places: number[], counts: number[]][]}
 */
const FEW = [
  ["equally spaced", [2, 4, 6, 8], [2, 4, 6, 8], [1, 1, 1, 1]],
  ["as many as a grid has", many(16, (index) => index), many(16, (at) => at), many(16, () => 1)],
  ["more than parts", many(40, (index) => -index), many(40, (at) => at - 39), many(40, () => 1)],
  ["often the same", [3, 1, 3, 3, 1, 2], [1, 2, 3], [2, 1, 3]],
  ["a true gap", [0, 1, 5, 5], [0, 1, 5], [1, 1, 2]],
  ["unequally spaced", [0, 1.5, 2.5, 4.75], [0, 1.5, 2.5, 4.75], [1, 1, 1, 1]],
  ["fractions", [0.3, 0.1, 0.2], [0.1, 0.2, 0.3], [1, 1, 1]],
];

describe("each of few values has a bar at its place", () => {
  for (const [name, numbers, places, counts] of FEW)
    test(name, () => {
      const { bars, isOfValues } = barsOf(numbers) ?? assert.fail("no bars");
      assert.ok(isOfValues);
      assert.deepEqual(
        bars.map(({ from, to }) => Number(((from + to) / 2).toPrecision(9)) + 0),
        places,
      );
      assert.deepEqual(
        bars.map(({ count }) => count),
        counts,
      );
    });
});

test("values that are equally spaced have bars that are", () => {
  const drawn = drawnBars(barsOf([2, 4, 6, 8]) ?? assert.fail("no bars"));
  const lefts = drawn.map(({ left }) => left);
  for (const [index, left] of lefts.slice(1).entries())
    assert.ok(Math.abs(left - lefts[index] - 0.25) < 1e-12);
  assert.ok(drawn.every(({ height }) => height === 1));
});

/**
 * Elements, and how many bars they have.
 * @type {[name: string, numbers: number[], bars: number][]}
 */
const PARTS = [
  ["fewer values than usual parts", [0, 1e-9, 5, 7.1], 4],
  ["many values", many(200, (index) => Math.sqrt(index)), 20],
];

describe("values that are too near to each other share bars, no more than there are values", () => {
  for (const [name, numbers, count] of PARTS)
    test(name, () => {
      const { bars, isOfValues } = barsOf(numbers) ?? assert.fail("no bars");
      assert.deepEqual([bars.length, isOfValues], [count, false]);
      const all = bars.reduce((sum, bar) => sum + bar.count, 0);
      assert.equal(all, numbers.length, "each element is in one");
    });
});

test("what is all alike, or too far apart for a number, has no bars", () => {
  assert.equal(barsOf([7, 7, 7]), null);
  assert.equal(barsOf([-1e308, 1e308]), null);
  assert.equal(barsOfBins({ low: 0, high: 0, counts: [0, 9, 0] }, "int64"), null);
});

/**
 * Recorded bins, and whether they tell the integers apart.
 * @type {[name: string, bins: Bins, dtype: string, isOfValues: boolean][]}
 */
const RECORDED = [
  ["few integers", { low: -7, high: 7, counts: many(20, () => 1) }, "int8", true],
  ["bytes", { low: 250, high: 255, counts: many(20, () => 1) }, "uint8", true],
  ["as many integers as parts", { low: 0, high: 20, counts: many(20, () => 1) }, "int64", false],
  ["floats", { low: -7, high: 7, counts: many(20, () => 1) }, "float32", false],
  [
    "ends that were rounded",
    { low: 12340, high: 12345, counts: [1, 1, 1, 1, 1, 1] },
    "int64",
    false,
  ],
];

describe("bins of a run", () => {
  for (const [name, bins, dtype, isOfValues] of RECORDED)
    test(name, () => assert.equal(barsOfBins(bins, dtype)?.isOfValues, isOfValues));
});
