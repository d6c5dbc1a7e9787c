// Ways through an article, and how much of it is shown.

import { FRONT, WHOLE } from "viewer/model/book.js";
import { goTo, openPage } from "viewer/state/address.js";
import { BEYOND, nextTitle, stepOfReader } from "viewer/state/article.js";
import { keep } from "viewer/state/kept.js";
import { sectionsShown } from "viewer/state/layout.js";
import { current, density, page } from "viewer/state/state.js";

/** The reader's choice lasts. */
export function changeDensity() {
  const next = /** @type {const} */ ({
    story: "evidence",
    evidence: "everything",
    everything: "story",
  });
  density.value = next[density.value];
  keep("density", density.value);
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
