// Where a step leads: over a call, back, out of it, to a line. Pure.

import { callStack, nearestRun } from "viewer/model/frames.js";
import {
  activationOf,
  callerOf,
  clamp,
  eventOf,
  stayAt,
  stepAfter,
  stepRange,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";

/** Whether a statement made calls of which there are steps. @param {Model} model
 * @param {number} step */
export function hasSteps(model, step) {
  return stepAfter(model, step) > step + 1;
}

/**
 * Where one goes from a stop. Between the last step of a call and what follows it, one comes back
 * to the statement that made it, and to those that wait for that.
 * @param {Model} model
 * @param {Stop} stop
 * @returns {Stop | null}
 */
export function stopAfter(model, { step, isReturned }) {
  const next = isReturned ? stepAfter(model, step) : step + 1;
  const returns = returnsBefore(model, next);
  const at = isReturned ? returns.indexOf(step) + 1 : 0;
  if (at < returns.length) return { step: returns[at], isReturned: true };
  return next < model.steps ? { step: next, isReturned: false } : null;
}

/**
 * The same way back.
 * @param {Model} model
 * @param {Stop} stop
 * @returns {Stop | null}
 */
export function stopBefore(model, { step, isReturned }) {
  const next = isReturned ? stepAfter(model, step) : step;
  const returns = returnsBefore(model, next);
  const at = (isReturned ? returns.indexOf(step) : returns.length) - 1;
  if (at >= 0) return { step: returns[at], isReturned: true };
  return next > 0 ? { step: next - 1, isReturned: false } : null;
}

/**
 * The statements that end before a step with the last call that they made, innermost first. Where
 * the run fails, they do not end.
 * @param {Model} model
 * @param {number} next
 */
function returnsBefore(model, next) {
  const { document, steps, stayCaller } = model;
  const callerOfStep = (/** @type {number} */ step) =>
    step < 0 ? -1 : stayCaller[stayAt(model, eventOf(model, step))];
  const found = [];
  let at = next === steps && document.failure ? -1 : callerOfStep(next - 1);
  for (; at >= 0 && stepAfter(model, at) === next; at = callerOfStep(at)) found.push(at);
  return found;
}

/**
 * The step before this one in the same call, or else the caller's.
 * @param {Model} model
 * @param {number} step
 */
export function backOver(model, step) {
  if (step === 0) return 0;
  const activation = activationOf(model, step);
  const frame = callStack(model, step - 1).find((open) => open.activation === activation);
  if (frame) return frame.step;
  let last = -1; // before a call that was suspended
  visitSteps(
    model,
    { ...wholeScope(model, activation), to: eventOf(model, step) },
    (event) => (last = event),
  );
  if (last >= 0) return stepsBefore(model, last);
  const caller = callerOf(model, activation);
  return caller >= 0 ? caller : step - 1;
}

/**
 * Out of this call: back at the statement that made it or, where that goes on to other calls, at
 * the step after the return. The outermost call has no way out.
 * @param {Model} model
 * @param {number} step
 * @returns {Stop | null}
 */
export function out(model, step) {
  const activation = activationOf(model, step);
  const caller = callerOf(model, activation);
  if (caller < 0) return null;
  const next = Math.max(step, stepRange(model, activation)[1]);
  if (returnsBefore(model, next).includes(caller)) return { step: caller, isReturned: true };
  return { step: clamp(model, next), isReturned: false };
}

/**
 * The next step on a line of a file, or else the last one, or -1: what a click on its number means.
 * @param {Model} model
 * @param {number} file
 * @param {number} line
 * @param {number} step
 */
export function runToLine(model, file, line, step) {
  const { statements } = model.document;
  const isThere = (/** @type {number} */ statement) => {
    const [owner, first, last] = statements[statement];
    return owner === file && first <= line && line <= last;
  };
  const next = nearestRun(model, isThere, step, 1);
  return next >= 0 ? next : nearestRun(model, isThere, step + 1, -1);
}
