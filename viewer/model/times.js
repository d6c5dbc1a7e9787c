// Measured seconds, from the file beside a document that `python -m trace --time` writes. Fetched
// only where there is one.

import { counted, duration } from "viewer/model/format.js";

const FORMAT = "lecture-trace-times";
/** Shorter times say more about the clock than about the line. */
export const LEAST_SECONDS = 50e-6;
/** More digits of what was timed mean nothing. */
const DIGITS = 6;

/**
 * Check that times belong to a document, and put the values of `@timed` statements in their places.
 * @param {any} lecture a document, before it is checked
 * @param {any} sidecar
 * @returns {Promise<Times | null>} null when they belong to other sources
 */
export async function takeTimes(lecture, sidecar) {
  try {
    const steps = lecture.events.filter((/** @type {number} */ code) => code > 0).length;
    if (
      sidecar.format !== FORMAT ||
      sidecar.version !== 1 ||
      sidecar.seconds.length !== steps ||
      !sidecar.seconds.every(Number.isFinite)
    )
      return null;
    for (const { path, source } of lecture.files)
      if ((await digest(source)) !== sidecar.sources[path]) return null;
    const keep = (/** @type {Value} */ value) => lecture.values.push(told(value)) - 1;
    for (const [row, value] of Object.entries(sidecar.inspections))
      if (row in lecture.inspections.value) lecture.inspections.value[row] = keep(value);
    for (const [row, operands] of Object.entries(sidecar.claims))
      for (const [index, value] of Object.entries(operands))
        if (row in lecture.claims.operands) lecture.claims.operands[row][index] = keep(value);
    const { device = "cpu", processor, threads, cores, torch, date } = sidecar.environment;
    const name = device === "cpu" && processor ? processor : device;
    const seconds = timer(sidecar.seconds);
    return {
      seconds,
      text: (first, beyond) => textOf(seconds(first, beyond)),
      device: [
        name,
        cores && counted(cores, "core"),
        threads && counted(threads, "thread"),
        torch && `torch ${torch}`,
        date,
      ]
        .filter(Boolean)
        .join(", "),
    };
  } catch {
    return null;
  }
}

/**
 * A value as far as a clock can tell: what it measures differs from run to run in far fewer digits
 * than are compared elsewhere.
 * @param {Value} value
 * @returns {Value}
 */
function told(value) {
  if (value.items) return { ...value, items: value.items.map(told) };
  const isRough = value.type === "float" && typeof value.value === "number";
  return isRough ? { ...value, value: Number(Number(value.value).toPrecision(DIGITS)) } : value;
}

/** SHA-256 in hexadecimal. @param {string} text */
async function digest(text) {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A function that says how many seconds a range of steps took.
 * @param {number[]} seconds of each step
 */
function timer(seconds) {
  const sums = new Float64Array(seconds.length + 1);
  seconds.forEach((time, step) => (sums[step + 1] = sums[step] + time));
  return (/** @type {number} */ first, /** @type {number} */ beyond) => sums[beyond] - sums[first];
}

/** @param {number} seconds */
function textOf(seconds) {
  return seconds < LEAST_SECONDS ? "" : duration(seconds);
}
