// What steps cost: sums over any range, and their text. Pure.

import { bytes, counted, flops, ratio } from "viewer/model/format.js";
import { lowerBound, prefixSums } from "viewer/model/sorted.js";

/** Columns of the costs that can be added up. @type {Quantity[]} */
export const QUANTITIES = [
  "matmul_flops",
  "other_flops",
  "read_bytes",
  "written_bytes",
  "allocated_bytes",
  "freed_bytes",
];

/**
 * A function that sums what the steps of a range cost, in logarithmic time: what happened and,
 * apart from it, what would have on device `meta`.
 * @param {Costs | null} costs
 * @returns {CostMeter}
 */
export function costMeter(costs) {
  const [happened, onMeta] = [0, 1].map((meta) => meterOf(costs, meta));
  return (first, beyond) => ({ ...happened(first, beyond), onMeta: onMeta(first, beyond) });
}

/**
 * @param {Costs | null} costs
 * @param {number} meta 1 for the rows of device `meta`, 0 for the others
 * @returns {(first: number, beyond: number) => Amounts}
 */
function meterOf(costs, meta) {
  const order = costs
    ? costs.step
        .map((_, row) => row)
        .filter((row) => costs.meta[row] === meta)
        .sort((a, b) => costs.step[a] - costs.step[b])
    : [];
  const steps = Float64Array.from(order, (row) => costs?.step[row] ?? 0);
  const summed = /** @type {const} */ ([...QUANTITIES, "uncounted"]);
  const sums = summed.map((column) => prefixSums(order.map((row) => costs?.[column][row] ?? 0)));
  return (first, beyond) => {
    const low = lowerBound(steps, first);
    const high = lowerBound(steps, beyond);
    const entries = summed.map((column, index) => [column, sums[index][high] - sums[index][low]]);
    return Object.fromEntries(entries);
  };
}

/**
 * The quiet text of the margin; empty when nothing was computed or allocated. Traffic and intensity
 * only where all of it was counted: bytes are at least so many, so the intensity is at most that.
 * @param {Amounts} cost
 */
export function costText(cost) {
  const computed = cost.matmul_flops + cost.other_flops;
  const moved = cost.uncounted ? 0 : cost.read_bytes + cost.written_bytes;
  const intensity = moved && computed ? `≤ ${ratio(computed / moved)} FLOP/B` : "";
  const parts = [
    computed ? flops(computed) : "",
    moved ? `≥ ${bytes(moved)} moved` : "",
    intensity,
    cost.allocated_bytes ? `${bytes(cost.allocated_bytes)} allocated` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** All quantities in one sentence, for a tooltip. @param {Amounts} cost */
export function costDetails(cost) {
  return [
    `matrix products ${flops(cost.matmul_flops)} by formula`,
    `other ${flops(cost.other_flops)} by convention`,
    `read at least ${bytes(cost.read_bytes)}`,
    `written at least ${bytes(cost.written_bytes)}`,
    `allocated ${bytes(cost.allocated_bytes)}`,
    `freed ${bytes(cost.freed_bytes)}`,
    ...(cost.uncounted
      ? [`${counted(cost.uncounted, "call")} not counted (see the end of the page)`]
      : []),
  ].join(", ");
}
