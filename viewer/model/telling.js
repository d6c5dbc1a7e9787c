// Loops in which something is said, as lectures of other tools do by calling: what each turn said
// is read, and not that of one turn alone. Pure.

import { withValues } from "viewer/model/quotes.js";
import { lastSteps, turnOf } from "viewer/model/loops.js";
import { functionOf } from "viewer/model/run.js";
import { saidBy } from "viewer/model/said.js";
import { lowerBound } from "viewer/model/sorted.js";
import { stepsOf } from "viewer/model/turns.js";

/** Up to how many turns of a loop that does more than to speak stand below each other. */
export const MOST_TURNS = 12;

/**
 * What each turn of a loop that only speaks said, in their order.
 * @param {Model} model
 * @param {LoopBlock} block
 * @param {Scope} scope
 * @param {Turns} turns
 * @returns {Value[][]} by statement
 */
export function toldBy(model, block, scope, { headers, count }) {
  const { document } = model;
  const { file } = functionOf(model, scope.activation);
  return Array.from({ length: count }, (_, index) => {
    const { scope: inner } = turnOf(model, scope, block.statement, headers, index);
    const last = lastSteps(model, inner);
    return block.body.flatMap((one) => {
      if (one.kind === "prose")
        return [[{ type: "text", markdown: withValues(document, { file, ...one }, inner) }]];
      const statements = one.kind === "code" ? one.statements : [];
      return statements.flatMap((statement) =>
        last.has(statement) ? [saidBy(document, last.get(statement) ?? -1)] : [],
      );
    });
  }).flat();
}

/**
 * All that was said while a loop ran, in its order.
 * @param {Model} model
 * @param {Scope} scope
 * @param {Turns} turns
 * @returns {Value[][]} by step
 */
export function saidWithin(model, scope, turns) {
  const { said } = model.document;
  const [first, beyond] = stepsOf(model, scope, turns).map((step) => lowerBound(said.step, step));
  return [...new Set(said.step.slice(first, beyond))].map((step) => saidBy(model.document, step));
}
