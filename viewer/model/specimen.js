// Lines of a run that show what stands beside code: of each kind the first that is short. Pure.

import { statementOf, stepsBefore } from "viewer/model/run.js";
import { linesOf } from "viewer/model/source.js";
import { isLiteral, isPicture } from "viewer/model/values.js";

/** Letters of a line that fits beside the text, and elements of a tensor that does. */
const MAX_CODE = 46;
const MAX_ELEMENTS = 12;

/**
 * The code of a statement on one line, without what its author says in a comment.
 * @param {Model} model
 * @param {number} statement
 * @returns {string} empty where it is too long
 */
function codeOf({ document }, statement) {
  const [file, first, last] = document.statements[statement];
  const line = linesOf(document.files[file])[first - 1];
  const code = line.replace(/\s+#.*$/, "").trim();
  return first === last && code.length <= MAX_CODE ? code : "";
}

/** Whether a claim is kept from the reader. @param {Model} model @param {number} statement */
function isAsked({ document, assertionOf }, statement) {
  return document.assertions[assertionOf.get(statement) ?? -1]?.predict === true;
}

/** @param {Model} model @param {number} step @returns {Omit<Specimen, "kind"> | undefined} */
function lineAt(model, step) {
  const code = step < 0 ? "" : codeOf(model, statementOf(model, step));
  return code ? { step, code } : undefined;
}

/** @param {Model} model @returns {Omit<Specimen, "kind"> | undefined} */
function claimOf(model) {
  const { held, statement, step } = model.document.claims;
  const row = statement.findIndex(
    (own, at) => held[at] === true && !isAsked(model, own) && codeOf(model, own),
  );
  return lineAt(model, step[row] ?? -1);
}

/** @param {Model} model @returns {Omit<Specimen, "kind"> | undefined} */
function valueOf(model) {
  const { inspections, values } = model.document;
  for (let row = 0; row < inspections.value.length; row++) {
    const value = inspections.value[row];
    if (value === null || isPicture(values[value])) continue;
    const { shape, elements, value: plain } = values[value];
    const isSmall = shape ? (elements?.length ?? Infinity) <= MAX_ELEMENTS : plain !== undefined;
    const line = isSmall && lineAt(model, stepsBefore(model, inspections.event[row]));
    if (line) return { ...line, row };
  }
  return undefined;
}

/** @param {Model} model @returns {Omit<Specimen, "kind"> | undefined} */
function costOf(model) {
  const { costs, statements } = model.document;
  const row = (costs?.step ?? []).findIndex((step, at) => {
    if (step < 0 || !costs?.matmul_flops[at] || costs.meta?.[at]) return false;
    const statement = statementOf(model, step);
    return statements[statement][4] !== "assert" && codeOf(model, statement);
  });
  return lineAt(model, costs?.step[row] ?? -1);
}

/** What is asked, without the answer. @param {Model} model */
function questionOf(model) {
  const { claims } = model.document;
  const row = claims.statement.findIndex((own) => isAsked(model, own) && codeOf(model, own));
  const assertion = model.document.assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const source = assertion?.operands.find((operand) => !isLiteral(operand));
  return source ? { step: claims.step[row], code: `${source} = ?` } : undefined;
}

/**
 * A line for each kind of mark that the run has.
 * @param {Model} model
 * @returns {Specimen[]}
 */
export function specimensOf(model) {
  const found = {
    claim: claimOf(model),
    value: valueOf(model),
    cost: costOf(model),
    question: questionOf(model),
  };
  return Object.entries(found).flatMap(([kind, line]) =>
    line ? [{ kind: /** @type {Specimen["kind"]} */ (kind), ...line }] : [],
  );
}
