// What the page shows now, as signals, and the few functions that change it; what of the article is on the screen.

import { batch, effect, signal } from "@preact/signals";
import { THEME } from "viewer/early.js";
import { costMeter } from "viewer/format.js";
import { buildModel, lowerBoundBy, stepRange } from "viewer/model.js";
import { clamp, placeOfStep, readHash, stepOfPlace, writeHash } from "viewer/navigate.js";
import { sectionOfStep, sectionsOf } from "viewer/reading.js";
import { checked, DocumentError } from "viewer/schema.js";

/** @type {Signal<Loaded | null>} */
export const loaded = signal(null);
/** @type {Signal<Listed[]>} */
export const listing = signal([]);
/** Whether a document is on its way. */
export const loading = signal(true);
/** A sentence that stands in place of a document. */
export const problem = signal("");
/** @type {Signal<"read" | "step">} */
export const mode = signal("read");
export const step = signal(0);
/** The activation that the reader looks at instead of the innermost one, or -1. */
export const chosenFrame = signal(-1);
/** Index of the name whose changes `[` and `]` visit, or -1. */
export const chosenName = signal(-1);
/** What Read scrolls to; a new object scrolls again. @type {Signal<{step: number}>} */
export const focus = signal({ step: -1 });
/** @type {Signal<"" | PanelName>} */
export const dialog = signal("");
/** What the inspector is opened on. @type {Signal<Opened | null>} */
export const inspected = signal(null);
/** The step that others are compared with, or -1. */
export const pinned = signal(-1);
/** The section whose claims are listed, or -1. */
export const claimsOf = signal(-1);
/** Whether one section at a time is shown, and whether all is laid out for paper. */
export const presenting = signal(false);
export const printing = signal(false);
/** Whether Step goes on by itself. */
export const playing = signal(false);
export const outlineShown = signal(true);
export const variablesShown = signal(true);
/** How Step shows prose: as it reads, as it is written, or not at all. @type {Signal<"rendered" | "raw" | "none">} */
export const proseShown = signal("rendered");

const HASH_DELAY = 400;
const READING_DELAY = 500;
let hashTimer = 0;

/** The loaded document, where one must be there. @returns {Loaded} */
export function current() {
  if (!loaded.value) throw new Error("no document is loaded");
  return loaded.value;
}

/**
 * @param {string} name of the document
 * @param {any} parsed undefined where it is no JSON
 * @param {Times | null} [times]
 */
export function open(name, parsed, times = null) {
  try {
    const document = checked(parsed);
    const model = buildModel(document);
    batch(() => {
      laidOut.value = new Set();
      pinned.value = -1;
      loaded.value = {
        name,
        times,
        document,
        model,
        cost: costMeter(document.costs),
        sections: sectionsOf(model),
      };
      problem.value = "";
      goToHash();
    });
  } catch (error) {
    if (!(error instanceof DocumentError)) console.warn(error);
    fail(
      error instanceof DocumentError
        ? error.message
        : "This document cannot be shown; record it again.",
    );
  }
}

/** @param {string} sentence */
export function fail(sentence) {
  batch(() => {
    loaded.value = null;
    problem.value = sentence;
  });
}

/** The address as it was last read or written. */
let address = "";

/** Go where the address says, or else to the failure or the start. A link to no function that there is leads nowhere. */
export function goToHash() {
  const { mode: wanted, at } = readHash(location.hash);
  const { model, document } = current();
  const named = at ? stepOfPlace(model, at) : -1;
  const isLink = /^#[^=]+$/.test(location.hash);
  if (isLink && named < 0 && address) return put("replaceState", address);
  const failed = document.failure ? document.failure.step : -1;
  batch(() => {
    if (!isLink) mode.value = wanted;
    step.value = clamp(model, named >= 0 ? named : Math.max(failed, 0));
    chosenFrame.value = -1;
    focus.value = { step: named };
  });
  address = location.hash;
  if (isLink) writeAddress("replaceState");
}

/** When the reader last went to a step, and for how many milliseconds one then expects more. */
let moved = 0;
const REST = 500;

/** Settled while the reader rests. */
export async function rested() {
  while (performance.now() - moved < REST)
    await new Promise((resolve) => setTimeout(resolve, REST));
}

/**
 * Show a step. The address follows at once when the reader jumped, and a moment later while stepping.
 * @param {number} target
 * @param {{jump?: boolean, to?: "read" | "step"}} [options]
 */
export function goTo(target, { jump = false, to = mode.value } = {}) {
  moved = performance.now();
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
  hashTimer = setTimeout(
    () => loaded.value && mode.value === "read" && writeAddress("replaceState", target),
    READING_DELAY,
  );
}

/** @param {"pushState" | "replaceState"} write @param {number} [target] a step */
function writeAddress(write, target = step.value) {
  const { name, model } = current();
  put(write, writeHash({ doc: name, mode: mode.value, at: placeOfStep(model, target) }));
}

/** @param {"pushState" | "replaceState"} write @param {string} hash */
function put(write, hash) {
  address = hash;
  try {
    if (hash !== location.hash) history[write](null, "", hash);
  } catch {
    // A page opened as a file may not write its address; it works without.
  }
}

/** @type {Signal<Theme>} */
export const theme = signal(/** @type {any} */ (document.documentElement.dataset.theme));
/** Counts changes of the colours that are on the screen; charts draw again. */
export const colours = signal(0);

