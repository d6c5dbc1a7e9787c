// Ways through an article, and how much of it is shown.

import { FRONT, WHOLE } from "viewer/model/book.js";
import { countOnPath } from "viewer/model/path.js";
import { goTo, openPage, writePage } from "viewer/state/address.js";
import { stepOfReader, TITLE_TOP } from "viewer/state/article.js";
import { keep } from "viewer/state/kept.js";
import { sectionsShown } from "viewer/state/layout.js";
import { takePath } from "viewer/state/path.js";
import { current, density, mode, page } from "viewer/state/state.js";

export function changeDensity() {
  const next = /** @type {const} */ ({
    story: "evidence",
    evidence: "everything",
    everything: "story",
  });
  chooseDensity(next[density.value]);
}

/** The reader's choice lasts. @param {typeof density.value} chosen */
export function chooseDensity(chosen) {
  density.value = chosen;
  keep("density", chosen);
}

/** At the same place; where it is left out, at the one before. */
export function togglePath() {
  const { model, all, leftOut } = current();
  if (!countOnPath(model, all)) return;
  const at = stepOfReader();
  takePath(leftOut.size === 0);
  if (mode.value === "read" && page.value === FRONT) writePage("pushState");
  else goTo(nearest(at), { jump: true });
}

/** The step itself, or that of the section before it that is shown, or the first one.
 * @param {number} step */
function nearest(step) {
  const { sections, leftOut } = current();
  if (!leftOut.size) return step;
  const shown = sections.filter(({ depth }) => depth > 0);
  return (shown.findLast(({ first }) => first <= step) ?? shown[0]).first;
}

/** @param {1 | -1} direction */
export function goToSection(direction) {
  const shown = sectionsShown.value.filter(({ depth }) => depth > 0);
  const target = nextTitle(
    shown.map(({ activation }) => `title-${activation}`),
    direction,
  );
  if (target >= 0) return goTo(shown[target].first, { jump: true });
  if (page.value !== WHOLE && target === BEYOND) goToChapter(1);
}

/** @param {1 | -1} direction */
export function goToChapter(direction) {
  const { book } = current();
  const target = page.value + direction;
  if (page.value !== WHOLE && target >= FRONT && target <= book.length) openPage(target);
}

/** Show the same place among all others, or alone. */
export function toggleWhole() {
  const { book } = current();
  if (!book.length) return;
  const at = stepOfReader();
  if (page.value === FRONT) return openPage(WHOLE);
  page.value = page.value === WHOLE ? FRONT : WHOLE;
  goTo(at, { jump: true, to: "read" });
}

/** No title is left below the one that is read. */
const BEYOND = -2;

/**
 * Which title is the next one below the bar, or the last one above.
 * @param {string[]} ids of titles in the order of the page
 * @param {1 | -1} direction
 * @returns {number} its index; BEYOND or -1 where there is none
 */
function nextTitle(ids, direction) {
  const tops = ids.map((id) => document.getElementById(id)?.getBoundingClientRect().top ?? NaN);
  const air = 8;
  const found =
    direction > 0
      ? tops.findIndex((top) => top > TITLE_TOP + air)
      : tops.findLastIndex((top) => top < TITLE_TOP - air);
  return found < 0 && direction > 0 ? BEYOND : found;
}
