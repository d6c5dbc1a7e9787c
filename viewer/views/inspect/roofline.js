// What an accelerator could reach with the operators of a part of the run: at most its peak, and at
// most what its memory feeds it with.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ACCELERATORS } from "viewer/model/accelerators.js";
import { bytes, counted, duration, flops, number } from "viewer/model/format.js";
import { pointsOf } from "viewer/model/roofline.js";
import { widthOfCharts } from "viewer/parts/figure.js";
import { html } from "viewer/parts/html.js";

/** What the reader chose last, for as long as the page is open. */
const card = signal(0);
const wanted = signal("bf16");
const HEIGHT = 380;
const LEFT = 92;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 46;
const NAMED = 5;

/** @param {RooflinePoint} point */
function said({ name, intensity, attainable, waits, seconds }) {
  return `${name}: ${number(Number(intensity.toPrecision(2)))} FLOP/B, at most ${flops(attainable)}/s, at least ${duration(seconds)}, ${waits ? "waits for memory" : "limited by arithmetic"}`;
}

/** Whole powers of ten around values. @param {number} low @param {number} high */
function decades(low, high) {
  const first = Math.floor(Math.log10(low));
  return Array.from(
    { length: Math.max(1, Math.ceil(Math.log10(high)) - first) + 1 },
    (_, index) => first + index,
  );
}

/** @param {{entries: TallyEntry[], names: string[], jump: (step: number) => void}} properties */
export function Roofline({ entries, names, jump }) {
  const { name, memory, rates, source } = ACCELERATORS[card.value];
  const format = wanted.value in rates ? wanted.value : Object.keys(rates)[0];
  const points = pointsOf(entries, names, rates[format], memory);
  const waiting = points.filter((point) => point.waits);
  const total = points.reduce((sum, { seconds }) => sum + seconds, 0);
  const ridge = rates[format] / memory;
  return html`
    <div class="inspect-choices">
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
    </div>
    <p class="quiet">
      ${name}: at most ${flops(rates[format])}/s in ${format}, dense, and${" "}
      ${number(memory / 1e12)} TB/s from memory (
      <a href=${source} rel="noreferrer">
        data sheet
      </a>
      ). Below ${number(Number(ridge.toPrecision(3)))} FLOP/B an operator waits for memory.
      Nothing here ran on this accelerator: the points are the FLOPs and the bytes that this
      run counted, at the most that the sheet allows for them.
    </p>
    ${
      points.length
        ? html`
          <${Chart}
            key=${`${card.value} ${format}`}
            points=${points}
            peak=${rates[format]}
            memory=${memory}
            title=${`Roofline of ${name} in ${format}`}
          />
          <p>
            ${waiting.length} of ${points.length} operators wait for memory; they would take${" "}
            ${duration(waiting.reduce((sum, { seconds }) => sum + seconds, 0))} of at least${" "}
            ${duration(total)} in all.
          </p>
          <div
            class="inspect-scroll"
            tabindex="0"
            role="region"
            aria-label="operators of the roofline"
          >
            <table class="inspect-table">
              <thead>
                <tr>
                  <th scope="col">operator</th>
                  <th scope="col">FLOP/B</th>
                  <th scope="col">at most</th>
                  <th scope="col">at least</th>
                  <th scope="col">share</th>
                  <th scope="col">limited by</th>
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
                      <td>${number(Number(point.intensity.toPrecision(2)))}</td>
                      <td>${flops(point.attainable)}/s</td>
                      <td>${duration(point.seconds)}</td>
                      <td>${((100 * point.seconds) / total).toFixed(1)} %</td>
                      <td>${point.waits ? "memory" : "arithmetic"}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>
        `
        : html`<p>No operator here has a count of both FLOPs and bytes.</p>`
    }
  `;
}

