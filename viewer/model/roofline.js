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
    if (!moved || !computed || entry.partial || names[entry.key] === MEMORY) return [];
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
