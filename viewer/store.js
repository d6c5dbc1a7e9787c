// What the page shows now, as signals, and the few functions that change it.

import { batch, signal } from "@preact/signals";
import { costMeter } from "viewer/format.js";
import { buildModel } from "viewer/model.js";
import { clamp, placeOfStep, readHash, stepOfPlace, writeHash } from "viewer/navigate.js";
import { sectionsOf } from "viewer/reading.js";
import { DocumentError, load } from "viewer/schema.js";

/**
 * @typedef {object} Loaded a document with everything computed from it once
 * @property {string} name
 * @property {import("viewer/schema.js").Document} document
 * @property {import("viewer/model.js").Model} model
 * @property {import("viewer/format.js").CostMeter} cost
 * @property {import("viewer/reading.js").Section[]} sections
 *
 * @typedef {{file: string, module: string, title: string, steps: number, claims: number, failed: boolean}} Listed
 */

/** @type {import("@preact/signals").Signal<Loaded | null>} */
export const loaded = signal(null);
/** @type {import("@preact/signals").Signal<Listed[]>} */
export const listing = signal([]);
/** Whether a document is on its way. */
export const loading = signal(true);
/** A sentence that stands in place of a document. */
export const problem = signal("");
/** @type {import("@preact/signals").Signal<"read" | "step">} */
export const mode = signal("read");
export const step = signal(0);
/** The activation that the reader looks at instead of the innermost one, or -1. */
export const chosenFrame = signal(-1);
/** Index of the name whose changes `[` and `]` visit, or -1. */
export const chosenName = signal(-1);
/** What Read scrolls to; a new object scrolls again. @type {import("@preact/signals").Signal<{step: number}>} */
export const focus = signal({ step: -1 });
/** @type {import("@preact/signals").Signal<"" | "claims" | "search" | "help" | "outline">} */
export const dialog = signal("");
export const outlineShown = signal(true);
export const variablesShown = signal(true);

const HASH_DELAY = 150;
const READING_DELAY = 500;
let hashTimer = 0;

/** The loaded document, where one must be there. @returns {Loaded} */
export function current() {
  if (!loaded.value) throw new Error("no document is loaded");
  return loaded.value;
}

/**
 * @param {string} name of the document
 * @param {string} text JSON
 */
export function open(name, text) {
  try {
    const document = load(text);
    const model = buildModel(document);
    batch(() => {
      loaded.value = { name, document, model, cost: costMeter(document.costs), sections: sectionsOf(model) };
      problem.value = "";
      goToHash();
    });
  } catch (error) {
    if (!(error instanceof DocumentError)) console.warn(error);
    fail(error instanceof DocumentError ? error.message : "This document cannot be shown; record it again: python -m trace lecture.main");
  }
}

/** @param {string} sentence */
export function fail(sentence) {
  batch(() => {
    loaded.value = null;
    problem.value = sentence;
  });
}

/** Go where the address says; where it names no place, to the failure or the start. */
export function goToHash() {
  const { mode: wanted, at } = readHash(location.hash);
  const { model, document } = current();
  const named = at ? stepOfPlace(model, at) : -1;
  const failed = document.failure ? document.failure.step : -1;
  batch(() => {
    mode.value = wanted;
    step.value = clamp(model, named >= 0 ? named : Math.max(failed, 0));
    chosenFrame.value = -1;
    focus.value = { step: named >= 0 ? step.value : failed };
  });
}

/**
 * Show a step. The address follows at once when the reader jumped, and a moment later while stepping.
 * @param {number} target
 * @param {{jump?: boolean, to?: "read" | "step"}} [options]
 */
export function goTo(target, { jump = false, to = mode.value } = {}) {
  batch(() => {
    step.value = clamp(current().model, target);
    chosenFrame.value = -1;
    mode.value = to;
    if (jump) focus.value = { step: step.value };
  });
  clearTimeout(hashTimer);
  if (jump) writeAddress("pushState");
  else hashTimer = setTimeout(() => writeAddress("replaceState"), HASH_DELAY);
}

/** Let the address name what is being read, once the reader rests there. @param {number} target a step */
export function noteReading(target) {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(() => loaded.value && mode.value === "read" && writeAddress("replaceState", target), READING_DELAY);
}

/** @param {"pushState" | "replaceState"} write @param {number} [target] a step */
function writeAddress(write, target = step.value) {
  const { name, model } = current();
  const hash = writeHash({ doc: name, mode: mode.value, at: placeOfStep(model, target) });
  try {
    if (hash !== location.hash) history[write](null, "", hash);
  } catch {
    // A page opened as a file may not write its address; it works without.
  }
}

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @type {Theme[]} */
const THEMES = ["auto", "light", "dark"];
const KEY = "lecture-theme";

/** @type {import("@preact/signals").Signal<Theme>} */
export const theme = signal("auto");
/** Counts changes of the colours that are on the screen; charts draw again. */
export const colours = signal(0);

/** Take up the remembered theme and follow the system. */
export function startTheme() {
  try {
    apply(THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "auto");
  } catch {
    apply("auto");
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours.value++);
}

/** Go to the next theme. */
export function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  apply(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage may be forbidden; the theme then lasts as long as the page.
  }
}

/** @param {Theme} name */
function apply(name) {
  theme.value = name;
  document.documentElement.dataset.theme = name;
  colours.value++;
}

/** The colour that a custom property has now, as `rgb(...)`. @param {string} property @returns {string} */
export function colourOf(property) {
  const probe = document.createElement("span");
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
