// The elements of a tensor: which of them are recorded, as planes to look at, and what they are
// together. Pure.

import { barsOf, barsOfBins } from "viewer/model/bars.js";
import { counted, integer } from "viewer/model/format.js";

/** @param {number[]} sizes */
export function product(sizes) {
  return sizes.reduce((all, size) => all * size, 1);
}

/**
 * An element as a number; NaN, infinities and large integers stand in the document as text, complex
 * numbers have none.
 * @param {Cell} cell
 * @returns {number | null}
 */
export function numberOf(cell) {
  if (typeof cell !== "string") return Number(cell);
  if (cell === "nan") return NaN;
  if (/^[+-]?inf$/.test(cell)) return cell.startsWith("-") ? -Infinity : Infinity;
  return /^-?\d+$/.test(cell) ? Number(cell) : null;
}

/**
 * Indices that are recorded along each axis; where no element is, the first.
 * @param {Value} value
 * @returns {number[][]}
 */
export function recordedAlong(value) {
  const most = value.elements?.length || 1;
  return (value.shape ?? []).map(
    (size, axis) => value.shown?.[axis] ?? [...Array(Math.min(size, most)).keys()],
  );
}

/** Of more rows than these, or elements of a single row, the first stand for all in a table; the
 * style sheet leaves out the others. */
const ROWS = { most: 12, first: 8, name: "more row" };
const CELLS = { most: 40, first: 32, name: "more element" };

/** How many rows or elements are left out in a table, in words. @param {Value} value */
export function restOf(value) {
  if (!value.elements?.length) return "";
  const [columns = [], lines = [0]] = recordedAlong(value).reverse();
  const [{ length }, { most, first, name }] = lines.length > 1 ? [lines, ROWS] : [columns, CELLS];
  return length > most ? counted(length - first, name) : "";
}

/** Whether every element is recorded. @param {Value} value */
export function isWhole(value) {
  return (
    !value.shown &&
    value.elements !== undefined &&
    value.elements.length === product(value.shape ?? [])
  );
}

/**
 * The plane of two axes; -1 stands for an axis that is not there.
 * @param {Value} value
 * @param {number} rows
 * @param {number} columns
 * @param {number[]} at for each other axis, which of its recorded indices
 * @returns {Plane}
 */
export function planeOf(value, rows, columns, at) {
  const along = recordedAlong(value);
  const elements = value.elements ?? [];
  const lines = along[rows] ?? [0];
  const across = along[columns] ?? [0];
  /** @type {Plane["cells"]} */
  const cells = [];
  for (let line = 0; line < lines.length; line++)
    for (let column = 0; column < across.length; column++) {
      const places = along.map((_, axis) =>
        axis === rows ? line : axis === columns ? column : (at[axis] ?? 0),
      );
      const flat = places.reduce((sum, place, axis) => sum * along[axis].length + place, 0);
      if (flat < elements.length)
        cells.push({
          index: places.map((place, axis) => along[axis][place]),
          cell: elements[flat],
        });
    }
  return { lines, columns: across, step: 1, cells };
}

/**
 * The recorded element of an index, if any.
 * @param {Value} value
 * @param {number[]} index
 * @returns {Cell | undefined}
 */
export function elementAt(value, index) {
  const along = recordedAlong(value);
  const places = index.map((at, axis) => along[axis].indexOf(at));
  return places.includes(-1)
    ? undefined
    : value.elements?.[places.reduce((sum, place, axis) => sum * along[axis].length + place, 0)];
}

/** The largest finite magnitude, which gives a colour scale its ends. @param {Cell[]} cells */
export function scaleOf(cells) {
  return cells.reduce((/** @type {number} */ most, cell) => {
    const amount = Math.abs(numberOf(cell) ?? 0);
    return Number.isFinite(amount) ? Math.max(most, amount) : most;
  }, 0);
}

/**
 * What the elements are together: as the run recorded it from all of them, or computed here where
 * all are recorded.
 * @param {Value} value
 * @returns {Summary | null}
 */
