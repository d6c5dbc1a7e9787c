// Where values were recorded: which inspection a shown value is, who views a storage, how a
// variable went. Pure.

import { areAlike, fuller } from "viewer/model/alike.js";
import { numberOf } from "viewer/model/elements.js";
import { partsOf, pathTo } from "viewer/model/parts.js";
import { knownAt, readingsOf, rowsOfCall, stepOfRow } from "viewer/model/readings.js";
import { callStack } from "viewer/model/frames.js";
import { endOf, functionIndex, functionOf } from "viewer/model/run.js";

/**
 * The record that a shown value comes from: of the steps it stands beside, or else the last before
 * them.
 * @param {Model} model
 * @param {Pick<Opened, "value" | "name" | "steps">} opened
 * @returns {Found | null}
 */
export function foundRecord(model, { value, name, steps }) {
  const { names, values } = model.document;
  const readings = readingsOf(model);
  const latest = Math.max(-1, ...steps);
  const end = latest < 0 ? Infinity : endOf(model, latest);
  const paths = values.map((recorded) => pathTo(recorded, value));
  const known = latest < 0 ? new Set() : rowsShownAt(model, latest);
  /** @type {{row: number, path: string, rank: number}[]} */
  const candidates = [];
  for (let row = 0; row < readings.count; row++) {
    const path = paths[readings.value[row]] ?? null;
    if (path === null) continue;
    const isNamed = names[readings.name[row]] === name;
    const rank =
      (isNamed ? 4 : 0) +
      (path ? 0 : 1) +
      (known.has(row) || steps.includes(stepOfRow(model, row)) ? 2 : 0) -
      (readings.at[row] > end ? 8 : 0);
    candidates.push({ row, path, rank });
  }
  if (!candidates.length) return null;
  const { row, path } = candidates.reduce((best, other) =>
    other.rank >= best.rank ? other : best,
  );
  // In Step a value is looked at from a later step of the same call.
  const recorded = stepOfRow(model, row);
  return {
    row,
    step: Math.max(recorded, latest),
    recorded,
    activation: readings.owner[row],
    name: readings.name[row],
    path,
    value,
  };
}

/**
 * The records that are known at a step, of all calls that are open.
 * @param {Model} model
 * @param {number} step
 * @returns {Set<number>}
 */
function rowsShownAt(model, step) {
  const end = endOf(model, step);
  return new Set(
    callStack(model, step).flatMap(({ activation }) => [
      ...knownAt(model, activation, end).values(),
    ]),
  );
}

/**
 * Tensors in a value that view a storage.
 * @param {Value} value
 * @param {string} [path]
 * @returns {[string, Value][]}
 */
function viewsIn(value, path = "") {
  if (value.storage !== undefined) return [[path, value]];
  return partsOf(value).flatMap(([name, part]) => viewsIn(part, path + name));
}

/** @type {WeakMap<Model, Map<number, {row: number, path: string, value: Value}[]>>} */
const views = new WeakMap();

/** Storage -> the records that view it, in the order of the run. @param {Model} model */
function viewsByStorage(model) {
  const known = views.get(model);
  if (known) return known;
  const inside = model.document.values.map((value) => viewsIn(value));
  const { value: values, count } = readingsOf(model);
  /** @type {Map<number, {row: number, path: string, value: Value}[]>} */
  const found = new Map();
  for (let row = 0; row < count; row++)
    for (const [path, value] of inside[values[row]] ?? []) {
      const view = { row, path, value };
      if (!found.get(value.storage ?? -1)?.push(view)) found.set(value.storage ?? -1, [view]);
    }
  views.set(model, found);
  return found;
}

/**
 * Who views a storage: at a step, before it, and after. A name with the same layout again and again
 * counts once.
 * @param {Model} model
 * @param {number} storage
 * @param {number} step
 * @returns {Alias[]} in the order in which the run first saw them
 */
