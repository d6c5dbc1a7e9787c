// What an accelerator could reach with the operators of a part of the run: at most its peak, and at
// most what its memory feeds it with. Pure.

import { MEMORY } from "viewer/model/tally.js";

/**
 * Operators with a count of both FLOPs and bytes, those that would take longest first.
 * @param {TallyEntry[]} entries by operator
 * @param {string[]} names
 * @param {number} peak FLOP/s
 * @param {number} memory bytes per second
 * @returns {RooflinePoint[]}
 */
export function pointsOf(entries, names, peak, memory) {
  const points = entries.flatMap((entry) => {
    const moved = entry.read_bytes + entry.written_bytes;
    const computed = entry.matmul_flops + entry.other_flops;
    if (!moved || !computed || entry.uncounted || names[entry.key] === MEMORY) return [];
    const intensity = computed / moved;
    const attainable = Math.min(peak, intensity * memory);
    return [
      {
        name: names[entry.key],
        entry,
        intensity,
        attainable,
        waits: intensity * memory < peak,
        seconds: computed / attainable,
      },
    ];
  });
  return points.sort((one, other) => other.seconds - one.seconds);
}

/**
 * Whole powers of ten around values.
 * @param {number} low
 * @param {number} high
 */
function decades(low, high) {
  const first = Math.floor(Math.log10(low));
  return Array.from(
    { length: Math.max(1, Math.ceil(Math.log10(high)) - first) + 1 },
    (_, index) => first + index,
  );
}

/**
 * The share of a scale of powers of ten at which an amount stands.
 * @param {number[]} powers
 * @param {number} amount
 */
export function shareOf(powers, amount) {
  return (Math.log10(amount) - powers[0]) / (powers.length - 1);
}

/**
 * Scales that hold the points and the ridge, where memory and arithmetic limit alike.
 * @param {RooflinePoint[]} points
 * @param {number} peak FLOP/s
 * @param {number} memory bytes per second
 * @returns {{intensities: number[], rates: number[]}} powers of ten
 */
export function scalesOf(points, peak, memory) {
  const ridge = peak / memory;
  const found = points.map(({ intensity }) => intensity);
  const intensities = decades(Math.min(ridge / 10, ...found), Math.max(ridge * 10, ...found));
  const slowest = Math.min(
    10 ** intensities[0] * memory,
    ...points.map((point) => point.attainable),
  );
  return { intensities, rates: decades(slowest, peak * 1.5) };
}
