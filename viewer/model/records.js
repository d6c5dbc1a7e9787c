// Where values were recorded: which inspection a shown value is, who views a storage, how a
// variable went. Pure.

import { changesOf, environmentAt } from "viewer/model/changes.js";
import { numberOf } from "viewer/model/elements.js";
import {
  activationOf,
  callStack,
  endOf,
  functionIndex,
  functionOf,
  stepsBefore,
} from "viewer/model/run.js";
import { lowerBound } from "viewer/model/sorted.js";

/**
 * The activation that a row of the inspections belongs to.
 * @param {Model} model
 * @param {number} row
 */
function activationOfRow(model, row) {
  const event = model.document.inspections.event[row];
  if (model.events[event] > 0) return activationOf(model, stepsBefore(model, event));
  const stay = lowerBound(model.stayEvent, event);
  return model.resumed ? model.resumed.activation[stay] : stay;
}

/**
 * The step at which a row became known; of an argument, the first step of the call.
 * @param {Model} model
 * @param {number} row
 */
function stepOfRow(model, row) {
  return Math.max(
    0,
    Math.min(model.steps - 1, stepsBefore(model, model.document.inspections.event[row])),
  );
}

/**
 * Parts of a value with what leads to them in Python.
 * @param {Value} value
 * @returns {[string, Value][]}
 */
export function partsOf(value) {
  if (value.fields) return Object.entries(value.fields).map(([name, part]) => [`.${name}`, part]);
  if (value.entries) return value.entries.map(([key, part]) => [`[${keyText(key)}]`, part]);
  return (value.items ?? []).map((part, index) => [`[${index}]`, part]);
}

/** @param {Value} key */
function keyText(key) {
  return typeof key.value === "string"
    ? `'${key.value}'`
    : String(key.value ?? key.text ?? key.type);
}

/**
 * The way from one value to another inside it, or null.
 * @param {Value} value
 * @param {Value} wanted
 * @returns {string | null}
 */
function pathTo(value, wanted) {
  if (value === wanted) return "";
  for (const [name, part] of partsOf(value)) {
    const rest = pathTo(part, wanted);
    if (rest !== null) return name + rest;
  }
  return null;
}

/**
 * The record that a shown value comes from: of the steps it stands beside, or else the last before
 * them.
 * @param {Model} model
 * @param {Pick<Opened, "value" | "name" | "steps">} opened
 * @returns {Found | null}
 */
export function foundRecord(model, { value, name, steps }) {
  const { inspections, names, values } = model.document;
  const latest = Math.max(-1, ...steps);
  const end = latest < 0 ? Infinity : endOf(model, latest);
  const paths = values.map((recorded) => pathTo(recorded, value));
  const known = latest < 0 ? new Set() : rowsShownAt(model, latest);
  /** @type {{row: number, path: string, rank: number}[]} */
  const candidates = [];
  inspections.value.forEach((index, row) => {
    const path = index === null ? null : paths[index];
    if (path === null) return;
    const isNamed = names[inspections.name[row]] === name;
    const rank =
      (isNamed ? 4 : 0) +
      (path ? 0 : 1) +
      (known.has(row) || steps.includes(stepOfRow(model, row)) ? 2 : 0) -
      (inspections.at[row] > end ? 8 : 0);
    candidates.push({ row, path, rank });
  });
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
    activation: activationOfRow(model, row),
    name: inspections.name[row],
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
    callStack(model, step).flatMap(({ activation }) =>
      [...environmentAt(model, activation, end).values()].map(({ row }) => row),
    ),
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

/** @type {WeakMap<Lecture, Map<number, {row: number, path: string, value: Value}[]>>} */
const views = new WeakMap();

/** Storage -> the records that view it, in the order of the run. @param {Lecture} document */
function viewsByStorage(document) {
  const known = views.get(document);
  if (known) return known;
  const inside = document.values.map((value) => viewsIn(value));
  const { value: values, at } = document.inspections;
  /** @type {Map<number, {row: number, path: string, value: Value}[]>} */
  const found = new Map();
  const order = values
    .map((_, row) => row)
    .sort((one, other) => at[one] - at[other] || one - other);
  for (const row of order)
    for (const [path, value] of inside[values[row] ?? -1] ?? []) {
      const view = { row, path, value };
      if (!found.get(value.storage ?? -1)?.push(view)) found.set(value.storage ?? -1, [view]);
    }
  views.set(document, found);
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
  const { inspections, names } = model.document;
  const end = endOf(model, step);
  const shown = rowsShownAt(model, step);
  /** @type {Map<string, Alias>} */
  const found = new Map();
  for (const { row, path, value } of viewsByStorage(model.document).get(storage) ?? []) {
    const activation = activationOfRow(model, row);
    const name = names[inspections.name[row]] + path;
    const when = shown.has(row) ? "now" : inspections.at[row] <= end ? "earlier" : "later";
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
  const { inspections } = model.document;
  const func = functionIndex(model, activation);
  const own = changesOf(model, activation).get(name)?.rows ?? [];
  const all = everywhere
    ? inspections.name.flatMap((other, row) =>
        other === name && functionIndex(model, activationOfRow(model, row)) === func ? [row] : [],
      )
    : own;
  const ordered = everywhere
    ? all.sort((one, other) => inspections.at[one] - inspections.at[other] || one - other)
    : all;
  return ordered.map((row, index) => {
    const value = inspections.value[row];
    const recorded = value === null ? null : model.document.values[value];
    const changed = index === 0 || inspections.value[ordered[index - 1]] !== value;
    return {
      row,
      step: stepOfRow(model, row),
      activation: everywhere ? activationOfRow(model, row) : activation,
      value: recorded,
      number: chartedNumber(recorded),
      changed,
    };
  });
}

/**
 * The record of a history that holds at a step, or -1.
 * @param {Model} model
 * @param {Point[]} points
 * @param {number} step
 */
export function pointAt(model, points, step) {
  const { at } = model.document.inspections;
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
