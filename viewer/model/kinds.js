// How each quantity of the costs is known. Pure.

/** What is known of each quantity, and how. */
export const KINDS = [
  ["observed", "operators, memory, time", "seen while the program ran"],
  ["formula", "FLOPs of matrix products", "from the shapes that were seen, as 2mnk"],
  ["convention", "other FLOPs", "an agreed price: 20 for an exponential, a root or a GELU"],
  ["ideal", "bytes read and written", "at least: each element once an operation, caches perfect"],
];
