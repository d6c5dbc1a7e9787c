// Which sections are laid out, around the reader first; which of them is being read.

import { computed, effect, signal } from "@preact/signals";
import { WHOLE } from "viewer/model/book.js";
import { sectionOfStep } from "viewer/model/sections.js";
import { noteReading } from "viewer/state/address.js";
import { sectionRead } from "viewer/state/article.js";
import { isHolding } from "viewer/state/holding.js";
import {
  dialog,
  focus,
  laidOut,
  loaded,
  mode,
  page,
  presenting,
  printing,
} from "viewer/state/state.js";

const AT_ONCE = 4;

/** Milliseconds between one section and the next that is laid out. */
const TURN = 16;

/** The activation whose section is being read, or -1. */
export const visibleSection = signal(-1);

/** The sections of the page that is shown. */
export const sectionsShown = computed(() => {
  const { sections = [], book = [] } = loaded.value ?? {};
  if (page.value === WHOLE || printing.value || !book.length) return sections;
  const [first] = book;
  const before = sections.slice(0, first.sections[0].order).filter(({ depth }) => depth > 0);
  return book[page.value - 1]?.sections ?? before;
});

/** Whether all of the page is laid out. */
export const isLaidOut = computed(() =>
  sectionsShown.value.every(({ order }) => laidOut.value.has(order)),
);

/** Where the reader is among the sections of the page. */
let origin = 0;

effect(() => {
  if (!loaded.value || mode.value !== "read" || presenting.value) {
    laidOut.value = new Set();
    document.documentElement.style.removeProperty("--progress");
    return;
  }
  const shown = sectionsShown.value;
  const target = Math.max(0, focus.value.step);
  origin = focus.value.step < 0 ? 0 : indexOf(sectionOfStep(shown, target));
  const near = shown.filter(
    ({ first, beyond, depth }, index) =>
      depth === 0 ||
      (origin - 1 <= index && index < origin + AT_ONCE) ||
      (first <= target && target < beyond),
  );
  laidOut.value = new Set([...laidOut.peek(), ...near.map(({ order }) => order)]);
});

/** @param {Section | undefined} section */
function indexOf(section) {
  return Math.max(0, section ? sectionsShown.peek().indexOf(section) : 0);
}

effect(() => {
  const done = laidOut.value;
  const shown = sectionsShown.value;
  if (mode.value !== "read" || presenting.value || isLaidOut.value) return;
  const isDone = (/** @type {number} */ index) => done.has(shown[index]?.order);
  const timer = setTimeout(() => {
    let next = origin;
    while (isDone(next)) next++;
    if (next >= shown.length) {
      for (next = origin; isDone(next);) next--;
      // Above the reader it keeps its height until it comes near.
      document.getElementById(`activation-${shown[next]?.activation}`)?.classList.add("settled");
    }
    laidOut.value = new Set(done).add(shown[next].order);
  }, TURN);
  return () => clearTimeout(timer);
});

/** How far down the page the reader is, for the line below the bar. */
function noteProgress() {
  const { scrollHeight, style } = document.documentElement;
  const part = scrollY / Math.max(1, scrollHeight - innerHeight);
  style.setProperty("--progress", Math.min(1, part).toFixed(3));
}

/** What is not laid out yet has a height that is guessed: the browser would stop there.
 * @param {KeyboardEvent} event */
async function onEnd(event) {
  const target = /** @type {Element} */ (event.target);
  const isPlain = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
  const isOfPage = target === document.body || target.closest("#article");
  if (event.key !== "End" || !isPlain || event.defaultPrevented || dialog.value) return;
  if (mode.value !== "read" || presenting.value || !isOfPage) return;
  if (target.matches("input, select, textarea")) return;
  event.preventDefault();
  (await import("viewer/state/ending.js")).goToPageEnd();
}

// On the way back the browser may scroll before the other chapter is there, and not again after.
effect(() => {
  if (!loaded.value || mode.value !== "read" || presenting.value || !isLaidOut.value) return;
  void page.value;
  const frame = requestAnimationFrame(() => (visibleSection.value = sectionRead()));
  return () => cancelAnimationFrame(frame);
});

/** Note which section is read. */
function noteSection() {
  noteProgress();
  const before = visibleSection.value;
  visibleSection.value = sectionRead();
  if (!loaded.value || visibleSection.value === before) return;
  const read = sectionsShown.value.find(({ activation }) => activation === visibleSection.value);
  origin = indexOf(read);
  if (!isHolding()) noteReading(read?.depth ? read.first : -1);
}

/** Note which section is read once for each frame that scrolls, or where a key leads to a line. */
export function followScrolling() {
  let waiting = false;
  const follow = () => {
    if (waiting || mode.value !== "read" || presenting.value) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      noteSection();
    });
  };
  addEventListener("keydown", onEnd);
  addEventListener("scroll", follow, { passive: true });
  addEventListener("focusin", follow);
}
