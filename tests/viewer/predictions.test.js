// Answers of readers: how numbers are read, and how near they come.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { split } from "viewer/model/exercises.js";
import { distance } from "viewer/model/near.js";
import { reckon } from "viewer/model/reckoning.js";
import { decides } from "viewer/model/predictions.js";
import { claimTells, pictureTells, tells, valueTells, wordsOf } from "viewer/model/spoilers.js";
import { verdictOf } from "viewer/model/verdicts.js";

/** @type {[text: string, isOfBytes: boolean, number: number | null][]} */
const NUMBERS = [
  ["12", false, 12],
  ["1,000", false, 1000],
  ["12,000,000.5", false, 12e6 + 0.5],
  ["1,5", false, 1.5],
  ["0,125", false, 0.125],
  ["1,0000", false, 1],
  ["1,5,6", false, null],
  ["1_000.5", false, 1000.5],
  [" 3.2e9 ", false, 3.2e9],
  ["-2", false, -2],
  ["16 GB", true, 16e9],
  ["16 GiB", true, 16 * 2 ** 30],
  ["7 B", false, 7e9],
  ["7 B", true, 7],
  ["3 million bytes", true, 3e6],
  ["25 %", false, 0.25],
  ["2 GFLOP/s", false, 2e9],
  ["5 µs", false, 5e-6],
  ["2/3", false, 2 / 3],
  ["6 * 7e9 * 2e12", false, 8.4e22],
  ["2^10 * 4", false, 4096],
  ["2**-1", false, 0.5],
  ["-(1 + 2) × 3", false, -9],
  ["10 - 2 - 3", false, 5],
  ["(1 + 1) k", false, 2000],
  ["", false, null],
  ["many", false, null],
  ["3 apples", false, null],
  ["1 +", false, null],
  ["(1", false, null],
  ["1 2", false, null],
  ["1/0", false, null],
  ["12 $", false, null],
];

describe("numbers as people write them", () => {
  for (const [text, isOfBytes, number] of NUMBERS)
    test(JSON.stringify(text), () => {
      const found = reckon(text, isOfBytes);
      if (number === null || found === null) assert.equal(found, number);
      else assert.ok(Math.abs(found - number) <= 1e-12 * Math.abs(number), String(found));
    });
});

/** @param {any} value @param {Partial<Question>} [more] @returns {Question} */
function question(value, more = {}) {
  return {
    source: "x",
    value,
    choices: [],
    unit: "",
    hint: "",
    digits: 0,
    line: 0,
    ...more,
  };
}

const shape = { type: "Size", text: "torch.Size([2, 3])" };

/** @typedef {[name: string, Question, answer: string, grade: string | null, RegExp]} Row */

/** @type {Row[]} */
const ANSWERS = [
  ["exact", question({ type: "int", value: 48 }), "48", "right", /^exactly$/],
  [
    "within a half percent",
    question({ type: "int", value: 1000 }),
    "1004",
    "right",
    /digits shown/,
  ],
  ["beyond", question({ type: "int", value: 1000 }), "1006", "near", /^near: 1.01 times too much$/],
  [
    "two digits are shown",
    question({ type: "float", value: 5.33 }, { digits: 0.01 }),
    "5.3",
    "right",
    /^right/,
  ],
  ["near", question({ type: "int", value: 100 }), "70", "near", /1.43 times too little/],
  ["off", question({ type: "int", value: 100 }), "1e6", "off", /^off: 10/],
  ["the wrong sign", question({ type: "int", value: 100 }), "-100", "off", /^off by 200$/],
  ["zero", question({ type: "int", value: 0 }), "0", "right", /exactly/],
  ["not zero", question({ type: "int", value: 0 }), "3", "off", /off by 3/],
  ["no number", question({ type: "int", value: 100 }), "lots", null, /./],
  [
    "a unit",
    question({ type: "int", value: 16e9 }, { unit: "bytes" }),
    "16 GB",
    "right",
    /exactly/,
  ],
  [
    "a truth value",
    question({ type: "bool", value: true }, { choices: ["True", "False"] }),
    "True",
    "right",
    /./,
  ],
  [
    "the other",
    question({ type: "bool", value: true }, { choices: ["True", "False"] }),
    "False",
    "off",
    /else/,
  ],
  ["a shape", question(shape), "(2, 3)", "right", /./],
  ["a shape in words", question(shape), "2 x 3", "right", /./],
  ["another shape", question(shape), "3, 2", "off", /./],
  ["a list", question({ type: "list", items: [{ type: "int", value: 1 }] }), "[1]", "right", /./],
  [
    "a dtype",
    question({ type: "dtype", text: "torch.int64" }, { choices: ["int64"] }),
    "int64",
    "right",
    /./,
  ],
  ["a text", question({ type: "str", value: "ab" }), "ab", "right", /./],
  ["nothing", question({ type: "str", value: "ab" }), "  ", null, /./],
  ["no tuple", question({ type: "Size", text: "torch.Size([2, 3])" }), "abc", null, /./],
  ["another tuple", question({ type: "Size", text: "torch.Size([2, 3])" }), "(3, 2)", "off", /./],
];

