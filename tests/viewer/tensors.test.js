// What the panels compute of tensors, histories and costs, where numbers are too large, too many or
// none.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { namedStatistics, numberOf, recordedAlong, summaryOf } from "viewer/model/elements.js";
import { chartedNumber, thinned } from "viewer/model/records.js";
import { marksOf, pieceOf, pointsOf, scalesOf } from "viewer/model/roofline.js";
import { cellsRead, layoutOf, readersOf, withStorageSize } from "viewer/model/storage.js";

/** @param {Value} value */
const layout = (value) => layoutOf(value) ?? assert.fail("the value has no layout");

test("a large tensor is not gone through", () => {
  const found = layout({
    type: "Tensor",
    dtype: "float32",
    shape: [100_000, 50_000],
    strides: [1, 100_000],
    offset: 5,
    bytes: 20_000_000_000,
    storage: 1,
    storage_bytes: 20_000_000_020,
  });
  const readers = { count: 1, isAll: true, indices: [[78900, 12345]] };
  assert.deepEqual(readersOf(found, 1234578905), readers);
  assert.equal(cellsRead(found), 5_000_000_000);
});

test("a storage that was resized has no size of its own", () => {
  const sized = (/** @type {number} */ held) => ({
    value: { type: "Tensor", shape: [1], storage: 1, storage_bytes: held },
  });
  const glance = { type: "Tensor", shape: [1], storage: 1 };
  assert.equal(withStorageSize(glance, [sized(8), { value: glance }]).storage_bytes, 8);
  assert.equal(withStorageSize(glance, [sized(8), sized(16)]).storage_bytes, undefined);
  assert.equal(withStorageSize(glance, []).storage_bytes, undefined);
  assert.equal(withStorageSize(sized(4).value, [sized(8)]).storage_bytes, 4);
});

test("a cell of very many elements is not searched through", () => {
  const found = layout({
    type: "Tensor",
    dtype: "uint8",
    shape: [1000, 1000, 1000, 1000],
    strides: [1, 1, 1, 1],
    offset: 0,
    bytes: 1e12,
    storage: 1,
    storage_bytes: 3997,
  });
  const { count, isAll, indices } = readersOf(found, 2000);
  assert.equal(isAll, false);
  assert.equal(count, 10_000);
  for (const index of indices)
    assert.equal(
      index.reduce((sum, at) => sum + at, 0),
      2000,
    );
});

test("a tensor without elements names no index but the first", () => {
  const value = { type: "Tensor", shape: [1e12, 3], device: "meta", strides: [3, 1] };
  assert.deepEqual(recordedAlong(value), [[0], [0]]);
});

const TORCH = { type: "Tensor", device: "cpu" };
/** @type {[name: string, value: Value, nan: number, expected: Record<string, number>][]} */
const DEVIATIONS = [
  ["of torch, over n − 1", { ...TORCH, shape: [2, 2] }, 0, { nan: 0, std: Math.sqrt(12) }],
  ["of one element", { ...TORCH, shape: [1] }, 0, { nan: 0 }],
  ["of some that are not finite", { ...TORCH, shape: [4] }, 1, { nan: 1, "std (÷ n)": 3 }],
  ["of another array", { type: "ndarray", shape: [4] }, 0, { nan: 0, "std (÷ n)": 3 }],
];
describe("a deviation", () => {
  for (const [name, value, nan, expected] of DEVIATIONS)
    test(name, () => {
      const found = namedStatistics(value, { nan, std: 3 });
      assert.deepEqual(Object.keys(found), Object.keys(expected));
      for (const [key, amount] of Object.entries(found))
        assert.ok(Math.abs(Number(amount) - expected[key]) < 1e-12);
    });
});

/** @type {[name: string, found: number | null, expected: number | null][]} */
const NUMBERS = [
  ["an integer", chartedNumber({ type: "int", value: 3 }), 3],
  ["a truth value", chartedNumber({ type: "bool", value: true }), 1],
  ["a float", chartedNumber({ type: "float", value: 0.5 }), 0.5],
  ["a large integer", chartedNumber({ type: "int", text: "100000000000000000000" }), 1e20],
  ["a scalar tensor", chartedNumber({ type: "Tensor", shape: [], elements: [2.5] }), 2.5],
  ["a tensor with an axis", chartedNumber({ type: "Tensor", shape: [1], elements: [2.5] }), null],
  ["a text", chartedNumber({ type: "str", value: "3" }), null],
  ["nothing", chartedNumber(null), null],
  ["no number", chartedNumber({ type: "float", text: "nan" }), NaN],
  ["infinity", numberOf("-inf"), -Infinity],
];

describe("numbers of a chart", () => {
  for (const [name, found, expected] of NUMBERS) test(name, () => assert.equal(found, expected));
});

/** @param {number[]} numbers @returns {any[]} */
const points = (numbers) => numbers.map((amount) => ({ number: amount }));

