// A question that has a page nearly for itself stands lower and in larger type there: what it asks
// is all that one looks at. Asks the laid out page.

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

/** The last page with a question. It stays as it is when that is answered: who looks on does not
 * lose the place. */
let decided = "";

/** Another slide is shown. */
export function forget() {
  decided = "";
}

/** What an answer brings later counts as if it were there.
 * @param {HTMLElement} body @param {number} last where a page ends on the screen */
export function raise(body, last) {
  /** @type {NodeListOf<HTMLElement>} */
  const pieces = body.querySelectorAll("[data-slide-page]");
  const own = [...pieces].filter((piece) => piece.checkVisibility());
  const page = `${own.at(-1)?.dataset.slidePage} of ${innerWidth}×${innerHeight}`;
  if (decided === page) return keep(body, own, last);
  if (!own.some((piece) => piece.matches(QUESTION))) return;
  decided = page;
  [given.zoom, given.above] = ["", 0];
  if (!body.querySelector(".veiled")) raiseFirst(body, own, last);
}

/** How a page was raised. */
const given = { zoom: "", above: 0 };

/**
 * As it was, or a little higher, where all of it still has room.
 * @param {HTMLElement} body @param {HTMLElement[]} own @param {number} last
 */
function keep(body, own, last) {
  const { zoom, above } = given;
  if (!above) return;
  const scale = Number(zoom) || 1;
  body.style.zoom = zoom;
  const { right } = body.getBoundingClientRect();
  const bottom = Math.max(...own.map((piece) => piece.getBoundingClientRect().bottom));
  const room = (last - bottom) / scale;
  if (room < 0 || endOf(own) > right + 1) settle(body);
  else body.style.paddingTop = `${Math.min(above, room)}px`;
}

/** @param {HTMLElement} body @param {HTMLElement[]} own @param {number} last */
function raiseFirst(body, own, last) {
  if (own[0].matches(".section-head")) return;
  const { top, right } = body.getBoundingClientRect();
  if (heightOf(own) * LARGER > MOST * (last - top)) return;
  body.style.zoom = String(LARGER);
  const isWithin = endOf(own) <= right + 1 && heightOf(own) <= MOST * (last - top);
  if (!isWithin) body.style.zoom = "";
  const free = last - top - heightOf(own);
  given.zoom = body.style.zoom;
  given.above = (ABOVE * free) / (isWithin ? LARGER : 1);
  body.style.paddingTop = `${given.above}px`;
}

/** How far to the right pieces reach, with what stands in them. @param {HTMLElement[]} pieces */
function endOf(pieces) {
  const parts = pieces.flatMap((piece) => [piece, ...piece.querySelectorAll("*")]);
  return Math.max(...parts.map((part) => part.getBoundingClientRect().right));
}
