// A step in words, for those who do not see the page. Pure.

import { rows } from "viewer/model.js";
import { pieces, withoutDirectives } from "viewer/source.js";
import { valueText } from "viewer/value-text.js";

const MAX_LENGTH = 300;

/**
 * @param {import("viewer/model.js").Model} model
 * @param {number} step
 * @returns {string}
 */
export function narrate(model, step) {
  const { statements, files, inspections, names, values, claims } = model.document;
  if (!model.stepEvent.length) return "";
  const [file, line] = statements[model.stepStatement[step]];
  const source = withoutDirectives(pieces(files[file], line)).map(({ text }) => text).join("").trim();
  const changes = [...rows(model.inspected, model.stepEvent[step])].map((row) => {
    const value = inspections.value[row];
    return value === null ? `${names[inspections.name[row]]} cleared` : `${names[inspections.name[row]]} is ${valueText(values[value])}`;
  });
  const outcomes = [...rows(model.claimsOf, step)].map((row) => (claims.held[row] ? "claim held" : "claim failed"));
  return [`line ${line}: ${source}`, ...changes, ...outcomes].join("; ").slice(0, MAX_LENGTH);
}
