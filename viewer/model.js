// Document -> steps, activations and indexes over them. Pure, and made for a million events.

import { DocumentError } from "viewer/schema.js";

/**
 * Rows by key: the rows of key k are `members[starts[k] .. starts[k + 1]]`, in their first order.
 * @typedef {{starts: Int32Array, members: Int32Array}} Groups
 *
 * What a replay of the events yields. Steps and activations are counted from 0 here.
 * @typedef {object} Replay
 * @property {Int32Array} stepEvent event of each step
 * @property {Int32Array} stepStatement
 * @property {Int32Array} stepActivation
 * @property {Int32Array} stepEnd number of events known when the statement and its calls were over
 * @property {Int32Array} eventStep number of steps among the events before each event, and in all
 * @property {Int32Array} entryEvent event that entered each activation
 * @property {Int32Array} leaveEvent event that left it last, or the number of events
 * @property {Int32Array} parentStep step of the caller, or -1
 * @property {Int32Array} activationFunction
 * @property {{event: number, activation: number, caller: number}[]} resumes
 *
 * @typedef {object} Indexes
 * @property {import("viewer/schema.js").Document} document
 * @property {Groups} stepsOf steps by activation
 * @property {Int32Array} position of each step within its activation
 * @property {Groups} calls activations by the step that entered them
 * @property {Groups} inspected rows of inspections by event
 * @property {Groups} environment rows of inspections by activation
 * @property {Groups} claimsOf rows of claims by step
 * @property {Groups} outputOf pieces of output by step
 * @property {Groups} runs steps by statement
 * @property {Map<number, number>} assertionOf statement -> index of its assertion
 *
 * @typedef {Replay & Indexes} Model
 */

/**
 * @param {import("viewer/schema.js").Document} document
 * @returns {Model}
 */
export function buildModel(document) {
  const run = replay(document);
  const { inspections, claims, output } = document;
  const steps = run.stepEvent.length;
  const activations = run.entryEvent.length;
  const stepsOf = groupBy(run.stepActivation, activations);
  const owners = inspections.event.map((event) => activationOfEvent(run, document, event));
  return {
    ...run,
    document,
    stepsOf,
    position: positions(stepsOf, steps),
    calls: groupBy(run.parentStep, steps),
    inspected: groupBy(inspections.event, document.events.length),
    environment: groupBy(owners, activations),
    claimsOf: groupBy(claims.step, steps),
    outputOf: groupBy(output.map((piece) => piece.step), steps),
    runs: groupBy(run.stepStatement, document.statements.length),
    assertionOf: new Map(document.assertions.map((assertion, index) => [assertion.statement, index])),
  };
}

/**
 * Go once through the events with a stack of activations.
 * @param {import("viewer/schema.js").Document} document
 * @returns {Replay}
 */
function replay({ events, functions, statements }) {
  const run = emptyReplay(events, functions.length);
  const latest = new Int32Array(run.entryEvent.length).fill(-1);
  const open = new Int32Array(run.entryEvent.length).fill(-1);
  /** @type {number[]} */
  const stack = [];
  let step = 0;
  let entered = 0;
  /** @param {number} activation @param {number} event */
  const close = (activation, event) => {
    if (open[activation] >= 0) run.stepEnd[open[activation]] = event;
    open[activation] = -1;
  };
  for (let event = 0; event < events.length; event++) {
    const code = events[event];
    const top = stack.length ? stack[stack.length - 1] : -1;
    run.eventStep[event] = step;
    if (code > 0) {
      if (top < 0 || code > statements.length) throw broken(event);
      close(top, event);
      run.stepEvent[step] = event;
      run.stepStatement[step] = code - 1;
      run.stepActivation[step] = top;
      latest[top] = open[top] = step++;
    } else if (code === 0) {
      if (top < 0) throw broken(event);
      close(top, event);
      run.leaveEvent[top] = event;
      stack.pop();
    } else if (-code <= functions.length) {
      run.entryEvent[entered] = event;
      run.activationFunction[entered] = -code - 1;
      run.parentStep[entered] = top < 0 ? -1 : latest[top];
      stack.push(entered++);
    } else {
      const activation = -code - functions.length - 1;
      if (activation >= entered) throw broken(event);
      run.resumes.push({ event, activation, caller: top < 0 ? -1 : latest[top] });
      stack.push(activation);
    }
  }
  run.eventStep[events.length] = step;
  return run;
}

/** @param {number} event @returns {DocumentError} */
function broken(event) {
  return new DocumentError(`The record of this run makes no sense from event ${event} on. Record it again.`);
}

/**
 * @param {number[]} events
 * @param {number} functionCount
 * @returns {Replay}
 */
function emptyReplay(events, functionCount) {
  let steps = 0;
  let activations = 0;
  for (const code of events) {
    if (code > 0) steps++;
    else if (code < 0 && -code <= functionCount) activations++;
  }
  return {
    stepEvent: new Int32Array(steps),
    stepStatement: new Int32Array(steps),
    stepActivation: new Int32Array(steps),
    stepEnd: new Int32Array(steps).fill(events.length),
    eventStep: new Int32Array(events.length + 1),
    entryEvent: new Int32Array(activations),
    leaveEvent: new Int32Array(activations).fill(events.length),
    parentStep: new Int32Array(activations),
    activationFunction: new Int32Array(activations),
    resumes: [],
  };
}

/**
 * @param {ArrayLike<number>} keys one per row; a negative key leaves the row out
 * @param {number} groups
 * @returns {Groups}
 */
export function groupBy(keys, groups) {
  const starts = new Int32Array(groups + 1);
  for (let row = 0; row < keys.length; row++) if (keys[row] >= 0) starts[keys[row] + 1]++;
  for (let key = 0; key < groups; key++) starts[key + 1] += starts[key];
  const members = new Int32Array(starts[groups]);
  const next = starts.slice();
  for (let row = 0; row < keys.length; row++) if (keys[row] >= 0) members[next[keys[row]]++] = row;
  return { starts, members };
}

/** @param {Groups} groups @param {number} key @returns {Int32Array} */
export function rows(groups, key) {
  return groups.members.subarray(groups.starts[key], groups.starts[key + 1]);
}

/** @param {Groups} stepsOf @param {number} steps @returns {Int32Array} */
function positions(stepsOf, steps) {
  const position = new Int32Array(steps);
  for (let group = 0; group + 1 < stepsOf.starts.length; group++)
    for (let at = stepsOf.starts[group]; at < stepsOf.starts[group + 1]; at++)
      position[stepsOf.members[at]] = at - stepsOf.starts[group];
  return position;
}

/**
 * @param {Replay} run
 * @param {import("viewer/schema.js").Document} document
 * @param {number} event a step or an entry
 * @returns {number}
 */
function activationOfEvent(run, document, event) {
  if (document.events[event] > 0) return run.stepActivation[run.eventStep[event]];
  const entered = lowerBound(run.entryEvent, event);
  return run.entryEvent[entered] === event ? entered : -1;
}

/**
 * Number of leading entries that are smaller than the limit.
 * @param {ArrayLike<number>} sorted
 * @param {number} limit
 */
export function lowerBound(sorted, limit) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {Model} model @param {number} activation @returns {import("viewer/schema.js").LectureFunction} */
export function functionOf(model, activation) {
  return model.document.functions[model.activationFunction[activation]];
}

/** Steps from the entry of an activation until it was left for good: `[first, beyond]`.
 * @param {Model} model @param {number} activation @returns {[number, number]} */
export function stepRange(model, activation) {
  return [model.eventStep[model.entryEvent[activation]], model.eventStep[model.leaveEvent[activation]]];
}
