// Tensor memory over time, stacked by what it is for; a click or Enter goes to the place.

import { useState } from "preact/hooks";
import { bytes, integer, shortened } from "viewer/model/format.js";
import {
  CATEGORIES,
  columnAt,
  columnsOf,
  momentAfter,
  peakOf,
  scaleOf,
} from "viewer/model/memory.js";
import { across, frameOf, Rulings, slide, up } from "viewer/parts/figure.js";
import { html } from "viewer/parts/html.js";

const COLUMNS = 600;
/** How many columns a page of keys is. */
const PAGE = 30;
const HEIGHT = 320;
const WIDEST = 1160;
const ROOM = { left: 70, right: 12, top: 26, bottom: 44 };

/**
 * @typedef {{model: Model, moments: MemoryState[], bands: Band[], span: Span,
 *   here: number, place: (step: number) => string, jump: (step: number) => void}} Properties
 * bands: chapters or sections below the chart; here: the current step, or -1 where there is none;
 * place: where a step is, in words
 */

/** @param {Properties} properties */
export function MemoryChart({ model, moments, bands, span, here, place, jump }) {
  const columns = columnsOf(moments, span, COLUMNS);
  const peak = peakOf(columns);
  const [chosen, choose] = useState(-1);
  const [scale, setScale] = useState("linear");
  if (!columns[peak].total) return html`<p>No tensor was alive here.</p>`;
  const isLogarithmic = scale === "logarithmic";
  const column = here >= span.first && here < span.beyond ? columnAt(columns, span, here) : -1;
  const isHere = chosen < 0 && column >= 0;
  const now = chosen >= 0 ? chosen : isHere ? column : peak;
  const shown = isHere ? momentAfter(moments, here) : columns[now];
  const said = `step ${integer(shown.step + 1)}, ${place(shown.step)}: ${bytes(shown.total)}`;
  const moment = chosen >= 0 ? "at the cursor" : isHere ? "after the current step" : "at the peak";
  const top = columns[peak];
  return html`
    <${Choices} ...${{ isLogarithmic, setScale }} toPeak=${() => jump(top.step)} />
    <figure class="inspect-figure memory">
      <${Chart}
        ...${{ columns, peak, now, column, isLogarithmic, bands, span, shown, said }}
        ...${{ choose, jump }}
      />
      <figcaption class="inspect-readout">
        ${said}
        ${isHere ? ", the current step" : now === peak ? ", the peak" : ""}
      </figcaption>
    </figure>
    <${Legend} shown=${shown} moment=${moment} peak=${moment === "at the peak" ? null : top} />
    <p class="quiet">
      Of the steps that share a column of the chart, the one with most alive is shown
      ${isLogarithmic && "; logarithms do not add up, so all categories are one area"}.
      The
      peak of ${bytes(top.total)} is at ${place(top.step)}, step ${integer(top.step + 1)} of${" "}
      ${integer(model.steps)}.
    </p>
  `;
}

/**
 * @param {{isLogarithmic: boolean, setScale: (scale: string) => void, toPeak: () => void}}
 *   properties
 */
function Choices({ isLogarithmic, setScale, toPeak }) {
  return html`<div class="inspect-choices">
    <label>
      Scale${" "}
      <select
        value=${isLogarithmic ? "logarithmic" : "linear"}
        onChange=${(/** @type {any} */ event) => setScale(event.target.value)}
      >
        <option value="linear">linear</option>
        <option value="logarithmic">logarithmic, of all together</option>
      </select>
    </label>
    <button class="inspect-button" title="Go to where most was alive" onClick=${toPeak}>
      Go to the peak
    </button>
  </div>`;
}

/**
 * @param {{columns: MemoryState[], peak: number, now: number, column: number,
 *   isLogarithmic: boolean, bands: Band[], span: Span, shown: MemoryState, said: string,
 *   choose: (column: number) => void, jump: (step: number) => void}} properties
 *   now: the column of the cursor; column: that of the current step, or -1
 */
function Chart(properties) {
  const { columns, peak, now, column, isLogarithmic, bands, span, shown, said, choose, jump } =
    properties;
  const frame = frameOf(HEIGHT, ROOM, WIDEST);
  const { height, marks } = scaleOf(columns, isLogarithmic);
  const x = (/** @type {number} */ at) => across(frame, at / columns.length);
  const y = (/** @type {number} */ bytes) => up(frame, Math.max(0, Math.min(1, height(bytes))));
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      event.stopPropagation();
      return jump(shown.step);
    }
    const more = { PageDown: now + PAGE, PageUp: now - PAGE, p: peak };
    slide(event, now, columns.length - 1, choose, more);
  };
  const under = (/** @type {any} */ event) => columnUnder(event, frame, columns.length);
  return html`<svg
    viewBox=${`0 0 ${frame.width} ${frame.height}`}
    role="slider"
    tabindex="0"
    aria-label="memory over time; Enter goes to the step, p to the peak"
    aria-valuemin=${span.first + 1}
    aria-valuemax=${span.beyond}
    aria-valuenow=${shown.step + 1}
    aria-valuetext=${said}
    onKeyDown=${onKey}
    onMouseMove=${(/** @type {any} */ event) => choose(under(event))}
    onMouseLeave=${() => choose(-1)}
    onClick=${(/** @type {any} */ event) => jump(columns[under(event)].step)}
  >
    <${Rulings} frame=${frame} marks=${marks} y=${y} text=${bytes} />
    <${Areas} ...${{ columns, x, y, isLogarithmic }} />
    <${Bands} ...${{ frame, bands, span }} />
    <${Peak}
      frame=${frame}
      left=${x(peak + 0.5)}
      top=${y(columns[peak].total)}
      size=${columns[peak].total}
    />
    ${column >= 0 && html`<${Here} frame=${frame} left=${x(column + 0.5)} />`}
    <line
      class="memory-cursor"
      x1=${x(now + 0.5)}
      x2=${x(now + 0.5)}
      y1=${frame.top}
      y2=${frame.bottom}
    />
    <g class="inspect-axis">
      <text x=${frame.left} y=${frame.height - 4}>step ${integer(span.first + 1)}</text>
      <text x=${frame.right} y=${frame.height - 4} text-anchor="end">${integer(span.beyond)}</text>
    </g>
  </svg>`;
}

