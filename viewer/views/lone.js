// A question that has a page nearly for itself stands lower and in larger type there, until it is
// answered: what it asks is all that one looks at. Asks the laid out page.

import { heightOf, QUESTION } from "viewer/views/pieces.js";

/** How much larger it is, and of how much of the page it may take then. */
const LARGER = 1.3;
const MOST = 0.7;

/** Above it is this part of the room that is left. */
const ABOVE = 1 / 3;

/** As it was laid out. @param {HTMLElement} body */
export function settle(body) {
  body.style.zoom = body.style.paddingTop = "";
}

/** @param {HTMLElement} body @param {number} last where a page ends on the screen */
export function raise(body, last) {
  /** @type {NodeListOf<HTMLElement>} */
  const pieces = body.querySelectorAll("[data-slide-page]");
  const seen = [...pieces].filter((piece) => piece.checkVisibility({ visibilityProperty: true }));
  if (!seen.some((piece) => piece.matches(QUESTION)) || seen[0].matches(".section-head")) return;
  const { top, right } = body.getBoundingClientRect();
  if (heightOf(seen) * LARGER > MOST * (last - top)) return;
  body.style.zoom = String(LARGER);
  const isWithin = endOf(seen) <= right + 1 && heightOf(seen) <= MOST * (last - top);
  if (!isWithin) body.style.zoom = "";
  const free = last - top - heightOf(seen);
  body.style.paddingTop = `${(ABOVE * free) / (isWithin ? LARGER : 1)}px`;
}

/** How far to the right pieces reach, with what stands in them. @param {HTMLElement[]} pieces */
function endOf(pieces) {
  const parts = pieces.flatMap((piece) => [piece, ...piece.querySelectorAll("*")]);
  return Math.max(...parts.map((part) => part.getBoundingClientRect().right));
}