describe("answers", () => {
  for (const [name, asked, answer, grade, words] of ANSWERS)
    test(name, () => {
      const verdict = verdictOf(asked, answer);
      assert.equal(verdict?.grade ?? null, grade);
      assert.match(verdict?.text ?? "-", words);
    });
});

test("a hint does not say what came out", () => {
  const asked = question({ type: "int", value: 48 });
  assert.equal(verdictOf(asked, "200")?.hint, "it is too much");
  assert.equal(verdictOf(asked, "-1")?.hint, "it is too little");
  assert.equal(verdictOf(asked, "48")?.hint, undefined);
  const hints = ["3, 2", "(2, 4)", "2 x 3 x 4"].map(
    (said) => verdictOf(question(shape), said)?.hint,
  );
  assert.deepEqual(hints, [
    "the numbers are right, but not their order",
    "1 of 2 are right",
    "they are not 3",
  ]);
});

test("a hint stands apart from its question", () => {
  const text = "How many?\n\nTwo lines.\n\n**Hint.** Count them.\n\nTwice.";
  assert.deepEqual(split(text), {
    question: "How many?\n\nTwo lines.",
    hint: "Count them.\n\nTwice.",
  });
  assert.deepEqual(split("How many?"), { question: "How many?", hint: "" });
});

/** @type {[text: string, operands: string[], measured: any, is: boolean][]} */
const TOLD = [
  ["offset: 6", ["x.storage_offset()", "6"], { type: "int", value: 6 }, true],
  ["after six steps", ["x.storage_offset()", "6"], { type: "int", value: 6 }, true],
  ["1.6 or 16 or 6.5", ["x.storage_offset()", "6"], { type: "int", value: 6 }, false],
  ["1.5e-6", ["n", "6"], { type: "int", value: 6 }, false],
  ["16 777 216 bytes", ["n", "16_777_216"], { type: "int", value: 16777216 }, true],
  [
    "stride (4, 1)",
    ["x.stride()", "(4, 1)"],
    { type: "tuple", text: "(4, 1)", items: items(4, 1) },
    true,
  ],
  ["cells 4, 1, 0", ["x.stride()", "(4, 1)"], { type: "tuple", items: items(4, 1) }, false],
  ["stride (3,)", ["x.stride()", "(3,)"], { type: "tuple", items: items(3) }, true],
  ["cell 3", ["x.stride()", "(3,)"], { type: "tuple", items: items(3) }, false],
  ["a 2×3 matrix", ["x.shape", "(2, 3)"], { type: "Size", text: "[2, 3]" }, true],
  ["12×3", ["x.shape", "(2, 3)"], { type: "Size", text: "[2, 3]" }, false],
  ["int64 [3]", ["x.dtype", "torch.int64"], { type: "dtype", text: "torch.int64" }, true],
  ["int6", ["x.dtype", "torch.int64"], { type: "dtype", text: "torch.int64" }, false],
];

/** @param {number[]} numbers */
function items(...numbers) {
  return numbers.map((value) => ({ type: "int", value }));
}

