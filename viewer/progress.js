// How far the article is laid out, and which section is on the screen.

import { computed, effect, signal } from "@preact/signals";
import { stepRange } from "viewer/model.js";
import { sectionOfStep } from "viewer/reading.js";
import { focus, loaded, mode, noteReading } from "viewer/store.js";

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
