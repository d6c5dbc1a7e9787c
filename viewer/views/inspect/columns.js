// The columns of the table of costs.

import { bytes, duration, flops, integer, ratio } from "viewer/model/format.js";
import { intensityOf, MEMORY } from "viewer/model/tally.js";
import { current } from "viewer/state/state.js";

/**
 * @typedef {{id: string, title: string, hint: string, kind: string,
 *   value: (entry: TallyEntry) => number | null, text: (value: number) => string}} Column
 * hint: what it counts; kind: of evidence
 */

/** @type {Column[]} */
export const COLUMNS = [
  {
    id: "calls",
    title: "operators",
    kind: "observed",
    hint: "how many operators of the library ran",
    value: ({ calls }) => calls,
    text: integer,
  },
  {
    id: "matmul_flops",
    title: "matmul FLOPs",
    kind: "formula",
    hint: "FLOPs of matrix products",
    value: (entry) => entry.matmul_flops,
    text: flops,
  },
  {
    id: "other_flops",
    title: "other FLOPs",
    kind: "convention",
    hint: "all other FLOPs",
    value: (entry) => entry.other_flops,
    text: flops,
  },
  {
    id: "read_bytes",
    title: "read",
    kind: "ideal",
    hint: "bytes read from memory",
    value: (entry) => entry.read_bytes,
    text: bytes,
  },
  {
    id: "written_bytes",
    title: "written",
    kind: "ideal",
    hint: "bytes written to memory",
    value: (entry) => entry.written_bytes,
    text: bytes,
  },
  {
    id: "intensity",
    title: "intensity",
    kind: "ideal",
    hint: "FLOPs for each byte read or written: at most so many",
    value: intensityOf,
    text: (value) => `${ratio(value)} FLOP/B`,
  },
  {
    id: "allocated_bytes",
    title: "allocated",
    kind: "observed",
    hint: "bytes of tensors that came to life",
    value: (entry) => entry.allocated_bytes,
    text: bytes,
  },
  {
    id: "freed_bytes",
    title: "freed",
    kind: "observed",
    hint: "bytes of tensors that were given back",
    value: (entry) => entry.freed_bytes,
    text: bytes,
  },
];

/** @type {Column} */
export const SECONDS = {
  id: "seconds",
  title: "time",
  kind: "observed",
  hint: "seconds, measured in another run, with the recorder's own work",
  value: ({ seconds }) => seconds,
  text: (value) => (value ? duration(value) : "0"),
};

const OF_MEMORY = ["allocated_bytes", "freed_bytes"];

/** Whether an entry by operator is none: memory is booked apart. @param {TallyEntry} entry */
export function isMemory({ key }) {
  return current().document.names[key] === MEMORY;
}

/**
 * By operator memory has a row of its own: what is not booked with a row is no 0.
 * @param {Column} column
 * @returns {Column}
 */
export function ofOperators(column) {
  const isBooked = (/** @type {TallyEntry} */ entry) =>
    isMemory(entry) === OF_MEMORY.includes(column.id);
  return {
    ...column,
    value: (entry) => {
      const amount = column.value(entry);
      return amount || isBooked(entry) ? amount : null;
    },
  };
}
