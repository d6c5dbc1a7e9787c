// Which sections are laid out, around the reader first; which of them is being read.

import { effect, signal } from "@preact/signals";
import { stepRange } from "viewer/model/run.js";
import { sectionOfStep } from "viewer/model/sections.js";
import { noteReading } from "viewer/state/address.js";
import { sectionRead } from "viewer/state/article.js";
import { isHolding } from "viewer/state/holding.js";
import { focus, loaded, mode, presenting } from "viewer/state/state.js";

const AT_ONCE = 4;

/** Milliseconds between one section and the next that is laid out. */
const TURN = 16;

/**
 * Orders of the sections that are laid out: those around the reader, then what follows, then what
 * precedes.
 * @type {Signal<Set<number>>}
 */
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
        if (!isHolding()) noteReading(first);
      });
    },
    { passive: true },
  );
}