export function summaryOf(value) {
  const truths = truthsOf(value);
  const recorded = value.statistics !== undefined;
  if (truths) {
    const of = product(value.shape ?? []);
    return { of, recorded, statistics: [], histogram: null, truths };
  }
  if (value.statistics) {
    const named = Object.entries(namedStatistics(value, value.statistics));
    const statistics = named.flatMap(([name, amount]) => {
      const number = numberOf(amount);
      return number === null ? [] : [/** @type {[string, number]} */ ([name, number])];
    });
    return {
      of: product(value.shape ?? []),
      recorded,
      statistics: statistics.sort(([one], [other]) => inReadingOrder(one, other)),
      histogram: value.histogram ? barsOfBins(value.histogram, value.dtype ?? "") : null,
      truths,
    };
  }
  const numbers = isWhole(value) ? (value.elements ?? []).map(numberOf) : [];
  if (!numbers.length || numbers.includes(null)) return null;
  const { statistics, histogram } = summed(/** @type {number[]} */ (numbers));
  const named = Object.entries(namedStatistics(value, Object.fromEntries(statistics)));
  return { of: numbers.length, recorded, statistics: named, histogram, truths };
}

/**
 * Of booleans, how many are true; empty of others, and where that is not known.
 * @param {Value} value
 */
export function truthsOf(value) {
  const { dtype, elements = [], histogram } = value;
  if (dtype !== "bool" || !(histogram || (elements.length && isWhole(value)))) return "";
  const { low, high, counts } = histogram ?? { low: 0, high: 1, counts: countsOf(elements) };
  const all = counts.reduce((sum, count) => sum + count, 0);
  const last = counts.at(-1) ?? 0;
  return `${integer(low < high ? last : high ? all : 0)} of ${integer(all)} true`;
}

/** How many are false, and how many true. @param {Cell[]} cells */
function countsOf(cells) {
  return [false, true].map((truth) => cells.filter((cell) => cell === truth).length);
}

/** A deviation that is of the population says so. */
export const OVER_ALL = "std (÷ n)";

/**
 * Statistics with the deviation that torch has, over n − 1, since a reader compares it with
 * `tensor.std()`; of other arrays, and where not all elements are finite, with that over n.
 * @template {number | string} Amount
 * @param {Value} value
 * @param {Record<string, Amount>} statistics
 * @returns {Record<string, Amount | number>}
 */
export function namedStatistics({ device, shape = [] }, statistics) {
  const { std, ...others } = statistics;
  if (std === undefined) return others;
  const count = product(shape);
  const isTorch = device !== undefined && !Number(others.nan) && !Number(others.inf);
  if (!isTorch || typeof std !== "number") return { ...others, [OVER_ALL]: std };
  return count > 1 ? { ...others, std: std * Math.sqrt(count / (count - 1)) } : others;
}

const ORDER = ["min", "mean", "max", "std", OVER_ALL, "nan", "inf"];

/** @param {string} one @param {string} other names of statistics */
export function inReadingOrder(one, other) {
  return ORDER.indexOf(one) - ORDER.indexOf(other);
}

/**
 * The same statistics that a run records: of the finite elements, the deviation as of a population.
 * @param {number[]} numbers
 * @returns {{statistics: [string, number][], histogram: Bars | null}}
 */
function summed(numbers) {
  const finite = numbers.filter(Number.isFinite);
  const nan = numbers.filter(Number.isNaN).length;
  /** @type {[string, number][]} */
  const missing = [
    ["nan", nan],
    ["inf", numbers.length - finite.length - nan],
  ];
  if (!finite.length) return { statistics: missing, histogram: null };
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const sum = finite.reduce((whole, number) => whole + number / finite.length, 0);
  const mean = Math.min(Math.max(sum, low), high); // of equal numbers it is theirs
  const deviation = Math.sqrt(
    finite.reduce((sum, number) => sum + (number - mean) ** 2 / finite.length, 0),
  );
  return {
    statistics: [["min", low], ["mean", mean], ["max", high], ["std", deviation], ...missing],
    histogram: barsOf(finite),
  };
}

/** Whether two tensors hold the same recorded elements, more than one, and not all alike.
 * @param {Value} one @param {Value} other */
export function haveEqualElements(one, other) {
  if (one.dtype !== other.dtype || !isWhole(one) || !isWhole(other)) return false;
  const [mine, others] = [one.elements ?? [], other.elements ?? []];
  return (
    mine.length === others.length &&
    mine.every((cell, at) => cell === others[at]) &&
    mine.some((cell) => cell !== mine[0])
  );
}

/**
 * A long line of cells, broken into lines of the same length.
 * @param {Plane} plane
 * @param {number} width
 * @returns {Plane}
 */
export function folded({ columns, cells }, width) {
  const lines = Array.from(
    { length: Math.ceil(columns.length / width) },
    (_, line) => line * width,
  );
  return {
    lines,
    columns: Array.from({ length: width }, (_, column) => column),
    step: width,
    cells,
  };
}
