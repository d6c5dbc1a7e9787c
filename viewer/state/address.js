// Going to a step, and the address that follows.

import { batch } from "@preact/signals";
import { FRONT, pageOfStep, WHOLE } from "viewer/model/book.js";
import { placeOfStep, readHash, stepOfPlace, writeHash } from "viewer/model/places.js";
import { clamp, functionOf } from "viewer/model/run.js";
import { headingOf, isWithin, sectionOfStep } from "viewer/model/sections.js";
import { firstVisibleStep } from "viewer/state/article.js";
import { letGo } from "viewer/state/holding.js";
import { keep, kept } from "viewer/state/kept.js";
import { showPath } from "viewer/state/path.js";
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
  part,
  presenting,
  shown,
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
 * Whether to open the short path: as the address says or, where it names no place of a lecture, as
 * the reader chose last.
 */
export function isShortWanted() {
  const { doc, at, chapter, whole, short } = readHash(location.hash);
  const isPlace = doc && (at || chapter || whole);
  return short === true || (!isPlace && kept("path") === "core");
}

/** Show the short path or all of the lecture that is open, as the address says. */
export function followPath() {
  const { doc, short } = readHash(location.hash);
  if (doc) showPath(short === true);
}

/**
 * Show what the short path leaves out among all the rest.
 * @param {number} target a step, or -1
 * @param {string} [chapter] without a step, the name of a chapter
 * @returns {string} a sentence for the reader, or nothing where it is shown anyway
 */
function leavePathFor(target, chapter) {
  const { model, all, leftOut, chapters, book } = current();
  const isNamed = (/** @type {Chapter} */ { name }) => name === chapter;
  const section = isWithin(model, target, leftOut) ? sectionOfStep(all, target) : undefined;
  const gone = target < 0 && !book.some(isNamed) ? chapters.find(isNamed)?.title : "";
  const title = section ? headingOf(functionOf(model, section.activation)) : gone;
  if (!title) return "";
  showPath(false);
  return `“${title}” is not on the short path, so all sections are shown; S leads back to it.`;
}

/**
 * Go where the address says, or else to the failure or the start. A link to no function that there
 * is leads nowhere; what is not there is said.
 */
export function goToHash() {
  // A place that was read before is not where the address leads.
  clearTimeout(hashTimer);
  const { mode: wanted, at, chapter, whole, short } = readAddress();
  const { model, document } = current();
  const named = at ? stepOfPlace(model, at) : -1;
  const isLink = /^#[^=]+$/.test(location.hash);
  const left = (isLink ? mode.value : wanted) === "read" ? leavePathFor(named, chapter) : "";
  const { book, leftOut } = current();
  const shown = book.find(({ name }) => name === chapter);
  const unread = named >= 0 ? "" : isLink ? decodeURIComponent(location.hash.slice(1)) : at;
  const isName = isLink || !unread.includes(":");
  const missing = isName ? (!unread && !shown ? chapter : "") : unread;
  notice.value = missing ? isNotThere(missing) : left;
  if (unread && isName && !(isLink && showPlace(unread))) showDefinition(unread);
  if (isLink && named < 0 && address) return put("replaceState", address);
  const failed = document.failure ? document.failure.step : -1;
  const isFollowed = !isLink && address !== "";
  const place = isFollowed && wanted === "read" ? history.state : null;
  batch(() => {
    if (!isLink) mode.value = wanted;
    step.value = clamp(model, named >= 0 ? named : (shown?.first ?? Math.max(failed, 0)));
    chosenFrame.value = -1;
    if (whole || (isLink && page.value === WHOLE)) page.value = WHOLE;
    else turnTo(named >= 0 ? named : -1, shown?.number);
    focus.value = place ?? { step: named };
  });
  if (isFollowed && !place && named < 0 && mode.value === "read") showTop();
  address = location.hash;
  if (!isLink && short === leftOut.size > 0) return;
  if (named < 0 && mode.value === "read") writePage("replaceState");
  else writeAddress("replaceState");
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
  notePlace();
  batch(() => {
    notice.value = "";
    dialog.value = "";
    mode.value = "read";
    page.value = number;
    step.value = clamp(current().model, book[number - 1]?.first ?? 0);
    focus.value = { step: -1 };
  });
  clearTimeout(hashTimer);
  writePage("pushState");
  showTop();
}

