// Ways through a run: a step, over a call, to a line, to a change of a variable, or one step after
// the other. Fetched with Step.

import { effect, untracked } from "@preact/signals";
import { nextChange } from "viewer/model/readings.js";
import { activationOf } from "viewer/model/run.js";
import { pastSpoken } from "viewer/model/said.js";
import { backOver, hasSteps, out, runToLine, stopAfter } from "viewer/model/stepping.js";
import { goTo } from "viewer/state/address.js";
import { command } from "viewer/state/commands.js";
import {
  chosenFrame,
  chosenName,
  current,
  playing,
  proseShown,
  speed,
  step,
} from "viewer/state/state.js";
import { isAhead, nextStop, reachedStep, stopAt, stopNow } from "viewer/state/stops.js";

/**
 * A step or, where that only says something which is shown as text, the next one.
 * @param {number} target
 * @param {1 | -1} direction
 */
function past(target, direction) {
  return proseShown.value === "raw" ? target : pastSpoken(current().model, target, direction);
}

/** To the next stop, or the one before. @param {1 | -1} direction */
function goOne(direction) {
  const stop = nextStop(direction);
  if (!stop) return;
  stopAt(stop.isReturned ? stop : { ...stop, step: past(stop.step, direction) });
}

/** One step back. */
function goBack() {
  goOne(-1);
}

/** One step forward. */
function goOn() {
  goOne(1);
}

/** Back over calls: those of this statement, or of the one before; out of a call, to where it
 * began. */
function goBackOver() {
  const { model } = current();
  const at = step.value;
  if (stopNow().isReturned) return stopAt({ step: at, isReturned: false });
  const target = past(backOver(model, at), -1);
  const isOut = activationOf(model, target) !== activationOf(model, at);
  stopAt({ step: target, isReturned: !isOut && hasSteps(model, target) });
}

/** On over calls: those of this statement, or of the next one. */
function goOver() {
  const { model } = current();
  if (isAhead()) return stopAt({ step: step.value, isReturned: true });
  const stop = stopAfter(model, { step: step.value, isReturned: true });
  if (!stop) return;
  const target = stop.isReturned ? stop.step : past(stop.step, 1);
  stopAt({ step: target, isReturned: hasSteps(model, target) });
}

/** To the first step or the last. @param {number} end */
function goToEnd(end) {
  goTo(end, { jump: true });
}

/** Out of this call. */
function goOut() {
  const stop = out(current().model, step.value);
  if (stop) stopAt(stop);
}

/** On to a line or, where it does not run again, back to its last run.
 * @param {number} file @param {number} line */
export function goToLine(file, line) {
  const reached = reachedStep();
  const target = runToLine(current().model, file, line, reached);
  if (target < 0 || target === step.value) return;
  const isBack = target <= reached;
  goTo(target);
  if (isBack) stopAt({ ...stopNow(), isBack });
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

/** Between two steps, in milliseconds, and how many times as fast it may go. */
const PAUSE = 700;
const SPEEDS = [1, 2, 4, 0.5];

/** Go on, or stop where the run ends. */
function advance() {
  const stop = nextStop(1);
  if (stop) stopAt(stop);
  else playing.value = false;
}

// Play from this step, or from the first one when the run is over.
effect(() => {
  if (!playing.value) return;
  untracked(() => {
    if (!nextStop(1)) goTo(0);
  });
  const timer = setInterval(advance, PAUSE / speed.value);
  return () => clearInterval(timer);
});

/** The next speed of playing, and then the first again. */
function changeSpeed() {
  speed.value = SPEEDS[(SPEEDS.indexOf(speed.value) + 1) % SPEEDS.length];
}

const MOVES = {
  speed: changeSpeed,
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