/** Go to the next theme. */
export function nextTheme() {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto";
  document.documentElement.dataset.theme = theme.value;
  colours.value++;
  try {
    localStorage.setItem(THEME, theme.value);
  } catch {
    // Storage may be forbidden; the theme then lasts as long as the page.
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours.value++);

/** What a colour of the style sheet is now, as `rgb(...)`. @param {string} colour such as `var(--text)` */
export function colourOf(colour) {
  const probe = document.createElement("span");
  probe.style.color = colour;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Height that the fixed bar covers, with some air. */
const COVERED = 72;

/** What stands below each other in the article, in the order of the page. @returns {ArrayLike<any>} */
function partsOfArticle() {
  const roots = document.getElementById("article")?.children ?? [];
  return roots[1]?.matches(".section") ? roots : (roots[0]?.children ?? []);
}

/** How many parts begin above a height; few are asked, since each may be laid out for that.
 * @param {ArrayLike<any>} parts @param {number} height in the window */
function partsAbove(parts, height) {
  return lowerBoundBy(parts, (/** @type {any} */ part) => part.getBoundingClientRect().top, height);
}

/**
 * The step of the first line on the screen; the preferred one if its line is on the screen too.
 * @param {number} preferred
 * @returns {number} -1 when no line is there
 */
export function firstVisibleStep(preferred) {
  const parts = partsOfArticle();
  const near = Array.prototype.slice.call(
    parts,
    Math.max(0, partsAbove(parts, COVERED) - 1),
    partsAbove(parts, innerHeight),
  );
  const lines = near.flatMap(
    (/** @type {Element} */ part) =>
      /** @type {HTMLElement[]} */ ([...part.querySelectorAll("[data-step]")]),
  );
  const visible = lines.filter((line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return bottom > COVERED && top < innerHeight;
  });
  const found = visible.find((line) => Number(line.dataset.step) === preferred) ?? visible[0];
  return found ? Number(found.dataset.step) : -1;
}

/** The activation whose section is under the reading line, or -1. */
function sectionRead() {
  const parts = partsOfArticle();
  let head = null;
  for (let at = partsAbove(parts, READING_LINE) - 1; at >= 0 && !head; at--) {
    const heads = parts[at].matches(".section-head")
      ? [parts[at]]
      : [...parts[at].querySelectorAll(".section-head")];
    head = heads.findLast((candidate) => candidate.getBoundingClientRect().top < READING_LINE);
  }
  return Number(head?.parentElement?.id.split("-")[1] ?? -1);
}

/** @param {string} selector @returns {boolean} whether it is there */
export function bringIntoView(selector) {
  const element = document.querySelector(selector);
  if (!element) return false;
  element.classList.add("aimed");
  element.addEventListener("animationend", () => element.classList.remove("aimed"), { once: true });
  const { top, bottom } = element.getBoundingClientRect();
  if (top < COVERED || bottom > innerHeight)
    scrollTo({ top: scrollY + top - innerHeight / 4, behavior: "instant" });
  return true;
}

const AT_ONCE = 4;
/** Milliseconds between one section and the next that is laid out. */
const TURN = 16;
/** Milliseconds after a jump in which scrolling is not the reader's. */
const JUMP = 1000;
/** Where a section counts as being read, from the top of the window. */
const READING_LINE = 140;

/** Orders of the sections that are laid out: those around the reader, then what follows, then what precedes. @type {Signal<Set<number>>} */
export const laidOut = signal(new Set());
/** The activation whose section is being read, or -1. */
export const visibleSection = signal(-1);
/** Order of the section where the reader is. */
let origin = 0;

effect(() => {
  if (!loaded.value || mode.value !== "read" || presenting.value) {
    laidOut.value = new Set();
    return;
  }
  const { sections } = loaded.value;
  const target = Math.max(0, focus.value.step);
  origin = focus.value.step < 0 ? 0 : (sectionOfStep(sections, target)?.order ?? 0);
  const near = sections.filter(
    ({ order, first, beyond, depth }) =>
      depth === 0 ||
      (origin - 1 <= order && order < origin + AT_ONCE) ||
      (first <= target && target < beyond),
  );
  laidOut.value = new Set([...laidOut.peek(), ...near.map(({ order }) => order)]);
});
effect(() => {
  const done = laidOut.value;
  const count = loaded.value?.sections.length ?? 0;
  if (mode.value !== "read" || presenting.value || done.size >= count) return;
  const timer = setTimeout(() => {
    let next = origin;
    while (done.has(next)) next++;
    if (next >= count) {
      for (next = origin; done.has(next);) next--;
      // Above the reader it keeps its height until it comes near.
      document
        .getElementById(`activation-${loaded.value?.sections[next]?.activation}`)
        ?.classList.add("settled");
    }
    laidOut.value = new Set(done).add(next);
  }, TURN);
  return () => clearTimeout(timer);
});

let lastJump = 0;
effect(() => {
  focus.value; // each new target scrolls the page by itself
  lastJump = performance.now();
});

/** Note which section is on the screen, once for each frame that scrolls. */
export function followScrolling() {
  let waiting = false;
  addEventListener(
    "scroll",
    () => {
      if (waiting || mode.value !== "read" || presenting.value) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        const before = visibleSection.value;
        visibleSection.value = sectionRead();
        if (!loaded.value || visibleSection.value < 0 || visibleSection.value === before) return;
        const [first] = stepRange(loaded.value.model, visibleSection.value);
        origin = sectionOfStep(loaded.value.sections, first)?.order ?? 0;
        if (performance.now() - lastJump >= JUMP) noteReading(first);
      });
    },
    { passive: true },
  );
}
