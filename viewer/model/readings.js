// All that the run read of names, by `@inspect` and after each statement, in one table. Pure, and
// made for a million rows: columns of numbers.

import { eventOf, stepsBefore } from "viewer/model/run.js";
import { lowerBoundBy } from "viewer/model/sorted.js";

/** In place of a value: `@clear` took the name off the display; the name is not bound any more. */
export const CLEARED = -1;
export const GONE = -2;

/** In place of a glance: only `@inspect` read the name. */
export const NONE = -1;

/** Activations whose rows are remembered by name. */
const REMEMBERED = 16;

/** @type {WeakMap<Model, Readings>} */
const tables = new WeakMap();

/** @param {Model} model @returns {Readings} */
export function readingsOf(model) {
  const known = tables.get(model);
  const found = known ?? byActivation(model, merged(model.document));
  if (!known) tables.set(model, found);
  return found;
}

/**
 * Both tables in the order of the run. Where `@inspect` read what was glanced at in the same
 * moment, the row has both values.
 * @param {Lecture} document
 */
function merged({ inspections, locals, names }) {
  const shown = inspections.at.map((_, row) => row);
  shown.sort((one, other) => inspections.at[one] - inspections.at[other] || one - other);
  const glances = locals.at.length;
  const key = (/** @type {{event: number[], name: number[]}} */ { event, name }, row = 0) =>
    event[row] * names.length + name[row];
  const partners = new Map(glances ? shown.map((row) => [key(inspections, row), row]) : []);
  const table = emptyTable(shown.length + glances);
  const taken = new Set();
  let next = 0;
  const takeShown = (/** @type {number} */ before) => {
    for (; next < shown.length && inspections.at[shown[next]] < before; next++) {
      const [row, value] = [shown[next], inspections.value[shown[next]]];
      if (!taken.has(row)) addRow(table, inspections, row, value ?? CLEARED, NONE);
    }
  };
  for (let row = 0; row < glances; row++) {
    takeShown(locals.at[row]);
    const glance = locals.value[row] ?? GONE;
    const partner = partners.get(key(locals, row)) ?? -1;
    const isPaired = partner >= 0 && inspections.at[partner] === locals.at[row];
    if (isPaired) taken.add(partner);
    addRow(table, locals, row, (isPaired ? inspections.value[partner] : null) ?? glance, glance);
  }
  takeShown(Infinity);
  return table;
}

/** @param {number} rows at most */
function emptyTable(rows) {
  const column = () => new Int32Array(rows);
  const [event, at, name, value, glance] = [column(), column(), column(), column(), column()];
  return { event, at, name, value, glance, count: 0 };
}

/**
 * @param {ReturnType<typeof emptyTable>} table
 * @param {{event: number[], at: number[], name: number[]}} source
 * @param {number} row of the source
 * @param {number} value
 * @param {number} glance
 */
function addRow(table, source, row, value, glance) {
  const at = table.count++;
  table.event[at] = source.event[row];
  table.at[at] = source.at[row];
  table.name[at] = source.name[row];
  table.value[at] = value;
  table.glance[at] = glance;
}

/**
 * The rows of each activation: what runs reads its own names, so it is the one on top then.
 * @param {Model} model
 * @param {ReturnType<typeof emptyTable>} table
 * @returns {Readings}
 */
function byActivation(model, table) {
  const { events, stayBelow, resumed, activations } = model;
  const owner = new Int32Array(table.count);
  const start = new Int32Array(activations + 1);
  let [stay, top, row] = [0, -1, 0];
  for (let event = 0; event <= events.length; event++) {
    const activation = Math.max(0, resumed && top >= 0 ? resumed.activation[top] : top);
    for (; row < table.count && (table.at[row] <= event || event === events.length); row++) {
      owner[row] = activation;
      start[activation + 1]++;
    }
    if (events[event] < 0) top = stay++;
    else if (events[event] === 0) top = stayBelow[top];
  }
  for (let activation = 0; activation < activations; activation++)
    start[activation + 1] += start[activation];
  const end = start.slice(0, activations);
  const order = new Int32Array(table.count);
  for (row = 0; row < table.count; row++) order[end[owner[row]]++] = row;
  keepGlances(model, table, owner);
  return { ...table, owner, order, start, ofCall: new Map() };
}

