// What `@inspect` showed of a call: its variables at a time. Pure.

import { visitSteps, wholeScope } from "viewer/model/run.js";
import { lowerBound, lowerBoundBy } from "viewer/model/sorted.js";

/** Activations whose changes are remembered. */
const REMEMBERED = 16;

/**
 * What became known of one activation, by name.
 * @param {Model} model
 * @param {number} activation
 * @returns {Map<number, Changes>}
 */
function changesOf(model, activation) {
  const { changes } = model;
  const found = changes.get(activation) ?? collectChanges(model, activation);
  changes.delete(activation);
  changes.set(activation, found); // the latest is the last
  if (changes.size > REMEMBERED) changes.delete(changes.keys().next().value ?? -1);
  return found;
}

/** @param {Model} model @param {number} activation */
function collectChanges(model, activation) {
  const { keys, rows: order } = model.inspected;
  const { name, at, value } = model.document.inspections;
  const scope = wholeScope(model, activation);
  let next = lowerBound(keys, scope.from - 1);
  /** @type {Map<number, Changes>} */
  const found = new Map();
  const take = (/** @type {number} */ event) => {
    while (keys[next] < event) next++;
    for (; keys[next] === event; next++) {
      const row = order ? order[next] : next;
      if (!found.get(name[row])?.rows.push(row)) found.set(name[row], { rows: [row], clears: [] });
    }
  };
  take(scope.from - 1);
  visitSteps(model, scope, take);
  for (const { rows, clears } of found.values()) {
    rows.sort((a, b) => at[a] - at[b] || a - b);
    rows.forEach((row, index) => value[row] === null && clears.push(index));
  }
  return found;
}

/**
 * The values of a call that are known after a number of events: name -> its row and how many led to
 * it.
 * @param {Model} model
 * @param {number} activation
 * @param {number} at
 * @returns {Map<number, {row: number, count: number}>}
 */
export function environmentAt(model, activation, at) {
  const times = model.document.inspections.at;
  /** @type {[name: number, since: number, row: number, count: number][]} */
  const known = [];
  for (const [name, { rows, clears }] of changesOf(model, activation)) {
    const last = lowerBoundBy(rows, (row) => times[row], at + 1) - 1;
    const clear = clears[lowerBound(clears, last + 1) - 1] ?? -1;
    if (last > clear) known.push([name, rows[clear + 1], rows[last], last - clear]);
  }
  known.sort(([, one], [, other]) => one - other);
  return new Map(known.map(([name, , row, count]) => [name, { row, count }]));
}
