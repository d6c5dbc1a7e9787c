// Where one stops while stepping: at a statement before its calls, in them, and again when they
// have ended. Who goes to a step by other ways sees what it came to; but at the start, and where it
// calls sections, these are still to come. Fetched with Step.

import { batch, effect, signal } from "@preact/signals";
import { stepAfter } from "viewer/model/run.js";
import { lowerBoundBy } from "viewer/model/sorted.js";
import { hasSteps, stopAfter, stopBefore } from "viewer/model/stepping.js";
import { stateAt } from "viewer/model/variables.js";
import { goTo } from "viewer/state/address.js";
import { current, focus, step } from "viewer/state/state.js";

/** The stop that a step on or back led to; none where another way led to this step.
 * @type {import("@preact/signals").Signal<Stop | null>} */
const stop = signal(null);

/** @returns {Stop} */
export function stopNow() {
  const at = step.value;
  if (stop.value?.step === at) return stop.value;
  const isReturned = at > 0 && hasSteps(current().model, at) && !callsSections(at);
  return { step: at, isReturned };
}

/** Whether a statement calls a section, or calls what does. @param {number} at */
function callsSections(at) {
  const { model, all } = current();
  const next = all[lowerBoundBy(all, ({ first }) => first, at + 1)];
  return next !== undefined && next.first < stepAfter(model, at);
}

/** Whether the calls of this statement are still to come. */
export function isAhead() {
  return !stopNow().isReturned && hasSteps(current().model, step.value);
}

/** The step that this stop follows: of calls that have ended, the last. */
export function reachedStep() {
  const { step: at, isReturned } = stopNow();
  return isReturned ? stepAfter(current().model, at) - 1 : at;
}

/** The variables of all open calls, as they are at this stop. */
export function stateNow() {
  return stateAt(current().model, step.value, isAhead());
}

/** Stop at a step. @param {Stop} target */
export function stopAt(target) {
  batch(() => {
    goTo(target.step);
    stop.value = { ...target, step: step.value };
  });
}

/** What comes next, or before; null at the end. @param {1 | -1} direction @returns {Stop | null} */
export function nextStop(direction) {
  const { model } = current();
  return direction > 0 ? stopAfter(model, stopNow()) : stopBefore(model, stopNow());
}

/** What the reader was led to last. */
let led = focus.peek();

// Another way to a step, or a jump to the same one, shows what it came to.
effect(() => {
  const [target, isElsewhere] = [focus.value, stop.peek()?.step !== step.value];
  if (isElsewhere || target !== led) stop.value = null;
  led = target;
});