/** Show the top of the page. */
function showTop() {
  letGo();
  scrollTo({ top: 0, behavior: "instant" });
}

/** The address of a place in this lecture, of the short path while that is read.
 * @param {Omit<State, "doc" | "short">} place @returns {string} */
export function addressOfPlace(place) {
  const { name, leftOut } = current();
  return writeHash({ ...place, doc: name, short: leftOut.size > 0 });
}

/** Where a page is read from its top. @param {number} number @returns {string} */
export function addressOfPage(number) {
  const chapter = current().book[number - 1]?.name ?? "";
  return addressOfPlace({ mode: "read", at: "", chapter, whole: isWhole(number) });
}

/** Whether all chapters are shown as one page. @param {number} number */
function isWhole(number) {
  return number === WHOLE && current().book.length > 0;
}

/** Let the address name the page that is shown. @param {"pushState" | "replaceState"} write */
export function writePage(write) {
  put(write, addressOfPage(page.value));
}

/** Show a figure, an equation or a note of the text. @param {string} name */
function showPlace(name) {
  const place = document.getElementById(`in-text-${name}`);
  const shown = place?.getClientRects().length ? place : place?.nextElementSibling;
  shown?.scrollIntoView({ block: "center" });
  return place !== null;
}

/** Show what an address names that is no section: a class, or a function that did not run or is
 * not read as one. @param {string} name */
async function showDefinition(name) {
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
 * @param {{jump?: boolean, to?: "read" | "step", takes?: boolean, find?: Find}} [options]
 *   takes: its line takes the focus; find: what of the article is shown instead
 */
export function goTo(target, { jump = false, to = mode.value, takes = false, find } = {}) {
  moved = performance.now();
  if (jump) notePlace();
  batch(() => {
    notice.value = jump && to === "read" ? leavePathFor(target) : "";
    step.value = clamp(current().model, target);
    chosenFrame.value = -1;
    mode.value = to;
    if (jump && to === "read" && page.value !== WHOLE) turnTo(step.value);
    if (jump) focus.value = { step: step.value, takes, find };
  });
  clearTimeout(hashTimer);
  if (jump) writeAddress("pushState");
  else hashTimer = setTimeout(() => writeAddress("replaceState"), HASH_DELAY);
}

/** Note in the history which line stands where on the screen: the way back leads there. */
function notePlace() {
  const line = mode.value === "read" && !isEmbedded ? firstVisibleStep(-1) : -1;
  const element = document.querySelector(`#article [data-step="${line}"]`);
  if (!element) return;
  try {
    history.replaceState({ step: line, top: element.getBoundingClientRect().top }, "");
  } catch {
    // As in `put`.
  }
}

/** Leave the panel for a step. @param {number} target @param {Find} [find] as in `goTo` */
export function leaveTo(target, find) {
  const takes = dialog.value !== "";
  dialog.value = "";
  goTo(target, { jump: true, takes, find });
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
    if (target < 0) return writePage("replaceState");
    writeAddress("replaceState", target);
    if (!isEmbedded) keep(`place-${loaded.value.name}`, placeOfStep(loaded.value.model, target));
  }, READING_DELAY);
}

/** @param {"pushState" | "replaceState"} write @param {number} [target] a step */
function writeAddress(write, target = step.value) {
  const { model, book } = current();
  // The title of a lecture is the first slide; its step is that of the first chapter.
  const isTitle = presenting.value && shown.value === 0 && book.length > 0;
  const at = isTitle ? "" : placeOfStep(model, target);
  const whole = mode.value === "read" && isWhole(page.value);
  const present = presenting.value ? part.value + 1 : 0;
  put(write, addressOfPlace({ mode: mode.value, at, whole, present }));
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
