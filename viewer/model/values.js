// Recorded values as text, and what their display depends on. Pure.

import { element, exactly, grouped, integer, number, shape } from "viewer/model/format.js";

/** @type {Record<string, [string, string]>} */
const BRACKETS = {
  list: ["[", "]"],
  tuple: ["(", ")"],
  set: ["{", "}"],
  frozenset: ["frozenset({", "})"],
  Size: ["[", "]"],
};
const MAX_DEPTH = 4;
const MAX_ELEMENTS = 8;

/** What a document says in place of a value that depends on the clock. */
const CLOCK = "depends on the clock, not recorded";

/** Whether only a run with `--time` knows it, and none lies beside the document.
 * @param {Value} value */
export function isOnClock({ text }) {
  return text === CLOCK;
}

/**
 * A value on one line, its numbers to six digits, or as they are where they are compared.
 * @param {Value} value
 * @param {number} [depth]
 * @param {boolean} [exact]
 * @returns {string}
 */
export function valueText(value, depth = 0, exact = false) {
  if (value.error !== undefined) return `‹${value.error}›`;
  if (value.value !== undefined) return scalarText(value, exact);
  if (value.shape) return tensorText(value);
  if (depth > MAX_DEPTH) return "…";
  if (value.items) return itemsText(value, value.items, depth, exact);
  const inner = (/** @type {Value} */ part) => valueText(part, depth + 1, exact);
  if (value.entries) {
    const entries = value.entries.map(([key, item]) => `${inner(key)}: ${inner(item)}`);
    return `{${withRest(entries, value).join(", ")}}`;
  }
  if (value.fields) {
    const fields = Object.entries(value.fields).map(([name, item]) => `${name}=${inner(item)}`);
    return `${value.type}(${withRest(fields, value).join(", ")})`;
  }
  if (value.html !== undefined && value.text) return `${value.type} of ${value.text}`;
  if (value.text !== undefined)
    return value.cut ? `${value.text}…` : textOf(value.type, value.text);
  if (!value.cut) return `‹${value.type}›`;
  const [open, close] = value.type === "dict" ? ["{", "}"] : bracketsOf(value);
  return `${open}${value.length === 0 ? "" : "…"}${close}`;
}

/** @param {Value} value */
function bracketsOf({ type }) {
  return BRACKETS[type] ?? [`${type}(`, ")"];
}

/**
 * An integer that no number of JavaScript holds is a text.
 * @param {string} type
 * @param {string} text
 */
function textOf(type, text) {
  return type === "int" && /^-?\d+$/.test(text) ? grouped(text) : text;
}

/** @param {Value} value @param {boolean} [exact] */
function scalarText({ type, value, cut }, exact = false) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return numberText(value, type === "float", exact);
  return cut ? `${quoted(String(value)).slice(0, -1)}…'` : quoted(String(value));
}

/** JSON has one kind of number, Python two. @param {number} value @param {boolean} isFloat
 * @param {boolean} exact */
