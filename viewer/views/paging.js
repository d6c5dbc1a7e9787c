// Cuts what a slide shows into pages that fit the screen: between paragraphs, blocks and lines of
// code, never within one. Asks the laid out page where everything is, and then takes away what is
// not of the page that is shown.

import { fit } from "viewer/parts/margin.js";

/** What may be cut; all else stays whole. */
const PARTS = [
  ".section, .row, .row-rest, .row-after, .loop, .calls, .said, .prose, .prose > ul, .evidence",
  ".row-line:not(:has(> .scrubber)), .folded[open], .folded-body, .slide-heading",
].join(", ");
const TITLES = ".section-head, h1, h2, h3, h4, h5, h6";
const FIGURES = ".picture, .chart";

/** How large a figure may be: as a part of the page, and in the size that it was drawn for. */
const FIGURE_HEIGHT = 0.75;
const LARGEST = 2.4;
/** What does not fit is shown smaller, down to this; then it scrolls. */
const SMALLEST = 0.45;
const SMALLEST_LOOP = 0.7;

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

/** What may differ without being seen, in pixels. */
const SLACK = 2;

/**
 * Let lines of code that have no values beside them use the room of values. They become lower, not
 * higher, so no values come to stand beside them by that.
 * @param {HTMLElement} root
 */
function widen(root) {
  const places = [...root.querySelectorAll(".beside-line, .scrubber")].map((place) => ({
    box: place.getBoundingClientRect(),
    isCut: place.classList.contains("is-cut"),
  }));
  // What was cut may show more where what is below it stands on another page.
  const below = (/** @type {DOMRect} */ { top }) =>
    Math.min(...places.map(({ box }) => (box.top > top + SLACK ? box.top : Infinity)));
  const taken = places.map(({ box, isCut }) => [box.top, isCut ? below(box) : box.bottom]);
  const lines = [...root.querySelectorAll(".line")].filter((line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return taken.every(([from, to]) => to <= top + SLACK || from >= bottom - SLACK);
  });
  for (const line of lines) line.classList.add("wide");
}

/** Show everything again, as large as it is. @param {HTMLElement} root */
function restore(root) {
  for (const piece of root.querySelectorAll(".off-page, .unrevealed, .cut, .wide"))
    piece.classList.remove("off-page", "unrevealed", "cut", "wide");
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
  const drawn = figure.querySelector("svg, img");
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
 * Whether a piece begins a loop or a block of code that would fit a page, and does not fit here any
 * more: who moves the slider of a loop has to see what changes.
 * @param {HTMLElement[]} pieces
 * @param {number} index
 * @param {number} height
 * @param {number} left
 */
function isBlockToMove(pieces, index, height, left) {
  return WHOLE.some((kind) => {
    const block = outermost(pieces[index], kind);
    if (!block || outermost(pieces[index - 1], kind) === block) return false;
    const own = heightOf(pieces.filter((piece) => block.contains(piece)));
    return own > left && own <= height;
  });
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
 * The pages of a slide. A title does not end a page, and what a table of contents does itself
 * begins one: the title of a lecture stands alone.
 * @param {HTMLElement} root
 * @param {number} height of a page
 * @returns {HTMLElement[][]}
 */
export function pagesOf(root, height) {
  restore(root);
  for (const section of root.querySelectorAll(".section")) fit(section);
  widen(root);
  for (const figure of root.querySelectorAll(FIGURES))
    scaleFigure(/** @type {HTMLElement} */ (figure), height);
  shrinkLoops(root, height);
  const pieces = piecesIn(root);
  for (const piece of pieces) shrinkToFit(piece, height);
  /** @type {HTMLElement[][]} */
  const pages = [];
  let top = NaN;
  for (const [index, piece] of pieces.entries()) {
    const page = pages.at(-1);
    const begin = piece.getBoundingClientRect().top;
    const isFull = bottomOf(piece) - top > height;
    const isMoved = isBlockToMove(pieces, index, height, top + height - begin);
    const isOfContents = piece.matches(".depth-0 > .row *") && page?.[0].matches(".section-head");
    if (page && !isFull && !isMoved && !isOfContents) page.push(piece);
    else {
      const titles = page ? titlesAtEnd(page) : [];
      if (page) page.splice(page.length - titles.length);
      pages.push([...titles, piece]);
      top = (titles[0] ?? piece).getBoundingClientRect().top;
    }
  }
  return pages.filter((page) => page.length);
}

/** Titles that nothing follows; a page is not made of them alone. @param {HTMLElement[]} page */
function titlesAtEnd(page) {
  const last = page.findLastIndex((piece) => !piece.matches(TITLES));
  return last < 0 ? [] : page.slice(last + 1);
}

/**
 * Where one stops before the rest of a page is shown.
 * @param {HTMLElement[]} page
 * @param {Reveal} reveal
 * @returns {HTMLElement[]}
 */
export function stopsOf(page, reveal) {
  if (reveal === "all") return [];
  const claims = page.filter((piece) => piece.matches(":has(.held-mark)"));
  if (reveal === "claims") return claims;
  return page.filter((piece) => piece.matches(`.line[data-step], .row-line, ${FIGURES}, .said *`));
}

/**
 * Show one page, up to a stop.
 * @param {HTMLElement[][]} pages
 * @param {number} shown
 * @param {HTMLElement | undefined} stop the first that is not shown yet, if there is one
 */
export function arrange(pages, shown, stop) {
  for (const [index, page] of pages.entries()) {
    const from = index === shown && stop ? page.indexOf(stop) : Infinity;
    for (const [place, piece] of page.entries()) {
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
 * @param {() => void} change
 * @returns {() => void} ends it
 */
export function watchLayout(root, change) {
  let waiting = 0;
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(change);
  };
  const observer = new MutationObserver(later);
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
