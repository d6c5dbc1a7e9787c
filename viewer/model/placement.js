// Where the boxes of a graph stand: a box stays where it was, new ones find room beside what leads
// to them. Pure. All lengths are in pixels.

export const ROW = 20;
export const HEAD = 22;
const GAP = 14;
const PAD = 6;

/** Room below a new box, to grow into. */
const SLACK = 2 * ROW;

/** Widths of a column, and of the space between two. */
export const CALL_WIDTH = 144;
export const WIDTH = 132;
export const BETWEEN = 36;

/** Places of boxes that are not there now are remembered, of so many boxes. */
const REMEMBERED = 300;

/** @param {Pick<Box, "rows" | "note">} box */
export function heightOf({ rows, note }) {
  return HEAD + (rows.length + Number(note !== "")) * ROW + PAD;
}

/** @param {number} column */
export function leftOf(column) {
  return column === 0 ? 0 : CALL_WIDTH + BETWEEN + (column - 1) * (WIDTH + BETWEEN);
}

/**
 * The top of each box. Calls stand below each other, the outermost first.
 * @param {Graph} graph
 * @param {Map<string, Place>} before places of earlier graphs
 * @returns {Map<string, Place>} those places with the new ones: of boxes that went as they were
 */
export function placed({ boxes, arrows }, before) {
  /** @type {Map<string, Place>} */
  const found = new Map();
  let calls = 0;
  for (const box of boxes.filter(({ kind }) => kind === "call")) {
    found.set(box.key, { top: calls, height: heightOf(box), column: 0 });
    calls += heightOf(box) + GAP;
  }
  const objects = boxes.filter(({ kind }) => kind !== "call");
  const isFree = (/** @type {number} */ column, /** @type {number} */ top, height = 0) =>
    ![...found.values()].some(
      (other) =>
        other.column === column &&
        other.top < top + height + GAP &&
        top < other.top + other.height + GAP,
    );
  const stay = (/** @type {Box} */ box) => {
    const [known, height] = [before.get(box.key), heightOf(box)];
    if (!known || found.has(box.key) || !isFree(known.column, known.top, height)) return;
    found.set(box.key, { ...known, height });
  };
  // What did not grow stays first; what grew stays where there is room for it.
  objects.filter((box) => heightOf(box) <= (before.get(box.key)?.height ?? 0)).forEach(stay);
  objects.forEach(stay);
  for (const box of objects) {
    if (found.has(box.key)) continue;
    const [column, height] = [before.get(box.key)?.column ?? box.column, heightOf(box)];
    const leading = arrows.find(({ to }) => to === box.key);
    const from = leading && found.get(leading.from);
    let top = from ? from.top + (from.column === column ? from.height + GAP : 0) : 0;
    while (!isFree(column, top, height + SLACK)) top += ROW;
    found.set(box.key, { top, height, column });
  }
  const remembered = [...before].filter(([key]) => !found.has(key)).slice(-REMEMBERED);
  return new Map([...remembered, ...found]);
}
