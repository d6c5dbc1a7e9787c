// Document -> steps, activations and look-ups over them. Pure, and made for a million events: nothing is stored for
// each step, since it follows from the events, and checkpoints make the way to any event short.

import { DocumentError } from "viewer/schema.js";

const STRIDE = 128;
/** Activations whose changes are remembered. */
const REMEMBERED = 16;

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

/** @param {Resumed} resumed @param {number} stay @param {number} activation @param {boolean} isEntry */
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

/** @param {number[]} keys one per row @returns {Lookup} */
function lookup(keys) {
  if (keys.every((key, row) => row === 0 || keys[row - 1] <= key)) return { keys, rows: null };
  const order = Int32Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b] || a - b);
  return { keys: order.map((row) => keys[row]), rows: order };
}

/** The rows of the keys from one until before another. @param {Lookup} lookup @param {number} key @param {number} [beyond] */
export function rows({ keys, rows: order }, key, beyond = key + 1) {
  const found = [];
  for (let at = lowerBound(keys, key); at < keys.length && keys[at] < beyond; at++)
    found.push(order ? order[at] : at);
  return found;
}

/**
 * Number of leading entries that are smaller than the limit.
 * @param {ArrayLike<number>} sorted
 * @param {number} limit
 */
export function lowerBound(sorted, limit) {
  return lowerBoundBy(sorted, (entry) => entry, limit);
}

/**
 * The same, of what a function makes of the entries.
 * @param {ArrayLike<number>} sorted
 * @param {(entry: number) => number} key
 * @param {number} limit
 */
export function lowerBoundBy(sorted, key, limit) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(sorted[middle]) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {Model} model @param {number} event @returns {number} how many steps began before an event */
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

/** The stay that an event belongs to: what it enters, runs in, or leaves. @param {Model} model @param {number} event */
function stayAt({ events, staysAt, topAt, stayBelow }, event) {
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
function activationOfStay({ resumed }, stay) {
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

/** How many events are known when a step and its calls are over. @param {Model} model @param {number} step */
export function endOf(model, step) {
  const { events, stayEnd } = model;
  let event = eventOf(model, step) + 1;
  while (event < events.length && events[event] < 0) event = stayEnd[stayFrom(model, event)] + 1;
  return Math.min(event, events.length);
}

/** The step after this statement and the calls it made. @param {Model} model @param {number} step */
export function stepAfter(model, step) {
  return stepsBefore(model, endOf(model, step));
}

/** @param {Model} model @param {number} activation @returns {number} event that entered it */
export function entryOf({ stayEvent, resumed }, activation) {
  return stayEvent[resumed ? resumed.first[activation] : activation];
}

/** @param {Model} model @param {number} activation @returns {number} event that left it for good, or the number of events */
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

/** Whether a step made a call, as far as its first moment tells. @param {Model} model @param {number} event of the step */
export function hasCalls({ events }, event) {
  return events[event + 1] < 0;
}

/** The activations that a step entered. Suspended, it goes on where it is resumed. @param {Model} model @param {number} step */
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

/**
 * The nearest step after another (direction 1) or before it (-1) that runs one of some statements, or -1.
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

/**
 * What became known of one activation, by name.
 * @param {Model} model
 * @param {number} activation
 * @returns {Map<number, Changes>}
 */
export function changesOf(model, activation) {
  const { changes } = model;
  const found = changes.get(activation) ?? collectChanges(model, activation);
  changes.delete(activation);
  changes.set(activation, found); // the latest is the last
  if (changes.size > REMEMBERED) changes.delete(changes.keys().next().value ?? -1);
  return found;
}

/** @param {Model} model @param {number} activation */
function collectChanges(model, activation) {
  const { keys, rows: order } = model.inspected;
  const { name, at, value } = model.document.inspections;
  const scope = wholeScope(model, activation);
  let next = lowerBound(keys, scope.from - 1);
  /** @type {Map<number, Changes>} */
  const found = new Map();
  const take = (/** @type {number} */ event) => {
    while (keys[next] < event) next++;
    for (; keys[next] === event; next++) {
      const row = order ? order[next] : next;
      if (!found.get(name[row])?.rows.push(row)) found.set(name[row], { rows: [row], clears: [] });
    }
  };
  take(scope.from - 1);
  visitSteps(model, scope, take);
  for (const { rows, clears } of found.values()) {
    rows.sort((a, b) => at[a] - at[b] || a - b);
    rows.forEach((row, index) => value[row] === null && clears.push(index));
  }
  return found;
}
