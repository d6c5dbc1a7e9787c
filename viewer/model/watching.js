// A variable that is looked at while one steps. Pure.

import { partsOf } from "viewer/model/parts.js";
import { countKnown, readingsOf, rowsOfCall, stepOfRow } from "viewer/model/readings.js";
import { endOf, functionIndex, statementOf } from "viewer/model/run.js";
import { pieces } from "viewer/model/source.js";
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

/** Words that are no names of variables: after a point, and those of arguments (`lr=2`). */
const NAME = /(?<![.\p{L}\p{N}_])[\p{L}_][\p{L}\p{N}_]*(?![\p{L}\p{N}_]|=[^=])/gu;

/**
 * The variable of a call that its line is about: one that the line changed, or else one that it
 * names; of several the one it names first.
 * @param {Model} model
 * @param {OpenFrame} frame
 * @returns {Variable | undefined}
 */
export function subjectOf(model, { step, variables }) {
  const names = namesOn(model, statementOf(model, step));
  const placeOf = (/** @type {Variable} */ { text }) => {
    const place = names.indexOf(text.split(".")[0]);
    return place < 0 ? names.length : place;
  };
  const bound = variables
    .filter(({ value }) => value)
    .sort((one, other) => placeOf(one) - placeOf(other));
  return (
    bound.find(({ changed }) => changed) ??
    bound.find((variable) => placeOf(variable) < names.length)
  );
}

/**
 * The names in the code of a statement, in its order.
 * @param {Model} model
 * @param {number} statement
 * @returns {string[]}
 */
function namesOn({ document }, statement) {
  const [file, first, last] = document.statements[statement];
  const lines = Array.from({ length: last - first + 1 }, (_, index) =>
    pieces(document.files[file], first + index)
      .map(({ text, kind }) => (["string", "comment", "directive"].includes(kind) ? " " : text))
      .join(""),
  );
  return lines.join(" ").match(NAME) ?? [];
}
