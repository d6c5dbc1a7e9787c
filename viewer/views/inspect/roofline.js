// What an accelerator could reach with the operators of a part of the run: at most its peak, and at
// most what its memory feeds it with.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ACCELERATORS } from "viewer/model/accelerators.js";
import { bytes, counted, duration, flops, number } from "viewer/model/format.js";
import { pointsOf, scalesOf, shareOf } from "viewer/model/roofline.js";
import { across, frameOf, Rulings, slide, up } from "viewer/parts/figure.js";
import { html } from "viewer/parts/html.js";

/** What the reader chose last, for as long as the page is open. */
const card = signal(0);
const wanted = signal("bf16");

const HEIGHT = 380;
const ROOM = { left: 92, right: 16, top: 16, bottom: 46 };
/** How many operators are named in the chart. */
const NAMED = 5;
/** Half the width of the mark of an operator, and of the one that is looked at. */
const MARK = 5.5;
const LARGE_MARK = 8;

/** @param {number} amount */
function twoDigits(amount) {
  return number(Number(amount.toPrecision(2)));
}

/** @param {RooflinePoint} point */
function said({ name, intensity, attainable, waits, seconds }) {
  const limit = waits ? "waits for memory" : "limited by arithmetic";
  const bounds = `at most ${flops(attainable)}/s, at least ${duration(seconds)}`;
  return `${name}: ${twoDigits(intensity)} FLOP/B, ${bounds}, ${limit}`;
}

/** @param {RooflinePoint} point */
function counts({ entry }) {
  const computed = flops(entry.matmul_flops + entry.other_flops);
  const moved = bytes(entry.read_bytes + entry.written_bytes);
  return `${computed} and ${moved} in ${counted(entry.calls, "call")}`;
}

