// Where there is room in a chart for the names of its marks. Pure.

/** Width of a letter, height of a line, and the air between a name and its mark. */
const LETTER = 7.3;
const LINE = 14;
const AIR = 5;

/** How much further from its mark a name may stand, step by step, than the air between them. */
const FURTHER = Array.from({ length: 17 }, (_, at) => 6 * at);

/** From so far a line leads from a name to its mark. */
const LED = 2 * AIR;

/** By how much further every other mark is from a name that no line leads to. */
const CLEAR = 6;

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */
/** @typedef {{x1: number, y1: number, x2: number, y2: number}} Leader from a mark to its name */
/**
 * @typedef {{x: number, y: number, size: number, isSlight?: boolean}} Mark
 *   size: half of its width; isSlight: where there is no other room, a name may lie on it
 */

/** @typedef {{name: string, index: number, box: Box, leader: Leader | null}} Placed */

/** @param {Box} one @param {Box} other */
function overlap(one, other) {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}

/** @param {Mark} mark @returns {Box} */
function boxOf({ x, y, size }) {
  return { left: x - size, right: x + size, top: y - size, bottom: y + size };
}

/**
 * The point of a box that is nearest to a mark, and how far from it.
 * @param {Box} box
 * @param {Mark} mark
 */
function nearest({ left, right, top, bottom }, { x, y, size }) {
  const at = { x: Math.max(left, Math.min(right, x)), y: Math.max(top, Math.min(bottom, y)) };
  return { at, away: Math.hypot(at.x - x, at.y - y) - size };
}

/**
 * The boxes beside, below and above a mark, the best first.
 * @param {Mark} mark
 * @param {number} width
 * @param {number} air
 * @returns {Box[]}
 */
function boxesAround({ x, y, size }, width, air) {
  const away = size + air;
  const [beside, below, above] = [y - LINE / 2, y + away - 3, y - away + 3 - LINE];
  const places = [
    [x + away, beside],
    [x - away - width, beside],
    [x + air, below],
    [x - width / 2, below],
    [x - air - width, below],
    [x + size - width, below],
    [x + air, above],
    [x - width / 2, above],
    [x - air - width, above],
    [x + size - width, above],
  ];
  return places.map(([left, top]) => ({ left, right: left + width, top, bottom: top + LINE }));
}

/**
 * The line from a name to its mark; null where it stands beside it.
 * @param {Box} box
 * @param {Mark} mark
 * @returns {Leader | null}
 */
function leaderOf(box, mark) {
  const { at, away } = nearest(box, mark);
  if (away < LED) return null;
  const part = mark.size / (away + mark.size);
  const edge = { x: mark.x + part * (at.x - mark.x), y: mark.y + part * (at.y - mark.y) };
  return { x1: edge.x, y1: edge.y, x2: at.x, y2: at.y };
}

/**
 * What beside a mark would be read as its name, were it of a smaller one.
 * @param {Mark} mark
 * @returns {Box}
 */
function claimOf({ x, y, size }) {
  return { left: x - 3 * size, right: x + 3 * size, top: y - size, bottom: y + size };
}

/**
 * Whether one sees whose name stands in a box: none of the marks is nearer or nearly as near, and
 * no larger one is right beside it.
 * @param {Box} box
 * @param {Mark} mark
 * @param {Mark[]} marks
 */
function isOf(box, mark, marks) {
  const { away } = nearest(box, mark);
  const least = away < LED ? away + CLEAR : away;
  return marks.every(
    (other) =>
      other === mark ||
      (nearest(box, other).away >= least &&
        (other.size <= mark.size || !overlap(box, claimOf(other)))),
  );
}

/**
 * A box for the name of each of the first marks, where there is one: on no other name, on no mark,
 * or at least on none that counts, so that one sees whose it is, and where it is free.
 * @param {Mark[]} marks
 * @param {string[]} names
 * @param {(box: Box) => boolean} isFree
 * @param {number} most how many are named
 * @returns {Placed[]}
 */
export function namesBeside(marks, names, isFree, most) {
  const heavy = marks.filter(({ isSlight }) => !isSlight);
  const taken = heavy.map(boxOf);
  const slight = marks.filter(({ isSlight }) => isSlight).map(boxOf);
  const hasRoom = (/** @type {Box} */ box, /** @type {Mark} */ mark) =>
    isFree(box) && !taken.some((other) => overlap(box, other)) && isOf(box, mark, heavy);
  /** @type {Placed[]} */
  const found = [];
  names.slice(0, most).forEach((name, index) => {
    const mark = marks[index];
    for (const further of FURTHER) {
      const places = boxesAround(mark, LETTER * name.length, AIR + further).filter((candidate) =>
        hasRoom(candidate, mark),
      );
      const box =
        places.find((candidate) => !slight.some((other) => overlap(candidate, other))) ?? places[0];
      if (!box) continue;
      found.push({ name, index, box, leader: leaderOf(box, mark) });
      // As if it were a letter longer at each end: else two names read as one.
      taken.push({ ...box, left: box.left - LETTER, right: box.right + LETTER });
      return;
    }
  });
  return found;
}
