// Numbers, sizes and counts as text. Units live here and nowhere else. Pure.

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

/**
 * A number as people write it: integers in groups, floats to six digits and never without their
 * point.
 * @param {number} value
 */
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
  return Math.abs(value) < 10000 ? String(value) : grouped(String(value));
}

/** @param {string} digits */
export function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
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
