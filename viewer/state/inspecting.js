// Opens the inspector on a value that the page shows. Fetched when somebody asks for it.

import { batch } from "@preact/signals";
import { pathTo } from "viewer/model/parts.js";
import { entryOf, stepsBefore } from "viewer/model/run.js";
import { subjectOf } from "viewer/model/watching.js";
import {
  chosenFrame,
  chosenName,
  current,
  dialog,
  docked,
  inspected,
  mode,
  presenting,
  step,
} from "viewer/state/state.js";
import { stateNow } from "viewer/state/stops.js";

/**
 * The steps that a place in an article tells of: those of its line, or of an argument, the first of
 * the call.
 * @param {Element} place
 * @returns {number[]}
 */
function stepsOf(place) {
  const around = place.closest("[data-steps], [id^=activation-]");
  const line = around?.getAttribute("data-steps");
  if (line) return line.split(" ").map(Number);
  const activation = around?.id.split("-")[1];
  return activation
    ? [stepsBefore(current().model, entryOf(current().model, Number(activation)))]
    : [];
}

/**
 * The variable whose value a place beside a program shows, or a part of it.
 * @param {Element} place
 * @param {Value} value
 * @returns {Watched | undefined}
 */
function watchedAt(place, value) {
  const around = /** @type {HTMLElement | null} */ (place.closest("[data-variable]"));
  if (!around) return undefined;
  const [activation, name] = (around.dataset.variable ?? "").split(" ").map(Number);
  const { frames } = stateNow();
  const variables = frames.find((frame) => frame.activation === activation)?.variables ?? [];
  const whole = variables.find((variable) => variable.name === name)?.value;
  return { activation, name, path: (whole && pathTo(whole, value)) ?? "" };
}

/**
 * Show it: beside a program, where it follows each step, or over an article.
 * @param {Opened | null} opened
 */
function open(opened) {
  batch(() => {
    inspected.value = opened;
    if (mode.value === "step" && !presenting.value) docked.value = "inspect";
    else dialog.value = "inspect";
  });
}

/**
 * @param {Element} place the button that was pressed
 * @param {Value} value
 * @param {string} name beside it
 * @param {"value" | "history"} [view]
 */
export function inspect(place, value, name, view = "value") {
  const watched = mode.value === "step" ? watchedAt(place, value) : undefined;
  batch(() => {
    if (watched) [chosenFrame.value, chosenName.value] = [watched.activation, watched.name];
    open({ value, name, steps: watched ? [step.value] : stepsOf(place), view, watched });
  });
}

/** What the inspector beside the program shows, unless another variable was chosen since. */
function openedBeside() {
  const opened = docked.value === "inspect" ? inspected.value : null;
  const { activation = -1, name = -1 } = opened?.watched ?? {};
  const isOther =
    (chosenName.value >= 0 && chosenName.value !== name) ||
    (chosenFrame.value >= 0 && chosenFrame.value !== activation);
  return opened?.watched && isOther ? null : opened;
}

/**
 * Inspect what the inspector shows already in this view, or the chosen variable, or what the line
 * is about; or end it.
 * @param {"value" | "history"} view
 */
export function inspectChosen(view) {
  const opened = openedBeside();
  if (opened?.view === view) docked.value = "";
  else if (opened) inspected.value = { ...opened, view };
  if (opened) return;
  const { model } = current();
  const { frames } = stateNow();
  const frame = frames.find(({ activation }) => activation === chosenFrame.value) ?? frames.at(-1);
  const chosen = frame?.variables.find(({ name, value }) => value && name === chosenName.value);
  const found = chosen ?? (frame && subjectOf(model, frame));
  if (!found?.value || !frame) {
    if (docked.value === "inspect") docked.value = "";
    else open(null);
    return;
  }
  const watched = { activation: frame.activation, name: found.name, path: "" };
  open({ value: found.value, name: found.text, steps: [step.value], view, watched });
}
