// Numbers and values as text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  bytes,
  duration,
  element,
  exactly,
  flops,
  number,
  ratio,
  shape,
  shortened,
} from "viewer/model/format.js";
import { cellTexts, isLiteral, valueText } from "viewer/model/values.js";

const place = process.env.SMALL_LECTURE;
if (!place) throw new Error("run these tests through pytest: it writes the document they ask for");
const lecture = JSON.parse(readFileSync(place, "utf8"));

/**
 * One test for each row: what is asked, and the answer.
 * @param {string} title
 * @param {[name: string, found: any, expected: any][]} rows
 */
function table(title, rows) {
  describe(title, () => {
    for (const [name, found, expected] of rows) test(name, () => assert.deepEqual(found, expected));
  });
}

table("numbers", [
  ["no FLOPs", flops(0), "0 FLOP"],
  ["below a thousand", flops(999), "999 FLOP"],
  ["millions", flops(2100000), "2.1 MFLOP"],
  ["beyond all prefixes", flops(3.14e23), "314\u202f000 EFLOP"],
  ["below a KiB", bytes(1023), "1023 B"],
  ["a KiB", bytes(1024), "1 KiB"],
  ["one and a half", bytes(1536), "1.5 KiB"],
  ["a memory", bytes(80 * 2 ** 30), "80 GiB"],
  ["six digits", number(1 / 3), "0.333333"],
  ["large with a point", number(3537136.79), "3\u202f537\u202f136.8"],
  ["larger with a point", number(366909084444.4683), "366\u202f909\u202f084\u202f444.5"],
  ["with all digits", exactly(366909084444.4683), "366\u202f909\u202f084\u202f444.4683"],
  ["six digits and no more", number(99999.96), "100\u202f000.0"],
  [
    "the largest without an exponent",
    number(9e15),
    "9\u202f000\u202f000\u202f000\u202f000\u202f000",
  ],
  ["the smallest with one", [1e16, 1.5e16, -2.5e20].map(number), ["1e16", "1.5e16", "-2.5e20"]],
  ["with all digits and an exponent", exactly(1.0000000000000002e20), "1.0000000000000002e20"],
  ["very large", number(6.3e24), "6.3e24"],
  ["groups of three", number(12345), "12\u202f345"],
  ["four digits and a sign", [number(-1234), number(-12345)], ["-1234", "-12\u202f345"]],
  ["very small", [1e-7, 1.2e-5, 10e-9].map(number), ["1e-7", "1.2e-5", "1e-8"]],
  ["small", [1e-4, exactly(0.00012345678)].map(String), ["0.0001", "0.00012345678"]],
  ["elements of a grid", [1e6, 2e-5, 12345.6].map((one) => element(one)), ["1e6", "2e-5", "1.2e4"]],
  ["no number", [NaN, Infinity].map(number), ["NaN", "Infinity"]],
  ["two axes", shape([2, 3]), "[2, 3]"],
  ["no axis", shape([]), "[]"],
  [
    "small and large quotients",
    [1.7e-5, 0.286, 99.6, 28_900].map(ratio),
    ["1.7e-5", "0.29", "100", "29\u202f000"],
  ],
  ["seconds", [2, 0.25, 4e-6, 3e-8].map(duration), ["2 s", "250 ms", "4 µs", "30 ns"]],
  ["nearly a second", duration(0.9996), "1 s"],
  ["a long text", [shortened("abcdef", 3), shortened("abc", 3)], ["abc…", "abc"]],
]);

