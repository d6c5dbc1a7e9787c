// Cuts what a slide shows into pages that fit the screen: between paragraphs, blocks and lines of
// code, never within one. Asks the laid out page where everything is, and then takes away what is
// not of the page that is shown.

import { gather, spread } from "viewer/views/spread.js";

/** What may be cut; all else stays whole. */
const PARTS = [
  ".section, .row, .row-rest, .row-after, .loop, .calls, .said, .prose, .prose > ul, .evidence",
  ".row-line:not(:has(> .scrubber)), .folded[open], .folded-body, .slide-heading, .slide-before",
  ":has(.long), .long, .long > thead, .long > tbody",
].join(", ");
const TITLES = ".section-head, h1, h2, h3, h4, h5, h6, .folded[open] > summary, .long > thead > tr";
const FIGURES = ".picture, .chart";
const QUESTION = ":is(.question, :has(.question))";
const DRAWN = ":is(.picture, .chart), :has(> :is(.picture, .chart))";

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

/** How large a figure may be: as a part of the page, and in the size that it was drawn for. */
const FIGURE_HEIGHT = 0.75;
const LARGEST = 2.4;
/** What does not fit is shown smaller, down to this; then it scrolls. */
const SMALLEST = 0.45;
const SMALLEST_LOOP = 0.7;

/**
 * What stays together, and where it is.
 * @typedef {{pieces: HTMLElement[], top: number, bottom: number}} Atom
 */

/** What is not cut where a page holds it. */
const WHOLE = [".loop", ".row-line"];

/**
 * What is cut no further, in the order of the page.
 * @param {Element} element
 * @returns {HTMLElement[]}
 */
function piecesIn(element) {
  const children = /** @type {HTMLElement[]} */ ([...element.children]);
  return children.flatMap((child) => {
    if (child.matches(PARTS)) return piecesIn(child);
    return child.getClientRects().length ? [child] : [];
  });
}

/** Where a piece ends, with the values beside it. @param {HTMLElement} piece */
function bottomOf(piece) {
  const beside = [...piece.querySelectorAll(":scope > .beside-line")];
  return Math.max(...[piece, ...beside].map((part) => part.getBoundingClientRect().bottom));
}

/** Show everything again, as large as it is. @param {HTMLElement} root */
function restore(root) {
  gather(root);
  for (const piece of root.querySelectorAll(".off-page, .unrevealed, .cut, .long"))
    piece.classList.remove("off-page", "unrevealed", "cut", "long");
  for (const piece of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".resized"))) {
    piece.classList.remove("resized", "scrolls");
    piece.style.zoom = "";
  }
}

/** @param {HTMLElement} piece @param {number} zoom */
function resize(piece, zoom) {
  piece.style.zoom = String(zoom);
  piece.classList.add("resized");
}

/** As large as a figure has room, and so that it can be seen whole.
 * @param {HTMLElement} figure @param {number} height */
function scaleFigure(figure, height) {
  const drawn = figure.querySelector("svg:not(.katex *), img");
  const { width = 0, height: own = 0 } = drawn?.getBoundingClientRect() ?? {};
  if (!width || !own) return;
  const room = figure.getBoundingClientRect().width / width;
  resize(figure, Math.min(Math.max(1, room), (FIGURE_HEIGHT * height) / own, LARGEST));
}

/** @param {HTMLElement} piece @param {number} height */
function shrinkToFit(piece, height) {
  const own = bottomOf(piece) - piece.getBoundingClientRect().top;
  if (own <= height) return;
  const zoom = ((Number(piece.style.zoom) || 1) * 0.98 * height) / own;
  resize(piece, Math.max(SMALLEST, zoom));
  piece.classList.toggle("scrolls", zoom < SMALLEST);
}

/** The outermost of a kind that holds an element. @param {Element | undefined} element
 * @param {string} kind */
function outermost(element, kind) {
  let found = null;
  for (let at = element?.closest(kind); at; at = at.parentElement?.closest(kind)) found = at;
  return found;
}

/** How high pieces that follow each other are. @param {HTMLElement[]} pieces */
function heightOf(pieces) {
  return Math.max(...pieces.map(bottomOf)) - pieces[0].getBoundingClientRect().top;
}

/**
 * What stays together: a loop or a block of code that fits a page, since who moves the slider of a
 * loop has to see what changes; the first line of a loop and what it repeats; a title and what
 * follows it; a sentence that ends in a colon, and what it announces; a figure and what drew it; a
 * question and what it asks about.
 * @param {HTMLElement[]} pieces
 * @param {number} height
 * @param {HTMLElement[][]} known pages that begin where they did
 * @returns {Atom[]}
 */
