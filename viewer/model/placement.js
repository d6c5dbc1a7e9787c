// Where the boxes of a graph stand: a box stays where it was, new ones find room beside what leads
// to them. Pure. All lengths are in pixels.

export const ROW = 20;
export const HEAD = 22;
const GAP = 14;
const PAD = 6;

/** Room below a new box, to grow into; tensors do not grow. */
const SLACK = 2 * ROW;

/** Below a call without variables, which is no more than its name. */
const NARROW_GAP = 4;
const BORDERS = 2;

/** Widths of a column, and of the space between two. */
export const CALL_WIDTH = 144;
export const WIDTH = 132;
export const BETWEEN = 36;

/** Places of boxes that are not there now are remembered, of so many boxes. */
const REMEMBERED = 300;

/** @param {Pick<Box, "kind" | "rows" | "note">} box */
function isEmptyCall({ kind, rows, note }) {
  return kind === "call" && !rows.length && !note;
}

/** @param {Pick<Box, "kind" | "rows" | "note">} box */
export function heightOf(box) {
  const { rows, note } = box;
  if (isEmptyCall(box)) return HEAD + BORDERS;
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
  const [outermost] = boxes.filter((box) => box.kind === "call" && !isEmptyCall(box));
  for (const box of boxes.filter(({ kind }) => kind === "call")) {
    found.set(box.key, { top: calls, height: heightOf(box), column: 0 });
    calls += heightOf(box) + (isEmptyCall(box) ? NARROW_GAP : GAP);
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
    // Beside calls without variables there is room for what the first of the others leads to.
    const isFirst = leading?.from === outermost?.key;
    let top = from && !isFirst ? from.top + (from.column === column ? from.height + GAP : 0) : 0;
    const slack = box.kind === "tensor" ? 0 : SLACK;
    while (!isFree(column, top, height + slack)) top += 2;
    found.set(box.key, { top, height, column });
  }
  const remembered = [...before].filter(([key]) => !found.has(key)).slice(-REMEMBERED);
  return new Map([...remembered, ...found]);
}
