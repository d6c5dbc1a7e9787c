// Opens the inspector on a value that the page shows. Fetched when somebody asks for it.

import { batch } from "@preact/signals";
import { environmentAt } from "viewer/model/changes.js";
import { activationOf, endOf, entryOf, eventOf, stepsBefore } from "viewer/model/run.js";
import {
  chosenFrame,
  chosenName,
  current,
  dialog,
  inspected,
  mode,
  step,
} from "viewer/state/state.js";

/**
 * The steps that a place on the page tells of: those of its line, or of an argument, the first of
 * the call.
 * @param {Element} place
 * @returns {number[]}
 */
function stepsOf(place) {
  if (mode.value === "step") return [step.value];
  const around = place.closest("[data-steps], [id^=activation-]");
  const line = around?.getAttribute("data-steps");
  if (line) return line.split(" ").map(Number);
  const activation = around?.id.split("-")[1];
  return activation
    ? [stepsBefore(current().model, entryOf(current().model, Number(activation)))]
    : [];
}

/**
 * @param {Element} place the button that was pressed
 * @param {Value} value
 * @param {string} name beside it
 * @param {"value" | "history"} [view]
 */
export function inspect(place, value, name, view = "value") {
  batch(() => {
    inspected.value = { value, name, steps: stepsOf(place), view };
    dialog.value = "inspect";
  });
}

/**
 * Inspect the chosen variable, or the latest one that the call knows.
 * @param {"value" | "history"} view
 */
export function inspectChosen(view) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  const activation = chosenFrame.value >= 0 ? chosenFrame.value : activationOf(model, step.value);
  const known = [...environmentAt(model, activation, endOf(model, step.value))];
  const event = eventOf(model, step.value);
  const [name, { row }] = known.find(([candidate]) => candidate === chosenName.value) ??
    known.find(([, { row: candidate }]) => inspections.event[candidate] === event) ??
    known[known.length - 1] ?? [-1, { row: -1 }];
  const value = values[inspections.value[row] ?? -1];
  if (value) return inspect(window.document.body, value, names[name], view);
  batch(() => {
    inspected.value = null;
    dialog.value = "inspect";
  });
}
