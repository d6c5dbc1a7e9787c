// Whether two records of a value say the same, as far as both say it: a glance tells less than what
// `@inspect` keeps, and what only one of them tells is no difference. Pure.

import { hasContents } from "viewer/model/objects.js";
import { partsOf } from "viewer/model/parts.js";

/** What a value is by itself, besides its parts, its elements, and how much of it is recorded. */
const CONTENTS = ["length", "error", "svg", "markdown", "html", "png", "jpeg", "vega"];

/**
 * @param {Value} one
 * @param {Value} other
 * @returns {boolean}
 */
export function areAlike(one, other) {
  if (one === other) return true;
  if (one.type !== other.type) return false;
  if (one.shape && other.shape)
    return !differingFacts(one, other).length && haveLikeElements(one, other);
  return (
    CONTENTS.every((key) => agree(one, other, key)) &&
    haveLikeTexts(one, other) &&
    !differingParts(one, other).length
  );
}

/** Whether what both say is equal. @param {any} one @param {any} other @param {string} key */
function agree(one, other, key) {
  const [first, second] = [one[key], other[key]];
  return (
    first === undefined || second === undefined || JSON.stringify(first) === JSON.stringify(second)
  );
}

/** Of a text that is cut, the beginning is known. @param {Value} one @param {Value} other */
function haveLikeTexts(one, other) {
  const [first, second] = [one, other].map(({ value, text }) =>
    value === undefined ? text : value,
  );
  if (first === undefined || second === undefined) return true;
  if (typeof first !== "string" || typeof second !== "string") return Object.is(first, second);
  if (one.cut && second.startsWith(first)) return true;
  return first === second || (other.cut === true && first.startsWith(second));
}

/**
 * @typedef {[path: string, before: Value | undefined, after: Value | undefined]} PartDifference
 */

/**
 * The innermost parts in which two values differ, by the way to them; what may lie in the part of
 * a container that is not recorded is left out.
 * @param {Value} one
 * @param {Value} other
 * @param {string} [path]
 * @returns {PartDifference[]}
 */
export function differingParts(one, other, path = "") {
  if (!hasContents(one) || !hasContents(other)) return [];
  const [first, second] = [new Map(partsOf(one)), new Map(partsOf(other))];
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
    const [before, after] = [first.get(name), second.get(name)];
    const way = path + name;
    /** @type {PartDifference[]} */
    const whole = [[way, before, after]];
    if (!before || !after) return (before ? other : one).cut ? [] : whole;
    if (areAlike(before, after)) return [];
    const inside = before.type === after.type ? differingParts(before, after, way) : [];
    return inside.length ? inside : whole;
  });
}

/**
 * What two records of a tensor tell differently of it, besides its elements. A glance leaves out
 * what is usual: the device `cpu`, no offset, strides of rows one after the other, no gradient.
 * @param {Value} one
 * @param {Value} other
 * @returns {[name: string, before: string, after: string][]}
 */
export function differingFacts(one, other) {
  const [first, second] = [factsOf(one), factsOf(other)];
  const isPlaced = (one.storage === undefined) === (other.storage === undefined);
  const isPacked = [one, other].every(({ strides, contiguous }) => contiguous ?? !strides);
  const isUntold = !one.strides || !other.strides;
  const unknown = [
    ...(isPlaced ? [] : ["strides", "offset", "storage"]),
    ...(isPacked && isUntold ? ["strides"] : []),
  ];
  return Object.entries(first).flatMap(([name, before]) => {
    const after = second[name];
    const isSame = before === after || unknown.includes(name);
    return isSame ? [] : [/** @type {[string, string, string]} */ ([name, before, after])];
  });
}

/** @param {Value} value @returns {Record<string, string>} */
function factsOf({ type, dtype, shape = [], strides, offset, device, storage, requires_grad }) {
  return {
    ...{ type, dtype: dtype ?? "–", shape: `[${shape.join(", ")}]`, device: device ?? "cpu" },
    strides: shape.length ? `(${(strides ?? rowMajor(shape)).join(", ")})` : "()",
    offset: String(offset ?? 0),
    storage: storage === undefined ? "–" : `#${storage}`,
    "requires grad": requires_grad ? "yes" : "no",
  };
}

/** Steps along each axis where rows lie one after the other. @param {number[]} sizes */
function rowMajor(sizes) {
  return sizes.map((_, axis) => sizes.slice(axis + 1).reduce((all, size) => all * size, 1));
}

/** @param {Value} one @param {Value} other */
function haveLikeElements(one, other) {
  const { statistics: first = {} } = one;
  const { statistics: second = {} } = other;
  const isRead = one.elements && other.elements && agree(one, other, "shown");
  return (
    (!isRead || agree(one, other, "elements")) &&
    agree(one, other, "histogram") &&
    Object.keys(first).every((name) => !(name in second) || first[name] === second[name])
  );
}

/**
 * Whether two records that are alike tell enough to call the values equal: of tensors, elements.
 * @param {Value} one
 * @param {Value} other
 */
export function areComparable(one, other) {
  if (one === other) return true;
  return one.shape && other.shape
    ? one.elements !== undefined && other.elements !== undefined
    : hasContents(one) && hasContents(other);
}

/**
 * Which of two records tells more; of equal ones the first.
 * @param {Value} one
 * @param {Value} other
 */
export function fuller(one, other) {
  return JSON.stringify(other).length > JSON.stringify(one).length ? other : one;
}
