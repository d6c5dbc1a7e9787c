// Where the elements of a tensor lie in its storage, and who reads which cell. Pure.

import { product } from "viewer/model/elements.js";
import { counted, integer } from "viewer/model/format.js";

const BITS = /(\d+)/;

/** How many elements are gone through one by one to count the cells they lie in. */
const MAX_COUNTED = 200_000;

/** How many elements of one cell are looked for. */
const MAX_SEARCHED = 10_000;

/** How many of the elements that share a cell are named. */
const MAX_NAMED = 12;

/** As Python writes it: of one number with a comma. @param {number[]} numbers */
export function tuple(numbers) {
  return `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
}

/**
 * Cells from one element to the next along each axis; a glance leaves out the usual ones, those of
 * row-major order.
 * @param {Value} value
 * @returns {number[] | undefined} undefined where the run did not record them
 */
export function stridesOf({ shape: sizes, strides, storage }) {
  if (strides || !sizes || storage === undefined) return strides;
  return sizes.map((_, axis) => product(sizes.slice(axis + 1)));
}

/**
 * Elements before the first one in storage; a glance leaves out 0.
 * @param {Value} value
 * @returns {number | undefined} undefined where the run did not record it
 */
export function offsetOf({ shape: sizes, offset, storage }) {
  return offset ?? (sizes && storage !== undefined ? 0 : undefined);
}

/**
 * Bytes of all elements; a glance leaves them out.
 * @param {Value} value
 * @returns {number | undefined} undefined where the elements lie nowhere that the run knows
 */
export function bytesOf(value) {
  const { shape: sizes, bytes, storage } = value;
  if (bytes !== undefined || !sizes || storage === undefined) return bytes;
  const count = product(sizes);
  return count * itemBytesOf(value, count);
}

/** Where the elements lie; a glance leaves out the processor. @param {Value} value */
export function deviceOf({ device, storage }) {
  return device ?? (storage === undefined ? undefined : "cpu");
}

/** Whether the elements lie in row-major order; of a glance only other orders are written.
 * @param {Value} value */
export function isContiguous({ shape: sizes, contiguous, strides, storage }) {
  return contiguous ?? (sizes && storage !== undefined ? strides === undefined : undefined);
}

/** Whether a gradient is wanted; a glance leaves out that none is. @param {Value} value */
export function wantsGradient({ requires_grad: wants, storage }) {
  return wants ?? (storage === undefined ? undefined : false);
}

/**
 * A value with the size of its storage: a glance leaves it out, another view of it may tell.
 * @param {Value} value
 * @param {{value: Value}[]} aliases views of the same storage
 * @returns {Value}
 */
export function withStorageSize(value, aliases) {
  const sizes = new Set(aliases.flatMap((alias) => alias.value.storage_bytes ?? []));
  // One that was resized has no size of its own.
  if (value.storage_bytes !== undefined || sizes.size !== 1) return value;
  return { ...value, storage_bytes: [...sizes][0] };
}

/** Bytes of an element. @param {Value} value @param {number} count of elements */
function itemBytesOf({ dtype = "", bytes }, count) {
  return count && bytes ? bytes / count : Math.ceil(Number(BITS.exec(dtype)?.[1] ?? 8) / 8);
}

/**
 * Where a tensor's elements lie; null where the document does not say. Of an array only the
 * distances are recorded: then the cells are counted from the first one that it reads. A glance
 * does not tell how many cells the storage has: then they are counted up to the last one that is
 * read.
 * @param {Value} value
 * @returns {Layout | null}
 */
export function layoutOf(value) {
  const { shape: sizes, storage_bytes: held } = value;
  const strides = stridesOf(value);
  if (!sizes || !strides || strides.length !== sizes.length) return null;
  const count = product(sizes);
  const itemBytes = itemBytesOf(value, count);
  const reach = sizes.map((size, axis) => Math.max(0, size - 1) * strides[axis]);
  const lowest = reach.reduce((sum, way) => sum + Math.min(0, way), 0);
  const highest = reach.reduce((sum, way) => sum + Math.max(0, way), 0);
  const start = offsetOf(value);
  const offset = start ?? -lowest;
  const isWhole = start !== undefined && held !== undefined;
  const read = count ? offset + highest + 1 : 0;
  const cells = isWhole ? Math.floor(held / (itemBytes || 1)) : read;
  return { sizes, strides, offset, itemBytes, cells, known: start !== undefined, isWhole };
}

/** The cell of an element. @param {Layout} layout @param {number[]} index */
export function cellOf({ strides, offset }, index) {
  return index.reduce((sum, at, axis) => sum + at * strides[axis], offset);
}

/**
 * The sum that leads to an element's cell, such as `4 + 1·3 + 2·1 = 9`.
 * @param {Layout} layout
 * @param {number[]} index
 */
export function sumText(layout, index) {
  const terms = layout.strides.map(
    (stride, axis) => `${index[axis]}·${stride < 0 ? `(${stride})` : stride}`,
  );
  return terms.length
    ? `${[layout.offset, ...terms].join(" + ")} = ${cellOf(layout, index)}`
    : String(layout.offset);
}

/**
 * The elements that lie in a cell.
 * @param {Layout} layout
 * @param {number} cell
 * @returns {Readers}
 */
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

/**
 * Indices with every place along the axes that take no step.
 * @param {number[][]} indices
 * @param {number[]} free
 * @param {number[]} sizes
 */
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

/**
 * How many different cells the elements lie in, or null where that would take long.
 * @param {Layout} layout
 */
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

/** @param {number} count */
function inBytes(count) {
  return counted(count, "byte");
}

/**
 * Copy or view, in words. The storage goes by the name that was first seen with it, which need not
 * be the one that it was made for: not every name is recorded.
 * @param {Value} value
 * @param {string} name
 * @param {number} activation of the call that it is a name of
 * @param {Alias[]} aliases of its storage, in the order of the run
 * @returns {string[]} sentences
 */
export function storageWords(value, name, activation, aliases) {
  const { storage, storage_bytes: held = 0 } = value;
  const layout = layoutOf(value);
  const bytes = bytesOf(value) ?? 0;
  if (storage === undefined || !layout) return [];
  const read = cellsRead(layout);
  const readBytes = read === null ? null : read * layout.itemBytes;
  const isOwn = (/** @type {Alias} */ alias) =>
    alias.name === name && alias.activation === activation;
  const called = (/** @type {Alias} */ alias) =>
    alias.activation === activation ? alias.name : `${alias.name} in ${alias.func}`;
  const seen = aliases.filter(({ when }) => when !== "later");
  const [owner, ...later] = seen;
  const othersIn = (/** @type {Alias[]} */ among) => [
    ...new Set(among.filter((alias) => alias.when === "now" && !isOwn(alias)).map(called)),
  ];
  // Whose storage it is cannot be said here, so the first name is one among the others.
  if (value.storage_bytes === undefined) {
    const all = othersIn(seen);
    return all.length ? [`It shares its storage with ${listed(all)}.`] : [];
  }
  const others = othersIn(later);
  const too = others.length
    ? `, which ${listed(others)} ${others.length > 1 ? "view" : "views"} too`
    : "";
  const alone = later.every(isOwn) ? "; no other name seen so far views it" : "";
  const repeats =
    readBytes !== null && bytes > readBytes
      ? [`A view in which elements share a place: apart, they would be ${inBytes(bytes)}.`]
      : [];
  const part =
    readBytes === held
      ? `all ${inBytes(held)}`
      : readBytes === null
        ? `some of its ${inBytes(held)}`
        : `${integer(readBytes)} of ${inBytes(held)}`;
  if (owner && !isOwn(owner))
    return [`A view of the storage of ${called(owner)}, ${part}.`, ...repeats];
  if (readBytes === held)
    return [`All ${inBytes(held)} of its storage${too || alone}.`, ...repeats];
  return [`A part of a storage${too}: ${part}.`, ...repeats];
}

/** @param {string[]} words */
function listed(words) {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/**
 * The part of a strip of cells that is drawn: around a cell, of at most so many.
 * @param {number} cells
 * @param {number} around
 * @param {number} most
 */
export function windowOf(cells, around, most) {
  const first = Math.max(0, Math.min(cells - most, around - Math.floor(most / 2)));
  return { first, beyond: Math.min(cells, first + most) };
}
