// Claims by their statements, with what happened each time. Pure.

import { outcomeOf } from "viewer/model/claims.js";
import { activationOf, functionOf } from "viewer/model/run.js";
import { headingOf, isWithin } from "viewer/model/sections.js";

/**
 * Every claim once, the failed ones first; so are the times at which it was checked.
 * @param {Model} model
 * @param {{first: number, beyond: number}} [range] of steps, or the whole run
 * @param {Set<number>} [leftOut] activations whose claims are left out, unless they failed
 * @returns {ClaimGroup[]}
 */
export function claimGroups(model, range, leftOut = new Set()) {
  const { claims } = model.document;
  /** @type {Map<number, number[]>} */
  const byStatement = new Map();
  claims.statement.forEach((statement, row) => {
    if (range && (claims.step[row] < range.first || claims.step[row] >= range.beyond)) return;
    if (claims.held[row] === true && isWithin(model, claims.step[row], leftOut)) return;
    if (!byStatement.get(statement)?.push(row)) byStatement.set(statement, [row]);
  });
  const failedFirst = (/** @type {boolean} */ one, /** @type {boolean} */ other) =>
    Number(other) - Number(one);
  const hasFailed = (/** @type {number} */ row) => claims.held[row] !== true;
  const groups = [...byStatement].map(([statement, found]) => {
    const rows = found.toSorted((one, other) => failedFirst(hasFailed(one), hasFailed(other)));
    const func = functionOf(model, activationOf(model, claims.step[rows[0]]));
    const place = headingOf(func);
    const { text, operands } = outcomeOf(model, rows[0]);
    const words = [text, place, func.name, ...operands.map((operand) => operand.text)]
      .join(" ")
      .toLowerCase();
    return { statement, text, failed: rows.filter(hasFailed).length, rows, place, words };
  });
  return groups.sort((one, other) => failedFirst(one.failed > 0, other.failed > 0));
}
