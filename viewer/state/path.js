// The short path through a lecture, or all of it: the reader's choice lasts.

import { batch, signal } from "@preact/signals";
import { bookOf } from "viewer/model/book.js";
import { countOnPath, isRunOfPath, onPath } from "viewer/model/path.js";
import { keep, kept } from "viewer/state/kept.js";
import { laidOut } from "viewer/state/layout.js";
import { current, loaded } from "viewer/state/state.js";

/** Whether the reader chose the short path, where there is one. */
export const isShort = signal(kept("path") === "core");

/**
 * The sections and chapters of a lecture that are shown.
 * @param {Model} model
 * @param {Section[]} all
 * @param {boolean} short
 * @returns {Pick<Loaded, "sections" | "leftOut" | "book">}
 */
export function shownOf(model, all, short) {
  if (!short || !countOnPath(model, all))
    return { sections: all, leftOut: new Set(), book: bookOf(model, all) };
  const { sections, leftOut } = onPath(model, all);
  return { sections, leftOut, book: bookOf(model, sections) };
}

/** Whether the short path is read, chosen or as all that ran. */
export function isPathShown() {
  const { model, all, leftOut } = current();
  return leftOut.size > 0 || isRunOfPath(model, all);
}

/** Take the short path, or all of it. @param {boolean} short */
export function takePath(short) {
  keep("path", short ? "core" : "all");
  batch(() => {
    isShort.value = short;
    const open = loaded.value;
    if (!open) return;
    laidOut.value = new Set();
    loaded.value = { ...open, ...shownOf(open.model, open.all, short) };
  });
}