function numberText(value, isFloat, exact) {
  if (!isFloat) return number(value);
  const text = exact ? exactly(value) : number(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** @param {string} text */
function quoted(text) {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return escaped.includes("'") && !escaped.includes('"')
    ? `"${escaped}"`
    : `'${escaped.replaceAll("'", "\\'")}'`;
}

/** By its shape, or by its elements as a call would make it: `float32 [3, 2]`, `float32([1, 2])`.
 * @param {Value} value */
export function tensorText(value) {
  const { dtype = value.type, shape: sizes = [], elements = [], shown } = value;
  if (shown || !elements.length || elements.length > MAX_ELEMENTS)
    return `${dtype} ${shape(sizes)}`;
  return `${dtype}(${sizes.length ? nested(elements, sizes) : elementText(elements[0])})`;
}

/** @param {number | boolean | string} cell */
function elementText(cell) {
  return typeof cell === "string" ? cell : scalarText({ type: "", value: cell });
}

/**
 * Elements in the brackets of their axes.
 * @param {(number | boolean | string)[]} elements
 * @param {number[]} sizes
 * @returns {string}
 */
function nested(elements, [size, ...inner]) {
  const width = elements.length / size;
  const parts = Array.from({ length: size }, (_, index) =>
    elements.slice(index * width, (index + 1) * width),
  );
  const texts = parts.map((part) => (inner.length ? nested(part, inner) : elementText(part[0])));
  return `[${texts.join(", ")}]`;
}

/** @param {Value} value @param {Value[]} items @param {number} depth @param {boolean} exact */
function itemsText(value, items, depth, exact) {
  const [open, close] = bracketsOf(value);
  if (!items.length && !value.cut && close.startsWith("}")) return `${value.type}()`;
  const texts = withRest(
    items.map((item) => valueText(item, depth + 1, exact)),
    value,
  );
  const comma = value.type === "tuple" && texts.length === 1 ? "," : "";
  return `${open}${texts.join(", ")}${comma}${close}`;
}

/** @param {string[]} texts @param {Value} value */
function withRest(texts, value) {
  if (!value.cut) return texts;
  const rest = (value.length ?? 0) - texts.length;
  return [...texts, rest > 0 ? `… ${integer(rest)} more` : "…"];
}

/**
 * Whether source text is a literal, which needs no measured value beside it.
 * @param {string} source
 */
export function isLiteral(source) {
  const number = String.raw`[-+]?[\d_.]+(?:e[-+]?\d+)?`;
  const scalar = String.raw`(?:${number}|True|False|None|'[^']*'|"[^"]*"|torch\.\w+)`;
  // A separator between any two, or a long number could be read as many, in 2^digits ways.
  const items = String.raw`${scalar}(?:\s*[,:]\s*${scalar})*\s*,?`;
  return new RegExp(String.raw`^(?:${scalar}|[\[({]\s*(?:${items})?\s*[\])}])$`).test(
    source.trim(),
  );
}

export const LINE_LENGTH = 44;

/** Whether a value is shown as a picture, across the article. @param {Value} value */
export function isPicture(value) {
  return ["svg", "png", "jpeg", "file", "vega", "markdown", "html"].some((key) => key in value);
}

/** Whether a picture is a figure, and no table or text. @param {Value} value */
export function isFigure(value) {
  return ["svg", "png", "jpeg", "file", "vega"].some((key) => key in value);
}

/** How many lines a value takes beside code, about. @param {Value} value @returns {number} */
export function heightOf(value) {
  if (value.shape?.length)
    return (
      2 +
      Math.min(
        value.shown?.at(-2)?.length ?? value.shape.at(-2) ?? 1,
        (value.elements ?? []).length,
      )
    );
  if (typeof value.value === "string" && value.value.includes("\n"))
    return 1 + value.value.split("\n").length;
  const parts = partsOf(value);
  const text = valueText(value).length / LINE_LENGTH;
  return (text > 1 || hasTensor(value)) && parts.length && !isFlat(value, parts)
    ? parts.reduce((sum, [, part]) => sum + heightOf(part), 1)
    : Math.ceil(text);
}

/** The most lines and columns of a tensor that is shown whole also where the screen is narrow. */
const [FEW_LINES, FEW_COLUMNS, FEW_IN_ONE_LINE] = [4, 6, 10];

/** Whether all elements of a tensor are recorded and few. @param {Value} value */
export function isSmall({ shape = [], shown, elements = [] }) {
  const [lines, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  const isPlane = !shown && elements.length > 0 && elements.length === lines * columns;
  return isPlane && lines <= FEW_LINES && columns <= (lines > 1 ? FEW_COLUMNS : FEW_IN_ONE_LINE);
}

/** @param {Value} value */
export function hasTensor(value) {
  return partsOf(value).some(([, part]) => part.shape && part.shape.length > 0);
}

/** Named parts of a container. @param {Value} value @returns {[string, Value][]} */
export function partsOf(value) {
  if (value.fields) return Object.entries(value.fields);
  if (value.entries) return value.entries.map(([key, item]) => [valueText(key), item]);
  return (value.items ?? []).map((item, index) => [String(index), item]);
}

/** Whether a container is shown as text. @param {Value} value @param {[string, Value][]} parts */
export function isFlat(value, parts) {
  return !value.fields && !value.entries && parts.every(([, part]) => part.value !== undefined);
}

/**
 * Indices of the leading axes, such as `[0, 2, :, :]`.
 * @param {number[][]} shown
 * @param {number} slice
 */
export function sliceName(shown, slice) {
  const indices = [];
  let rest = slice;
  for (const axis of shown.slice(0, -2).toReversed()) {
    indices.unshift(axis[rest % axis.length]);
    rest = Math.floor(rest / axis.length);
  }
  return `[${[...indices, ":", ":"].join(", ")}]`;
}

/** @param {(number | boolean | string)[]} elements */
export function largest(elements) {
  return elements.reduce(
    (/** @type {number} */ most, cell) => Math.max(most, Math.abs(Number(cell)) || 0),
    0,
  );
}

/** Digits after the point that all cells of a grid can share, or -1 when they differ too much.
 * @param {Cell[]} cells @param {number} most */
function sharedDecimals(cells, most) {
  const numbers = cells.filter((cell) => typeof cell === "number");
  if (numbers.some((cell) => cell !== 0 && (Math.abs(cell) >= 1e5 || Math.abs(cell) < 1e-3)))
    return -1;
  const wanted = numbers.map((cell) => (String(cell).split(".")[1] ?? "").length);
  return Math.min(most, Math.max(0, ...wanted));
}

/** More digits than any number has. */
const ALL_DIGITS = 17;

/**
 * The cells of a grid as texts: integers in full, if there is room, and else with as many digits as
 * tell different cells apart, if there is room for those.
 * @param {Cell[]} cells
 * @param {number} most digits after the point, where these do
 * @param {number} room letters of a cell
 * @returns {string[]}
 */
export function cellTexts(cells, most, room) {
  const fits = (/** @type {string[]} */ texts) => texts.every(({ length }) => length <= room);
  const whole = cells.every((cell) => Number.isSafeInteger(cell)) ? cells.map(String) : null;
  if (whole && fits(whole)) return whole;
  const decimals = sharedDecimals(cells, most);
  const textsWith = (/** @type {number} */ more) =>
    cells.map((cell) =>
      typeof cell === "number" && decimals >= 0
        ? cell.toFixed(decimals + more)
        : element(cell, more),
    );
  const different = new Set(cells).size;
  const short = textsWith(0);
  let texts = short;
  for (let more = 1; new Set(texts).size < different; more++) {
    texts = textsWith(more);
    if (more > ALL_DIGITS || !fits(texts)) return short;
  }
  return texts;
}
