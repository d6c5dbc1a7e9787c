// What heads code that goes on upon another page of a slide: `with`, `for`, `if` and their like,
// which are shown there again, as is what draws a figure that has a page of its own, and what a
// question is about that begins one.

import { aboveFigure, DRAWN, heightOf, QUESTION } from "viewer/views/pieces.js";

const CODE = ".line, .row-line";
const BODY = ".folded-body, .section";

/** Spaces before code. @param {HTMLElement} piece */
function indentOf(piece) {
  return /^ */.exec(piece.querySelector("pre")?.textContent ?? "")?.[0].length ?? 0;
}

/**
 * The lines that head the first code from a piece on, the outermost first.
 * @param {HTMLElement[]} pieces
 * @param {number} index
 */
function headsAbove(pieces, index) {
  const first = pieces.slice(index).find((piece) => piece.matches(CODE));
  const body = first?.closest(BODY);
  /** @type {HTMLElement[]} */
  const heads = [];
  let indent = first && body?.contains(pieces[index]) ? indentOf(first) : 0;
  for (let at = index - 1; at >= 0 && indent > 0; at--) {
    const line = pieces[at];
    if (!line.matches(CODE) || line.closest(BODY) !== body || indentOf(line) >= indent) continue;
    heads.unshift(line);
    indent = indentOf(line);
  }
  return heads;
}

/** How high what heads a piece is. @param {HTMLElement[]} pieces @param {number} index */
export function headHeight(pieces, index) {
  return headsAbove(pieces, index).reduce((sum, line) => sum + heightOf([line]), 0);
}

/** What is shown again, by the first piece of a page.
 * @type {WeakMap<HTMLElement, HTMLElement[]>} */
const shownAbove = new WeakMap();

/** Note which pages have room for what heads them; gives how much it takes of each.
 * @param {HTMLElement[][]} pages @param {number} height of a page */
export function headPages(pages, height) {
  const pieces = pages.flat();
  return pages.map((page, index) => {
    const first = pieces.indexOf(page[0]);
    if (page.length === 1 && page[0].matches(DRAWN)) return headFigure(page[0], pieces, height);
    const above = index ? headHeight(pieces, first) : 0;
    const before = pieces[first - 1];
    if (before && !above && (decided.has(before) || asksAtOnce(page)))
      return headQuestion(page, pieces, height);
    const isHeaded = above > 0 && heightOf(page) + above <= height;
    shownAbove.set(page[0], isHeaded ? headsAbove(pieces, first) : []);
    return isHeaded ? above : 0;
  });
}

/** What margins take, in the height of what they part. */
const MARGINS = 1.3;

/** The same of a figure that is alone on its page: the line that draws it, and the words before.
 * @param {HTMLElement} figure @param {HTMLElement[]} pieces @param {number} height */
export function headFigure(figure, pieces, height) {
  return headWith([figure], linesAbove(pieces, pieces.indexOf(figure)), height);
}

/** The last line above a piece that claims nothing, and the words before that code; or that line.
 * @param {HTMLElement[]} pieces @param {number} index */
function linesAbove(pieces, index) {
  return aboveFigure(pieces, index).map((above) => {
    const last = above.findLast((line) => line.matches(CODE) && !line.querySelector(".held-mark"));
    // A line of a block says nothing without what heads that.
    const lines = last && !indentOf(last) ? [last] : [];
    return above[0].matches(CODE) ? lines : [above[0], ...lines];
  });
}

/** What says nothing yet. */
const VEILED = ".veiled, :has(> .veiled)";

/** Whether a page asks before it says what about. @param {HTMLElement[]} page */
function asksAtOnce(page) {
  const isMute = (/** @type {HTMLElement} */ piece) => piece.matches(`${CODE}, ${VEILED}`);
  const first = page.find((piece) => piece.matches(QUESTION) || !isMute(piece));
  return first?.matches(QUESTION) === true;
}

/** What was found for the page after a piece, in a window of this size: when the question of that
 * page is answered, it stays. @type {WeakMap<HTMLElement, {size: string, above: HTMLElement[]}>} */
const decided = new WeakMap();

/** The words before a page that asks at once, and the line between.
 * @param {HTMLElement[]} page @param {HTMLElement[]} pieces @param {number} height */
function headQuestion(page, pieces, height) {
  const first = pieces.indexOf(page[0]);
  const before = pieces[first - 1];
  const size = `${innerWidth}×${innerHeight}`;
  const known = decided.get(before);
  if (known?.size === size) {
    shownAbove.set(page[0], known.above);
    return highOf(known.above);
  }
  const found = before.matches(".prose > *") ? [[before]] : linesAbove(pieces, first);
  const high = headWith(page, found, height);
  decided.set(before, { size, above: shownAgain(page) });
  return high;
}

/** @param {HTMLElement[]} above */
function highOf(above) {
  return MARGINS * above.reduce((sum, piece) => sum + heightOf([piece]), 0);
}

/** Note the longest that has room above a page.
 * @param {HTMLElement[]} page @param {HTMLElement[][]} found @param {number} height */
function headWith(page, found, height) {
  const left = height - heightOf(page);
  const above = found.find((own) => highOf(own) <= left) ?? [];
  shownAbove.set(page[0], above);
  return highOf(above);
}

/** What is shown again on a page. @param {HTMLElement[]} [page] */
export function shownAgain(page) {
  return (page && shownAbove.get(page[0])) ?? [];
}
