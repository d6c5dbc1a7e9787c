// What differs between two steps: which variables, and how each of them. Pure.

import { areAlike, areComparable, differingFacts, differingParts } from "viewer/model/alike.js";
import { inReadingOrder, isWhole, numberOf, OVER_ALL } from "viewer/model/elements.js";
import { partsOf } from "viewer/model/parts.js";
import { callStack } from "viewer/model/frames.js";
import { functionIndex } from "viewer/model/run.js";
import { valueText } from "viewer/model/values.js";
import { variablesOf } from "viewer/model/variables.js";

const MAX_PARTS = 40;

/**
 * The calls that two steps can be compared in, the one that says most first: the call that both are
 * in; two calls of one function; then the calls around.
 * @param {Model} model
 * @param {number} before
 * @param {number} after
 * @returns {Pair[]}
 */
export function pairsOf(model, before, after) {
  const [first, second] = [callStack(model, before), callStack(model, after)];
  const [one, other] = [first[first.length - 1], second[second.length - 1]];
  const common = second.flatMap((moment) => {
    const same = first.find(({ activation }) => activation === moment.activation);
    return same ? [{ before: same, after: moment }] : [];
  });
  const inner = { before: one, after: other };
  const isCommon = one.activation === other.activation;
  const alike = functionIndex(model, one.activation) === functionIndex(model, other.activation);
  const around = common.toReversed();
  if (isCommon) return around;
  return alike || !around.length ? [inner, ...around] : [...around, inner];
}

/**
 * What differs between the variables of two calls, or of one call at two times.
 * @param {Model} model
 * @param {Pair} pair
 * @param {number} before the steps that are compared, in which these calls are open
 * @param {number} after
 * @returns {Difference[]} what changed first, then what was added, removed, and what stayed; each
 *   says whether it is known to be so: what was not recorded in between may have changed unseen
 */
export function differencesOf(model, pair, before, after) {
  const first = variablesOf(model, pair.before.activation, before);
  const second = variablesOf(model, pair.after.activation, after);
  const all = [...new Set([...first.keys(), ...second.keys()])].map((name) => {
    const [one, other] = [first.get(name), second.get(name)];
    const isReadAgain = one?.row !== other?.row || (other?.since ?? 0) < 0;
    const [before, after] = [one?.value ?? null, other?.value ?? null];
    const known = isReadAgain && (!before || !after || areComparable(before, after));
    return { ...difference(name, before, after), known };
  });
  return ["changed", "added", "removed", "same"].flatMap((kind) =>
    all.filter((entry) => entry.kind === kind),
  );
}

/**
 * @param {string} name
 * @param {Value | null} before
 * @param {Value | null} after
 * @returns {Omit<Difference, "known">}
 */
function difference(name, before, after) {
  if (!before || !after)
    return { name, kind: before ? "removed" : "added", before, after, detail: null };
  const detail = detailOf(before, after);
  return { name, kind: detail ? "changed" : "same", before, after, detail };
}

/**
 * How a value differs from another, or null where it does not as far as both are recorded.
 * @param {Value} before
 * @param {Value} after
 * @returns {Detail | null}
 */
export function detailOf(before, after) {
  if (areAlike(before, after)) return null;
  if (before.shape && after.shape) return tensorDetail(before, after);
  const [one, other] = [before.value, after.value];
  if (typeof one === "number" && typeof other === "number" && before.type === after.type)
    return { by: "number", notes: [], difference: other - one };
  const notes = before.type === after.type ? [] : [`type ${before.type} → ${after.type}`];
  const isContainer =
    partsOf(before).length > 0 && partsOf(after).length > 0 && before.type === after.type;
  return isContainer ? partsDetail(before, after, notes) : { by: "text", notes };
}

/** @param {Value} before @param {Value} after @returns {Detail} */
function tensorDetail(before, after) {
  const notes = differingFacts(before, after).map(changeText);
  const sameShape = String(before.shape) === String(after.shape);
  if (!sameShape || !before.elements || !after.elements) return { by: "layout", notes };
  if (isWhole(before) && isWhole(after)) return elementsDetail(before, after, notes);
  const shown = Math.min(before.elements.length, after.elements.length);
  const changed = before.elements
    .slice(0, shown)
    .filter((cell, at) => cell !== after.elements?.[at]).length;
  if (!before.statistics || !after.statistics) return { by: "corners", notes, shown, changed };
  const rows = Object.entries(before.statistics)
    .filter(([name]) => name in (after.statistics ?? {}))
    .sort(([one], [other]) => inReadingOrder(one, other))
    .map(
      ([name, statistic]) =>
        /** @type {[string, number | string, number | string]} */ ([
          name === "std" ? OVER_ALL : name,
          statistic,
          after.statistics?.[name],
        ]),
    );
  return {
    by: "statistics",
    notes,
    rows: rows.filter(([, one, other]) => one !== 0 || other !== 0),
    shown,
    changed,
  };
}

/** @param {Value} before @param {Value} after @param {string[]} notes @returns {Detail} */
function elementsDetail(before, after, notes) {
  const sizes = after.shape ?? [];
  const old = before.elements ?? [];
  /** @type {Cell[]} */
  const differences = (after.elements ?? []).map((cell, at) => changeOf(old[at], cell));
  const changed = differences.filter((_, at) => old[at] !== after.elements?.[at]).length;
  let [largest, place] = [/** @type {number | null} */ (null), -1];
  differences.forEach((change, at) => {
    const size = typeof change === "number" ? Math.abs(change) : NaN;
    if (old[at] !== after.elements?.[at] && size > (largest ?? -1)) [largest, place] = [size, at];
  });
  return {
    by: "elements",
    notes,
    count: differences.length,
    changed,
    largest,
    where: place < 0 ? [] : indexOf(place, sizes),
    differences,
  };
}

/**
 * Signed change of an element; text where the difference is no finite number.
 * @param {Cell} before
 * @param {Cell} after
 * @returns {Cell}
 */
function changeOf(before, after) {
  if (before === after) return 0;
  const [one, other] = [numberOf(before), numberOf(after)];
  if (one === null || other === null) return "changed";
  const change = other - one;
  return Number.isFinite(change)
    ? change
    : Number.isNaN(change)
      ? "nan"
      : change > 0
        ? "inf"
        : "-inf";
}

/**
 * Index of an element from its place in row-major order.
 * @param {number} place
 * @param {number[]} sizes
 */
function indexOf(place, sizes) {
  let rest = place;
  return sizes
    .toReversed()
    .map((size) => {
      const at = rest % size;
      rest = (rest - at) / size;
      return at;
    })
    .toReversed();
}

/** @param {Value} before @param {Value} after @param {string[]} notes @returns {Detail} */
function partsDetail(before, after, notes) {
  const changed = differingParts(before, after);
  const [one, other] = [before.length, after.length].map(String);
  const grown = changed.length || one === other ? [] : [changeText(["length", one, other])];
  return {
    by: "parts",
    notes: [...notes, ...grown],
    parts: changed.slice(0, MAX_PARTS).map(partText),
    more: Math.max(0, changed.length - MAX_PARTS),
  };
}

/** @param {[name: string, before: string, after: string]} change */
function changeText([name, before, after]) {
  return `${name} ${before} → ${after}`;
}

/**
 * A part that differs, as text; where both texts are equal, what they leave out differs.
 * @param {ReturnType<typeof differingParts>[number]} difference
 * @returns {[path: string, before: string, after: string]}
 */
function partText([path, before, after]) {
  const [one, other] = [before, after].map((part) => (part ? valueText(part) : "–"));
  return [path, one, one === other ? `${other}, other contents` : other];
}
