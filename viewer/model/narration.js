// A step in words, for those who hear the page. Pure.

import { statementOf } from "viewer/model/run.js";
import { rows } from "viewer/model/sorted.js";
import { pieces, withoutDirectives } from "viewer/model/source.js";
import { valueText } from "viewer/model/values.js";
import { stateAt } from "viewer/model/variables.js";

const MAX_LENGTH = 300;

/**
 * @param {Model} model
 * @param {number} step
 * @param {boolean} [isAhead] whether its calls are still to come
 */
export function narrate(model, step, isAhead = false) {
  const { statements, files, claims } = model.document;
  if (!model.steps) return "";
  const [file, line] = statements[statementOf(model, step)];
  const source = withoutDirectives(pieces(files[file], line))
    .map(({ text }) => text)
    .join("")
    .trim();
  if (isAhead) return `line ${line}: ${source}; its calls come first`.slice(0, MAX_LENGTH);
  const variables = stateAt(model, step).frames.at(-1)?.variables ?? [];
  const changes = variables
    .filter(({ changed }) => changed)
    .map(({ text, value }) => `${text} is ${value ? valueText(value) : "no longer bound"}`);
  const outcomes = rows(model.claimsOf, step).map((row) =>
    claims.held[row] ? "claim held" : "claim failed",
  );
  return [`line ${line}: ${source}`, ...changes, ...outcomes].join("; ").slice(0, MAX_LENGTH);
}
