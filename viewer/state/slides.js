// Where a presentation is. Fetched when it starts.

import { batch, signal } from "@preact/signals";
import { slidesOf } from "viewer/model/slides.js";
import { kept } from "viewer/state/kept.js";
import { isPathShown } from "viewer/state/path.js";
import { current, part, shown } from "viewer/state/state.js";

/** The slide, its page, how many stops of that are passed; and the pages as they are laid out. */
export { shown, part };
export const passed = signal(Infinity);
export const pages = signal(/** @type {HTMLElement[][]} */ ([]));
export const blank = signal(false);

/** What a key has just changed, in words. */
export const told = signal("");

/** Whether the browser opened no window for the speaker. */
export const refused = signal(false);

export const REVEALS = /** @type {Reveal[]} */ (["all", "claims", "steps"]);

/** Whether a page is shown at once, or claim by claim, or line by line. */
export const reveal = signal(REVEALS.find((name) => name === kept("reveal")) ?? "all");

/** @type {WeakMap<Section[], Slide[]>} */
const known = new WeakMap();

/** @returns {Slide[]} */
export function slides() {
  const { model, sections, book } = current();
  const found = known.get(sections) ?? slidesOf(model, sections, isPathShown(), book);
  known.set(sections, found);
  return found;
}

/** Show the page of the slide that holds something, whole. @param {Element} element */
export function turnTo(element) {
  const found = pages.value.findIndex((page) => page.some((piece) => piece.contains(element)));
  if (found < 0) return;
  batch(() => {
    part.value = found;
    passed.value = Infinity;
  });
}
