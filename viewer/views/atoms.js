// Which pieces of a slide stand on one page, and what an answer brings to them.

import { headHeight } from "viewer/views/heads.js";
import {
  aboveFigure,
  blockOf,
  bottomOf,
  DRAWN,
  heightOf,
  outermost,
  piecesIn,
  QUESTION,
  WHOLE,
} from "viewer/views/pieces.js";

const TITLES = [
  ".section-head, h1, h2, h3, h4, h5, h6",
  ".folded[open] > summary, .definition:not([open]), .long > thead > tr",
].join(", ");

/**
 * What stays together, where it is, and how high what heads it is, if it begins a page.
 * @typedef {{pieces: HTMLElement[], top: number, bottom: number, above: number}} Atom
 */

/**
 * What stays together: a loop or a block of code that fits a page, since who moves the slider of a
 * loop has to see what changes; the first line of a loop and what it repeats; a title and what
 * follows it; a sentence that ends in a colon, and what it announces, or that ends in a formula; a
 * figure, what drew it and the words before that; a question and what it asks about.
 * @param {HTMLElement[]} pieces
 * @param {number} height
 * @param {HTMLElement[][]} known pages that begin where they did
 * @returns {Atom[]}
 */
export function atomsOf(pieces, height, known) {
  const asked = askedAbout(pieces, height);
  const drawn = drawnWith(pieces, height, known);
  /** @type {HTMLElement[][]} */
  const groups = [];
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    const group = groups.at(-1);
    const isBound =
      before &&
      !partsPages(before, piece, known) &&
      (isOfOneBlock(before, piece, pieces, height) ||
        asked.has(piece) ||
        drawn.has(piece) ||
        isTitle(before) ||
        heads(before) ||
        isWithinSentence(pieces, index) ||
        before.matches(".veiled") ||
        leadsTo(before, piece, pieces, height));
    const isTooHigh = group && isBound && heightOf([...group, piece]) > height;
    if (group && isBound && !isTooHigh) group.push(piece);
    else groups.push([piece]);
  }
  return groups.map((group) => ({
    pieces: group,
    top: group[0].getBoundingClientRect().top,
    bottom: Math.max(...group.map(bottomOf)),
    above: headHeight(pieces, pieces.indexOf(group[0])),
  }));
}

/** Whether a page ended between two pieces. A question that was answered is another piece now, so
 * either side tells. @param {HTMLElement | undefined} before @param {HTMLElement} piece
 * @param {HTMLElement[][]} known */
export function partsPages(before, piece, known) {
  return known.some(
    (page, index) =>
      (index > 0 && page[0] === piece) || (index < known.length - 1 && page.at(-1) === before),
  );
}

/** Whether an answer brought a piece: what it comes to stays where it is, if there is no room.
 * @param {HTMLElement} piece @param {HTMLElement[][]} known */
function isNew(piece, known) {
  return known.length > 0 && !known.some((page) => page.includes(piece));
}

/** How much of a page a question may take with what it asks about. */
const ASKED_HEIGHT = 0.7;

/**
 * What stands on the page of what is above it, since a question below asks about that: the code
 * before it, with the words that introduce it and those between or, where that is too much, less.
 * @param {HTMLElement[]} pieces
 * @param {number} height
 */
function askedAbout(pieces, height) {
  /** @type {Set<HTMLElement>} */
  const bound = new Set();
  const isWords = (/** @type {HTMLElement | undefined} */ piece) => piece?.matches(".prose > *");
  const isFolded = (/** @type {HTMLElement | undefined} */ piece) => piece?.matches(".folded");
  for (const [end, question] of pieces.entries()) {
    if (!question.matches(QUESTION)) continue;
    let words = end;
    while (isWords(pieces[words - 1])) words--;
    let code = words;
    while (isCode(pieces[code - 1]) || isFolded(pieces[code - 1])) code--;
    const introduced = isWords(pieces[code - 1]) ? code - 1 : code;
    const from = [introduced, code, words, end - 1].find(
      (start) => heightOf(pieces.slice(Math.max(0, start), end + 1)) <= ASKED_HEIGHT * height,
    );
    for (const piece of pieces.slice((from ?? end) + 1, end + 1)) bound.add(piece);
  }
  return bound;
}

