// What charts share.

const WIDE = 720;
const NARROW = 400;

/**
 * Drawings are as wide as this, so that letters can be read on a small screen.
 * @param {number} [most] on a large one
 */
export function widthOfCharts(most = WIDE) {
  return innerWidth < 700 ? NARROW : Math.max(WIDE, Math.min(most, innerWidth - 100));
}
