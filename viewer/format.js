// Numbers, sizes, costs, values and steps as text. Units live here and nowhere else. Pure.

import { lowerBound } from "viewer/model.js";

const FLOP_UNITS = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"];
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** @param {number} value @param {number} base @param {string[]} units */
function scaled(value, base, units) {
  let power = 0;
  let rest = value;
  while (Math.abs(rest) >= base && power < units.length - 1) {
    rest /= base;
    power++;
  }
  return `${trimmed(rest)} ${units[power]}`;
}

/** At most three significant digits beyond the point, none that are zero. @param {number} value */
function trimmed(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(Number.isInteger(value) ? 0 : digits)));
}

/** @param {number} count */
export function flops(count) {
  return scaled(count, 1000, FLOP_UNITS);
}

/** @param {number} count */
export function bytes(count) {
  return scaled(count, 1024, BYTE_UNITS);
}

/** A number as people write it: integers in groups, floats to six digits and never without their point. @param {number} value */
export function number(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return integer(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e5 && magnitude < 1e9) return value.toFixed(1);
  if (magnitude >= 1e-4 && magnitude < 1e7) return String(Number(value.toPrecision(6)));
  return value
    .toExponential(4)
    .replace(/\.?0+e/, "e")
    .replace("e+", "e");
}

/** Groups of three from five digits on. @param {number} value */
export function integer(value) {
  const text = String(value);
  return Math.abs(value) < 10000 ? text : text.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** An element of a tensor, short enough for a grid. @param {number | boolean | string} value */
export function element(value) {
  if (typeof value !== "number")
    return typeof value === "boolean" ? (value ? "True" : "False") : value;
  if (Number.isInteger(value))
    return Math.abs(value) < 1e6 ? String(value) : value.toExponential(1);
  const magnitude = Math.abs(value);
  if (magnitude >= 1000 || magnitude < 0.001) return value.toExponential(1);
  return value.toFixed(magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3);
}

/** @param {number[]} sizes */
export function shape(sizes) {
  return `[${sizes.join(", ")}]`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${integer(count)} ${count === 1 ? one : many}`;
}

/** @type {Quantity[]} */
const QUANTITIES = [
  "matmul_flops",
  "other_flops",
  "read_bytes",
  "written_bytes",
  "allocated_bytes",
  "freed_bytes",
];

/**
 * A function that sums what the steps of a range cost, in logarithmic time.
 * @param {Costs | null} costs
 * @returns {CostMeter}
 */
export function costMeter(costs) {
  const order = costs
    ? costs.step.map((_, row) => row).sort((a, b) => costs.step[a] - costs.step[b])
    : [];
  const steps = Float64Array.from(order, (row) => costs?.step[row] ?? 0);
  const sums = QUANTITIES.map((quantity) =>
    prefixSums(order.map((row) => costs?.[quantity][row] ?? 0)),
  );
  const unknown = prefixSums(
    order.map((row) => (QUANTITIES.some((quantity) => costs?.[quantity][row] === null) ? 1 : 0)),
  );
  return (first, beyond) => {
    const low = lowerBound(steps, first);
    const high = lowerBound(steps, beyond);
    const entries = QUANTITIES.map((quantity, index) => [
      quantity,
      sums[index][high] - sums[index][low],
    ]);
    return { ...Object.fromEntries(entries), partial: unknown[high] > unknown[low] };
  };
}

/** @param {number[]} values @returns {Float64Array} */
function prefixSums(values) {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, index) => (sums[index + 1] = sums[index] + value));
  return sums;
}

/** The quiet text of the margin; empty when nothing was computed or allocated. Traffic and intensity only where all
 * of it was counted. @param {CostSum} cost */
export function costText(cost) {
  const computed = cost.matmul_flops + cost.other_flops;
  const moved = cost.partial ? 0 : cost.read_bytes + cost.written_bytes;
  const intensity =
    moved && computed ? `${number(Number((computed / moved).toPrecision(2)))} FLOP/B` : "";
  const parts = [
    computed ? flops(computed) : "",
    moved ? `${bytes(moved)} moved` : "",
    intensity,
    cost.allocated_bytes ? `${bytes(cost.allocated_bytes)} allocated` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** All quantities in one sentence, for a tooltip. @param {CostSum} cost */
export function costDetails(cost) {
  return [
    `matrix products ${flops(cost.matmul_flops)}`,
    `other ${flops(cost.other_flops)}`,
    `read ${bytes(cost.read_bytes)}`,
    `written ${bytes(cost.written_bytes)}`,
    `allocated ${bytes(cost.allocated_bytes)}`,
    `freed ${bytes(cost.freed_bytes)}`,
    ...(cost.partial ? ["some operators are not counted (see the end of the page)"] : []),
  ].join(", ");
}

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

/** @param {Value} value @param {number} [depth] @returns {string} */
export function valueText(value, depth = 0) {
  if (value.error !== undefined) return `‹${value.error}›`;
  if (value.value !== undefined) return scalarText(value);
  if (value.shape) return tensorText(value);
  if (depth > MAX_DEPTH) return "…";
  if (value.items) return itemsText(value, value.items, depth);
  if (value.entries) {
    const entries = value.entries.map(
      ([key, item]) => `${valueText(key, depth + 1)}: ${valueText(item, depth + 1)}`,
    );
    return `{${withRest(entries, value).join(", ")}}`;
  }
  if (value.fields) {
    const fields = Object.entries(value.fields).map(
      ([name, item]) => `${name}=${valueText(item, depth + 1)}`,
    );
    return `${value.type}(${withRest(fields, value).join(", ")})`;
  }
  if (value.text !== undefined) return value.cut ? `${value.text}…` : value.text;
  return `‹${value.type}›`;
}

/** @param {Value} value */
function scalarText({ value, cut }) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return number(value);
  return cut ? `${quoted(String(value)).slice(0, -1)}…'` : quoted(String(value));
}

/** @param {string} text */
function quoted(text) {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return escaped.includes("'") && !escaped.includes('"')
    ? `"${escaped}"`
    : `'${escaped.replaceAll("'", "\\'")}'`;
}

/** @param {Value} value */
export function tensorText(value) {
  const { dtype = value.type, shape: sizes = [], elements = [], shown } = value;
  if (shown || !elements.length || elements.length > MAX_ELEMENTS)
    return `${dtype} ${shape(sizes)}`;
  return `${dtype} ${sizes.length ? nested(elements, sizes) : cellText(elements[0])}`;
}

/** @param {number | boolean | string} cell */
function cellText(cell) {
  return typeof cell === "string" ? cell : scalarText({ type: "", value: cell });
}

/** Elements in the brackets of their axes. @param {(number | boolean | string)[]} elements @param {number[]} sizes @returns {string} */
function nested(elements, [size, ...inner]) {
  const width = elements.length / size;
  const parts = Array.from({ length: size }, (_, index) =>
    elements.slice(index * width, (index + 1) * width),
  );
  return `[${parts.map((part) => (inner.length ? nested(part, inner) : cellText(part[0]))).join(", ")}]`;
}

/** @param {Value} value @param {Value[]} items @param {number} depth */
function itemsText(value, items, depth) {
  const [open, close] = BRACKETS[value.type] ?? [`${value.type}(`, ")"];
  const texts = withRest(
    items.map((item) => valueText(item, depth + 1)),
    value,
  );
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
  return new RegExp(`^(?:${scalar}|[\\[({](?:\\s*${scalar}\\s*[,:]?)*[\\])}])$`).test(
    source.trim(),
  );
}
