// What Step and panels ask a run: which calls are open, which statement runs next. Pure.

import { activationOfStay, eventOf, stayAt, stepsBefore } from "viewer/model/run.js";

/**
 * Calls that are open at a step, outermost first: each with the step that it has reached.
 * @param {Model} model
 * @param {number} step
 * @returns {{activation: number, step: number}[]}
 */
export function callStack(model, step) {
  const frames = [];
  let at = step;
  for (
    let stay = stayAt(model, eventOf(model, step));
    stay >= 0 && at >= 0;
    stay = model.stayBelow[stay]
  ) {
    frames.unshift({ activation: activationOfStay(model, stay), step: at });
    at = model.stayCaller[stay];
  }
  return frames;
}

/**
 * The nearest step after another (direction 1) or before it (-1) that runs one of some statements,
 * or -1.
 * @param {Model} model
 * @param {(statement: number) => boolean} isWanted
 * @param {number} step may be -1, or the number of steps
 * @param {1 | -1} direction
 */
export function nearestRun(model, isWanted, step, direction) {
  const { events } = model;
  let event = step < 0 ? -1 : step >= model.steps ? events.length : eventOf(model, step);
  for (event += direction; event >= 0 && event < events.length; event += direction)
    if (events[event] > 0 && isWanted(events[event] - 1)) return stepsBefore(model, event);
  return -1;
}
