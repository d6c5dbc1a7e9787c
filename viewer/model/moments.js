// When names were read, and when something may have been written to objects. A moment is a number
// of events that are known then. Pure.

import { entryOf, eventOf, stayAt, stepsBefore } from "viewer/model/run.js";
import { lowerBound } from "viewer/model/sorted.js";

/** @type {WeakMap<number[], Uint8Array>} */
const unpacked = new WeakMap();

/**
 * The bits that run lengths stand for: so many that are not set, so many that are, and so on.
 * @param {number[]} lengths
 * @param {number} size
 */
function bitsOf(lengths, size) {
  const known = unpacked.get(lengths);
  if (known) return known;
  const bits = new Uint8Array((size >> 3) + 1);
  let at = 0;
  lengths.forEach((length, run) => {
    const end = Math.min(at + length, size);
    if (run % 2) for (let bit = at; bit < end; bit++) bits[bit >> 3] |= 1 << (bit & 7);
    at = end;
  });
  unpacked.set(lengths, bits);
  return bits;
}

/** @param {Uint8Array} bits @param {number} at */
function isSet(bits, at) {
  return (bits[at >> 3] & (1 << (at & 7))) !== 0;
}

/**
 * The moment since when no object was written to, looked at from a later one.
 * @param {Model} model
 * @param {number} moment
 */
export function lastWrite({ document, events }, moment) {
  const bits = bitsOf(document.effects, events.length);
  let event = moment - 1;
  while (event >= 0 && !isSet(bits, event)) event = bits[event >> 3] ? event - 1 : (event & ~7) - 1;
  return event + 1;
}

/** Calls of which the last answer is remembered. */
const REMEMBERED = 16;

/** @type {WeakMap<Model, Map<number, LastReading>>} */
const answers = new WeakMap();

/**
 * When an open call read its names last, and which of its statements have begun since, with the
 * event of the latest run of each. The next question mostly asks for a moment a little later.
 * @param {Model} model
 * @param {Moment} call
 * @param {number} moment from which one looks back, with this call on top
 * @returns {LastReading} at -1: never
 */
export function lastReading(model, { activation }, moment) {
  const known = answers.get(model) ?? new Map();
  answers.set(model, known);
  const found = lookBack(model, activation, moment, known.get(activation));
  known.delete(activation);
  known.set(activation, found);
  if (known.size > REMEMBERED) known.delete(known.keys().next().value ?? -1);
  return found;
}

/**
 * @param {Model} model
 * @param {number} activation
 * @param {number} from
 * @param {LastReading | undefined} earlier an answer about the same call
 * @returns {LastReading}
 */
function lookBack(model, activation, from, earlier) {
  const { events, stayEvent, stayEnd, stayBelow, resumed, document } = model;
  const bits = bitsOf(document.readings, events.length + 1);
  const entry = entryOf(model, activation);
  /** @type {Map<number, number>} */
  const ran = new Map();
  let at = document.readings.length ? from : entry;
  let stay = lowerBound(stayEvent, at) - 1; // the last one that began before
  while (at > entry && !isSet(bits, at)) {
    if (at === earlier?.from) {
      for (const [statement, event] of earlier.ran)
        if (!ran.has(statement)) ran.set(statement, event);
      return { from, at: earlier.at, ran };
    }
    const code = events[--at];
    if (code > 0 && !ran.has(code - 1)) ran.set(code - 1, at);
    if (code === 0) {
      while (stayEnd[stay] !== at) stay = stayBelow[stay];
      at = stayEvent[stay--];
    } else if (code < 0 && at > entry) {
      at = stayEnd[stayBefore(resumed, activation, stay)];
      stay = lowerBound(stayEvent, at) - 1;
    }
  }
  return { from, at: at > entry ? at : -1, ran };
}

/**
 * The stay of a call before another one.
 * @param {Resumed | null} resumed
 * @param {number} activation
 * @param {number} stay
 */
function stayBefore(resumed, activation, stay) {
  let before = resumed ? resumed.first[activation] : stay;
  while (resumed && resumed.next[before] !== stay) before = resumed.next[before];
  return before;
}

/** The moment at which an open call goes on, or waits for those above it.
 * @param {Model} model @param {Moment} call @param {number} end of the current step
 * @param {boolean} isInnermost */
export function momentOf(model, { step }, end, isInnermost) {
  return isInnermost ? end : eventOf(model, step) + 1;
}

/**
 * The step that a reading belongs to: the one that had just ended; of arguments, the last one
 * before the call.
 * @param {Model} model
 * @param {number} moment
 */
export function stepOfMoment(model, moment) {
  const left = moment > 0 && model.events[moment - 1] === 0 ? stayAt(model, moment - 1) : -1;
  const caller = left < 0 ? -1 : model.stayCaller[left];
  return Math.max(0, caller >= 0 ? caller : stepsBefore(model, moment) - 1);
}
