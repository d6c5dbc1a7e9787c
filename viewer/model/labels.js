// Where there is room in a chart for the names of its marks. Pure.

/** Width of a letter, height of a line, and the air between a name and its mark. */
const LETTER = 7.3;
const LINE = 14;
const AIR = 5;

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */
/**
 * @typedef {{x: number, y: number, size: number, isSlight?: boolean}} Mark
 *   size: half of its width; isSlight: where there is no other room, a name may lie on it
 */

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
 * The boxes beside, below and above a mark, the best first.
 * @param {Mark} mark
 * @param {number} width
 * @returns {Box[]}
 */
function boxesAround({ x, y, size }, width) {
  const away = size + AIR;
  const [beside, below, above] = [y - LINE / 2, y + size + 2, y - size - 2 - LINE];
  const places = [
    [x + away, beside],
    [x - away - width, beside],
    [x + AIR, below],
    [x - width / 2, below],
    [x - AIR - width, below],
    [x + AIR, above],
    [x - width / 2, above],
    [x - AIR - width, above],
  ];
  return places.map(([left, top]) => ({ left, right: left + width, top, bottom: top + LINE }));
}

/**
 * A box for the name of each of the first marks, where there is one: on no other name, on no mark,
 * or at least on none that counts, and where it is free.
 * @param {Mark[]} marks
 * @param {string[]} names
 * @param {(box: Box) => boolean} isFree
 * @param {number} most how many are named
 * @returns {{name: string, box: Box}[]}
 */
export function namesBeside(marks, names, isFree, most) {
  const taken = marks.filter(({ isSlight }) => !isSlight).map(boxOf);
  const slight = marks.filter(({ isSlight }) => isSlight).map(boxOf);
  /** @type {{name: string, box: Box}[]} */
  const found = [];
  names.slice(0, most).forEach((name, index) => {
    const places = boxesAround(marks[index], LETTER * name.length).filter(
      (candidate) => isFree(candidate) && !taken.some((other) => overlap(candidate, other)),
    );
    const box =
      places.find((candidate) => !slight.some((other) => overlap(candidate, other))) ?? places[0];
    if (!box) return;
    found.push({ name, box });
    taken.push(box);
  });
  return found;
}
