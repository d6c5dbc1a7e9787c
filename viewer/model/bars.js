// How elements are spread, as the bars of a histogram. Few values have a bar each, at its place:
// parts of a range that is cut without regard to them would show gaps that are not there. Pure.

/** Parts of the range of many values. */
const PARTS = 20;

/** So many bars find room beside each other. */
const MOST = 64;

/** The ends of a range of integers are recorded with four digits: below this with all. */
const EXACT = 1e4;

/**
 * Bars of elements that are all known and finite; null where all are alike.
 * @param {number[]} numbers
 * @returns {Bars | null}
 */
export function barsOf(numbers) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const values = [...counts.keys()].sort((one, other) => one - other);
  const [low, high] = [values[0], values.at(-1) ?? values[0]];
  if (!isRange(low, high)) return null;
  const gap = Math.min(...values.slice(1).map((value, index) => value - values[index]));
  if ((high - low) / gap < MOST)
    return ofValues(
      values.map((value) => ({ value, count: counts.get(value) ?? 0 })),
      gap,
    );
  return ofParts({ low, high, counts: binned(numbers, low, high, Math.min(PARTS, counts.size)) });
}

/**
 * Bars of elements of which a run has counted how many lie in equal parts of their range; null
 * where all are alike.
 * @param {Bins} bins
 * @param {string} dtype
 * @returns {Bars | null}
 */
export function barsOfBins(bins, dtype) {
  const { low, high, counts } = bins;
  if (!isRange(low, high)) return null;
  const isExact = Math.max(Math.abs(low), Math.abs(high)) < EXACT;
  // A part that is smaller than 1 has one integer at most.
  const isFine = high - low < counts.length;
  return /^u?int\d/.test(dtype) && isExact && isFine ? ofIntegers(bins) : ofParts(bins);
}

/** Whether there is something to divide, in numbers that JavaScript has.
 * @param {number} low @param {number} high */
function isRange(low, high) {
  return high > low && Number.isFinite(high - low);
}

/** @param {Bins} bins @returns {Bars} */
function ofIntegers({ low, high, counts }) {
  const width = (high - low) / counts.length;
  const found = Array(high - low + 1).fill(0);
  counts.forEach((count, part) => (found[Math.round((part + 0.5) * width)] += count));
  return ofValues(
    found.flatMap((count, above) => (count ? [{ value: low + above, count }] : [])),
    1,
  );
}

/**
 * @param {{value: number, count: number}[]} values in their order
 * @param {number} width of a bar: no two values are nearer
 * @returns {Bars}
 */
function ofValues(values, width) {
  const bars = values.map(({ value, count }) => ({
    from: value - width / 2,
    to: value + width / 2,
    count,
  }));
  return { low: values[0].value, high: values.at(-1)?.value ?? 0, bars, isOfValues: true };
}

/** @param {Bins} bins @returns {Bars} */
function ofParts({ low, high, counts }) {
  const width = (high - low) / counts.length;
  const bars = counts.map((count, part) => ({
    from: low + part * width,
    to: low + (part + 1) * width,
    count,
  }));
  return { low, high, bars, isOfValues: false };
}

/** @param {number[]} numbers @param {number} low @param {number} high @param {number} parts */
function binned(numbers, low, high, parts) {
  const counts = Array(parts).fill(0);
  for (const number of numbers)
    counts[Math.min(parts - 1, Math.floor(((number - low) / (high - low)) * parts))]++;
  return counts;
}

/**
 * Where the bars are drawn, as shares of the width and of the height.
 * @param {Bars} histogram
 * @returns {{left: number, width: number, height: number}[]}
 */
export function drawnBars({ bars }) {
  const start = bars[0].from;
  const whole = (bars.at(-1)?.to ?? start) - start;
  const most = Math.max(...bars.map(({ count }) => count));
  return bars.map(({ from, to, count }) => {
    const air = 0.05 * (to - from);
    return {
      left: (from + air - start) / whole,
      width: (to - from - 2 * air) / whole,
      height: count / most,
    };
  });
}
