// A variable that is looked at while one steps. Pure.

import { partsOf } from "viewer/model/parts.js";
import { countKnown, readingsOf, rowsOfCall, stepOfRow } from "viewer/model/readings.js";
import { endOf, functionIndex } from "viewer/model/run.js";
import { stateAt } from "viewer/model/variables.js";

/**
 * What a variable is at a step: in its call, if that is open; or in the innermost open call of the
 * same function that has it; or else as its call last knew it.
 * @param {Model} model
 * @param {Watched} watched
 * @param {number} step
 * @returns {Found | null} null before it has a value
 */
export function watchedAt(model, { activation, name, path }, step) {
  const { frames } = stateAt(model, step);
  const func = functionIndex(model, activation);
  const candidates = frames.filter(
    (frame) => frame.activation === activation || functionIndex(model, frame.activation) === func,
  );
  const frame =
    candidates.find((candidate) => candidate.activation === activation) ?? candidates.at(-1);
  const variable = frame?.variables.find((candidate) => candidate.name === name);
  const past = frame ? null : lastKnown(model, activation, name, step);
  const value = partAt(variable?.value ?? past?.value, path);
  const row = variable?.row ?? past?.row ?? -1;
  if (!value || row < 0) return null;
  const since = variable ? variable.since : stepOfRow(model, row);
  return {
    row,
    step,
    recorded: since < 0 ? step : since,
    activation: frame?.activation ?? activation,
    name,
    path,
    value,
  };
}

/**
 * What a call that is not open knew last.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {number} step
 */
function lastKnown(model, activation, name, step) {
  const readings = readingsOf(model);
  const rows = rowsOfCall(model, activation).get(name) ?? [];
  const row = rows[countKnown(readings, rows, endOf(model, step)) - 1] ?? -1;
  return row < 0 ? null : { row, value: model.document.values[readings.value[row]] };
}

/**
 * The part that a way leads to, of a value.
 * @param {Value | null | undefined} value
 * @param {string} path as in Python: `[0].weight`
 * @returns {Value | undefined}
 */
function partAt(value, path) {
  if (!value || !path) return value ?? undefined;
  const next = partsOf(value).find(([name]) => path.startsWith(name));
  return next && partAt(next[1], path.slice(next[0].length));
}