export function aliasesOf(model, storage, step) {
  const { names } = model.document;
  const readings = readingsOf(model);
  const end = endOf(model, step);
  const shown = rowsShownAt(model, step);
  /** @type {Map<string, Alias>} */
  const found = new Map();
  for (const { row, path, value } of viewsByStorage(model).get(storage) ?? []) {
    const activation = readings.owner[row];
    const name = names[readings.name[row]] + path;
    const when = shown.has(row) ? "now" : readings.at[row] <= end ? "earlier" : "later";
    const key = [
      activation,
      name,
      value.shape,
      value.strides,
      value.offset,
      value.dtype,
      when === "later",
    ].join(";");
    const before = found.get(key);
    found.set(key, {
      name,
      func: functionOf(model, activation).name,
      activation,
      row,
      step: stepOfRow(model, row),
      value,
      when,
      count: (before?.count ?? 0) + 1,
    });
  }
  return [...found.values()];
}

/**
 * What a chart shows of a value: a number, a truth value, a tensor of one element without axes.
 * @param {Value | null} value
 */
export function chartedNumber(value) {
  if (!value) return null;
  if (value.shape?.length === 0 && value.elements?.length === 1) return numberOf(value.elements[0]);
  if (typeof value.value === "number" || typeof value.value === "boolean")
    return Number(value.value);
  return ["float", "int"].includes(value.type) && value.text !== undefined
    ? numberOf(value.text)
    : null;
}

/**
 * The records of a variable of one call, or of all calls of its function.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {boolean} [everywhere] in all calls of the function
 * @returns {Point[]} in the order of the run
 */
export function historyOf(model, activation, name, everywhere = false) {
  const { name: nameOf, value: valueOf, owner, count } = readingsOf(model);
  const func = functionIndex(model, activation);
  /** @type {number[]} */
  const all = [];
  for (let row = 0; everywhere && row < count; row++)
    if (nameOf[row] === name && functionIndex(model, owner[row]) === func) all.push(row);
  const ordered = everywhere ? all : (rowsOfCall(model, activation).get(name) ?? []);
  /** What is known of the value since it changed. @type {Value | null} */
  let known = null;
  return ordered.map((row, index) => {
    const value = model.document.values[valueOf[row]] ?? null;
    const isSame = known === value || (known && value && areAlike(known, value));
    const changed = index === 0 || !isSame;
    known = isSame && known && value ? fuller(known, value) : value;
    return {
      row,
      step: stepOfRow(model, row),
      activation: owner[row],
      value,
      number: chartedNumber(value),
      changed,
    };
  });
}

/**
 * What is told once of a history: records in a row of one call that do not differ.
 * @param {Point[]} points
 * @returns {Told[]}
 */
export function toldOnce(points) {
  /** @type {Told[]} */
  const told = [];
  for (const [at, point] of points.entries()) {
    const last = told.at(-1);
    if (!last || point.changed || point.activation !== last.point.activation) {
      told.push({ point, value: point.value, first: at, count: 1, last: point.step });
      continue;
    }
    Object.assign(last, { count: last.count + 1, last: point.step });
    if (last.value && point.value) last.value = fuller(last.value, point.value);
  }
  return told;
}

/**
 * The record of a history that holds at a step, or -1.
 * @param {Model} model
 * @param {Point[]} points
 * @param {number} step
 */
export function pointAt(model, points, step) {
  const { at } = readingsOf(model);
  const end = endOf(model, step);
  return points.findLastIndex(({ row }) => at[row] <= end);
}

/**
 * Which points of a long history a narrow chart draws: of each of its columns the first, the
 * lowest, the highest and the last.
 * @param {Pick<Point, "number">[]} points
 * @param {number} columns
 * @returns {number[]}
 */
export function thinned(points, columns) {
  if (points.length <= 4 * columns) return points.map((_, at) => at);
  /** @type {number[]} */
  const kept = [];
  for (let column = 0; column < columns; column++) {
    const first = Math.floor((column * points.length) / columns);
    const last = Math.floor(((column + 1) * points.length) / columns) - 1;
    let [lowest, highest] = [first, first];
    for (let at = first; at <= last; at++) {
      if (finiteOr(points[at], Infinity) < finiteOr(points[lowest], Infinity)) lowest = at;
      if (finiteOr(points[at], -Infinity) > finiteOr(points[highest], -Infinity)) highest = at;
    }
    kept.push(...new Set([first, lowest, highest, last].sort((one, other) => one - other)));
  }
  return kept;
}

/** @param {Pick<Point, "number">} point @param {number} otherwise */
function finiteOr({ number }, otherwise) {
  return number !== null && Number.isFinite(number) ? number : otherwise;
}
