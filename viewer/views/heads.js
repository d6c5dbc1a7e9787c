// What heads code that goes on upon another page of a slide: `with`, `for`, `if` and their like,
// which are shown there again.

import { heightOf } from "viewer/views/pieces.js";

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

/** Note which pages have room for what heads them; gives how much it takes of each.
 * @param {HTMLElement[][]} pages @param {number} height of a page */
export function headPages(pages, height) {
  const pieces = pages.flat();
  return pages.map((page, index) => {
    const above = index ? headHeight(pieces, pieces.indexOf(page[0])) : 0;
    const isHeaded = above > 0 && heightOf(page) + above <= height;
    page[0].classList.toggle("headed", isHeaded);
    return isHeaded ? above : 0;
  });
}

/** What is shown again on a page. @param {HTMLElement[][]} pages @param {number} shown */
export function shownAgain(pages, shown) {
  const pieces = pages.flat();
  const [first] = pages[shown] ?? [];
  return first?.matches(".headed") ? headsAbove(pieces, pieces.indexOf(first)) : [];
}
