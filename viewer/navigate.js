// Where a step leads: pure functions from a model and a step to another step, frames and facts.

import { lowerBound, rows, stepRange } from "viewer/model.js";

/** @typedef {import("viewer/model.js").Model} Model */

/** @param {Model} model @param {number} step @returns {number} */
export function clamp(model, step) {
  return Math.max(0, Math.min(model.stepEvent.length - 1, step));
}

/** The step after this statement and the calls it made. @param {Model} model @param {number} step */
export function over(model, step) {
  return clamp(model, model.eventStep[model.stepEnd[step]]);
}

/** The step before this one in the same call, or else the caller's. @param {Model} model @param {number} step */
export function backOver(model, step) {
  const activation = model.stepActivation[step];
  const position = model.position[step];
  if (position > 0) return rows(model.stepsOf, activation)[position - 1];
  return model.parentStep[activation] >= 0 ? model.parentStep[activation] : clamp(model, step - 1);
}

/** The step after the return of this call. @param {Model} model @param {number} step */
export function out(model, step) {
  const activation = model.stepActivation[step];
  if (model.parentStep[activation] < 0) return step;
  return clamp(model, Math.max(step, stepRange(model, activation)[1]));
}

/**
 * Calls that are open at a step, outermost first: each with the step that it has reached.
 * @param {Model} model
 * @param {number} step
 * @returns {{activation: number, step: number}[]}
 */
export function callStack(model, step) {
  const frames = [];
  for (let at = step; at >= 0; at = callerOf(model, model.stepActivation[at], model.stepEvent[step]))
    frames.unshift({ activation: model.stepActivation[at], step: at });
  return frames;
}

/** @param {Model} model @param {number} activation @param {number} event @returns {number} */
function callerOf(model, activation, event) {
  const resumed = model.resumes.findLast((resume) => resume.activation === activation && resume.event <= event);
  return resumed ? resumed.caller : model.parentStep[activation];
}

/**
 * The values of a call that are known after a number of events: name -> its row and how many led to it.
 * @param {Model} model
 * @param {number} activation
 * @param {number} at
 * @returns {Map<number, {row: number, count: number}>}
 */
export function environmentAt(model, activation, at) {
  const { inspections } = model.document;
  /** @type {Map<number, {row: number, count: number}>} */
  const known = new Map();
  for (const row of rows(model.environment, activation)) {
    if (inspections.at[row] > at) continue;
    const name = inspections.name[row];
    if (inspections.value[row] === null) known.delete(name);
    else known.set(name, { row, count: (known.get(name)?.count ?? 0) + 1 });
  }
  return known;
}

/**
 * The step at which a name of this call changes next (direction 1) or changed before (-1), or -1.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {number} step
 * @param {1 | -1} direction
 */
export function nextChange(model, activation, name, step, direction) {
  const { inspections, events } = model.document;
  const own = [...rows(model.environment, activation)].filter((row) => inspections.name[row] === name);
  const steps = own
    .filter((row, index) => index === 0 || inspections.value[row] !== inspections.value[own[index - 1]])
    .filter((row) => events[inspections.event[row]] > 0)
    .map((row) => model.eventStep[inspections.event[row]]);
  const found = direction > 0 ? steps.find((other) => other > step) : steps.findLast((other) => other < step);
  return found ?? -1;
}

/**
 * The next step on a line of a file, or else the one before, or -1: what a click on its number means.
 * @param {Model} model
 * @param {number} file
 * @param {number} line
 * @param {number} step
 */
export function runToLine(model, file, line, step) {
  const { statements } = model.document;
  const onLine = statements
    .map((statement, index) => ({ statement, index }))
    .filter(({ statement }) => statement[0] === file && statement[1] <= line && line <= statement[2]);
  const steps = onLine.flatMap(({ index }) => [...rows(model.runs, index)]).sort((a, b) => a - b);
  const next = lowerBound(steps, step + 1);
  return next < steps.length ? steps[next] : (steps.findLast((other) => other < step) ?? -1);
}
