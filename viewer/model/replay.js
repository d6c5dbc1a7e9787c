// Document -> model: one pass over the events with a stack of stays. Pure, and made for a million
// events: nothing is stored for each step, since it follows from the events, and checkpoints make
// the way to any event short.

import { DocumentError } from "viewer/model/check.js";
import { lookup } from "viewer/model/sorted.js";

export const STRIDE = 128;

/**
 * @param {Lecture} document
 * @returns {Model}
 */
export function buildModel(document) {
  const { inspections, claims, output } = document;
  const model = {
    document,
    ...replay(document),
    inspected: lookup(inspections.event),
    claimsOf: lookup(claims.step),
    outputOf: lookup(output.map((piece) => piece.step)),
    assertionOf: new Map(
      document.assertions.map((assertion, index) => [assertion.statement, index]),
    ),
    changes: new Map(),
  };
  return model;
}

/**
 * Go once through the events with a stack of stays.
 * @param {Lecture} document
 */
function replay({ events, functions, statements }) {
  const run = emptyReplay(events, functions.length);
  const { stayEvent, stayEnd, stayBelow, stayCaller, resumed } = run;
  const latest = new Int32Array(run.activations).fill(-1);
  let [step, stay, entered, top] = [0, 0, 0, -1];
  for (let event = 0; event < events.length; event++) {
    if (event % STRIDE === 0) {
      run.stepsAt[event / STRIDE] = step;
      run.staysAt[event / STRIDE] = stay;
      run.topAt[event / STRIDE] = top;
    }
    const code = events[event];
    const activation = top < 0 ? -1 : (resumed?.activation[top] ?? top);
    if (code >= 0) {
      if (top < 0 || code > statements.length) throw broken(event);
      if (code > 0) latest[activation] = step++;
      else {
        stayEnd[top] = event;
        top = stayBelow[top];
      }
    } else {
      const isEntry = -code <= functions.length;
      const next = isEntry ? entered++ : -code - functions.length - 1;
      if (next >= entered) throw broken(event);
      stayEvent[stay] = event;
      stayBelow[stay] = top;
      stayCaller[stay] = activation < 0 ? -1 : latest[activation];
      if (resumed) noteStay(resumed, stay, next, isEntry);
      top = stay++;
    }
  }
  return run;
}

/**
 * @param {Resumed} resumed
 * @param {number} stay
 * @param {number} activation
 * @param {boolean} isEntry
 */
function noteStay(resumed, stay, activation, isEntry) {
  resumed.activation[stay] = activation;
  if (isEntry) resumed.first[activation] = stay;
  else resumed.next[resumed.last[activation]] = stay;
  resumed.last[activation] = stay;
}

/** @param {number} event @returns {DocumentError} */
function broken(event) {
  return new DocumentError(
    `The record of this run makes no sense from event ${event} on. Record it again.`,
  );
}

/** @param {Lecture["events"]} events @param {number} functions */
function emptyReplay(events, functions) {
  let [steps, activations, stays] = [0, 0, 0];
  for (const code of events) {
    if (code > 0) steps++;
    else if (code < 0) stays++;
    if (code < 0 && -code <= functions) activations++;
  }
  const column = (/** @type {number} */ length, initial = 0) =>
    new Int32Array(length).fill(initial);
  const checkpoints = Math.ceil(events.length / STRIDE);
  return {
    events,
    functions,
    steps,
    activations,
    stepsAt: column(checkpoints),
    staysAt: column(checkpoints),
    topAt: column(checkpoints),
    stayEvent: column(stays),
    stayEnd: column(stays, events.length),
    stayBelow: column(stays),
    stayCaller: column(stays),
    resumed:
      stays === activations
        ? null
        : {
            activation: column(stays),
            next: column(stays, -1),
            first: column(activations),
            last: column(activations),
          },
  };
}
