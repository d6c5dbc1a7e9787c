// Cuts what a slide shows into pages that fit the screen: between paragraphs, blocks and lines of
// code, never within one. Asks the laid out page where everything is, and then takes away what is
// not of the page that is shown.

import { atomsOf, partsPages } from "viewer/views/atoms.js";
import { headFigure, headPages, shownAgain } from "viewer/views/heads.js";
import {
  aboveFigure,
  bottomOf,
  FIGURES,
  heightOf,
  outermost,
  piecesIn,
  QUESTION,
} from "viewer/views/pieces.js";
import { gather, spread, widenPages } from "viewer/views/spread.js";
import { keepNames } from "viewer/views/unbroken.js";

/** How large a figure may be: as a part of the page, and in the size that it was drawn for, where
 * letters have so many pixels. */
const FIGURE_HEIGHT = 0.75;
const DRAWN_FOR = 12;
/** How large words are, in the size of letters; those in figures are no larger. */
const WORDS = 1.09;
const DRAWN = "svg:not(.katex *), img";
/** What does not fit is shown smaller, down to this; then it scrolls. */
const SMALLEST = 0.45;
const SMALLEST_LOOP = 0.7;
const SMALLEST_FIGURE = 0.6;
/** How large its letters have to be, in the size of words, beside what else stands on a page: else
 * it has one of its own, nearly all of which is for the figure. */
const SMALLEST_LETTERS = 0.7;
const WHOLE_PAGE = 0.9;

const MARKS = ["off-page", "unrevealed", "cut", "long", "alone", "again"];
const MARKED = MARKS.map((name) => `.${name}`).join(", ");

/** Show everything again, as large as it is. @param {HTMLElement} root */
function restore(root) {
  gather(root);
  for (const piece of root.querySelectorAll(MARKED)) piece.classList.remove(...MARKS);
  for (const piece of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".resized"))) {
    piece.classList.remove("resized", "scrolls");
    piece.style.zoom = "";
    piece.style.removeProperty("--zoom");
  }
}

/** @param {HTMLElement[]} pieces @param {boolean} isHidden */
function hide(pieces, isHidden) {
  for (const piece of pieces) piece.classList.toggle("off-page", isHidden);
}

/** @param {HTMLElement} piece @param {number} zoom */
function resize(piece, zoom) {
  piece.style.zoom = String(zoom);
  piece.style.setProperty("--zoom", String(zoom));
  piece.classList.add("resized");
}

/** The size of a letter now, in pixels. */
export function letterSize() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** How much larger a figure may become until its letters are as large as those of the slide.
 * @param {HTMLElement} figure @returns {number} */
function untilWords(figure) {
  const letter = letterSize();
  const texts = /** @type {SVGTextElement[]} */ ([...figure.querySelectorAll("svg text")]);
  const sizes = texts.map((text) => {
    const svg = text.ownerSVGElement;
    const drawn = svg?.viewBox.baseVal?.width || svg?.width.baseVal.value || 1;
    const unit = (svg?.getBoundingClientRect().width ?? 0) / drawn;
    return Number.parseFloat(getComputedStyle(text).fontSize) * unit;
  });
  const largest = Math.max(0, ...sizes);
  return largest ? (WORDS * letter) / largest : Infinity;
}

/** How small a figure may become whose letters are read beside words.
 * @param {HTMLElement} figure @returns {number} in its size now */
function leastZoom(figure) {
  const until = untilWords(figure);
  return until < Infinity ? SMALLEST_LETTERS * until : 0;
}

/** As large as a figure has room, and so that it can be seen whole.
 * @param {HTMLElement} figure @param {number} height */
function scaleFigure(figure, height) {
  const drawn = figure.querySelector(DRAWN);
  const { width = 0, height: own = 0 } = drawn?.getBoundingClientRect() ?? {};
  if (!width || !own) return;
  const room = figure.getBoundingClientRect().width / width;
  const most = Math.min(letterSize() / DRAWN_FOR, untilWords(figure));
  const part = (FIGURE_HEIGHT * height) / own < leastZoom(figure) ? WHOLE_PAGE : FIGURE_HEIGHT;
  resize(figure, Math.min(Math.max(1, room), (part * height) / own, most));
}

/** Let the only figure of a page have the room that is left; in the middle, if it is alone there.
 * @param {HTMLElement[]} page @param {number} height */
function growFigure(page, height) {
  const [figure, another] = page.flatMap(figuresIn);
  if (!figure || another || figure.closest(".loop, [style*=zoom] > *")) return;
  if (heightOf(page) > height) return;
  page[0].classList.toggle("alone", page.length === 1 && !shownAgain(page).length);
  const margin = Number.parseFloat(getComputedStyle(page[0]).marginTop) || 0;
  for (let turn = 0; turn < 2; turn++) growInto(figure, height - margin - heightOf(page));
}