/**
 * The column under the mouse.
 * @param {MouseEvent} event
 * @param {Frame} frame
 * @param {number} columns how many there are
 */
function columnUnder(event, frame, columns) {
  const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * frame.width;
  const column = Math.floor(((at - frame.left) / (frame.right - frame.left)) * columns);
  return Math.max(0, Math.min(columns - 1, column));
}

/**
 * Where most was alive.
 * @param {{frame: Frame, left: number, top: number, size: number}} properties
 */
function Peak({ frame, left, top, size }) {
  const middle = Math.max(frame.left + 50, Math.min(frame.width - 60, left));
  return html`<g class="memory-peak">
    <line x1=${left} x2=${left} y1=${frame.top - 8} y2=${top} />
    <text x=${middle} y=${frame.top - 12} text-anchor="middle">peak ${bytes(size)}</text>
  </g>`;
}

/** The current step. @param {{frame: Frame, left: number}} properties */
function Here({ frame, left }) {
  const line = `M0 ${frame.top}V${frame.bottom + 4}`;
  return html`<g class="memory-here" transform=${`translate(${left.toFixed(1)})`}>
    <path d=${line} />
    <path d=${line} />
    <path d=${`M-5 ${frame.top - 7}h10l-5 7z`} />
  </g>`;
}

/**
 * @param {{shown: MemoryState, moment: string, peak: MemoryState | null}} properties peak: where
 *   another moment is shown
 */
function Legend({ shown, moment, peak }) {
  return html`<table class="inspect-table memory-legend">
    <thead>
      <tr>
        <th scope="col">category</th>
        <th scope="col">${moment}</th>
        ${peak && html`<th scope="col">at the peak</th>`}
      </tr>
    </thead>
    <tbody>
      ${CATEGORIES.map(
        (name, category) =>
          html`<tr>
            <th scope="row">
              <span class=${`memory-swatch memory-${category}`} aria-hidden="true"></span>
              ${name}
            </th>
            <td>${bytes(shown.live[category])}</td>
            ${peak && html`<td>${bytes(peak.live[category])}</td>`}
          </tr>`,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">all</th>
        <td>${bytes(shown.total)}</td>
        ${peak && html`<td>${bytes(peak.total)}</td>`}
      </tr>
    </tfoot>
  </table>`;
}

/**
 * What was alive: by what it is for, or all of it where heights do not add up.
 * @param {{columns: MemoryState[], x: (column: number) => number, y: (bytes: number) => number,
 *   isLogarithmic: boolean}} properties
 */
function Areas({ columns, x, y, isLogarithmic }) {
  const last = CATEGORIES.length - 1;
  if (isLogarithmic)
    return html`<path class="memory-area memory-all" d=${areaOf(columns, 0, last, x, y)} />`;
  return CATEGORIES.map(
    (_, category) =>
      html`<path
        class=${`memory-area memory-${category}`}
        d=${areaOf(columns, category, category, x, y)}
      />`,
  );
}

/** How wide a letter below the chart is, about. */
const LETTER = 6.5;

/**
 * The chapters or sections that the steps belong to, below the chart: with a number, or as much of
 * the title as there is room for.
 * @param {{frame: Frame, bands: Band[], span: Span}} properties
 */
function Bands({ frame, bands, span: { first, beyond } }) {
  const x = (/** @type {number} */ step) => across(frame, (step - first) / (beyond - first));
  return bands.map((band, index) => {
    const [left, right] = [x(band.first), x(band.beyond)];
    const room = Math.floor((right - left) / LETTER) - 1;
    const name = `${index + 1} ${band.title}`;
    const text = room >= name.length ? name : room > 12 ? shortened(name, room - 1) : index + 1;
    return html`<g class="memory-band" key=${band.first}>
      <title>${name}</title>
      <rect x=${left} width=${right - left} y=${frame.bottom + 2} height="16" />
      <line x1=${left} x2=${left} y1=${frame.top} y2=${frame.bottom + 18} />
      ${
        room >= String(text).length &&
        html`<text x=${(left + right) / 2} y=${frame.bottom + 14} text-anchor="middle">
          ${text}
        </text>`
      }
    </g>`;
  });
}

/**
 * The area of some categories, on those before them, in steps.
 * @param {MemoryState[]} columns
 * @param {number} first category
 * @param {number} last category
 * @param {(column: number) => number} x
 * @param {(bytes: number) => number} y
 */
function areaOf(columns, first, last, x, y) {
  const below = (/** @type {number} */ beyond) =>
    columns.map(({ live }, column) => {
      const part = live.slice(0, beyond).reduce((sum, size) => sum + size, 0);
      return [column, y(part)];
    });
  const up = below(last + 1).map(
    ([column, at]) => `L${x(column).toFixed(1)} ${at.toFixed(1)}H${x(column + 1).toFixed(1)}`,
  );
  const down = below(first)
    .toReversed()
    .map(([column, at]) => `L${x(column + 1).toFixed(1)} ${at.toFixed(1)}H${x(column).toFixed(1)}`);
  return `M${up.join("").slice(1)}${down.join("")}Z`;
}
