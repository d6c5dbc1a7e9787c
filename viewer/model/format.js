// Numbers, sizes and counts as text. Units live here and nowhere else, and so does the one rule of
// numbers: left of the point, digits stand in groups of three from five digits on; numbers from
// 1e16 on and below 1e-4 have an exponent, as in Python. A glance has six significant digits, but
// all those left of the point; what is compared has all digits. Pure.

/** Numbers between these have no exponent. */
const [LEAST, BEYOND] = [1e-4, 1e16];

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
  return inGroups(String(Number(value.toFixed(Number.isInteger(value) ? 0 : digits))));
}

/** @param {number} count */
export function flops(count) {
  return scaled(count, 1000, FLOP_UNITS);
}

/** @param {number} count */
export function bytes(count) {
  return scaled(count, 1024, BYTE_UNITS);
}

/**
 * A number as people write it: six digits at a glance, floats never without their point.
 * @param {number} value
 */
export function number(value) {
  if (!isPlain(value)) return withExponent(value.toExponential(4));
  if (Number.isInteger(value)) return inGroups(String(value));
  const isLong = Math.abs(value) >= 99_999.95;
  return inGroups(isLong ? value.toFixed(1) : String(Number(value.toPrecision(6))));
}

/**
 * A quotient with two significant digits, without an exponent unless it is next to nothing: one
 * column has large and small.
 * @param {number} value
 */
export function ratio(value) {
  if (!isPlain(value)) return withExponent(value.toExponential(1));
  const digits = { maximumSignificantDigits: 2, useGrouping: false };
  return inGroups(value.toLocaleString("en", digits));
}

/** A number with all its digits. @param {number} value */
export function exactly(value) {
  return isPlain(value) ? inGroups(String(value)) : withExponent(value.toExponential());
}

/** @param {number} value */
function isPlain(value) {
  return value === 0 || (Math.abs(value) >= LEAST && Math.abs(value) < BEYOND);
}

/** @param {string} text such as 1.2500e+7 */
function withExponent(text) {
  return text
    .replace(/(\.\d*?)0+e/, "$1e")
    .replace(".e", "e")
    .replace("e+", "e");
}

/** Groups of three from five digits on. @param {string} text a number without an exponent */
function inGroups(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replace("-", "").length > 4 ? grouped(whole) : whole, ...rest].join(".");
}

/** Groups of three from five digits on. @param {number} value */
export function integer(value) {
  return inGroups(String(value));
}

/** @param {string} digits */
export function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * An element of a tensor, short enough for a grid, which has no room for groups.
 * @param {number | boolean | string} value
 * @param {number} [more] digits beyond the usual ones
 */
export function element(value, more = 0) {
  if (typeof value !== "number")
    return typeof value === "boolean" ? (value ? "True" : "False") : value;
  const magnitude = Math.abs(value);
  if (Number.isInteger(value) && magnitude < 1e6) return String(value);
  if (magnitude >= 1000 || magnitude < 0.001) return withExponent(value.toExponential(1 + more));
  return value.toFixed(more + (magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3));
}

/** @param {number[]} sizes */
export function shape(sizes) {
  return `[${sizes.join(", ")}]`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${integer(count)} ${count === 1 ? one : many}`;
}

/** Seconds with two digits, in a unit that suits. @param {number} seconds */
export function duration(seconds) {
  /** @type {[number, string][]} */
  const units = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  const [size, unit] = units.find(([least]) => seconds >= 0.995 * least) ?? units[3];
  return `${Number((seconds / size).toPrecision(2))} ${unit}`;
}

/**
 * The beginning of a text that is too long.
 * @param {string} text
 * @param {number} most how many letters are kept
 */
export function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