/** @param {HTMLElement} figure @param {number} left room below it; less than 0: it is too high */
function growInto(figure, left) {
  const drawn = figure.querySelector(DRAWN)?.getBoundingClientRect();
  if (!drawn?.width || !drawn.height) return;
  const { clientWidth } = /** @type {HTMLElement} */ (figure.closest(".slide-body"));
  const widest = clientWidth / drawn.width;
  const more = Math.min(1 + left / drawn.height, widest, untilWords(figure));
  resize(figure, Math.min((Number(figure.style.zoom) || 1) * more, letterSize() / DRAWN_FOR));
}

/** @param {HTMLElement} piece */
function figuresIn(piece) {
  const inside = /** @type {NodeListOf<HTMLElement>} */ (piece.querySelectorAll(FIGURES));
  return piece.matches(FIGURES) ? [piece] : [...inside];
}

/** @param {HTMLElement} piece @param {number} height */
function shrinkToFit(piece, height) {
  const own = bottomOf(piece) - piece.getBoundingClientRect().top;
  if (own <= height) return;
  const zoom = ((Number(piece.style.zoom) || 1) * 0.98 * height) / own;
  resize(piece, Math.max(SMALLEST, zoom));
  piece.classList.toggle("scrolls", zoom < SMALLEST);
}

/** Let figures stand below the code that draws them, with the words that introduce it or without:
 * smaller, if they stay large enough. @param {HTMLElement[]} pieces @param {number} height */
function joinFigures(pieces, height) {
  for (const [index, piece] of pieces.entries()) {
    const [figure, another] = figuresIn(piece);
    const drawn = figure?.querySelector(DRAWN)?.getBoundingClientRect().height;
    if (!drawn || another || figure.closest(".loop")) continue;
    const parts = aboveFigure(pieces, index).map(
      (above) => 1 - (heightOf([...above, piece]) - height) / drawn,
    );
    const least = Math.max(SMALLEST_FIGURE, leastZoom(figure));
    const part = parts.find((own) => own >= least) ?? 1;
    if (part < 1) resize(figure, 0.98 * part * (Number(figure.style.zoom) || 1));
  }
}

/** How high the line is that names what is unfolded below it, and stays with that.
 * @param {HTMLElement | undefined} before @param {HTMLElement} piece */
function summaryHeight(before, piece) {
  if (!before?.matches("summary")) return 0;
  return piece.getBoundingClientRect().top - before.getBoundingClientRect().top;
}

/** Show a loop that is a little too high for a page smaller. @param {HTMLElement} root
 * @param {number} height */
function shrinkLoops(root, height) {
  const loops = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".loop")]);
  for (const loop of loops.filter((own) => outermost(own, ".loop") === own)) {
    const pieces = piecesIn(loop);
    const zoom = pieces.length ? (0.98 * height) / heightOf(pieces) : 1;
    if (zoom < 1 && zoom >= SMALLEST_LOOP) resize(loop, zoom);
  }
}

/**
 * The pages of a slide, as few as there can be and about equally full. What a table of contents
 * does itself begins one: the title of a lecture stands alone.
 * @param {HTMLElement} root
 * @param {number} height of a page
 * @param {HTMLElement[][]} known pages that begin and end where they did; none: all are cut anew
 * @param {HTMLElement[]} late figures that are on none of these pages
 * @returns {HTMLElement[][]}
 */
export function pagesOf(root, height, known, late) {
  const isMore = (/** @type {HTMLElement[][]} */ pages) => pages.length > known.length;
  const pages = layOut(root, height, known, late, false);
  if (!known.length || !isMore(pages)) return pages;
  // Values are cut rather than that there is one page more.
  const kept = layOut(root, height, known, late, true);
  return isMore(kept) ? layOut(root, height, known, late, false) : kept;
}

/** @param {HTMLElement} root @param {number} height @param {HTMLElement[][]} known
 * @param {HTMLElement[]} late @param {boolean} isKept whether values are cut */
function layOut(root, height, known, late, isKept) {
  restore(root);
  keepNames(root);
  hide(late, true);
  const places = spread(root, letterSize(), isKept);
  hide(late, false);
  for (const figure of root.querySelectorAll(FIGURES))
    scaleFigure(/** @type {HTMLElement} */ (figure), height);
  for (const figure of late) {
    shrinkToFit(figure, height);
    growFigure([figure], height - headFigure(figure, piecesIn(root), height));
  }
  hide(late, true);
  shrinkLoops(root, height);
  // A table that no page holds is cut between its rows.
  for (const table of root.querySelectorAll(".prose table"))
    table.classList.toggle("long", table.getBoundingClientRect().height > height);
  const pieces = piecesIn(root);
  for (const [index, piece] of pieces.entries())
    shrinkToFit(piece, height - summaryHeight(pieces[index - 1], piece));
  joinFigures(pieces, height);
  const atoms = atomsOf(pieces, height, known);
  const pages = known.length ? cut(atoms, height, known) : evenPages(atoms, height);
  widenPages(pages, places);
  const above = headPages(pages, height);
  for (const [index, page] of pages.entries()) growFigure(page, height - above[index]);
  return pages;
}

