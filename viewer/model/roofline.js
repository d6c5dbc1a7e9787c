// What an accelerator could reach with the operators of a part of the run: at most its peak, and at
// most what its memory feeds it with. And what lines of the run did reach where they were timed.
// Pure.

import { shortened } from "viewer/model/format.js";
import { MEMORY } from "viewer/model/tally.js";
import { LEAST_SECONDS } from "viewer/model/times.js";

/** Everything of an entry whose FLOPs and bytes are both known. @param {TallyEntry} entry */
function workOf(entry) {
  const moved = entry.read_bytes + entry.written_bytes;
  const computed = entry.matmul_flops + entry.other_flops;
  return moved && computed && !entry.uncounted ? { moved, computed } : null;
}

/**
 * Operators with a count of both FLOPs and bytes, those that would take longest first. That their
 * rate is what is attainable is an assumption: they lie on the roof by construction.
 * @param {TallyEntry[]} entries by operator
 * @param {string[]} names
 * @param {Limits} limits
 * @returns {RooflinePoint[]}
 */
export function pointsOf(entries, names, limits) {
  const points = entries.flatMap((entry) => {
    const work = names[entry.key] === MEMORY ? null : workOf(entry);
    if (!work) return [];
    const intensity = work.computed / work.moved;
    const attainable = attainableAt(intensity, limits);
    return [
      {
        ...{ name: names[entry.key], place: "", entry, intensity, attainable, rate: attainable },
        waits: intensity * limits.memory < limits.peak,
        seconds: work.computed / attainable,
        isMeasured: false,
      },
    ];
  });
  return slowestFirst(points);
}

/** @template {{seconds: number}} Timed @param {Timed[]} points */
function slowestFirst(points) {
  return points.sort((one, other) => other.seconds - one.seconds);
}

/**
 * What memory and arithmetic allow for.
 * @param {number} intensity FLOP/B
 * @param {Limits} limits
 */
function attainableAt(intensity, { peak, memory }) {
  return Math.min(peak, intensity * memory);
}

/**
 * Lines with a count of both FLOPs and bytes that took long enough for a clock.
 * @param {TallyEntry[]} entries by line, with seconds
 * @returns {TimedPoint[]}
 */
export function timedPoints(entries) {
  return entries.flatMap((entry) => {
    const work = workOf(entry);
    const seconds = entry.seconds ?? 0;
    if (!work || seconds < LEAST_SECONDS) return [];
    const { computed, moved } = work;
    return [{ entry, seconds, intensity: computed / moved, rate: computed / seconds }];
  });
}

/**
 * The best that lines reached, in place of a data sheet: so at least one lies on that roof by
 * construction, and none above it.
 * @param {TimedPoint[]} timed
 * @returns {Limits | null}
 */
export function reachedBy(timed) {
  if (!timed.length) return null;
  return {
    peak: Math.max(...timed.map(({ rate }) => rate)),
    memory: Math.max(...timed.map(({ rate, intensity }) => rate / intensity)),
  };
}

/**
 * Timed lines below a roof, the slowest first.
 * @param {TimedPoint[]} timed
 * @param {(key: number) => {name: string, place: string}} labelOf
 * @param {Limits} limits
 * @returns {RooflinePoint[]}
 */
export function measuredPoints(timed, labelOf, limits) {
  return slowestFirst(
    timed.map((point) => ({
      ...point,
      ...labelOf(point.entry.key),
      attainable: attainableAt(point.intensity, limits),
      waits: point.intensity * limits.memory < limits.peak,
      isMeasured: true,
    })),
  );
}

/** A value that a statement computes, below the names that it is given to. */
const ASSIGNED = /^(.*?) (?:[-+*/%@&|^]|\*\*|\/\/|<<|>>)?= (.*)$/;

/** Whether no bracket or text of some code goes on behind it. @param {string} code */
function isClosed(code) {
  const count = (/** @type {RegExp} */ what) => code.match(what)?.length ?? 0;
  return count(/[[({]/g) === count(/[\])}]/g) && count(/["']/g) % 2 === 0;
}

/**
 * A short piece of the code of a line: all of it, or else the beginning of what it computes, up to
 * the end of a call where there is one, or what is called alone.
 * @param {string} code
 * @param {number} most letters
 */
export function pieceOf(code, most) {
  if (code.length <= most) return code;
  const [, names = "", computed = ""] = ASSIGNED.exec(code) ?? [];
  const piece = names && isClosed(names) ? computed : code.replace(/^return /, "");
  if (piece.length <= most) return piece;
  const ends = [...piece.slice(0, most).matchAll(/[\])]/g)].map(({ index }) => index + 1);
  const end = ends.findLast((at) => isClosed(piece.slice(0, at)));
  const called = /^[\w.]+\(/.exec(piece)?.[0];
  if (!end && called && called.length + 2 <= most) return `${called}…)`;
  return shortened(piece, end ?? most);
}

/** How much air is left around what a scale holds. */
const AIR = 1.7;

/**
 * The share of a logarithmic scale at which an amount stands.
 * @param {Scale} scale
 * @param {number} amount
 */
export function shareOf([low, high], amount) {
  return Math.log(amount / low) / Math.log(high / low);
}

/**
 * The powers of ten on a scale; where they are few, what lies between them too.
 * @param {Scale} scale
 */
export function marksOf([low, high]) {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from(
    { length: Math.ceil(Math.log10(high)) - first },
    (_, index) => 10 ** (first + index),
  );
  const among = (/** @type {number[]} */ marks) =>
    marks.filter((mark) => low <= mark && mark <= high);
  const whole = among(powers);
  return whole.length > 2 ? whole : among(powers.flatMap((power) => [power, 2 * power, 5 * power]));
}

/**
 * Scales that hold the points and the ridge, where memory and arithmetic limit alike, and no more.
 * @param {RooflinePoint[]} points
 * @param {Limits} limits
 * @returns {{intensities: Scale, rates: Scale}}
 */
export function scalesOf(points, { peak, memory }) {
  const ridge = peak / memory;
  const found = points.map(({ intensity }) => intensity);
  const low = Math.min(ridge / AIR, ...found) / AIR;
  const slowest = Math.min(low * memory, ...points.map(({ rate }) => rate / AIR));
  return {
    intensities: [low, Math.max(ridge * AIR, ...found) * AIR],
    rates: [slowest, peak * AIR],
  };
}
