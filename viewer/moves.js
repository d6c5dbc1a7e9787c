// Longer ways through a run: to a line, to a change of a variable, or one step after the other. Fetched when one is taken,
// or while the reader rests.

import { effect, untracked } from "@preact/signals";
import {
  activationOf,
  changesOf,
  eventOf,
  lowerBoundBy,
  nearestRun,
  stepsBefore,
} from "viewer/model.js";
import { chosenFrame, chosenName, current, goTo, playing, step } from "viewer/store.js";

/**
 * The step at which a name of this call changes next (direction 1) or changed before (-1), or -1.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {number} step
 * @param {1 | -1} direction
 */
export function nextChange(model, activation, name, step, direction) {
  const { inspections } = model.document;
  const own = changesOf(model, activation).get(name)?.rows ?? [];
  const event = eventOf(model, step);
  let index =
    lowerBoundBy(own, (row) => inspections.event[row], direction > 0 ? event + 1 : event) -
    (direction > 0 ? 0 : 1);
  for (; index >= 0 && index < own.length; index += direction) {
    const changed =
      index === 0 || inspections.value[own[index]] !== inspections.value[own[index - 1]];
    if (changed && model.events[inspections.event[own[index]]] > 0)
      return stepsBefore(model, inspections.event[own[index]]);
  }
  return -1;
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
  const isThere = (/** @type {number} */ statement) => {
    const [owner, first, last] = statements[statement];
    return owner === file && first <= line && line <= last;
  };
  const next = nearestRun(model, isThere, step, 1);
  return next >= 0 ? next : nearestRun(model, isThere, step, -1);
}

/** @param {number} file @param {number} line */
export function goToLine(file, line) {
  const target = runToLine(current().model, file, line, step.value);
  if (target >= 0) goTo(target);
}

/** @param {1 | -1} direction */
export function goToChange(direction) {
  const { model } = current();
  const activation = chosenFrame.value >= 0 ? chosenFrame.value : activationOf(model, step.value);
  const target = nextChange(model, activation, chosenName.value, step.value, direction);
  if (target >= 0) goTo(target);
}

/** The step at which a line was chosen; another step begins at its own line. */
let chosenAt = -1;

/** Put the focus on the number of the next line, where Enter runs to it. @param {1 | -1} direction */
export function chooseLine(direction) {
  const numbers = /** @type {HTMLElement[]} */ ([
    ...document.querySelectorAll(".program-file:not(.away) button.line-number"),
  ]);
  const marked = numbers.filter((number) => number.parentElement?.matches(".current, .caller"));
  const chosen =
    chosenAt === step.value ? numbers.findIndex((number) => number === document.activeElement) : -1;
  const from =
    chosen >= 0 ? chosen : numbers.indexOf(marked[direction > 0 ? marked.length - 1 : 0]);
  numbers[from + direction]?.focus();
  chosenAt = step.value;
}

const PAUSE = 700;

/** @returns {number} */
function lastStep() {
  return current().model.steps - 1;
}

/** Go on, or stop where the run ends. */
function advance() {
  if (step.value < lastStep()) goTo(step.value + 1);
  else playing.value = false;
}

// Play from this step, or from the first one when the run is over.
effect(() => {
  if (!playing.value) return;
  if (step.peek() === lastStep()) untracked(() => goTo(0));
  const timer = setInterval(advance, PAUSE);
  return () => clearInterval(timer);
});
