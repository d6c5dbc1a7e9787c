// The chart of a roofline: the roof, a mark for each operator or line, and what is said of one.

import { useState } from "preact/hooks";
import { bytes, counted, duration, flops, number, ratio } from "viewer/model/format.js";
import { namesBeside } from "viewer/model/labels.js";
import { marksOf, pieceOf, scalesOf, shareOf } from "viewer/model/roofline.js";
import { across, frameOf, Rulings, slide, up } from "viewer/parts/figure.js";
import { html } from "viewer/parts/html.js";

const HEIGHT = 396;
const WIDEST = 1160;
/** Above the roof there is room for a name. */
const ROOM = { left: 100, right: 24, top: 32, bottom: 46 };
/** How many marks are named in the chart. */
const NAMED = 10;
/** How many letters a name has at most, of how many pixels of the width each takes one, and in how
 * narrow a chart it is a number. */
const LONGEST = 28;
const OF_WIDTH = 32;
const NUMBERED = 560;
/** How wide a number below the chart is at most. */
const NUMBER = 46;
/** Between a name and the roof. */
const AIR = 3;
/** Half the width of the smallest mark and of the largest. */
const LEAST = 4;
const MOST = 15;
/** Marks with less than this share of the time are drawn faintly, below the others. */
const SLIGHT = 0.005;

/** The FLOP/B at which the roof bends. @param {Limits} limits */
export function ridgeOf({ peak, memory }) {
  return number(Number((peak / memory).toPrecision(3)));
}

/** @param {RooflinePoint} point */
function said({ name, place, intensity, attainable, rate, waits, seconds, isMeasured }) {
  const at = `${name}${place && `, ${place}`}: ${ratio(intensity)} FLOP/B`;
  if (isMeasured) {
    const measured = `measured ${flops(Number(rate.toPrecision(3)))}/s in ${duration(seconds)}`;
    return `${at}, ${measured}, ${ratio((100 * rate) / attainable)} % of the roof`;
  }
  const limit = waits ? "waits for memory" : "limited by arithmetic";
  return `${at}, at most ${flops(attainable)}/s, at least ${duration(seconds)}, ${limit}`;
}

/** @param {RooflinePoint} point */
function counts({ entry, isMeasured }) {
  const computed = flops(entry.matmul_flops + entry.other_flops);
  const moved = bytes(entry.read_bytes + entry.written_bytes);
  return `${computed} and ${moved} in ${counted(entry.calls, isMeasured ? "operator" : "call")}`;
}

/**
 * @param {{points: RooflinePoint[], limits: Limits, title: string, isReached: boolean,
 *   whole: (point: RooflinePoint) => number}} properties
 *   isReached: the roof is what lines reached; whole: the seconds that a mark has a share of
 */
export function Chart({ points, limits, title, isReached, whole }) {
  const [shown, show] = useState(-1);
  const frame = frameOf(HEIGHT, ROOM, WIDEST);
  const { intensities, rates } = scalesOf(points, limits);
  const x = (/** @type {number} */ intensity) => across(frame, shareOf(intensities, intensity));
  const y = (/** @type {number} */ rate) => up(frame, shareOf(rates, rate));
  const [low] = intensities;
  const start = { x: x(low), y: y(low * limits.memory) };
  const bend = { x: x(limits.peak / limits.memory), y: y(limits.peak) };
  const marks = points.map((point) => ({
    x: x(point.intensity),
    y: y(point.rate),
    size: sizeOf(point.seconds / whole(point)),
    isSlight: point.seconds < SLIGHT * whole(point),
  }));
  const order = points
    .map((_, index) => index)
    .sort((one, other) => points[one].intensity - points[other].intensity);
  const place = order.indexOf(shown);
  const onKey = (/** @type {KeyboardEvent} */ event) =>
    slide(event, place, order.length - 1, (to) => show(order[to]));
  const text =
    shown < 0
      ? `${title}. ${points.length} marks; arrow keys go through them by intensity.`
      : said(points[shown]);
  return html`<figure class="inspect-figure roofline">
    <svg
      viewBox=${`0 0 ${frame.width} ${frame.height}`}
      role="slider"
      tabindex="0"
      aria-label=${title}
      aria-valuemin="1"
      aria-valuemax=${points.length}
      aria-valuenow=${Math.max(1, place + 1)}
      aria-valuetext=${text}
      onKeyDown=${onKey}
      onFocus=${() => shown < 0 && show(0)}
      onMouseLeave=${() => show(-1)}
    >
      <${Roof} ...${{ frame, intensities, rates, limits, isReached, x, y }} />
      <${Marks} ...${{ points, marks, shown, show }} />
      <${Names} ...${{ frame, points, marks, start, bend, shown, show }} />
    </svg>
    <figcaption class="inspect-readout" aria-live="off">
      ${
        shown < 0
          ? html`<${Key} points=${points} whole=${whole} />`
          : `${text}. ${counts(points[shown])}.`
      }
    </figcaption>
  </figure>`;
}

