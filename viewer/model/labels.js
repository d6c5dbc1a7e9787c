// Where there is room in a chart for the names of its marks. Pure.

/** Width of a letter, height of a line, and the air between a name and its mark. */
const LETTER = 7.3;
const LINE = 14;
const AIR = 5;

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */
/** @typedef {{x: number, y: number, size: number}} Mark size: half of its width */

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
 * A box for the name of each mark, the first ones first: on no mark, on no other name, and where it
 * is free.
 * @param {Mark[]} marks
 * @param {string[]} names
 * @param {(box: Box) => boolean} isFree
 * @param {number} most how many are named
 * @returns {{name: string, box: Box}[]}
 */
export function namesBeside(marks, names, isFree, most) {
  const taken = marks.map(boxOf);
  /** @type {{name: string, box: Box}[]} */
  const found = [];
  names.forEach((name, index) => {
    const box =
      found.length < most &&
      boxesAround(marks[index], LETTER * name.length).find(
        (candidate) => isFree(candidate) && !taken.some((other) => overlap(candidate, other)),
      );
    if (!box) return;
    found.push({ name, box });
    taken.push(box);
  });
  return found;
}