/** @type {[Value, string][]} */
const VALUES = [
  [{ type: "NoneType", value: null }, "None"],
  [{ type: "str", value: "it's" }, '"it\'s"'],
  [{ type: "float", text: "nan" }, "nan"],
  [{ type: "tuple", items: [{ type: "int", value: 1 }], length: 1 }, "(1,)"],
  [
    { type: "list", items: [{ type: "bool", value: true }], length: 9, cut: true },
    "[True, … 8 more]",
  ],
  [{ type: "set", items: [], length: 0 }, "set()"],
  [{ type: "frozenset", items: [], length: 0 }, "frozenset()"],
  [{ type: "set", items: [], length: 2, cut: true }, "{… 2 more}"],
  [{ type: "dict", entries: [] }, "{}"],
  [{ type: "dict", entries: [[lecture.values[0], lecture.values[1]]] }, "{0: 1}"],
  [{ type: "Point", fields: { x: { type: "int", value: 1 } } }, "Point(x=1)"],
  [lecture.values[7], "float32([[0, 1, 2], [3, 4, 5.5]])"],
  [{ type: "X", error: "ValueError: no" }, "‹ValueError: no›"],
  [{ type: "float", value: 128 }, "128.0"],
  [{ type: "float", value: 12800 }, "12\u202f800.0"],
  [{ type: "int", text: "9007199254740993" }, "9\u202f007\u202f199\u202f254\u202f740\u202f993"],
  [{ type: "Strange" }, "‹Strange›"],
];

table(
  "values",
  VALUES.map(([value, expected]) => [expected, valueText(value), expected]),
);

/** @type {[number, string][]} What is compared is shown as it is. */
const COMPARED = [
  [0.4999998, "0.4999998"],
  [143.9266, "143.9266"],
  [1.00117e-8, "1.00117e-8"],
  [0.01000213623046875, "0.01000213623046875"],
  [1e22, "1e22"],
  [153, "153.0"],
  [314062500000, "314\u202f062\u202f500\u202f000.0"],
  [366909084444.4683, "366\u202f909\u202f084\u202f444.4683"],
  [0.00001, "1e-5"],
];

table(
  "compared values",
  COMPARED.map(([value, expected]) => [
    expected,
    valueText({ type: "list", items: [{ type: "float", value }] }, 0, true),
    `[${expected}]`,
  ]),
);

// Bits of 1.0 to 3.0 read as integers; the largest of them has ten digits.
const BITS = [0, 1065353216, 1073741824, 1077936128];

/** @type {[name: string, cells: Cell[], room: number, expected: string[]][]} */
const CELLS = [
  ["integers in full", BITS, 10, ["0", "1065353216", "1073741824", "1077936128"]],
  ["told apart where these do not fit", BITS, 7, ["0", "1.065e9", "1.074e9", "1.078e9"]],
  ["alike where there is no room", BITS, 6, ["0", "1.1e9", "1.1e9", "1.1e9"]],
  ["digits that are enough", [0.1234567, 0.2, -1], 10, ["0.123", "0.200", "-1.000"]],
  ["digits that tell apart", [0.50001, 0.50002, 0.5], 10, ["0.50001", "0.50002", "0.50000"]],
  ["of one that stands twice", [0.12345, 0.12345], 10, ["0.123", "0.123"]],
  ["of other sizes", [123456.7, 123456.8, 1e-9], 10, ["1.234567e5", "1.234568e5", "1e-9"]],
  ["no numbers", ["nan", true, 0.5], 9, ["nan", "True", "0.5"]],
  ["integers that no number holds", ["9007199254740993", 1], 20, ["9007199254740993", "1"]],
];

table(
  "cells of a grid",
  CELLS.map(([name, cells, room, expected]) => [name, cellTexts(cells, 3, room), expected]),
);

const LITERALS = ["6", "-1.5e3", "'a'", "(2, 3)", '{"a": 1}', "True", "73_741"];
const OTHERS = ["x", "8 * 4", "len(x)", "(B, T)"];

table("literals", [
  ...LITERALS.map(
    (source) => /** @type {[string, any, any]} */ ([source, isLiteral(source), true]),
  ),
  ...OTHERS.map((source) => /** @type {[string, any, any]} */ ([source, isLiteral(source), false])),
]);

test("a literal is told, however long its numbers are", () => {
  // Read as many numbers without a separator, a long one takes 2^digits steps.
  const long = "349_630_365_696, ".repeat(50);
  assert.equal(isLiteral(`[${long}len(x)]`), false);
  assert.equal(isLiteral(`[${long}7]`), true);
});