/**
 * Those that took next to nothing lie below the others.
 * @param {{points: RooflinePoint[],
 *   marks: {x: number, y: number, size: number, isSlight: boolean}[], shown: number,
 *   show: (index: number) => void}} properties
 */
function Marks({ points, marks, shown, show }) {
  const order = points
    .map((_, index) => index)
    .sort((one, other) => Number(marks[other].isSlight) - Number(marks[one].isSlight));
  return order.map(
    (index) =>
      html`<${Mark}
        key=${index}
        point=${points[index]}
        ...${marks[index]}
        isShown=${index === shown}
        show=${() => show(index)}
      />`,
  );
}

/** Half the width of a mark, whose area goes by a share. @param {number} share */
function sizeOf(share) {
  return LEAST + (MOST - LEAST) * Math.sqrt(share);
}

/**
 * What the accelerator allows, with rulings.
 * @param {{frame: Frame, intensities: Scale, rates: Scale, limits: Limits,
 *   isReached: boolean, x: (intensity: number) => number, y: (rate: number) => number}} properties
 */
function Roof({ frame, intensities, rates, limits, isReached, x, y }) {
  const { peak, memory } = limits;
  const ridge = peak / memory;
  const [low, high] = intensities;
  const marks = marksOf(intensities);
  const every = Math.ceil((NUMBER * marks.length) / (frame.right - frame.left));
  const roof = `M${x(low)} ${y(low * memory)}L${x(ridge)} ${y(peak)}H${x(high)}`;
  return html`
    <path class="roof-shade" d=${`${roof}V${frame.bottom}H${x(low)}Z`} />
    ${marks.map(
      (mark, index) =>
        html`<g class="inspect-axis">
          <line x1=${x(mark)} x2=${x(mark)} y1=${frame.top} y2=${frame.bottom} />
          ${
            index % every === 0 &&
            html`<text x=${x(mark)} y=${frame.bottom + 16} text-anchor="middle">
              ${ratio(mark)}
            </text>`
          }
        </g>`,
    )}
    <${Rulings}
      frame=${frame}
      marks=${marksOf(rates)}
      y=${y}
      text=${(/** @type {number} */ rate) => `${flops(rate)}/s`}
    />
    <text
      class="inspect-axis-title"
      x=${(frame.left + frame.right) / 2}
      y=${frame.height - 8}
      text-anchor="middle"
    >
      FLOPs for each byte moved; the roof bends at ${ridgeOf(limits)}
    </text>
    <text
      class="inspect-axis-title"
      transform=${`translate(14 ${(frame.top + frame.bottom) / 2}) rotate(-90)`}
      text-anchor="middle"
    >
      FLOPs in each second (FLOP/s)
    </text>
    <line class="roof-ridge" x1=${x(ridge)} x2=${x(ridge)} y1=${y(peak)} y2=${frame.bottom} />
    <path class=${isReached ? "roof reached" : "roof"} d=${roof} />
  `;
}

/**
 * @param {{point: RooflinePoint, x: number, y: number, size: number, isSlight: boolean,
 *   isShown: boolean, show: () => void}} properties
 */
function Mark({ point, x, y, size, isSlight, isShown, show }) {
  const state = isShown ? "shown" : isSlight ? "slight" : "";
  return html`<path
    class=${`roof-point ${kindOf(point)} ${state}`}
    d=${mark(x, y, isShown ? size + 2 : size, kindOf(point))}
    onMouseEnter=${show}
  >
    <title>${said(point)}</title>
  </path>`;
}

/** @param {RooflinePoint} point */
function kindOf({ isMeasured, waits }) {
  return isMeasured ? "measured" : waits ? "waits" : "computes";
}

