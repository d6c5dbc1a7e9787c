// Where the article stands: how far it is laid out, what is on the screen, and bringing a step into view.

import { computed, effect, signal } from "@preact/signals";
import { stepRange } from "viewer/model.js";
import { sectionOfStep } from "viewer/reading.js";
import { focus, loaded, mode, noteReading } from "viewer/store.js";

/** Height that the fixed bar covers, with some air. */
const COVERED = 72;

/**
 * The step of the first line on the screen; the preferred one if its line is on the screen too.
 * @param {number} preferred
 * @returns {number} -1 when no line is there
 */
export function firstVisibleStep(preferred) {
  const lines = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#article [data-step]")]);
  const visible = lines.filter((line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return bottom > COVERED && top < innerHeight;
  });
  const found = visible.find((line) => Number(line.dataset.step) === preferred) ?? visible[0];
  return found ? Number(found.dataset.step) : -1;
}

/** @param {string} selector @returns {boolean} whether it is there */
export function bringIntoView(selector) {
  const element = document.querySelector(selector);
  if (!element) return false;
  element.classList.add("aimed");
  element.addEventListener("animationend", () => element.classList.remove("aimed"), { once: true });
  const { top, bottom } = element.getBoundingClientRect();
  if (top < COVERED || bottom > innerHeight) scrollTo({ top: scrollY + top - innerHeight / 4, behavior: "instant" });
  return true;
}

/** Scroll one pane so that an element of it is well inside. @param {HTMLElement} pane @param {HTMLElement} element */
export function keepInside(pane, element) {
  const top = element.offsetTop;
  const margin = Math.min(120, pane.clientHeight / 4);
  if (top < pane.scrollTop + margin || top + element.offsetHeight > pane.scrollTop + pane.clientHeight - margin)
    pane.scrollTo({ top: top - pane.clientHeight / 3, behavior: "instant" });
}

const AT_ONCE = 8;
const PER_TURN = 6;
const TURN = 16;
/** Milliseconds after a jump in which scrolling is not the reader's. */
const JUMP = 1000;
/** Where a section counts as being read, from the top of the window. */
const READING_LINE = 140;

/** How many sections are laid out; the rest follow, from the top down, so that nothing on the screen moves. */
export const laidOut = signal(AT_ONCE);
/** The activation whose section is being read, or -1. */
export const visibleSection = signal(-1);
const isComplete = computed(() => !loaded.value || laidOut.value >= loaded.value.sections.length);

effect(() => {
  if (loaded.value) laidOut.value = AT_ONCE;
});
effect(() => {
  if (!loaded.value || focus.value.step < 0) return;
  const { model, sections } = loaded.value;
  const order = sectionOfStep(model, sections, focus.value.step)?.order ?? 0;
  if (laidOut.peek() < order + AT_ONCE) laidOut.value = order + AT_ONCE;
});
effect(() => {
  const count = laidOut.value;
  if (mode.value === "read" && !isComplete.value) setTimeout(() => (laidOut.value = Math.max(laidOut.value, count + PER_TURN)), TURN);
});

let lastJump = 0;
effect(() => {
  focus.value; // each new target scrolls the page by itself
  lastJump = performance.now();
});

/** Note which section is on the screen, once for each frame that scrolls. */
export function followScrolling() {
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting || mode.value !== "read") return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const heads = [...document.querySelectorAll("#article > .section .section-head")];
      const head = heads.findLast((candidate) => candidate.getBoundingClientRect().top < READING_LINE);
      visibleSection.value = Number(head?.parentElement?.id.split("-")[1] ?? -1);
      const jumped = performance.now() - lastJump < JUMP;
      if (!jumped && loaded.value && visibleSection.value >= 0) noteReading(stepRange(loaded.value.model, visibleSection.value)[0]);
    });
  }, { passive: true });
}
