// Claims as questions: what a reader is asked before both sides are shown. Pure. Fetched when
// something is asked.

import { number } from "viewer/model/format.js";
import { askedOf, itemsOf } from "viewer/model/spoilers.js";

/** By its name; of what is scaled or divided it is another one. */
const UNITS = /(?:^|_)(bytes|bits|flops|seconds|parameters|tokens|days|hours|percent)(?:\b|$)/;

const SCALED = /[*/%]/;

const DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"];

/**
 * What is asked in place of a claim.
 * @param {Model} model
 * @param {number} row of the claims
 * @returns {Question | null} null where there is nothing to ask
 */
export function questionOf(model, row) {
  const asked = askedOf(model, row);
  if (!asked?.measured) return null;
  const { source, measured, operands } = asked;
  const value = numberIn(measured);
  const hint = hintFor(value);
  const choices = choicesFor(value);
  return {
    source,
    value,
    choices,
    unit: (!SCALED.test(source) && UNITS.exec(source)?.[1]) || "",
    hint: decides(proseBefore(model, row), value) ? "" : hint,
    digits: digitsShown(operands),
    line: lineThatDecides(model, model.document.claims.statement[row], source),
  };
}

/** The number that a tensor without axes holds, or the value.
 * @param {Value} value @returns {Value} */
function numberIn(value) {
  const [held] = value.shape?.length === 0 ? (value.elements ?? []) : [];
  if (typeof held === "boolean") return { type: "bool", value: held };
  return typeof held === "number" ? { type: "float", value: held } : value;
}

/** Numbers among which prose lets one choose: 3, 30, or 300. */
const NUMBER = String.raw`\d+(?:[.,]\d+)*`;
const CHOICES = new RegExp(String.raw`${NUMBER}(?:,?\s+${NUMBER})*,?\s+or\s+${NUMBER}`, "g");

/** The prose of a section above a claim. @param {Model} model @param {number} row */
function proseBefore({ document }, row) {
  const [file, claimed, , , , func] = document.statements[document.claims.statement[row]];
  const { line } = document.functions[func];
  return document.files[file].prose
    .filter(({ kind, first_line: first, last_line: last }) => {
      return kind !== "note" && line <= first && last < claimed;
    })
    .map(({ text }) => text)
    .join("\n\n");
}

/**
 * Whether the order of magnitude leaves one of the numbers that prose offers.
 * @param {string} prose
 * @param {Value} recorded
 */
export function decides(prose, { value }) {
  if (typeof value !== "number") return false;
  const [low, high] = magnitudeOf(value);
  return [...prose.matchAll(CHOICES)].some(([offered]) => {
    const numbers = (offered.match(new RegExp(NUMBER, "g")) ?? []).map((text) =>
      Number(text.replaceAll(",", "")),
    );
    return numbers.filter((number) => low <= number && number <= high).length === 1;
  });
}

/** The decade of a number without its sign; one of few is not given away by it.
 * @param {number} value */
function magnitudeOf(value) {
  const size = Math.abs(value);
  if (size < 10 && Number.isInteger(value)) return [0, 10];
  if (size <= 1) return [0, 1];
  const low = 10 ** Math.floor(Math.log10(size));
  return [low, low * 10];
}

/** @param {Value} value @returns {string[]} what there is to choose from; none: one writes */
function choicesFor(value) {
  if (typeof value.value === "boolean") return ["True", "False"];
  const dtype = value.type === "dtype" ? (value.text ?? "").replace("torch.", "") : "";
  if (!dtype) return [];
  return DTYPES.includes(dtype) ? DTYPES : [...DTYPES, dtype];
}

/**
 * The order of magnitude, in words.
 * @param {Value} recorded
 */
function hintFor(recorded) {
  const items = itemsOf(recorded);
  if (items) return `such as ${items.map((_, index) => 2 + index).join(", ")}`;
  const { value } = recorded;
  if (typeof value !== "number") return "";
  const [low, high] = magnitudeOf(value);
  return `${value < 0 ? "below zero, " : ""}between ${number(low)} and ${number(high)}`;
}

/**
 * Half of the last digit that the claim shows, as a share; 0 where it shows none.
 * @param {string[]} operands
 */
function digitsShown(operands) {
  const literal = operands.find((source) => /^-?[\d_]*\.\d+$/.test(source));
  if (!literal) return 0;
  const decimals = literal.split(".")[1].length;
  return 0.5 / 10 ** decimals / (Math.abs(Number(literal.replaceAll("_", ""))) || 1);
}

/**
 * The line that gives the last of the names in a source its value, above the claim.
 * @param {Model} model
 * @param {number} claim a statement
 * @param {string} source
 * @returns {number} 0: none
 */
function lineThatDecides({ document: { statements, names } }, claim, source) {
  const words = new Set(source.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu));
  const [file, line, , , , func] = statements[claim];
  const found = statements.findLast(
    (other) =>
      other[0] === file &&
      other[5] === func &&
      other[1] < line &&
      other[6].some((name) => words.has(names[name])),
  );
  return found ? found[1] : 0;
}