/** @param {import("viewer/views/atoms.js").Atom[]} atoms @param {number} height */
function evenPages(atoms, height) {
  const fewest = cut(atoms, height).length;
  let [least, most] = [0, height];
  for (let turn = 0; turn < BISECTIONS; turn++) {
    const middle = (least + most) / 2;
    if (cut(atoms, middle).length > fewest) least = middle;
    else most = middle;
  }
  return cut(atoms, most);
}

/** How often a page is halved to find how full each has to be. */
const BISECTIONS = 7;

/**
 * @param {import("viewer/views/atoms.js").Atom[]} atoms
 * @param {number} height
 * @param {HTMLElement[][]} [known]
 * @returns {HTMLElement[][]}
 */
function cut(atoms, height, known = []) {
  /** @type {HTMLElement[][]} */
  const pages = [];
  let begin = NaN;
  for (const { pieces, top, bottom, above } of atoms) {
    const page = pages.at(-1);
    const isOfContents =
      pieces[0].matches(".depth-0 > .row *") && page?.[0].matches(".section-head");
    const isKnown = partsPages(page?.at(-1), pieces[0], known);
    if (page && bottom - begin <= height && !isOfContents && !isKnown) page.push(...pieces);
    else {
      pages.push([...pieces]);
      begin = page ? top - above : top;
    }
  }
  return pages;
}

/** Where what follows a question begins, which may give its answer away: it waits for that.
 * @param {HTMLElement[]} page */
function endOfAsked(page) {
  const asked = page.findIndex((piece) => piece.matches(QUESTION));
  return asked < 0 ? page.length : asked + 1;
}

/** What comes by itself; a question is one stop with the line that answers it. */
const STOPS = {
  all: ":not(*)",
  claims: ".question, :has(.held-mark)",
  steps: `.question, .line[data-step], .row-line, ${FIGURES}, .said *`,
};

/**
 * Where one stops before the rest of a page is shown; never before all of it.
 * @param {HTMLElement[]} page
 * @param {Reveal} reveal
 * @returns {HTMLElement[]}
 */
export function stopsOf(page, reveal) {
  return page.slice(1, endOfAsked(page)).filter((piece) => piece.matches(STOPS[reveal]));
}

/**
 * Show one page, up to a stop.
 * @param {HTMLElement[][]} pages
 * @param {number} shown
 * @param {HTMLElement | undefined} stop the first that is not shown yet, if there is one
 */
export function arrange(pages, shown, stop) {
  for (const [index, page] of pages.entries()) {
    const from = index === shown && stop ? page.indexOf(stop) : endOfAsked(page);
    for (const [place, piece] of page.entries()) {
      piece.dataset.slidePage = String(index);
      piece.classList.toggle("off-page", index !== shown);
      piece.classList.toggle("unrevealed", place >= from);
    }
  }
  const again = shownAgain(pages[shown]);
  const here = [...again, ...(pages[shown] ?? [])];
  for (const piece of pages.flat()) piece.classList.toggle("again", again.includes(piece));
  for (const piece of again) piece.classList.remove("off-page", "unrevealed");
  for (const piece of pages.flat()) {
    const row = piece.closest(".row");
    row?.classList.toggle("cut", row.querySelector(".off-page") !== null);
    // What holds pieces has an edge of its own.
    const box = outermost(piece, ".folded[open]");
    box?.classList.toggle("off-page", !here.some((own) => box.contains(own)));
  }
}

/**
 * Say so whenever a slide is laid out otherwise: something is fetched, unfolds, or the window has
 * another size.
 * @param {HTMLElement} root
 * @param {() => void} change lays it out
 * @returns {() => void} ends it
 */
export function watchLayout(root, change) {
  let waiting = 0;
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      change();
      observer.takeRecords(); // what laying out wrote is no change
    });
  };
  const isOurs = (/** @type {Node} */ node) =>
    node instanceof Element && node.matches(".beside-more, .copy-block");
  const isOfPage = (/** @type {MutationRecord} */ { target, addedNodes, removedNodes }) =>
    !isOurs(target) && ![...addedNodes, ...removedNodes].every(isOurs);
  const observer = new MutationObserver((changes) => {
    if (changes.some(isOfPage)) later();
  });
  observer.observe(root, { childList: true, subtree: true });
  const events = ["load", "toggle"];
  for (const event of events) root.addEventListener(event, later, true);
  addEventListener("resize", later);
  document.fonts?.ready.then(later);
  return () => {
    cancelAnimationFrame(waiting);
    observer.disconnect();
    for (const event of events) root.removeEventListener(event, later, true);
    removeEventListener("resize", later);
  };
}
