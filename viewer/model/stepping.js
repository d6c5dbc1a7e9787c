// Where a step leads: over a call, back, out of it, to a line. Pure.

import { callStack, nearestRun } from "viewer/model/frames.js";
import {
  activationOf,
  callerOf,
  clamp,
  eventOf,
  stepAfter,
  stepRange,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";

/**
 * The step after this statement and the calls it made.
 * @param {Model} model
 * @param {number} step
 */
export function over(model, step) {
  return clamp(model, stepAfter(model, step));
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

/** The step after the return of this call. @param {Model} model @param {number} step */
export function out(model, step) {
  const activation = activationOf(model, step);
  if (callerOf(model, activation) < 0) return step;
  return clamp(model, Math.max(step, stepRange(model, activation)[1]));
}

/**
 * The next step on a line of a file, or else the one before, or -1: what a click on its number
 * means.
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
  return next >= 0 ? next : nearestRun(model, isThere, step, -1);
}