/** @param {HTMLElement | undefined} piece */
const isCode = (piece) => piece?.matches(".line, .row-line");

/**
 * Whether a sentence above has no end, and has it in a formula here or below; code may stand
 * between them.
 * @param {HTMLElement[]} pieces
 * @param {number} index
 */
function isWithinSentence(pieces, index) {
  const words = pieces.slice(0, index).findLast((piece) => !isCode(piece));
  const next = pieces.slice(index).find((piece) => !isCode(piece));
  return (
    next?.matches(".prose > [data-maths]") &&
    words?.matches(".prose > p") &&
    !/[.!?:…]\W*$/.test(words.textContent ?? "")
  );
}

/** @param {HTMLElement} piece */
const isTitle = (piece) => piece.matches(TITLES);

/** Whether a piece is the first line of a loop. @param {HTMLElement} piece */
const heads = (piece) =>
  piece.matches(
    ":is(.loop > .row:first-child > .row-line, .loop > .row:first-child > .row-line *)",
  );

/**
 * @param {HTMLElement} before
 * @param {HTMLElement} piece
 * @param {HTMLElement[]} pieces
 * @param {number} height
 */
function isOfOneBlock(before, piece, pieces, height) {
  return WHOLE.some((kind) => {
    const block = outermost(piece, kind);
    if (!block || outermost(before, kind) !== block) return false;
    return heightOf(pieces.filter((own) => block.contains(own))) <= height;
  });
}

/**
 * Whether a sentence announces what comes next, and a page holds both.
 * @param {HTMLElement} before
 * @param {HTMLElement} piece
 * @param {HTMLElement[]} pieces
 * @param {number} height
 */
function leadsTo(before, piece, pieces, height) {
  const announces = before.matches("p, li, ul, ol") && /:\s*$/.test(before.textContent ?? "");
  return announces && heightOf([before, ...blockOf(piece, pieces)]) <= height;
}

/** What stands on the page of what is above it, since it draws a figure, or is one.
 * @param {HTMLElement[]} pieces @param {number} height @param {HTMLElement[][]} known */
function drawnWith(pieces, height, known) {
  /** @type {Set<HTMLElement>} */
  const bound = new Set();
  for (const [index, figure] of pieces.entries()) {
    if (!figure.matches(DRAWN) || isNew(figure, known)) continue;
    const fits = (/** @type {HTMLElement[]} */ above) => heightOf([...above, figure]) <= height;
    const above = aboveFigure(pieces, index).find(fits) ?? [];
    for (const piece of [...above, figure].slice(1)) bound.add(piece);
  }
  return bound;
}

/** Whether a piece stands above another. @param {HTMLElement} piece @param {HTMLElement} other */
function isAbove(piece, other) {
  return (piece.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/**
 * What an answer brought that was just given: its line, and figures that waited for it above, which
 * who goes on would not meet.
 * @param {HTMLElement} root
 * @param {HTMLElement[][]} pages before the answer
 * @param {number} shown which of them
 * @returns {{answer: HTMLElement | undefined, figures: HTMLElement[]}}
 */
export function broughtTo(root, pages, shown) {
  const page = pages[shown] ?? [];
  const asked = page.findIndex((piece) => !piece.isConnected && piece.matches(QUESTION));
  if (asked < 0) return { answer: undefined, figures: [] };
  const before = [...pages.slice(0, shown).flat(), ...page.slice(0, asked)];
  const seen = before.findLast((piece) => piece.isConnected);
  const known = pages.flat();
  const brought = piecesIn(root).filter((piece) => !known.includes(piece));
  const figures = brought.filter((piece) => seen && piece.matches(DRAWN) && isAbove(piece, seen));
  return { answer: brought.find((piece) => !seen || isAbove(seen, piece)), figures };
}

/** What has an answer that is not shown. */
const ANSWERS = ".question, .solution:not([open])";

/** What shows the answers to what a piece of a page asks. @param {HTMLElement} piece */
export function shownAnswers(piece) {
  const places = /** @type {HTMLElement[]} */ ([piece, ...piece.querySelectorAll("*")]);
  return places
    .filter((place) => place.matches(ANSWERS))
    .flatMap((place) => /** @type {HTMLElement[]} */ ([...place.children]))
    .filter((place) => place.matches("summary, .quiet-link"));
}
