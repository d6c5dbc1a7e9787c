// A recorded value as one line of text, the way Python would write it. Pure.

import { integer, number, shape } from "viewer/format.js";

/** @typedef {import("viewer/schema.js").Value} Value */

/** @type {Record<string, [string, string]>} */
const BRACKETS = { list: ["[", "]"], tuple: ["(", ")"], set: ["{", "}"], frozenset: ["frozenset({", "})"], Size: ["[", "]"] };
const MAX_DEPTH = 4;
const MAX_ELEMENTS = 8;

/** @param {Value} value @param {number} [depth] @returns {string} */
export function valueText(value, depth = 0) {
  if (value.error !== undefined) return `‹${value.error}›`;
  if (value.value !== undefined) return scalarText(value);
  if (value.shape) return tensorText(value);
  if (depth > MAX_DEPTH) return "…";
  if (value.items) return itemsText(value, value.items, depth);
  if (value.entries) {
    const entries = value.entries.map(([key, item]) => `${valueText(key, depth + 1)}: ${valueText(item, depth + 1)}`);
    return `{${withRest(entries, value).join(", ")}}`;
  }
  if (value.fields) {
    const fields = Object.entries(value.fields).map(([name, item]) => `${name}=${valueText(item, depth + 1)}`);
    return `${value.type}(${withRest(fields, value).join(", ")})`;
  }
  if (value.text !== undefined) return value.cut ? `${value.text}…` : value.text;
  return `‹${value.type}›`;
}

/** @param {Value} value @returns {string} */
function scalarText({ value, cut }) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return number(value);
  return cut ? `${quoted(String(value)).slice(0, -1)}…'` : quoted(String(value));
}

/** @param {string} text @returns {string} */
function quoted(text) {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return escaped.includes("'") && !escaped.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

/** @param {Value} value @returns {string} */
export function tensorText(value) {
  const { dtype = value.type, shape: sizes = [], elements = [], shown } = value;
  if (shown || !elements.length || elements.length > MAX_ELEMENTS) return `${dtype} ${shape(sizes)}`;
  return `${dtype} ${sizes.length ? nested(elements, sizes) : cellText(elements[0])}`;
}

/** @param {number | boolean | string} cell */
function cellText(cell) {
  return typeof cell === "string" ? cell : scalarText({ type: "", value: cell });
}

/** Elements in the brackets of their axes. @param {(number | boolean | string)[]} elements @param {number[]} sizes @returns {string} */
function nested(elements, [size, ...inner]) {
  const width = elements.length / size;
  const parts = Array.from({ length: size }, (_, index) => elements.slice(index * width, (index + 1) * width));
  return `[${parts.map((part) => (inner.length ? nested(part, inner) : cellText(part[0]))).join(", ")}]`;
}

/** @param {Value} value @param {Value[]} items @param {number} depth */
function itemsText(value, items, depth) {
  const [open, close] = BRACKETS[value.type] ?? [`${value.type}(`, ")"];
  const texts = withRest(items.map((item) => valueText(item, depth + 1)), value);
  return `${open}${texts.join(", ")}${value.type === "tuple" && texts.length === 1 ? "," : ""}${close}`;
}

/** @param {string[]} texts @param {Value} value */
function withRest(texts, value) {
  if (!value.cut) return texts;
  const rest = (value.length ?? 0) - texts.length;
  return [...texts, rest > 0 ? `… ${integer(rest)} more` : "…"];
}

/** Whether source text is a literal, which needs no measured value beside it. @param {string} source */
export function isLiteral(source) {
  const scalar = String.raw`(?:[-+]?[\d_.]+(?:e[-+]?\d+)?|True|False|None|'[^']*'|"[^"]*"|torch\.\w+)`;
  return new RegExp(`^(?:${scalar}|[\\[({](?:\\s*${scalar}\\s*[,:]?)*[\\])}])$`).test(source.trim());
}