describe("texts that give an answer away", () => {
  for (const [text, operands, measured, is] of TOLD)
    test(text, () => assert.equal(tells(text, { operands, source: operands[0], measured }), is));
  const asked = {
    operands: ["kept[2] + x.n", "5"],
    source: "kept[2] + x.n",
    measured: { type: "int", value: 5 },
  };
  const five = { type: "int", value: 5 };
  test("values of the names that are asked about", () => {
    const told = ["kept", "x", "n", "ke"].map((name) => valueTells({ name, value: five }, asked));
    assert.deepEqual(told, [true, true, false, false]);
  });
  for (const [question, isTold] of /** @type {[string, boolean][]} */ ([
    ["round(100 * excess, 1)", true],
    ["round(excess)", true],
    ["100 * excess", false],
    ["round(excess / other)", false],
    ["round(excess.real)", false],
    ["round(other)", false],
  ]))
    test(`the number that is rounded: ${question}`, () => {
      const told = { operands: [question, "2.8"], source: question, measured: undefined };
      const value = { type: "float", value: 0.0278 };
      assert.equal(valueTells({ name: "excess", value }, told), isTold);
    });
  test("of a tensor only its shape", () => {
    const value = { type: "Tensor", dtype: "int64", shape: [2, 2], elements: [5, 5, 5, 5] };
    assert.equal(valueTells({ name: "kept", value }, asked), false);
    assert.equal(valueTells({ name: "kept", value: { ...value, shape: [5] } }, asked), true);
  });
  const rounded = {
    operands: ["round(h100)", "295"],
    source: "round(h100)",
    measured: { type: "int", value: 295 },
  };
  const bars = { type: "Chart", vega: { data: { values: [{ n: 295.37 }, { n: 20 }] } } };
  test("pictures of the number from which the claim rounds", () => {
    assert.equal(pictureTells(bars, rounded), true);
    assert.equal(pictureTells(bars, { ...rounded, source: "h100" }), false);
    const other = { ...rounded, operands: ["round(h100)", "296"], measured: undefined };
    assert.equal(pictureTells(bars, other), false);
  });
  test("claims of lists that have the number", () => {
    const list = { type: "list", items: items(76, 295) };
    const inside = { type: "dict", entries: [[{ type: "str", value: "a" }, list]] };
    assert.equal(claimTells([list], rounded), true);
    assert.equal(claimTells([/** @type {any} */ (inside)], rounded), true);
    assert.equal(claimTells([{ type: "int", value: 295 }], rounded), false);
    assert.equal(claimTells([{ type: "list", items: items(76, 591) }], rounded), false);
    assert.equal(claimTells([{ type: "tuple", items: items(5, 2) }], asked), false, "a digit");
  });
  test("pictures without cells of one digit", () => {
    const svg = "<svg><style>a{top:6px}</style><text>5</text><text>35 ticks</text></svg>";
    assert.equal(wordsOf({ type: "A", svg }).trim(), "35 ticks");
    const vega = { width: 400, title: "In 35 steps", data: { values: [{ n: 5 }, { n: 36 }] } };
    assert.deepEqual(wordsOf({ type: "A", vega }).trim().split("\n"), ["In 35 steps", "36"]);
  });
});

describe("an order of magnitude that leaves one of the numbers that prose offers", () => {
  /** @type {[prose: string, value: number, is: boolean][]} */
  const rows = [
    ["Guess it: 3, 30,\nor 300?", 295, true],
    ["Is it 1,000 or 20,000?", 20000, true],
    ["It is 100, 200 or 400.", 295, false],
    ["Of 3, of 30.", 295, false],
    ["3, 30 or 40", 295, false],
  ];
  for (const [prose, value, is] of rows)
    test(prose, () => assert.equal(decides(prose, { type: "int", value }), is));
});

describe("how far words are from each other", () => {
  /** @type {[string, string, number][]} */
  const pairs = [
    ["stirdes", "strides", 1],
    ["stride", "strides", 1],
    ["strjdes", "strides", 1],
    ["", "abc", 3],
    ["abc", "abc", 0],
    ["abc", "cab", 2],
  ];
  for (const [one, other, expected] of pairs)
    test(`${one} ${other}`, () => {
      assert.equal(distance(one, other), expected);
      assert.equal(distance(other, one), expected);
    });
});