/**
 * Where `@inspect` reads a name again that is as it was, its last glance still holds.
 * @param {Model} model
 * @param {ReturnType<typeof emptyTable>} table
 * @param {Int32Array} owner
 */
function keepGlances({ document }, { name, glance, count }, owner) {
  const inspected = new Set(document.inspections.name);
  /** @type {Map<number, number>} */
  const latest = new Map();
  for (let row = 0; row < count; row++) {
    if (!inspected.has(name[row])) continue;
    const key = owner[row] * document.names.length + name[row];
    if (glance[row] === NONE) glance[row] = Math.max(NONE, latest.get(key) ?? NONE);
    else latest.set(key, glance[row]);
  }
}

/**
 * The rows of each name of an activation, as they became known; names in the order of their first.
 * @param {Model} model
 * @param {number} activation
 * @returns {Map<number, number[]>}
 */
export function rowsOfCall(model, activation) {
  const { ofCall, name, value, glance, order, start } = readingsOf(model);
  const known = ofCall.get(activation);
  const found = known ?? new Map();
  if (!known) {
    const glanced = new Set();
    for (let at = start[activation]; at < start[activation + 1]; at++) {
      const row = order[at];
      if (!found.get(name[row])?.push(row)) found.set(name[row], [row]);
      if (glance[row] !== NONE) glanced.add(name[row]);
    }
    // What is glanced at is shown for as long as it is bound.
    for (const own of glanced)
      found.set(
        own,
        found.get(own)?.filter((/** @type {number} */ row) => value[row] !== CLEARED),
      );
  }
  ofCall.delete(activation);
  ofCall.set(activation, found); // the latest is the last
  if (ofCall.size > REMEMBERED) ofCall.delete(ofCall.keys().next().value ?? -1);
  return found;
}

/**
 * How many of the rows of a name are known after a number of events.
 * @param {Readings} readings
 * @param {number[]} rows
 * @param {number} at
 */
export function countKnown(readings, rows, at) {
  return lowerBoundBy(rows, (row) => readings.at[row], at + 1);
}

/**
 * The names of a call that have a value after a number of events: name -> its row.
 * @param {Model} model
 * @param {number} activation
 * @param {number} at
 * @returns {Map<number, number>}
 */
export function knownAt(model, activation, at) {
  const readings = readingsOf(model);
  /** @type {Map<number, number>} */
  const found = new Map();
  for (const [name, rows] of rowsOfCall(model, activation)) {
    const row = rows[countKnown(readings, rows, at) - 1] ?? -1;
    if (row >= 0 && readings.value[row] >= 0) found.set(name, row);
  }
  return found;
}

/**
 * The step that a row became known with; of an argument, the first step of the call.
 * @param {Model} model
 * @param {number} row
 */
export function stepOfRow(model, row) {
  const step = stepsBefore(model, readingsOf(model).event[row]);
  return Math.max(0, Math.min(model.steps - 1, step));
}

/**
 * The step at which a name of this call changes next (direction 1) or changed before (-1), or -1.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {number} step
 * @param {1 | -1} direction
 */
export function nextChange(model, activation, name, step, direction) {
  const { event: events, value } = readingsOf(model);
  const own = rowsOfCall(model, activation).get(name) ?? [];
  const event = eventOf(model, step);
  let index =
    lowerBoundBy(own, (row) => events[row], direction > 0 ? event + 1 : event) -
    (direction > 0 ? 0 : 1);
  for (; index >= 0 && index < own.length; index += direction) {
    const isChange = index === 0 || value[own[index]] !== value[own[index - 1]];
    if (isChange && model.events[events[own[index]]] > 0)
      return stepsBefore(model, events[own[index]]);
  }
  return -1;
}
