// Questions to a run: steps, statements, activations, calls, who called whom. Pure.

import { STRIDE } from "viewer/model/replay.js";
import { lowerBound } from "viewer/model/sorted.js";

/**
 * @param {Model} model
 * @param {number} event
 * @returns {number} how many steps began before an event
 */
export function stepsBefore({ events, stepsAt, steps }, event) {
  if (event >= events.length) return steps;
  const checkpoint = Math.floor(event / STRIDE);
  let step = stepsAt[checkpoint];
  for (let at = checkpoint * STRIDE; at < event; at++) if (events[at] > 0) step++;
  return step;
}

/** @param {Model} model @param {number} step */
export function eventOf({ events, stepsAt }, step) {
  const checkpoint = lowerBound(stepsAt, step + 1) - 1;
  let event = checkpoint * STRIDE;
  for (let seen = stepsAt[checkpoint]; seen < step || events[event] <= 0; event++)
    if (events[event] > 0) seen++;
  return event;
}

/** @param {Model} model @param {number} step */
export function statementOf(model, step) {
  return model.events[eventOf(model, step)] - 1;
}

/**
 * The stay that an event belongs to: what it enters, runs in, or leaves.
 * @param {Model} model
 * @param {number} event
 */
export function stayAt({ events, staysAt, topAt, stayBelow }, event) {
  const checkpoint = Math.floor(event / STRIDE);
  let stay = staysAt[checkpoint];
  let top = topAt[checkpoint];
  for (let at = checkpoint * STRIDE; at < event; at++) {
    if (events[at] < 0) top = stay++;
    else if (events[at] === 0) top = stayBelow[top];
  }
  return events[event] < 0 ? stay : top;
}

/** @param {Model} model @param {number} stay */
export function activationOfStay({ resumed }, stay) {
  return resumed ? resumed.activation[stay] : stay;
}

/** @param {Model} model @param {number} step */
export function activationOf(model, step) {
  return activationOfStay(model, stayAt(model, eventOf(model, step)));
}

/** The stay that an event begins. @param {Model} model @param {number} event */
function stayFrom(model, event) {
  return lowerBound(model.stayEvent, event);
}

/**
 * How many events are known when a step and its calls are over.
 * @param {Model} model
 * @param {number} step
 */
export function endOf(model, step) {
  const { events, stayEnd } = model;
  let event = eventOf(model, step) + 1;
  while (event < events.length && events[event] < 0) event = stayEnd[stayFrom(model, event)] + 1;
  return Math.min(event, events.length);
}

/**
 * The step after this statement and the calls it made.
 * @param {Model} model
 * @param {number} step
 */
export function stepAfter(model, step) {
  return stepsBefore(model, endOf(model, step));
}

/** @param {Model} model @param {number} activation @returns {number} event that entered it */
export function entryOf({ stayEvent, resumed }, activation) {
  return stayEvent[resumed ? resumed.first[activation] : activation];
}

/**
 * @param {Model} model
 * @param {number} activation
 * @returns {number} event that left it for good, or the number of events
 */
export function leaveOf({ stayEnd, resumed }, activation) {
  return stayEnd[resumed ? resumed.last[activation] : activation];
}

/** @param {Model} model @param {number} activation @returns {number} step of the caller, or -1 */
export function callerOf({ stayCaller, resumed }, activation) {
  return stayCaller[resumed ? resumed.first[activation] : activation];
}

/** @param {Model} model @param {number} activation @returns {number} index of its function */
export function functionIndex(model, activation) {
  return -model.events[entryOf(model, activation)] - 1;
}

/** @param {Model} model @param {number} activation @returns {LectureFunction} */
export function functionOf(model, activation) {
  return model.document.functions[functionIndex(model, activation)];
}

/** Steps from the entry of an activation until it was left for good: `[first, beyond]`.
 * @param {Model} model @param {number} activation @returns {[number, number]} */
export function stepRange(model, activation) {
  return [
    stepsBefore(model, entryOf(model, activation)),
    stepsBefore(model, leaveOf(model, activation)),
  ];
}

/**
 * Whether a step made a call, as far as its first moment tells.
 * @param {Model} model
 * @param {number} event of the step
 */
export function hasCalls({ events }, event) {
  return events[event + 1] < 0;
}

/**
 * The activations that a step entered. Suspended, it goes on where it is resumed.
 * @param {Model} model
 * @param {number} step
 */
export function callsBy(model, step) {
  const { events, functions, resumed, stayEvent, stayEnd } = model;
  const found = [];
  let event = eventOf(model, step) + 1;
  while (event < events.length && events[event] <= 0) {
    if (events[event] === 0) {
      const next = resumed ? resumed.next[stayAt(model, event)] : -1;
      if (next < 0) break;
      event = stayEvent[next] + 1;
    } else {
      const called = stayFrom(model, event);
      if (-events[event] <= functions) found.push(activationOfStay(model, called));
      event = stayEnd[called] + 1;
    }
  }
  return found;
}

/** @param {Model} model @param {number} activation @returns {Scope} */
export function wholeScope(model, activation) {
  return { activation, from: entryOf(model, activation) + 1, to: leaveOf(model, activation) };
}

/**
 * Visit the steps of a scope that are its own, not those of its calls, by their events.
 * @param {Model} model
 * @param {Scope} scope
 * @param {(event: number, statement: number) => void} visit
 */
export function visitSteps(model, { from, to }, visit) {
  const { events, resumed, stayEvent, stayEnd } = model;
  for (let event = from; event < to; event++) {
    const code = events[event];
    if (code > 0) visit(event, code - 1);
    else if (code < 0) event = stayEnd[stayFrom(model, event)];
    else {
      const next = resumed ? resumed.next[stayAt(model, event)] : -1;
      if (next < 0) return;
      event = stayEvent[next];
    }
  }
}

/** The step, or the nearest one that there is. @param {Model} model @param {number} step */
export function clamp(model, step) {
  return Math.max(0, Math.min(model.steps - 1, step));
}
