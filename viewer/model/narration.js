// A step in words, for those who hear the page. Pure.

import { eventOf, statementOf } from "viewer/model/run.js";
import { rows } from "viewer/model/sorted.js";
import { pieces, withoutDirectives } from "viewer/model/source.js";
import { valueText } from "viewer/model/values.js";

const MAX_LENGTH = 300;

/**
 * @param {Model} model
 * @param {number} step
 */
export function narrate(model, step) {
  const { statements, files, inspections, names, values, claims } = model.document;
  if (!model.steps) return "";
  const [file, line] = statements[statementOf(model, step)];
  const source = withoutDirectives(pieces(files[file], line))
    .map(({ text }) => text)
    .join("")
    .trim();
  const changes = rows(model.inspected, eventOf(model, step)).map((row) => {
    const value = inspections.value[row];
    return value === null
      ? `${names[inspections.name[row]]} cleared`
      : `${names[inspections.name[row]]} is ${valueText(values[value])}`;
  });
  const outcomes = rows(model.claimsOf, step).map((row) =>
    claims.held[row] ? "claim held" : "claim failed",
  );
  return [`line ${line}: ${source}`, ...changes, ...outcomes].join("; ").slice(0, MAX_LENGTH);
}