function atomsOf(pieces, height, known) {
  const asked = askedAbout(pieces, height);
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
        isTitle(before) ||
        heads(before) ||
        leadsTo(before, piece, pieces, height));
    const isTooHigh = group && isBound && heightOf([...group, piece]) > height;
    if (group && isBound && !isTooHigh) group.push(piece);
    else groups.push([piece]);
  }
  return groups.map((group) => ({
    pieces: group,
    top: group[0].getBoundingClientRect().top,
    bottom: Math.max(...group.map(bottomOf)),
  }));
}

/** Whether a page ended between two pieces. A question that was answered is another piece now, so
 * either side tells. @param {HTMLElement | undefined} before @param {HTMLElement} piece
 * @param {HTMLElement[][]} known */
function partsPages(before, piece, known) {
  return known.some(
    (page, index) =>
      (index > 0 && page[0] === piece) || (index < known.length - 1 && page.at(-1) === before),
  );
}

/** How much of a page a question may take with what it asks about. */
const ASKED_HEIGHT = 0.7;

/**
 * What stands on the page of what is above it, since a question below asks about that: the code
 * before it and the words between them or, where that is too much, those words.
 * @param {HTMLElement[]} pieces
 * @param {number} height
 */
function askedAbout(pieces, height) {
  /** @type {Set<HTMLElement>} */
  const bound = new Set();
  const isCode = (/** @type {HTMLElement | undefined} */ piece) =>
    piece?.matches(".line, .row-line");
  const isWords = (/** @type {HTMLElement | undefined} */ piece) => piece?.matches(".prose > *");
  for (const [end, question] of pieces.entries()) {
    if (!question.matches(QUESTION)) continue;
    let words = end;
    while (isWords(pieces[words - 1])) words--;
    let code = words;
    while (isCode(pieces[code - 1])) code--;
    const from = [code, words, end - 1].find(
      (start) => heightOf(pieces.slice(Math.max(0, start), end + 1)) <= ASKED_HEIGHT * height,
    );
    for (const piece of pieces.slice((from ?? end) + 1, end + 1)) bound.add(piece);
  }
  return bound;
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
 * Whether a sentence announces what comes next, or code draws it, and a page holds both.
 * @param {HTMLElement} before
 * @param {HTMLElement} piece
 * @param {HTMLElement[]} pieces
 * @param {number} height
 */
function leadsTo(before, piece, pieces, height) {
  const announces = before.matches("p, li, ul, ol") && /:\s*$/.test(before.textContent ?? "");
  const isDrawn = piece.matches(DRAWN) && before.matches(".row *") && !before.matches(".prose *");
  if (!announces && !isDrawn) return false;
  const blockOf = (/** @type {HTMLElement} */ own) => {
    const block = WHOLE.map((kind) => outermost(own, kind)).find(Boolean);
    return block ? pieces.filter((other) => block.contains(other)) : [own];
  };
  return heightOf([...(isDrawn ? blockOf(before) : [before]), ...blockOf(piece)]) <= height;
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
 * @param {boolean} isKept whether values are cut rather than that there is one page more
 * @returns {HTMLElement[][]}
 */
export function pagesOf(root, height, known, late, isKept = false) {
  restore(root);
  for (const figure of late) figure.classList.add("off-page");
  const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  spread(root, letter, isKept);
  for (const figure of root.querySelectorAll(FIGURES))
    scaleFigure(/** @type {HTMLElement} */ (figure), height);
  shrinkLoops(root, height);
  // A table that no page holds is cut between its rows.
  for (const table of root.querySelectorAll(".prose table"))
    table.classList.toggle("long", table.getBoundingClientRect().height > height);
  const pieces = piecesIn(root);
  for (const piece of pieces) shrinkToFit(piece, height);
  for (const figure of late) {
    figure.classList.remove("off-page");
    for (const drawn of figure.querySelectorAll(FIGURES))
      scaleFigure(/** @type {HTMLElement} */ (drawn), height);
    shrinkToFit(figure, height);
  }
  const atoms = atomsOf(pieces, height, known);
  if (known.length) {
    const pages = cut(atoms, height, known);
    return isKept || pages.length <= known.length
      ? pages
      : pagesOf(root, height, known, late, true);
  }
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

/** @param {Atom[]} atoms @param {number} height @param {HTMLElement[][]} [known]
 * @returns {HTMLElement[][]} */
function cut(atoms, height, known = []) {
  /** @type {HTMLElement[][]} */
  const pages = [];
  let begin = NaN;
  for (const { pieces, top, bottom } of atoms) {
    const page = pages.at(-1);
    const isOfContents =
      pieces[0].matches(".depth-0 > .row *") && page?.[0].matches(".section-head");
    const isKnown = partsPages(page?.at(-1), pieces[0], known);
    if (page && bottom - begin <= height && !isOfContents && !isKnown) page.push(...pieces);
    else {
      pages.push([...pieces]);
      begin = top;
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
  const here = pages[shown] ?? [];
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
