// The variables of all open calls at a step: as they are then, or marked with the step they are
// from. Pure.

import { lastReading, lastWrite, momentOf, stepOfMoment } from "viewer/model/moments.js";
import {
  hasContents,
  isMutable,
  isNews,
  objectsIn,
  readingsOfObject,
} from "viewer/model/objects.js";
import { CLEARED, countKnown, GONE, NONE, readingsOf, rowsOfCall } from "viewer/model/readings.js";
import { callStack } from "viewer/model/frames.js";
import { endOf, entryOf, eventOf, functionOf } from "viewer/model/run.js";
import { isPicture } from "viewer/model/values.js";

/** Of so many open calls the variables are told; of more, those of the outermost and innermost. */
const MAX_CALLS = 14;
export const OUTERMOST = 2;

/** How deep objects in objects are looked up. */
const MAX_DEPTH = 3;

/** A moment after all writing. */
const NOW = Infinity;

/**
 * @param {Model} model
 * @param {number} step
 * @param {boolean} [isAhead] whether its calls are still to come
 * @returns {ProgramState}
 */
export function stateAt(model, step, isAhead = false) {
  const end = isAhead ? eventOf(model, step) : endOf(model, step);
  const open = callStack(model, step);
  const calls = fewOf(open);
  const reads = calls.map((call, depth) =>
    lastReading(model, call, momentOf(model, call, end, depth === calls.length - 1)),
  );
  const wrote = lastWrite(model, end);
  /** @type {Moments} */
  const moment = { model, event: eventOf(model, step), end, wrote, calls, reads, seen: new Map() };
  const known = calls.map((_, depth) => rowsAt(moment, depth));
  known.flat().forEach((found) => noteSeen(moment, found));
  const frames = calls.map((call, depth) => ({
    ...call,
    variables: known[depth].map((found) => variable(moment, depth, found)),
  }));
  return {
    frames,
    leftOut: open.length - calls.length,
    contentOf: (value) => contentOf(moment, value),
  };
}

/**
 * The variables of one open call at a step by name, without what is not bound any more.
 * @param {Model} model
 * @param {number} activation
 * @param {number} step
 * @returns {Map<string, Variable>}
 */
export function variablesOf(model, activation, step) {
  const frame = stateAt(model, step).frames.find((open) => open.activation === activation);
  const bound = frame?.variables.filter(({ value }) => value) ?? [];
  return new Map(bound.map((variable) => [variable.text, variable]));
}

/** @param {Moment[]} calls */
function fewOf(calls) {
  if (calls.length <= MAX_CALLS) return calls;
  return [...calls.slice(0, OUTERMOST), ...calls.slice(OUTERMOST - MAX_CALLS)];
}

/**
 * The latest row of each name of an open call. What it returns is known while it returns.
 * @param {Moments} moment
 * @param {number} depth
 * @returns {Known[]}
 */
function rowsAt({ model, calls, end, event, reads }, depth) {
  const readings = readingsOf(model);
  const { names } = model.document;
  const found = [];
  for (const [name, rows] of rowsOfCall(model, calls[depth].activation)) {
    const count = countKnown(readings, rows, end);
    const row = rows[count - 1] ?? -1;
    const isReturn = names[name] === "return";
    const isOver = isReturn && readings.event[row] !== event;
    if (row < 0 || readings.value[row] === CLEARED || isOver) continue;
    // What @inspect read later than the call read its names is not what these say.
    const isGlanced = readings.glance[row] !== NONE && readings.at[row] <= reads[depth].at;
    const at = isGlanced ? reads[depth].at : readings.at[row];
    found.push({ name, row, before: rows[count - 2] ?? -1, count, isReturn, isGlanced, at });
  }
  return found;
}

/**
 * What the last reading of an open call tells of the objects that its names stand for.
 * @param {Moments} moment
 * @param {Known} known
 */
function noteSeen(moment, { row, at, isGlanced }) {
  const { model, seen } = moment;
  const glance = isGlanced ? model.document.values[readingsOf(model).glance[row]] : undefined;
  if (glance)
    for (const [object, { value, depth }] of objectsIn(glance)) {
      const before = seen.get(object);
      const reading = { value, depth, at };
      if (!before || isBetter(moment, reading, before)) seen.set(object, reading);
    }
}

/**
 * Whether a reading of an object tells more than another: of those that are true, the one that
 * shows most of it; or else the later one.
 * @param {Moments} moment
 * @param {Reading} one
 * @param {Reading} other
 */
function isBetter({ wrote }, one, other) {
  const areTrue = one.at >= wrote && other.at >= wrote;
  return areTrue || one.at === other.at ? one.depth < other.depth : one.at > other.at;
}

/**
 * @param {Moments} moment
 * @param {number} depth
 * @param {Known} known
 * @returns {Variable}
 */
function variable(moment, depth, known) {
  const { model } = moment;
  const { names, values } = model.document;
  const { at, glance, value } = readingsOf(model);
  const { name, row, count, isReturn } = known;
  const found = { name, text: names[name], row, count, isReturn, object: undefined };
  const changed = isNewRow(moment, depth, known);
  const bound = isBoundSince(moment, depth, known) ? known.at : NOW;
  const since = (/** @type {number} */ time) =>
    isPast(moment, time) || bound < NOW ? stepOfMoment(model, Math.min(time, bound)) : -1;
  if (value[row] === GONE)
    return { ...found, value: null, changed, since: bound < NOW ? since(bound) : -1 };
  const whole = values[value[row]];
  if (!known.isGlanced) {
    const past = since(isFixed(whole) ? NOW : at[row]);
    return { ...found, object: whole.object, value: whole, changed, since: past };
  }
  const glanced = values[glance[row]];
  const content = current(moment, { value: glanced, depth: 0, at: known.at }, []);
  const isWhole = content.value === glanced;
  const isMore = isWhole && whole !== glanced && !isComplete(glanced, whole);
  return {
    ...found,
    value: isWhole ? whole : content.value,
    object: glanced.object,
    changed: changed || content.isNew,
    since: since(isMore ? Math.min(content.oldest, at[row]) : content.oldest),
  };
}

