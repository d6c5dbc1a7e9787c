// Going to a step, and the address that follows.

import { batch } from "@preact/signals";
import { FRONT, pageOfStep, WHOLE } from "viewer/model/book.js";
import { placeOfStep, readHash, stepOfPlace, writeHash } from "viewer/model/places.js";
import { clamp } from "viewer/model/run.js";
import { letGo } from "viewer/state/holding.js";
import { keep } from "viewer/state/kept.js";
import {
  chosenFrame,
  current,
  dialog,
  focus,
  isEmbedded,
  loaded,
  mode,
  notice,
  openDefinition,
  page,
  step,
} from "viewer/state/state.js";

const HASH_DELAY = 400;
const READING_DELAY = 500;
let hashTimer = 0;

/** The address as it was last read or written. */
let address = "";

/** What the page itself is of, where it is one of a lecture or of a chapter. */
const { doc: ownDoc = "", chapter: ownChapter = "" } = document.documentElement.dataset;

/** What the address names, or else what the page is of. @returns {State} */
export function readAddress() {
  const state = readHash(location.hash);
  const { doc, at, chapter, whole } = state;
  if (doc) return state;
  return { ...state, doc: ownDoc, chapter: at || whole ? chapter : chapter || ownChapter };
}

/**
 * Go where the address says, or else to the failure or the start. A link to no function that there
 * is leads nowhere; what is not there is said.
 */
export function goToHash() {
  const { mode: wanted, at, chapter, whole } = readAddress();
  const { model, document, book } = current();
  const named = at ? stepOfPlace(model, at) : -1;
  const isLink = /^#[^=]+$/.test(location.hash);
  const shown = book.find(({ name }) => name === chapter);
  const isElsewhere = isLink && named < 0;
  if (isElsewhere && !showPlace(location.hash.slice(1))) showDefinition(location.hash.slice(1));
  const missing = isElsewhere ? "" : at && named < 0 ? at : chapter && !shown ? chapter : "";
  notice.value = missing && isNotThere(missing);
  if (isLink && named < 0 && address) return put("replaceState", address);
  const failed = document.failure ? document.failure.step : -1;
  batch(() => {
    if (!isLink) mode.value = wanted;
    step.value = clamp(model, named >= 0 ? named : (shown?.first ?? Math.max(failed, 0)));
    chosenFrame.value = -1;
    if (whole || (isLink && page.value === WHOLE)) page.value = WHOLE;
    else turnTo(named >= 0 ? named : -1, shown?.number);
    focus.value = { step: named };
  });
  address = location.hash;
  if (isLink) writeAddress("replaceState");
}

/**
 * Let Read show the page of a step, or else one by its number; a lecture of one page has no other.
 * @param {number} target a step, or -1
 * @param {number} [number]
 */
function turnTo(target, number = FRONT) {
  const { book } = current();
  if (!book.length) page.value = WHOLE;
  else page.value = target >= 0 ? pageOfStep(book, target) : number;
}

/**
 * Open a chapter from its top, the page before them, or all of them on one page.
 * @param {number} number
 */
export function openPage(number) {
  const { book } = current();
  batch(() => {
    notice.value = "";
    dialog.value = "";
    mode.value = "read";
    page.value = number;
    step.value = clamp(current().model, book[number - 1]?.first ?? 0);
    focus.value = { step: -1 };
  });
  clearTimeout(hashTimer);
  writeTop("pushState");
  letGo();
  scrollTo({ top: 0, behavior: "instant" });
}

/** Where a page is read from its top. @param {number} number @returns {string} */
export function addressOfPage(number) {
  const { name, book } = current();
  const chapter = book[number - 1]?.name ?? "";
  return writeHash({ doc: name, mode: "read", at: "", chapter, whole: isWhole(number) });
}

/** Whether all chapters are shown as one page. @param {number} number */
function isWhole(number) {
  return number === WHOLE && current().book.length > 0;
}

/** @param {"pushState" | "replaceState"} write */
function writeTop(write) {
  put(write, addressOfPage(page.value));
}

/** Show a figure, an equation or a note of the text. @param {string} name */
function showPlace(name) {
  const place = document.getElementById(`in-text-${decodeURIComponent(name)}`);
  const shown = place?.getClientRects().length ? place : place?.nextElementSibling;
  shown?.scrollIntoView({ block: "center" });
  return place !== null;
}

/** Show what a link names that is no section: a class, or a function that is not read as one.
 * @param {string} encoded */
async function showDefinition(encoded) {
  const name = decodeURIComponent(encoded);
  const { definitionNamed } = await import("viewer/model/names.js");
  const found = definitionNamed(current().document, name);
  if (found) openDefinition(found);
  else notice.value = isNotThere(name);
}

/** @param {string} name */
const isNotThere = (name) => `There is no “${name}” in this lecture.`;

/** When the reader last went to a step, and for how many milliseconds one then expects more. */
let moved = 0;
const REST = 500;

/** Settled while the reader rests. */
export async function rested() {
  while (performance.now() - moved < REST)
    await new Promise((resolve) => setTimeout(resolve, REST));
}

/**
 * Show a step. The address follows at once when the reader jumped, and a moment later while
 * stepping.
 * @param {number} target
 * @param {{jump?: boolean, to?: "read" | "step"}} [options]
 */
export function goTo(target, { jump = false, to = mode.value } = {}) {
  moved = performance.now();
  batch(() => {
    notice.value = "";
    step.value = clamp(current().model, target);
    chosenFrame.value = -1;
    mode.value = to;
    if (jump && to === "read" && page.value !== WHOLE) turnTo(step.value);
    if (jump) focus.value = { step: step.value };
  });
  clearTimeout(hashTimer);
  if (jump) writeAddress("pushState");
  else hashTimer = setTimeout(() => writeAddress("replaceState"), HASH_DELAY);
}

/** Leave the panel for a step. @param {number} target */
export function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/**
 * Let the address name what is being read, once the reader rests there, and keep it for the day
 * when the reader comes back.
 * @param {number} target a step, or -1 for the top of the page
 */
export function noteReading(target) {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(() => {
    if (!loaded.value || mode.value !== "read") return;
    if (target < 0) return writeTop("replaceState");
    writeAddress("replaceState", target);
    if (!isEmbedded) keep(`place-${loaded.value.name}`, placeOfStep(loaded.value.model, target));
  }, READING_DELAY);
}

/** @param {"pushState" | "replaceState"} write @param {number} [target] a step */
function writeAddress(write, target = step.value) {
  const { name, model } = current();
  const whole = mode.value === "read" && isWhole(page.value);
  put(write, writeHash({ doc: name, mode: mode.value, at: placeOfStep(model, target), whole }));
}

/** @param {"pushState" | "replaceState"} write @param {string} hash */
function put(write, hash) {
  address = hash;
  try {
    // What is shown may be another chapter than the one that the page was written for.
    const path = ownDoc ? `./${location.search}` : "";
    // Within another page, the reader's way back is that page's.
    if (hash !== location.hash) history[isEmbedded ? "replaceState" : write](null, "", path + hash);
  } catch {
    // A page opened as a file may not write its address; it works without.
  }
}
