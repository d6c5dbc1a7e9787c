// What of the article is on the screen.

import { lowerBoundBy } from "viewer/model/sorted.js";
import { hold, isSeeking } from "viewer/state/holding.js";
import { focus, loaded, mode, step } from "viewer/state/state.js";

/** Height that the fixed bar covers, with some air. */
const COVERED = 72;

/**
 * What stands below each other in the article, in the order of the page.
 * @returns {any[]}
 */
function partsOfArticle() {
  const roots = document.getElementById("article")?.children ?? [];
  return [...(roots[1]?.matches(".section") ? roots : (roots[0]?.children ?? []))];
}

/** How many parts begin above a height; few are asked, since each may be laid out for that.
 * @param {any[]} parts @param {number} height in the window */
function partsAbove(parts, height) {
  return lowerBoundBy(parts, (/** @type {any} */ part) => part.getBoundingClientRect().top, height);
}

/**
 * The step of the first line on the screen; the preferred one if its line is on the screen too.
 * @param {number} preferred
 * @param {number} [least] the first step that counts
 * @returns {number} -1 when no line is there
 */
export function firstVisibleStep(preferred, least = 0) {
  const parts = partsOfArticle();
  const near = parts.slice(
    Math.max(0, partsAbove(parts, COVERED) - 1),
    partsAbove(parts, innerHeight),
  );
  const lines = near.flatMap(
    (/** @type {Element} */ part) =>
      /** @type {HTMLElement[]} */ ([...part.querySelectorAll("[data-step]")]),
  );
  const visible = lines.filter((line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return bottom > COVERED && top < innerHeight && Number(line.dataset.step) >= least;
  });
  const found = visible.find((line) => Number(line.dataset.step) === preferred) ?? visible[0];
  return found ? Number(found.dataset.step) : -1;
}

/** What the reader was led to, until they go on by themselves. @type {Element | null} */
let led = null;

for (const event of ["wheel", "touchmove", "pointerdown", "keydown"])
  addEventListener(event, () => (led = null), { capture: true, passive: true });

/** The section of what the reader was led to, while it can be seen. */
function sectionLedTo() {
  const { top = 0, bottom = 0 } = led?.getBoundingClientRect() ?? {};
  const isSeen = bottom > COVERED && top < innerHeight;
  return isSeen ? led?.closest("#article .section") : null;
}

/** The activation whose section the reader was led to, or else is under the reading line, or -1. */
export function sectionRead() {
  const section = sectionLedTo() ?? sectionUnder();
  return Number(section?.id.split("-")[1] ?? -1);
}

/** The section under the reading line, a quarter of the window down once one has scrolled. */
function sectionUnder() {
  const parts = partsOfArticle();
  const { scrollHeight } = document.documentElement;
  const isEnd = scrollY > 0 && scrollY + innerHeight > scrollHeight - 2;
  // A short section at the end never comes up to that line, unless the reader went to it.
  const isPadded = document.getElementById("article")?.style.paddingBottom;
  const line = isEnd && !isPadded ? innerHeight : Math.min(innerHeight / 4, scrollY + COVERED);
  let head = null;
  for (let at = partsAbove(parts, line) - 1; at >= 0 && !head; at--) {
    const heads = parts[at].matches(".section-head")
      ? [parts[at]]
      : [...parts[at].querySelectorAll(".section-head")];
    head = heads.findLast((candidate) => candidate.getBoundingClientRect().top < line);
  }
  return head?.parentElement;
}

/** Where the title of a section stands that the reader went to, from the top of the window. */
export const TITLE_TOP = 60;

/** What was shown as the target last, not to be marked twice. @type {Element | null} */
let aimed = null;

/** Mark what the reader went to, once. @param {Element} element */
function aim(element) {
  if (element === aimed) return;
  led = aimed = element;
  element.classList.add("aimed");
  element.addEventListener("animationend", () => element.classList.remove("aimed"), { once: true });
}

/** Mark something once more. @param {Element} element */
export function mark(element) {
  aimed = null;
  aim(element);
}

/** Where a line is to stand: where it does, unless it is cut or low. @param {Element} element */
function topOfLine(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top < COVERED || bottom > innerHeight * 0.8 ? innerHeight / 4 : top;
}

/**
 * Give the focus to a line that the reader chose in a panel: what is pressed next begins there.
 * @param {Element | null} element
 */
export function takeFocus(element) {
  led = element;
  if (!(element instanceof HTMLElement) || element.contains(document.activeElement)) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/**
 * Bring the title of a section or a line into view, and keep it there while the page is laid out.
 * @param {() => Element | null} find
 * @param {number} [wanted] where it is to stand, if not where it is found best; it is not marked
 */
export function bringIntoView(find, wanted) {
  aimed = null;
  let top = 0;
  hold(() => {
    const element = find();
    if (!element) return null;
    if (wanted !== undefined) return { element, top: wanted };
    if (element !== aimed) top = element.matches(".section-title") ? TITLE_TOP : topOfLine(element);
    aim(element);
    return { element, top };
  });
}

/** Whether what the reader went to is not laid out yet. */
export function isOnItsWay() {
  return focus.value.step >= 0 && (isSeeking() || !document.querySelector("#article .section"));
}

/**
 * The step that the reader is at: of the line that was chosen by a key, or that was gone to, while
 * it can be seen, or else of the first one in the section that is read.
 */
export function stepOfReader() {
  if (mode.value === "step" || !loaded.value) return step.value;
  if (isOnItsWay()) return focus.value.step;
  const { sections } = loaded.value;
  const read = sections.find(({ activation }) => activation === sectionRead());
  const chosen = document.activeElement?.closest("#article [data-step]")?.getAttribute("data-step");
  const visible = firstVisibleStep(
    Number(chosen ?? focus.value.step),
    read?.depth ? read.first : 0,
  );
  return visible >= 0 ? visible : (read?.first ?? step.value);
}
