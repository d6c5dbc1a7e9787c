// Ways through a run: a step, over a call, to a line, to a change of a variable, or one step after
// the other. Fetched with Step.

import { effect, untracked } from "@preact/signals";
import { nextChange } from "viewer/model/readings.js";
import { activationOf } from "viewer/model/run.js";
import { pastSpoken } from "viewer/model/said.js";
import { backOver, out, over, runToLine } from "viewer/model/stepping.js";
import { goTo } from "viewer/state/address.js";
import { command } from "viewer/state/commands.js";
import { chosenFrame, chosenName, current, playing, proseShown, step } from "viewer/state/state.js";

/**
 * Go to a step or, where that only says something which is shown as text, on to the next.
 * @param {number} target
 * @param {1 | -1} direction
 */
function go(target, direction) {
  const { model } = current();
  goTo(proseShown.value === "raw" ? target : pastSpoken(model, target, direction));
}

/** One step back. */
function goBack() {
  go(step.value - 1, -1);
}

/** One step forward. */
function goOn() {
  go(step.value + 1, 1);
}

/** Back over calls. */
function goBackOver() {
  go(backOver(current().model, step.value), -1);
}

/** On over calls. */
function goOver() {
  go(over(current().model, step.value), 1);
}

/** To the first step or the last. @param {number} end */
function goToEnd(end) {
  goTo(end, { jump: true });
}

/** Out of this call. */
function goOut() {
  goTo(out(current().model, step.value));
}

/** @param {number} file @param {number} line */
export function goToLine(file, line) {
  const target = runToLine(current().model, file, line, step.value);
  if (target >= 0) goTo(target);
}

/** @param {1 | -1} direction */
function goToChange(direction) {
  const { model } = current();
  const activation = chosenFrame.value >= 0 ? chosenFrame.value : activationOf(model, step.value);
  const target = nextChange(model, activation, chosenName.value, step.value, direction);
  if (target >= 0) goTo(target);
}

/** The step at which a line was chosen; another step begins at its own line. */
let chosenAt = -1;

/**
 * Put the focus on the number of the next line, where Enter runs to it.
 * @param {1 | -1} direction
 */
function chooseLine(direction) {
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

const MOVES = {
  back: goBack,
  forward: goOn,
  backOver: goBackOver,
  over: goOver,
  out: goOut,
  first: () => goToEnd(0),
  last: () => goToEnd(Infinity),
  lineAbove: () => chooseLine(-1),
  lineBelow: () => chooseLine(1),
  previousChange: () => goToChange(-1),
  nextChange: () => goToChange(1),
};
for (const [id, move] of Object.entries(MOVES)) command(id).run = move;
