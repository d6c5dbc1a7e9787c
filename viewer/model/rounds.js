// The round of the innermost loop around a step, and the same line in its other rounds. Pure.

import { bodyOf } from "viewer/model/blocks.js";
import { boundText, turnAt, turnOf, turnsOf } from "viewer/model/loops.js";
import {
  activationOf,
  functionIndex,
  statementOf,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";

/** Turns of so many loops are kept: each step asks for those around it. */
const KEPT = 50;

/** @type {WeakMap<Model, Map<string, Turns>>} */
const known = new WeakMap();

/**
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} statement of the loop
 */
function knownTurns(model, scope, statement) {
  const kept = known.get(model) ?? new Map();
  known.set(model, kept);
  const key = [scope.activation, scope.from, scope.to, statement].join();
  const turns = kept.get(key) ?? turnsOf(model, scope, statement);
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, turns);
  return turns;
}

/**
 * The loops around a line, the outermost first.
 * @param {Block[]} blocks
 * @param {number} line
 * @returns {LoopBlock[]}
 */
function loopsAround(blocks, line) {
  for (const block of blocks)
    if (block.kind === "loop" && block.first <= line && line <= block.last)
      return [block, ...loopsAround(block.body, line)];
  return [];
}

/**
 * The round of the innermost loop around a step, or null where there are not two.
 * @param {Model} model
 * @param {number} step
 * @returns {Round | null}
 */
export function roundAt(model, step) {
  const { document } = model;
  const activation = activationOf(model, step);
  const [, line] = document.statements[statementOf(model, step)];
  let scope = wholeScope(model, activation);
  /** @type {Round | null} */
  let found = null;
  for (const loop of loopsAround(bodyOf(document, functionIndex(model, activation)).blocks, line)) {
    const turns = knownTurns(model, scope, loop.statement);
    const index = turnAt(model, turns, step);
    if (index < 0) return null;
    const turn = turnOf(model, scope, loop.statement, turns.headers, index);
    const bound = boundText(model, loop.statement, turn.header);
    found = { loop, scope, turns, index, bound };
    scope = turn.scope;
  }
  return found && found.turns.count > 1 ? found : null;
}

/**
 * The step of the same statement in another round or, where it does not run then, of that round's
 * first line.
 * @param {Model} model
 * @param {Round} round
 * @param {number} step
 * @param {1 | -1} direction
 * @returns {number} or -1, where there is no such round
 */
export function stepInRound(model, { loop, scope, turns, index }, step, direction) {
  const wanted = index + direction;
  if (wanted < 0 || wanted >= turns.count) return -1;
  const turn = turnOf(model, scope, loop.statement, turns.headers, wanted);
  const statement = statementOf(model, step);
  let event = -1;
  visitSteps(model, turn.scope, (at, ran) => {
    if (ran === statement && event < 0) event = at;
  });
  return event < 0 ? turn.header : stepsBefore(model, event);
}
