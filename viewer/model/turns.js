// Which loops are read turn by turn, since something is said in them. Pure.

import { stepsBefore } from "viewer/model/run.js";
import { isMarked, speaks } from "viewer/model/sections.js";
import { onlySpeaks } from "viewer/model/spoken.js";

/**
 * Whether what a loop says is read turn by turn.
 * @param {Model} model
 * @param {LoopBlock} block
 * @param {Scope} scope
 * @param {Turns} turns
 */
export function isSaidInTurns(model, block, scope, turns) {
  if (turns.count < 2) return false;
  const [first, beyond] = stepsOf(model, scope, turns);
  const isSaid = isMarked(model, block.statement, "section") || speaks(model, first, beyond);
  return isSaid || onlySpeaks(block);
}

/** The first step of a loop and the first after it.
 * @param {Model} model @param {Scope} scope @param {Turns} turns */
export function stepsOf(model, scope, { headers, end }) {
  return [stepsBefore(model, headers[0]), stepsBefore(model, Math.min(end, scope.to))];
}