/** @param {{points: RooflinePoint[], peak: number, memory: number, title: string}} properties */
function Chart({ points, peak, memory, title }) {
  const [shown, show] = useState(-1);
  const width = widthOfCharts();
  const ridge = peak / memory;
  const across = decades(
    Math.min(ridge / 10, ...points.map(({ intensity }) => intensity)),
    Math.max(ridge * 10, ...points.map(({ intensity }) => intensity)),
  );
  const up = decades(
    Math.min(
      ...points.map(({ attainable }) => attainable),
      across.length ? 10 ** across[0] * memory : peak,
    ),
    peak * 1.5,
  );
  const x = (/** @type {number} */ intensity) =>
    LEFT + ((Math.log10(intensity) - across[0]) / (across.length - 1)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ rate) =>
    HEIGHT - BOTTOM - ((Math.log10(rate) - up[0]) / (up.length - 1)) * (HEIGHT - TOP - BOTTOM);
  const [low, high] = [10 ** across[0], 10 ** across[across.length - 1]];
  const roof = `M${x(low)} ${y(low * memory)}L${x(ridge)} ${y(peak)}H${x(high)}`;
  const order = points
    .map((_, index) => index)
    .sort((one, other) => points[one].intensity - points[other].intensity);
  const place = order.indexOf(shown);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    /** @type {Record<string, number>} */
    const targets = {
      ArrowRight: place + 1,
      ArrowUp: place + 1,
      ArrowLeft: place - 1,
      ArrowDown: place - 1,
      Home: 0,
      End: order.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    show(order[Math.max(0, Math.min(order.length - 1, targets[event.key]))]);
  };
  const text =
    shown < 0
      ? `${title}. ${points.length} operators; arrow keys go through them by intensity.`
      : said(points[shown]);
  const named = labelled(points, x, y);
  return html`<figure class="inspect-figure">
    <svg
      viewBox=${`0 0 ${width} ${HEIGHT}`}
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
      <path class="roof-shade" d=${`${roof}V${HEIGHT - BOTTOM}H${x(low)}Z`} />
      ${across.map(
        (power) =>
          html`<g class="inspect-axis">
            <line x1=${x(10 ** power)} x2=${x(10 ** power)} y1=${TOP} y2=${HEIGHT - BOTTOM} />
            <text x=${x(10 ** power)} y=${HEIGHT - BOTTOM + 16} text-anchor="middle">
              ${power < 0 || power > 3 ? powerOfTen(power) : 10 ** power}
            </text>
          </g>`,
      )}
      ${up.map(
        (power) =>
          html`<g class="inspect-axis">
            <line x1=${LEFT} x2=${width - RIGHT} y1=${y(10 ** power)} y2=${y(10 ** power)} />
            <text x=${LEFT - 6} y=${y(10 ** power) + 4} text-anchor="end">
              ${flops(10 ** power)}/s
            </text>
          </g>`,
      )}
      <text
        class="inspect-axis-title"
        x=${(LEFT + width - RIGHT) / 2}
        y=${HEIGHT - 8}
        text-anchor="middle"
      >
        FLOPs for each byte moved
      </text>
      <line
        class="roof-ridge"
        x1=${x(ridge)}
        x2=${x(ridge)}
        y1=${y(peak)}
        y2=${HEIGHT - BOTTOM}
      />
      <path class="roof" d=${roof} />
      ${points.map(
        (point, index) =>
          html`<path
            class=${`roof-point ${point.waits ? "waits" : "computes"} ${index === shown ? "shown" : ""}`}
            d=${mark(
              x(point.intensity),
              y(point.attainable),
              index === shown ? 8 : 5.5,
              point.waits,
            )}
            onMouseEnter=${() => show(index)}
          >
            <title>${said(point)}</title>
          </path>`,
      )}
      ${named.map(
        ({ point, left, top }) =>
          html`<text class="roof-label" x=${left} y=${top} text-anchor="end">
            ${shortName(point.name)}
          </text>`,
      )}
    </svg>
    <figcaption class="inspect-readout" aria-live="off">
      ${
        shown < 0
          ? html`
            <span class="roof-key">
              <svg width="14" height="14" aria-hidden="true">
                <path class="roof-point waits" d=${mark(7, 7, 5.5, true)} />
              </svg>${" "}
              waits for memory
            </span>${" "}
            <span class="roof-key">
              <svg width="14" height="14" aria-hidden="true">
                <path class="roof-point computes" d=${mark(7, 7, 5.5, false)} />
              </svg>${" "}
              limited by arithmetic
            </span>
          `
          : `${text}. ${flops(points[shown].entry.matmul_flops + points[shown].entry.other_flops)} and ${bytes(points[shown].entry.read_bytes + points[shown].entry.written_bytes)} in ${counted(points[shown].entry.calls, "call")}.`
      }
    </figcaption>
  </figure>`;
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
  return `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0z`;
}

/** @param {number} power */
function powerOfTen(power) {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  return `10${power < 0 ? "⁻" : ""}${[...String(Math.abs(power))].map((digit) => digits[Number(digit)]).join("")}`;
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
    if (isFree && left > LEFT + 8 * shortName(point.name).length && found.length < NAMED)
      found.push({ point, left, top });
  }
  return found;
}
