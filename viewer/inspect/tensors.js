// Where the elements of a tensor lie in its storage, which of them are recorded, and what they are together. Pure.

import { counted, integer } from "viewer/format.js";

const BITS = /(\d+)/;
const BINS = 20;
/** How many elements are gone through one by one to count the cells they lie in. */
const MAX_COUNTED = 200_000;
/** How many elements of one cell are looked for. */
const MAX_SEARCHED = 10_000;
/** How many of the elements that share a cell are named. */
const MAX_NAMED = 12;

/** @param {number[]} sizes */
export function product(sizes) {
  return sizes.reduce((all, size) => all * size, 1);
}

/** An element as a number; NaN, infinities and large integers stand in the document as text, complex numbers have none.
 * @param {Cell} cell @returns {number | null} */
export function numberOf(cell) {
  if (typeof cell !== "string") return Number(cell);
  if (cell === "nan") return NaN;
  if (/^[+-]?inf$/.test(cell)) return cell.startsWith("-") ? -Infinity : Infinity;
  return /^-?\d+$/.test(cell) ? Number(cell) : null;
}

/** Where a tensor's elements lie; null where the document does not say. Of an array only the distances are recorded:
 * then the cells are counted from the first one that it reads. @param {Value} value @returns {Layout | null} */
export function layoutOf(value) {
  const { shape: sizes, strides, offset, bytes = 0, storage_bytes: held } = value;
  if (!sizes || !strides || strides.length !== sizes.length) return null;
  const count = product(sizes);
  const itemBytes = count
    ? bytes / count
    : Math.ceil(Number(BITS.exec(value.dtype ?? "")?.[1] ?? 8) / 8);
  const reach = sizes.map((size, axis) => Math.max(0, size - 1) * strides[axis]);
  const lowest = reach.reduce((sum, way) => sum + Math.min(0, way), 0);
  const highest = reach.reduce((sum, way) => sum + Math.max(0, way), 0);
  if (held === undefined || offset === undefined)
    return {
      sizes,
      strides,
      offset: -lowest,
      itemBytes,
      cells: count ? highest - lowest + 1 : 0,
      known: false,
    };
  return {
    sizes,
    strides,
    offset,
    itemBytes,
    cells: Math.floor(held / (itemBytes || 1)),
    known: true,
  };
}

/** The cell of an element. @param {Layout} layout @param {number[]} index */
export function cellOf({ strides, offset }, index) {
  return index.reduce((sum, at, axis) => sum + at * strides[axis], offset);
}

/** The sum that leads to an element's cell, such as `4 + 1·3 + 2·1 = 9`. @param {Layout} layout @param {number[]} index */
export function sumText(layout, index) {
  const terms = layout.strides.map(
    (stride, axis) => `${index[axis]}·${stride < 0 ? `(${stride})` : stride}`,
  );
  return terms.length
    ? `${[layout.offset, ...terms].join(" + ")} = ${cellOf(layout, index)}`
    : String(layout.offset);
}

