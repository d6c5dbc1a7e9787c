// What of the article is on the screen.

import { lowerBoundBy } from "viewer/model/sorted.js";
import { focus, mode, step } from "viewer/state/state.js";

/** Height that the fixed bar covers, with some air. */
const COVERED = 72;

/** Where a section counts as being read, from the top of the window. */
const READING_LINE = 140;

/**
 * What stands below each other in the article, in the order of the page.
 * @returns {ArrayLike<any>}
 */
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
export function sectionRead() {
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

/** The step that the reader is at. */
export function stepOfReader() {
  if (mode.value === "step") return step.value;
  const visible = firstVisibleStep(focus.value.step);
  return visible >= 0 ? visible : step.value;
}
