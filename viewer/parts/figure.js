// What charts share: the frame that they are drawn in, its rulings, and the keys that move along.

import { html } from "viewer/parts/html.js";

const WIDE = 720;
const NARROW = 400;

/**
 * A drawing whose letters can be read on a small screen, with room around the plot.
 * @param {number} height
 * @param {{left: number, right: number, top: number, bottom: number}} room
 * @param {number} [widest] on a large screen
 * @returns {Frame}
 */
export function frameOf(height, room, widest = WIDE) {
  const width = innerWidth < 700 ? NARROW : Math.max(WIDE, Math.min(widest, innerWidth - 100));
  return {
    width,
    height,
    left: room.left,
    right: width - room.right,
    top: room.top,
    bottom: height - room.bottom,
  };
}

/**
 * Where a share of the width of the plot ends.
 * @param {Frame} frame
 * @param {number} share
 */
export function across({ left, right }, share) {
  return left + share * (right - left);
}

/**
 * Where a share of the height of the plot ends, from below.
 * @param {Frame} frame
 * @param {number} share
 */
export function up({ top, bottom }, share) {
  return bottom - share * (bottom - top);
}

/**
 * Lines across the plot, with what they stand for on the left.
 * @type {View<{frame: Frame, marks: number[], y: (mark: number) => number,
 *   text: (mark: number) => string}>}
 */
export function Rulings({ frame, marks, y, text }) {
  return marks.map(
    (/** @type {number} */ mark) =>
      html`<g class="inspect-axis">
        <line x1=${frame.left} x2=${frame.right} y1=${y(mark)} y2=${y(mark)} />
        <text x=${frame.left - 6} y=${y(mark) + 4} text-anchor="end">
          ${text(mark)}
        </text>
      </g>`,
  );
}

/**
 * Move along a chart by the keys of a slider; other keys are left to others.
 * @param {KeyboardEvent} event
 * @param {number} at
 * @param {number} last
 * @param {(to: number) => void} move
 * @param {Record<string, number>} [more] keys of this chart, and where they lead
 */
export function slide(event, at, last, move, more = {}) {
  /** @type {Record<string, number>} */
  const targets = {
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    Home: 0,
    End: last,
    ...more,
  };
  if (!(event.key in targets)) return;
  event.preventDefault();
  event.stopPropagation();
  move(Math.max(0, Math.min(last, targets[event.key])));
}