/** The elements that lie in a cell. @param {Layout} layout @param {number} cell @returns {Readers} */
export function readersOf({ sizes, strides, offset }, cell) {
  if (!product(sizes)) return { count: 0, isAll: true, indices: [] };
  const free = sizes.map((_, axis) => axis).filter((axis) => strides[axis] === 0);
  const axes = sizes
    .map((_, axis) => axis)
    .filter((axis) => strides[axis] !== 0)
    .sort((one, other) => Math.abs(strides[other]) - Math.abs(strides[one]));
  const reach = axes.map((axis) => (sizes[axis] - 1) * Math.abs(strides[axis]));
  const beyond = reach.map((_, at) => reach.slice(at + 1).reduce((sum, way) => sum + way, 0));
  const start = axes.reduce(
    (low, axis) => low + Math.min(0, (sizes[axis] - 1) * strides[axis]),
    offset,
  );
  const index = sizes.map(() => 0);
  /** @type {number[][]} */
  const found = [];
  let count = 0;
  const search = (/** @type {number} */ at, /** @type {number} */ rest) => {
    if (at === axes.length) {
      if (rest !== 0) return;
      count++;
      if (found.length < MAX_NAMED) found.push([...index]);
      return;
    }
    const axis = axes[at];
    const step = Math.abs(strides[axis]);
    const last = Math.min(sizes[axis] - 1, Math.floor(rest / step));
    for (
      let place = Math.max(0, Math.ceil((rest - beyond[at]) / step));
      place <= last && count < MAX_SEARCHED;
      place++
    ) {
      index[axis] = strides[axis] < 0 ? sizes[axis] - 1 - place : place;
      search(at + 1, rest - place * step);
    }
  };
  search(0, cell - start);
  const repeats = product(free.map((axis) => sizes[axis]));
  return {
    count: count * repeats,
    isAll: count < MAX_SEARCHED,
    indices: repeated(found, free, sizes).sort(inOrder).slice(0, MAX_NAMED),
  };
}

/** Indices with every place along the axes that take no step. @param {number[][]} indices @param {number[]} free @param {number[]} sizes */
function repeated(indices, free, sizes) {
  let all = indices;
  for (const axis of free.toReversed())
    all = all.flatMap((index) =>
      Array.from({ length: Math.min(sizes[axis], MAX_NAMED) }, (_, place) =>
        index.with(axis, place),
      ),
    );
  return all;
}

/** @param {number[]} one @param {number[]} other */
function inOrder(one, other) {
  const axis = one.findIndex((at, place) => at !== other[place]);
  return axis < 0 ? 0 : one[axis] - other[axis];
}

/** How many different cells the elements lie in, or null where that would take long. @param {Layout} layout */
export function cellsRead({ sizes, strides }) {
  const count = product(sizes);
  if (!count) return 0;
  const moved = sizes
    .flatMap((size, axis) =>
      size > 1 && strides[axis] !== 0 ? [[Math.abs(strides[axis]), size]] : [],
    )
    .sort(([one], [other]) => one - other);
  let reach = 0;
  let apart = true;
  for (const [step, size] of moved) {
    apart &&= step > reach;
    reach += step * (size - 1);
  }
  const different = product(moved.map(([, size]) => size));
  if (apart) return different;
  if (different > MAX_COUNTED) return null;
  let places = [0];
  for (const [step, size] of moved)
    places = [
      ...new Set(
        places.flatMap((place) => Array.from({ length: size }, (_, at) => place + at * step)),
      ),
    ];
  return places.length;
}

/** Indices that are recorded along each axis; where no element is, the first. @param {Value} value @returns {number[][]} */
export function recordedAlong(value) {
  const most = value.elements?.length || 1;
  return (value.shape ?? []).map(
    (size, axis) => value.shown?.[axis] ?? [...Array(Math.min(size, most)).keys()],
  );
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

/** The recorded element of an index, if any. @param {Value} value @param {number[]} index @returns {Cell | undefined} */
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
 * What the elements are together: as the run recorded it from all of them, or computed here where all are recorded.
 * @param {Value} value
 * @returns {Summary | null}
 */
export function summaryOf(value) {
  if (value.statistics) {
    const statistics = Object.entries(value.statistics).flatMap(([name, amount]) => {
      const number = numberOf(amount);
      return number === null ? [] : [/** @type {[string, number]} */ ([name, number])];
    });
    return {
      of: product(value.shape ?? []),
      recorded: true,
      statistics: statistics.sort(([one], [other]) => inReadingOrder(one, other)),
      histogram: value.histogram ?? null,
    };
  }
  const numbers = isWhole(value) ? (value.elements ?? []).map(numberOf) : [];
  if (!numbers.length || numbers.includes(null)) return null;
  return { of: numbers.length, recorded: false, ...summed(/** @type {number[]} */ (numbers)) };
}

const ORDER = ["min", "mean", "max", "std", "nan", "inf"];

/** @param {string} one @param {string} other names of statistics */
export function inReadingOrder(one, other) {
  return ORDER.indexOf(one) - ORDER.indexOf(other);
}

/** The same statistics that a run records: of the finite elements, the deviation as of a population.
 * @param {number[]} numbers @returns {{statistics: [string, number][], histogram: Bins | null}} */
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
  const mean = finite.reduce((sum, number) => sum + number / finite.length, 0);
  const deviation = Math.sqrt(
    finite.reduce((sum, number) => sum + (number - mean) ** 2 / finite.length, 0),
  );
  return {
    statistics: [["min", low], ["mean", mean], ["max", high], ["std", deviation], ...missing],
    histogram: { low, high, counts: binned(finite, low, high) },
  };
}

