// Look-ups in sorted columns. Pure.

/** @param {number[]} keys one per row @returns {Lookup} */
export function lookup(keys) {
  if (keys.every((key, row) => row === 0 || keys[row - 1] <= key)) return { keys, rows: null };
  const order = Int32Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b] || a - b);
  return { keys: order.map((row) => keys[row]), rows: order };
}

/**
 * The rows of the keys from one until before another.
 * @param {Lookup} lookup
 * @param {number} key
 * @param {number} [beyond]
 */
export function rows({ keys, rows: order }, key, beyond = key + 1) {
  const found = [];
  for (let at = lowerBound(keys, key); at < keys.length && keys[at] < beyond; at++)
    found.push(order ? order[at] : at);
  return found;
}

/**
 * Number of leading entries that are smaller than the limit.
 * @param {ArrayLike<number>} sorted
 * @param {number} limit
 */
export function lowerBound(sorted, limit) {
  return lowerBoundBy(sorted, (entry) => entry, limit);
}

/**
 * The same, of what a function makes of the entries.
 * @template Entry
 * @param {ArrayLike<Entry>} sorted
 * @param {(entry: Entry) => number} key
 * @param {number} limit
 */
export function lowerBoundBy(sorted, key, limit) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(sorted[middle]) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number[]} values @returns {Float64Array} */
export function prefixSums(values) {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, index) => (sums[index + 1] = sums[index] + value));
  return sums;
}