/** @param {RooflinePoint[]} points */
function totalSeconds(points) {
  return points.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** @param {{entries: TallyEntry[], names: string[], jump: (step: number) => void}} properties */
export function Roofline({ entries, names, jump }) {
  const { name, memory, rates } = ACCELERATORS[card.value];
  const format = wanted.value in rates ? wanted.value : Object.keys(rates)[0];
  const peak = rates[format];
  const points = pointsOf(entries, names, peak, memory);
  const waiting = points.filter((point) => point.waits);
  return html`
    <${Choices} format=${format} />
    <${Limits} format=${format} />
    ${
      points.length
        ? html`
          <${Chart}
            key=${`${card.value} ${format}`}
            points=${points}
            peak=${peak}
            memory=${memory}
            title=${`Roofline of ${name} in ${format}`}
          />
          <p>
            ${waiting.length} of ${points.length} operators wait for memory; they would take${" "}
            ${duration(totalSeconds(waiting))} of at least ${duration(totalSeconds(points))} in all.
          </p>
          <${Table} points=${points} jump=${jump} />
        `
        : html`<p>No operator here has a count of both FLOPs and bytes.</p>`
    }
  `;
}

/** @param {{format: string}} properties */
function Choices({ format }) {
  const { rates } = ACCELERATORS[card.value];
  return html`<div class="inspect-choices">
    <label>
      Accelerator${" "}
      <select
        value=${card.value}
        onChange=${(/** @type {any} */ event) => (card.value = Number(event.target.value))}
      >
        ${ACCELERATORS.map(
          (accelerator, index) => html`<option value=${index}>${accelerator.name}</option>`,
        )}
      </select>
    </label>
    <label>
      Arithmetic in${" "}
      <select
        value=${format}
        onChange=${(/** @type {any} */ event) => (wanted.value = event.target.value)}
      >
        ${Object.keys(rates).map((rate) => html`<option value=${rate}>${rate}</option>`)}
      </select>
    </label>
  </div>`;
}

/** What the data sheet says. @param {{format: string}} properties */
function Limits({ format }) {
  const { name, memory, rates, source } = ACCELERATORS[card.value];
  const ridge = rates[format] / memory;
  return html`<p class="quiet">
    ${name}: at most ${flops(rates[format])}/s in ${format}, dense, and${" "}
    ${number(memory / 1e12)} TB/s from memory (<a href=${source} rel="noreferrer">data sheet</a>).
    Below ${number(Number(ridge.toPrecision(3)))} FLOP/B an operator waits for memory. Nothing here
    ran on this accelerator: the points are the FLOPs and the bytes that this run counted, at the
    most that the sheet allows for them.
  </p>`;
}

/** @param {{points: RooflinePoint[], jump: (step: number) => void}} properties */
function Table({ points, jump }) {
  const total = totalSeconds(points);
  const heads = ["operator", "FLOP/B", "at most", "at least", "share", "limited by"];
  return html`<div
    class="inspect-scroll"
    tabindex="0"
    role="region"
    aria-label="operators of the roofline"
  >
    <table class="inspect-table">
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${points.map(
          (point) =>
            html`<tr key=${point.name}>
              <th scope="row">
                <button
                  class="inspect-jump"
                  title="Go to where it cost most"
                  onClick=${() => jump(point.entry.step)}
                >
                  <code>${point.name}</code>
                </button>
              </th>
              <td>${twoDigits(point.intensity)}</td>
              <td>${flops(point.attainable)}/s</td>
              <td>${duration(point.seconds)}</td>
              <td>${((100 * point.seconds) / total).toFixed(1)} %</td>
              <td>${point.waits ? "memory" : "arithmetic"}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {{points: RooflinePoint[], peak: number, memory: number, title: string}} properties */
function Chart({ points, peak, memory, title }) {
  const [shown, show] = useState(-1);
  const frame = frameOf(HEIGHT, ROOM);
  const { intensities, rates } = scalesOf(points, peak, memory);
  const x = (/** @type {number} */ intensity) => across(frame, shareOf(intensities, intensity));
  const y = (/** @type {number} */ rate) => up(frame, shareOf(rates, rate));
  const order = points
    .map((_, index) => index)
    .sort((one, other) => points[one].intensity - points[other].intensity);
  const place = order.indexOf(shown);
  const onKey = (/** @type {KeyboardEvent} */ event) =>
    slide(event, place, order.length - 1, (to) => show(order[to]));
  const text =
    shown < 0
      ? `${title}. ${points.length} operators; arrow keys go through them by intensity.`
      : said(points[shown]);
  return html`<figure class="inspect-figure">
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
      <${Roof} ...${{ frame, intensities, rates, peak, memory, x, y }} />
      ${points.map(
        (point, index) =>
          html`<${Mark}
            point=${point}
            x=${x(point.intensity)}
            y=${y(point.attainable)}
            isShown=${index === shown}
            show=${() => show(index)}
          />`,
      )}
      ${labelled(points, x, y).map(
        ({ point, left, top }) =>
          html`<text class="roof-label" x=${left} y=${top} text-anchor="end">
            ${shortName(point.name)}
          </text>`,
      )}
    </svg>
    <figcaption class="inspect-readout" aria-live="off">
      ${shown < 0 ? html`<${Key} />` : `${text}. ${counts(points[shown])}.`}
    </figcaption>
  </figure>`;
}

/**
 * What the accelerator allows, with rulings.
 * @param {{frame: Frame, intensities: number[], rates: number[], peak: number, memory: number,
 *   x: (intensity: number) => number, y: (rate: number) => number}} properties
 */
function Roof({ frame, intensities, rates, peak, memory, x, y }) {
  const ridge = peak / memory;
  const [low, high] = [10 ** intensities[0], 10 ** intensities[intensities.length - 1]];
  const roof = `M${x(low)} ${y(low * memory)}L${x(ridge)} ${y(peak)}H${x(high)}`;
  return html`
    <path class="roof-shade" d=${`${roof}V${frame.bottom}H${x(low)}Z`} />
    ${intensities.map(
      (power) =>
        html`<g class="inspect-axis">
          <line x1=${x(10 ** power)} x2=${x(10 ** power)} y1=${frame.top} y2=${frame.bottom} />
          <text x=${x(10 ** power)} y=${frame.bottom + 16} text-anchor="middle">
            ${power < 0 || power > 3 ? powerOfTen(power) : 10 ** power}
          </text>
        </g>`,
    )}
    <${Rulings}
      frame=${frame}
      marks=${rates.map((power) => 10 ** power)}
      y=${y}
      text=${(/** @type {number} */ rate) => `${flops(rate)}/s`}
    />
    <text
      class="inspect-axis-title"
      x=${(frame.left + frame.right) / 2}
      y=${frame.height - 8}
      text-anchor="middle"
    >
      FLOPs for each byte moved
    </text>
    <line class="roof-ridge" x1=${x(ridge)} x2=${x(ridge)} y1=${y(peak)} y2=${frame.bottom} />
    <path class="roof" d=${roof} />
  `;
}

/**
 * @param {{point: RooflinePoint, x: number, y: number, isShown: boolean, show: () => void}}
 *   properties
 */
function Mark({ point, x, y, isShown, show }) {
  const kind = point.waits ? "waits" : "computes";
  return html`<path
    class=${`roof-point ${kind} ${isShown ? "shown" : ""}`}
    d=${mark(x, y, isShown ? LARGE_MARK : MARK, point.waits)}
    onMouseEnter=${show}
  >
    <title>${said(point)}</title>
  </path>`;
}

/** What the marks mean. */
function Key() {
  const drawn = (/** @type {string} */ kind, /** @type {string} */ text) =>
    html`<span class="roof-key">
      <svg width="14" height="14" aria-hidden="true">
        <path class=${`roof-point ${kind}`} d=${mark(7, 7, MARK, kind === "waits")} />
      </svg>${" "}
      ${text}
    </span>`;
  return html`${drawn("waits", "waits for memory")} ${drawn("computes", "limited by arithmetic")}`;
}

/**
 * A circle, or a square: the shape tells what the colour tells.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {boolean} isRound
 */
function mark(x, y, size, isRound) {
  if (!isRound) return `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z`;
  const half = (/** @type {number} */ way) => `a${size} ${size} 0 1 0 ${way} 0`;
  return `M${x - size} ${y}${half(2 * size)}${half(-2 * size)}z`;
}

/** @param {number} power */
function powerOfTen(power) {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const exponent = [...String(Math.abs(power))].map((digit) => digits[Number(digit)]).join("");
  return `10${power < 0 ? "⁻" : ""}${exponent}`;
}

/** @param {string} name */
function shortName(name) {
  const plain = name.replace(/^aten\._?/, "");
  return plain.length > 24 ? `${plain.slice(0, 23)}…` : plain;
}

/**
 * The operators that would take longest, where their names do not lie on each other.
 * @param {RooflinePoint[]} points
 * @param {(intensity: number) => number} x
 * @param {(rate: number) => number} y
 */
function labelled(points, x, y) {
  /** @type {{point: RooflinePoint, left: number, top: number}[]} */
  const found = [];
  for (const point of points) {
    const [left, top] = [x(point.intensity) - 9, y(point.attainable) - 6];
    const isFree = found.every(
      (other) => Math.abs(other.top - top) > 15 || Math.abs(other.left - left) > 150,
    );
    if (isFree && left > ROOM.left + 8 * shortName(point.name).length && found.length < NAMED)
      found.push({ point, left, top });
  }
  return found;
}
