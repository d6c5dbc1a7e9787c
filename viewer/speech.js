// What a screen reader hears while one steps. Fetched while the reader rests.

import { effect } from "@preact/signals";
import { valueText } from "viewer/format.js";
import { eventOf, rows, statementOf } from "viewer/model.js";
import { pieces, withoutDirectives } from "viewer/reading.js";
import { loaded, mode, step } from "viewer/store.js";

const MAX_LENGTH = 300;

/**
 * @param {Model} model
 * @param {number} step
 */
export function narrate(model, step) {
  const { statements, files, inspections, names, values, claims } = model.document;
  if (!model.steps) return "";
  const [file, line] = statements[statementOf(model, step)];
  const source = withoutDirectives(pieces(files[file], line))
    .map(({ text }) => text)
    .join("")
    .trim();
  const changes = rows(model.inspected, eventOf(model, step)).map((row) => {
    const value = inspections.value[row];
    return value === null
      ? `${names[inspections.name[row]]} cleared`
      : `${names[inspections.name[row]]} is ${valueText(values[value])}`;
  });
  const outcomes = rows(model.claimsOf, step).map((row) =>
    claims.held[row] ? "claim held" : "claim failed",
  );
  return [`line ${line}: ${source}`, ...changes, ...outcomes].join("; ").slice(0, MAX_LENGTH);
}

/** Milliseconds of rest at a step, of which one then hears. */
const REST = 100;

effect(() => {
  if (!loaded.value || mode.value !== "step") return;
  const { model } = loaded.value;
  const at = step.value;
  const timer = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = narrate(model, at);
  }, REST);
  return () => clearTimeout(timer);
});
