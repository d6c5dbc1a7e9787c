// The short path through a lecture, or all of it: the reader's choice lasts.

import { batch } from "@preact/signals";
import { bookOf } from "viewer/model/book.js";
import { bookOfPath, countOnPath, isRunOfPath, onPath } from "viewer/model/path.js";
import { keep } from "viewer/state/kept.js";
import { current, laidOut, loaded } from "viewer/state/state.js";

/**
 * The sections and chapters of a lecture, and those of them that are shown.
 * @param {Model} model
 * @param {Section[]} all
 * @param {boolean} short whether that is the short path, where there is one
 * @returns {Pick<Loaded, "all" | "chapters" | "sections" | "leftOut" | "book">}
 */
export function shownOf(model, all, short) {
  const chapters = bookOf(model, all);
  const { sections, leftOut } =
    short && countOnPath(model, all) ? onPath(model, all) : { sections: all, leftOut: new Set() };
  const isPath = leftOut.size > 0 || isRunOfPath(model, all);
  const book = isPath ? bookOfPath(model, sections, chapters) : chapters;
  return { all, chapters, sections, leftOut, book };
}

/** Whether the short path is read, chosen or as all that ran. */
export function isPathShown() {
  const { model, all, leftOut } = current();
  return leftOut.size > 0 || isRunOfPath(model, all);
}

/** Show the short path, or all of it. @param {boolean} short */
export function showPath(short) {
  const open = current();
  if (short === open.leftOut.size > 0) return;
  batch(() => {
    laidOut.value = new Set();
    loaded.value = { ...open, ...shownOf(open.model, open.all, short) };
  });
}

/** The same, as the reader chooses. @param {boolean} short */
export function takePath(short) {
  keep("path", short ? "core" : "all");
  showPath(short);
}
