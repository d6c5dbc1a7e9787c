// What differs between two steps: which variables, and how each of them. Pure.

import { inReadingOrder, isWhole, numberOf } from "viewer/model/elements.js";
import { partsOf } from "viewer/model/records.js";
import { callStack, functionIndex } from "viewer/model/run.js";
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
    const known = one?.row !== other?.row || (other?.since ?? 0) < 0;
    return { ...difference(name, one?.value ?? null, other?.value ?? null), known };
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
  const detail = before === after ? null : detailOf(before, after);
  return { name, kind: detail ? "changed" : "same", before, after, detail };
}

/**
 * How a value differs from another, or null where it does not.
 * @param {Value} before
 * @param {Value} after
 * @returns {Detail | null}
 */
export function detailOf(before, after) {
  if (JSON.stringify(before) === JSON.stringify(after)) return null;
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
  const notes = tensorNotes(before, after);
  const sameShape = String(before.shape) === String(after.shape);
  if (!sameShape || !before.elements || !after.elements) return { by: "layout", notes };
  if (isWhole(before) && isWhole(after)) return elementsDetail(before, after, notes);
  const shown = Math.min(before.elements.length, after.elements.length);
  const changed = before.elements
    .slice(0, shown)
    .filter((cell, at) => cell !== after.elements?.[at]).length;
  if (!before.statistics || !after.statistics) return { by: "corners", notes, shown, changed };
  const rows = Object.keys({ ...before.statistics, ...after.statistics })
    .sort(inReadingOrder)
    .map(
      (name) =>
        /** @type {[string, number | string, number | string]} */ ([
          name,
          before.statistics?.[name] ?? "–",
          after.statistics?.[name] ?? "–",
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

/** What changed about a tensor besides its elements. @param {Value} before @param {Value} after */
function tensorNotes(before, after) {
  const facts = (
    /** @type {Value} */ {
      type,
      dtype,
      shape,
      device,
      strides,
      offset,
      storage,
      requires_grad: grad,
    },
  ) => ({
    type,
    dtype,
    shape: `[${shape?.join(", ")}]`,
    device,
    strides: String(shape) && strides ? `(${strides.join(", ")})` : undefined,
    offset,
    storage: storage === undefined ? undefined : `#${storage}`,
    "requires grad": grad === undefined ? undefined : grad ? "yes" : "no",
  });
  const [one, other] = [facts(before), facts(after)];
  return Object.entries(one).flatMap(([name, fact]) => {
    const now = /** @type {Record<string, any>} */ (other)[name];
    return fact === now ? [] : [`${name} ${fact ?? "–"} → ${now ?? "–"}`];
  });
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
  const [one, other] = [leaves(before), leaves(after)];
  const paths = [...new Set([...one.keys(), ...other.keys()])];
  const changed = paths.flatMap((path) => {
    const [old, now] = [one.get(path) ?? "–", other.get(path) ?? "–"];
    return old === now ? [] : [/** @type {[string, string, string]} */ ([path, old, now])];
  });
  return {
    by: "parts",
    notes,
    parts: changed.slice(0, MAX_PARTS),
    more: Math.max(0, changed.length - MAX_PARTS),
  };
}

/**
 * The innermost parts of a value as text, by the way to them.
 * @param {Value} value
 * @param {string} [path]
 * @param {Map<string, string>} [found]
 */
function leaves(value, path = "", found = new Map()) {
  const parts = value.shape ? [] : partsOf(value);
  if (!parts.length) found.set(path, valueText(value));
  for (const [name, part] of parts) leaves(part, path + name, found);
  return found;
}