/** @param {number[]} numbers @param {number} low @param {number} high */
function binned(numbers, low, high) {
  const counts = Array(BINS).fill(0);
  for (const number of numbers)
    counts[
      high > low ? Math.min(BINS - 1, Math.floor(((number - low) / (high - low)) * BINS)) : BINS / 2
    ]++;
  return counts;
}

/** @param {number} count */
function bytesOf(count) {
  return counted(count, "byte");
}

/**
 * Copy or view, in words. The storage goes by the name that was first seen with it, which need not be the one that it was
 * made for: not every name is recorded.
 * @param {Value} value
 * @param {string} name
 * @param {number} activation of the call that it is a name of
 * @param {Alias[]} aliases of its storage, in the order of the run
 * @returns {string[]} sentences
 */
export function storageWords(value, name, activation, aliases) {
  const { storage, storage_bytes: held = 0, bytes = 0 } = value;
  const layout = layoutOf(value);
  if (storage === undefined || !layout) return [];
  const read = cellsRead(layout);
  const readBytes = read === null ? null : read * layout.itemBytes;
  const isOwn = (/** @type {Alias} */ alias) =>
    alias.name === name && alias.activation === activation;
  const called = (/** @type {Alias} */ alias) =>
    alias.activation === activation ? alias.name : `${alias.name} in ${alias.func}`;
  const [owner, ...later] = aliases.filter(({ when }) => when !== "later");
  const others = [
    ...new Set(later.filter((alias) => alias.when === "now" && !isOwn(alias)).map(called)),
  ];
  const isAlone = later.every(isOwn);
  const too = others.length
    ? `, which ${listed(others)} ${others.length > 1 ? "view" : "views"} too`
    : "";
  const repeats =
    readBytes !== null && bytes > readBytes
      ? [`A view in which elements share a place: apart, they would be ${bytesOf(bytes)}.`]
      : [];
  const part =
    readBytes === held
      ? `all ${bytesOf(held)}`
      : readBytes === null
        ? `some of its ${bytesOf(held)}`
        : `${integer(readBytes)} of ${bytesOf(held)}`;
  if (owner && !isOwn(owner))
    return [`A view of the storage of ${called(owner)}, ${part}.`, ...repeats];
  if (readBytes === held)
    return [
      `All ${bytesOf(held)} of its storage${too || (isAlone ? "; no other name seen so far views it" : "")}.`,
      ...repeats,
    ];
  return [`A part of a storage${too}: ${part}.`, ...repeats];
}

/** @param {string[]} words */
function listed(words) {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
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

/** The part of a strip of cells that is drawn: around a cell, of at most so many. @param {number} cells @param {number} around @param {number} most */
export function windowOf(cells, around, most) {
  const first = Math.max(0, Math.min(cells - most, around - Math.floor(most / 2)));
  return { first, beyond: Math.min(cells, first + most) };
}

/** A long line of cells, broken into lines of the same length. @param {Plane} plane @param {number} width @returns {Plane} */
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
