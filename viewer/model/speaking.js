// What only the one who speaks is to see: comments that begin with `@note`, and what calls of other
// tools' lectures noted. Pure.

import { functionOf } from "viewer/model/run.js";
import { lowerBound } from "viewer/model/sorted.js";

/**
 * Notes of a function between two of its lines.
 * @param {Model} model
 * @param {number} activation
 * @param {number} after
 * @param {number} before
 * @returns {string[]} Markdown
 */
export function notesIn({ document, ...model }, activation, after, before) {
  const { file } = functionOf({ document, ...model }, activation);
  return document.files[file].prose
    .filter(({ kind, first_line: at }) => kind === "note" && after < at && at < before)
    .map(({ text }) => text);
}

/**
 * Notes of a section, those of its source first.
 * @param {Model} model
 * @param {Section} section
 * @returns {string[]} Markdown
 */
export function notesOf(model, { activation, first, beyond }) {
  const { line, end_line: end } = functionOf(model, activation);
  const { said, values } = model.document;
  const from = lowerBound(said.step, first);
  const noted = said.value
    .slice(from, lowerBound(said.step, beyond))
    .map((value) => values[value])
    .filter(({ type }) => type === "note")
    .map(({ markdown = "" }) => markdown);
  return [...notesIn(model, activation, line, end + 1), ...noted];
}
