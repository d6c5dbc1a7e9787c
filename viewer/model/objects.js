// What is known of objects, whichever name they were read under: a list that two names share is
// one list. Pure.

import { readingsOf } from "viewer/model/readings.js";
import { lowerBoundBy } from "viewer/model/sorted.js";

/** How many readings of an object are looked at for the one that shows most of it. */
const LOOKED_AT = 8;

/** @param {Value} value @returns {Value[]} what a container holds, keys included */
export function held(value) {
  if (value.fields) return Object.values(value.fields);
  return value.entries?.flat() ?? value.items ?? [];
}

/** Whether something can be written to it while it stays the same. @param {Value} value */
export function isMutable({ object, storage }) {
  return object !== undefined || storage !== undefined;
}

/**
 * Whether a value shows what an object holds, not only that there is one.
 * @param {Value} value
 */
export function hasContents({ items, entries, fields, shape, elements, text, cut }) {
  const parts = items ?? entries ?? elements ?? (fields && Object.keys(fields));
  return parts ? parts.length > 0 || !cut : !cut || shape !== undefined || text !== undefined;
}

/**
 * The objects in a value, and how deep inside; each once.
 * @param {Value} value
 * @param {number} [depth]
 * @param {Map<number, Seen>} [found]
 * @returns {Map<number, Seen>}
 */
export function objectsIn(value, depth = 0, found = new Map()) {
  const before = found.get(value.object ?? -1);
  if (value.object !== undefined && !(before && before.depth <= depth))
    found.set(value.object, { value, depth });
  for (const part of held(value)) objectsIn(part, depth + 1, found);
  return found;
}

/** @type {WeakMap<Model, Map<number, ObjectReading[]>>} */
const indices = new WeakMap();

/** Object -> the readings that it is in, in the order of the run. @param {Model} model */
function readingsOfObjects(model) {
  const known = indices.get(model);
  if (known) return known;
  const { glance, count } = readingsOf(model);
  const inside = model.document.values.map((value) => [...objectsIn(value)]);
  /** @type {Map<number, ObjectReading[]>} */
  const found = new Map();
  for (let row = 0; row < count; row++)
    for (const [object, seen] of inside[glance[row]] ?? []) {
      const reading = { row, ...seen };
      if (!found.get(object)?.push(reading)) found.set(object, [reading]);
    }
  indices.set(model, found);
  return found;
}

/**
 * The readings of an object that are known after a number of events, the latest first: a few, all
 * those before `since` but the latest left out.
 * @param {Model} model
 * @param {number} object
 * @param {number} at
 * @param {number} since
 * @returns {ObjectReading[]}
 */
export function readingsOfObject(model, object, at, since) {
  const times = readingsOf(model).at;
  const all = readingsOfObjects(model).get(object) ?? [];
  const found = [];
  for (
    let next = lowerBoundBy(all, ({ row }) => times[row], at + 1) - 1;
    next >= 0 && found.length < LOOKED_AT;
    next--
  ) {
    const isLater = times[all[next].row] >= since;
    if (found.length && !isLater && times[all[next].row] < times[found[0].row]) break;
    found.push(all[next]);
  }
  return found;
}

/**
 * Whether an object became another between two moments, as far as readings of equal depth tell.
 * @param {Model} model
 * @param {number} object
 * @param {number} event from which on a reading is new
 * @param {ObjectReading} latest
 */
export function isNews(model, object, event, latest) {
  const { event: events } = readingsOf(model);
  if (events[latest.row] < event) return false;
  const all = readingsOfObjects(model).get(object) ?? [];
  for (let next = lowerBoundBy(all, ({ row }) => row, latest.row) - 1; next >= 0; next--)
    if (events[all[next].row] < event && all[next].depth === latest.depth)
      return JSON.stringify(all[next].value) !== JSON.stringify(latest.value);
  return false;
}