test("a long chart keeps its extremes", () => {
  const numbers = Array.from({ length: 5000 }, (_, at) => Math.sin(at * at));
  numbers[777] = 9;
  numbers[4001] = -9;
  const kept = thinned(points(numbers), 100);
  assert.deepEqual(
    kept,
    [...new Set(kept)].sort((one, other) => one - other),
  );
  assert.ok(kept.length <= 400);
  for (const at of [0, 777, 4001, 4999]) assert.ok(kept.includes(at));
  for (let start = 0; start < 5000; start += 50) {
    const all = numbers.slice(start, start + 50);
    const shown = kept.filter((at) => at >= start && at < start + 50).map((at) => numbers[at]);
    assert.deepEqual(
      [Math.min(...shown), Math.max(...shown)],
      [Math.min(...all), Math.max(...all)],
    );
  }
});

test("a chart keeps the ends of gaps", () => {
  const numbers = [-1, -1, 5, -1, 2, 3, -1, -1, 4, -1, 9, 6].map((n) => (n < 0 ? NaN : n));
  assert.deepEqual(thinned(points(numbers), 2), [0, 2, 4, 5, 6, 8, 10, 11]);
  assert.deepEqual(thinned(points([1, 2]), 1), [0, 1]);
});

test("an operator waits for memory below the ridge", () => {
  const rest = { other_flops: 0, written_bytes: 0, allocated_bytes: 0, freed_bytes: 0 };
  const entries = [5000, 40_000, 0, 7].map((matmul_flops, key) => ({
    ...{ ...rest, key, matmul_flops, read_bytes: [100, 100, 5, 7][key] },
    ...{ step: 0, calls: 1, seconds: null, uncounted: 0 },
  }));
  const points = pointsOf(entries, ["a", "b", "c", "memory"], { peak: 1000, memory: 10 });
  assert.deepEqual(
    points.map((point) => [
      ...[point.name, point.intensity, point.attainable, point.waits, point.seconds],
    ]),
    [
      ["b", 400, 1000, false, 40],
      ["a", 50, 500, true, 10],
    ],
  );
});

/**
 * What operators do for a byte, the roof they are below, and the numbers along both scales.
 * @type {[name: string, intensities: number[], limits: Limits, across: number[],
 *   up: number[]][]}
 */
const SCALES = [
  ["cheap ones", [0.25, 0.5], { peak: 1e15, memory: 3e12 }, [1, 10, 100], [1e12, 1e13, 1e14, 1e15]],
  ["dear ones", [900], { peak: 1e15, memory: 3e12 }, [200, 500, 1000], [5e14, 1e15]],
];
describe("the scales of a roofline end soon after what they hold", () => {
  for (const [name, intensities, limits, across, up] of SCALES)
    test(name, () => {
      const points = /** @type {any[]} */ (
        intensities.map((intensity) => ({
          intensity,
          rate: Math.min(limits.peak, intensity * limits.memory),
        }))
      );
      const scales = scalesOf(points, limits);
      assert.deepEqual(marksOf(scales.intensities), across);
      assert.deepEqual(marksOf(scales.rates), up);
    });
});

/**
 * Code, and a piece of it in at most 16 letters.
 * @type {[name: string, code: string, piece: string][]}
 */
const PIECES = [
  ["short code", "y = x @ w", "y = x @ w"],
  ["what is computed", "first, second = split(whole)", "split(whole)"],
  ["into an element", 'seconds["b"][T] = time(it)', "time(it)"],
  ["the beginning of it", "smaller = reduced_to_some(x)", "reduced_to_some(…"],
  ["a call that ends", "best = time_call(x).seconds", "time_call(x)…"],
  ["what is added", "loss_so_far += term * 0.125", "term * 0.125"],
  ["what is returned", "return 0.5 * x * (1 + torch.erf(x))", "0.5 * x * (1 + t…"],
  ["what is called", "plot(columns, rows, title=name)", "plot(…)"],
  ["what is called, of a text", 'print("a", "y = x @ w and so on")', "print(…)"],
  ["a comparison", "assert expected <= found == y", "assert expected …"],
];
describe("a piece of code is short", () => {
  for (const [name, code, piece] of PIECES)
    test(name, () => assert.equal(pieceOf(code, 16), piece));
});

test("equal numbers have no deviation, however many there are", () => {
  for (const number of [1, 0.1, -2.7, 1e-300, 1e300])
    for (const count of [2, 3, 6, 7, 49]) {
      const value = {
        type: "Tensor",
        dtype: "float64",
        device: "cpu",
        shape: [count],
        elements: Array(count).fill(number),
      };
      const found = Object.fromEntries(summaryOf(value)?.statistics ?? []);
      const expected = { min: number, mean: number, max: number, std: 0 };
      assert.deepEqual({ ...found, nan: 0, inf: 0 }, { ...expected, nan: 0, inf: 0 });
    }
});