/**
 * Whether a name may stand for something else since it was read: a statement that binds it began,
 * or other code that may bind it ran. What only `@inspect` reads is known to hold until the next
 * reading.
 * @param {Moments} moment
 * @param {number} depth
 * @param {Known} known
 */
function isBoundSince({ model, calls, end, reads, wrote }, depth, { name, at, isGlanced }) {
  const { names, statements, readings } = model.document;
  const [whole] = names[name].split(".");
  const isOwn = (/** @type {number} */ bound) => bound === name || names[bound] === whole;
  if (!isGlanced && at < (readings.length ? reads[depth].at : end)) return true;
  for (const [statement, event] of reads[depth].ran)
    if (event >= at && statements[statement][6].some(isOwn)) return true;
  const { shared } = functionOf(model, calls[depth].activation);
  return at < wrote && shared.includes(whole);
}

/** Whether nothing can be written to a value. @param {Value} value */
function isFixed({ value, text, type }) {
  return value !== undefined || (text !== undefined && ["int", "float", "bytes"].includes(type));
}

/**
 * Whether the current statement, or the call that it is the first of, gave a row that says more
 * than the one before.
 * @param {Moments} moment
 * @param {number} depth
 * @param {Known} known
 */
function isNewRow({ model, event, calls }, depth, { row, before }) {
  const { event: events, value, glance } = readingsOf(model);
  const entry = entryOf(model, calls[depth].activation);
  const isNow = events[row] >= event || (events[row] === entry && entry === event - 1);
  if (!isNow || before < 0 || glance[row] !== glance[before] || glance[row] === NONE) return isNow;
  return value[before] !== glance[before] && value[row] !== value[before];
}

/** Whether a glance shows all that was inspected. @param {Value} glance @param {Value} whole */
function isComplete(glance, whole) {
  const elements = glance.shape?.reduce((product, size) => product * size, 1) ?? 0;
  return !glance.cut && elements === (glance.elements?.length ?? 0) && !isPicture(whole);
}

/** Whether something may have been written since. @param {Moments} moment @param {number} at */
function isPast({ wrote }, at) {
  return at < wrote;
}

/**
 * A reading with what is known since of the objects in it.
 * @param {Moments} moment
 * @param {Reading} reading
 * @param {number[]} around the objects that it is in
 * @returns {Content}
 */
function current(moment, reading, around) {
  const { value, at, isNew = false } = bestOf(moment, reading);
  const found = { value, oldest: isMutable(value) ? at : NOW, isNew };
  if (value.object !== undefined && around.includes(value.object))
    return { ...found, value: { type: value.type, object: value.object, cut: true } };
  if (around.length >= MAX_DEPTH) return found;
  const inside = [...around, value.object ?? -1];
  return withParts(found, (part) =>
    current(moment, { value: part, depth: reading.depth + 1, at }, inside),
  );
}

/**
 * The same with other parts, if they are others.
 * @param {Content} found
 * @param {(part: Value) => Content} look
 * @returns {Content}
 */
function withParts(found, look) {
  const { items, entries, fields } = found.value;
  let isSame = true;
  const take = (/** @type {Value} */ part) => {
    const { value, oldest, isNew } = look(part);
    found.oldest = Math.min(found.oldest, oldest);
    found.isNew ||= isNew;
    isSame &&= value === part;
    return value;
  };
  const parts = {
    ...(items && { items: items.map(take) }),
    ...(entries && { entries: entries.map((pair) => pair.map(take)) }),
    ...(fields && {
      fields: Object.fromEntries(Object.entries(fields).map(([name, part]) => [name, take(part)])),
    }),
  };
  return isSame ? found : { ...found, value: { ...found.value, ...parts } };
}

/**
 * The best reading of the object that a reading is of.
 * @param {Moments} moment
 * @param {Reading} own
 * @returns {Reading & {isNew?: boolean}}
 */
function bestOf(moment, own) {
  const { model, seen, end, wrote, event: now } = moment;
  const { object } = own.value;
  if (object === undefined) return own;
  const times = readingsOf(model).at;
  const readings = readingsOfObject(model, object, end, wrote);
  const again = seen.get(object);
  const others = readings.map(({ row, value, depth }) => ({ value, depth, at: times[row] }));
  if (again) others.push(again);
  const best = others
    .filter(({ value }) => hasContents(value))
    .reduce(
      (found, other) =>
        !hasContents(found.value) || isBetter(moment, other, found) ? other : found,
      own,
    );
  const isSame = best === own || JSON.stringify(best.value) === JSON.stringify(own.value);
  return {
    ...best,
    value: isSame ? own.value : best.value,
    isNew: readings.length > 0 && isNews(model, object, now, readings[0]),
  };
}

/**
 * What is known of an object by itself, for a drawing in which each stands once.
 * @param {Moments} moment
 * @param {Value} value
 * @returns {{value: Value, changed: boolean, since: number}}
 */
function contentOf(moment, value) {
  const { value: shown, at, isNew } = bestOf(moment, { value, depth: Infinity, at: 0 });
  const since = isPast(moment, at) ? stepOfMoment(moment.model, at) : -1;
  return { value: shown, changed: isNew ?? false, since };
}