/**
 * What the marks mean.
 * @param {{points: RooflinePoint[], whole: (point: RooflinePoint) => number}} properties
 */
function Key({ points, whole }) {
  const kinds = new Set(points.map(kindOf));
  const drawn = (/** @type {ReturnType<typeof kindOf>} */ kind, /** @type {string} */ text) =>
    kinds.has(kind) &&
    html`<span class="roof-key">
      <svg width="14" height="14" aria-hidden="true">
        <path class=${`roof-point ${kind}`} d=${mark(7, 7, 5, kind)} />
      </svg>${" "}
      ${text}
    </span>`;
  return html`
    ${drawn("waits", "operator, waits for memory")}
    ${drawn("computes", "operator, limited by arithmetic")}
    ${drawn("measured", "line, as measured")}
    <span class="roof-key">
      The larger a mark, the more of the${" "}
      ${[...new Set(points.map(whole))].map(duration).join(" or the ")}${" "}
      ${spendWords(points)}.
    </span>
  `;
}

/** What the seconds of marks are. @param {RooflinePoint[]} points */
function spendWords(points) {
  const [some, all] = [
    points.some(({ isMeasured }) => isMeasured),
    points.every(({ isMeasured }) => isMeasured),
  ];
  return all ? "it took" : some ? "it took, or would take" : "it would take";
}

/**
 * A circle, a square or a diamond: the shape tells what the colour tells.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {string} kind
 */
function mark(x, y, size, kind) {
  if (kind === "computes") return `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z`;
  if (kind === "measured")
    return `M${x} ${y - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z`;
  const half = (/** @type {number} */ way) => `a${size} ${size} 0 1 0 ${way} 0`;
  return `M${x - size} ${y}${half(2 * size)}${half(-2 * size)}z`;
}

/**
 * What marks are called in the chart: operators by their names, lines by a piece of their code, and
 * where pieces are the same or have no room, by their numbers in the tables below.
 * @param {RooflinePoint[]} points
 * @param {number} width of the chart
 */
function namesOf(points, width) {
  if (width < NUMBERED) return points.map((_, index) => `${index + 1}`);
  const most = Math.min(LONGEST, Math.floor(width / OF_WIDTH));
  const names = points.map(({ name, place }) =>
    place ? pieceOf(name, most) : name.replace(/^aten\._?/, ""),
  );
  const isShared = (/** @type {string} */ name) => names.indexOf(name) < names.lastIndexOf(name);
  return names.map((name, index) => (isShared(name) ? `${index + 1}. ${name}` : name));
}

/**
 * The names of those that would take longest, where they lie neither on each other nor on lines of
 * the roof; or of the one that is looked at.
 * @param {{frame: Frame, points: RooflinePoint[], marks: {x: number, y: number, size: number}[],
 *   bend: {x: number, y: number}, start: {x: number, y: number}, shown: number,
 *   show: (index: number) => void}} properties
 *   start, bend: the roof rises from one to the other, and is level from there
 */
function Names({ frame, points, marks, start, bend, shown, show }) {
  const names = namesOf(points, frame.right - frame.left);
  const order = [...names.keys()];
  if (shown >= 0) order.unshift(...order.splice(shown, 1));
  const roofAt = (/** @type {number} */ x) =>
    Math.max(bend.y, bend.y + ((start.y - bend.y) * (bend.x - x)) / (bend.x - start.x));
  const isFree = (/** @type {import("viewer/model/labels.js").Box} */ box) =>
    box.left > frame.left &&
    box.right < frame.right &&
    box.top > 0 &&
    box.bottom < frame.bottom &&
    (box.right + AIR < bend.x || box.left - AIR > bend.x || box.bottom < bend.y) &&
    (box.top - AIR > roofAt(box.left) || box.bottom + AIR < roofAt(box.right));
  const [ordered, called] = [order.map((at) => marks[at]), order.map((at) => names[at])];
  return namesBeside(ordered, called, isFree, shown < 0 ? NAMED : 1).map(
    ({ name, index, box, leader }) => html`
      ${leader && html`<line class="roof-leader" ...${leader} />`}
      <text
        class="roof-label"
        x=${box.left}
        y=${box.bottom - 4}
        onMouseEnter=${() => show(order[index])}
      >
        ${name}
      </text>
    `,
  );
}
