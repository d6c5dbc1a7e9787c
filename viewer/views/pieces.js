// What a slide is cut into: paragraphs, blocks, lines of code, figures; and how high they are. Asks
// the laid out page.

/** What may be cut; all else stays whole. */
const PARTS = [
  ".section, .row, .row-rest, .row-after, .loop, .calls, .said, .prose, .prose > ul, .evidence",
  ".exercise",
  ".row-line:not(:has(> .scrubber)), .folded[open], .folded-body, .slide-heading, .slide-before",
  ":has(.long), .long, .long > thead, .long > tbody",
].join(", ");
export const FIGURES = ".picture, .chart";
export const DRAWN = ":is(.picture, .chart), :has(> :is(.picture, .chart))";
export const QUESTION = ":is(.question, :has(.question))";

/**
 * What is cut no further, in the order of the page.
 * @param {Element} element
 * @returns {HTMLElement[]}
 */
export function piecesIn(element) {
  const children = /** @type {HTMLElement[]} */ ([...element.children]);
  return children.flatMap((child) => {
    if (child.matches(PARTS)) return piecesIn(child);
    return child.getClientRects().length ? [child] : [];
  });
}

/** Where a piece ends, with the values beside it. @param {HTMLElement} piece */
export function bottomOf(piece) {
  const beside = [...piece.querySelectorAll(":scope > .beside-line")];
  return Math.max(...[piece, ...beside].map((part) => part.getBoundingClientRect().bottom));
}

/** The outermost of a kind that holds an element. @param {Element | undefined} element
 * @param {string} kind */
export function outermost(element, kind) {
  let found = null;
  for (let at = element?.closest(kind); at; at = at.parentElement?.closest(kind)) found = at;
  return found;
}

/** How high pieces that follow each other are. @param {HTMLElement[]} pieces */
export function heightOf(pieces) {
  return Math.max(...pieces.map(bottomOf)) - pieces[0].getBoundingClientRect().top;
}

/** What is not cut where a page holds it. */
export const WHOLE = [".loop", ".row-line"];

/** The loop or the lines of code that a piece is of, or the piece.
 * @param {HTMLElement} piece @param {HTMLElement[]} pieces */
export function blockOf(piece, pieces) {
  const block = WHOLE.map((kind) => outermost(piece, kind)).find(Boolean);
  return block ? pieces.filter((other) => block.contains(other)) : [piece];
}

/**
 * What a figure stands below: the words that introduce the code that draws it, and the code, or
 * the code alone.
 * @param {HTMLElement[]} pieces
 * @param {number} index of the figure
 * @returns {HTMLElement[][]} the longer first
 */
export function aboveFigure(pieces, index) {
  const before = pieces[index - 1];
  if (!before?.matches(".row *") || before.matches(".prose *")) return [];
  const code = blockOf(before, pieces);
  const words = pieces[pieces.indexOf(code[0]) - 1];
  return words?.matches(".prose > *") ? [[words, ...code], code] : [code];
}
