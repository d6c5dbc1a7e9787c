// Tensor memory over time, stacked by what it is for; a click or Enter goes to the place.

import { useState } from "preact/hooks";
import { bytes, integer } from "viewer/model/format.js";
import { CATEGORIES, columnsOf, momentAfter } from "viewer/model/memory.js";
import { widthOfCharts } from "viewer/parts/figure.js";
import { html } from "viewer/parts/html.js";

const WIDEST = 1160;
const HEIGHT = 320;
const LEFT = 70;
const RIGHT = 12;
const TOP = 26;
const BOTTOM = 34;
const COLUMNS = 600;

/**
 * How much higher than the middle of the columns the peak may be before the scale counts in powers.
 */
const STEEP = 500;

/** @param {MemoryState[]} columns */
function isSteep(columns) {
  const totals = columns
    .map(({ total }) => total)
    .filter(Boolean)
    .sort((one, other) => one - other);
  return totals.length > 0 && totals[totals.length - 1] > STEEP * totals[totals.length >> 1];
}

/**
 * Where bytes stand from the bottom of the chart, from 0 to 1, and what is written beside it.
 * @param {MemoryState[]} columns
 * @param {boolean} isLogarithmic
 * @returns {{height: (value: number) => number, marks: number[]}}
 */
function scaleOf(columns, isLogarithmic) {
  const totals = columns.map(({ total }) => total).filter(Boolean);
  const highest = Math.max(1, ...totals);
  if (isLogarithmic) {
    const low = 2 ** Math.floor(Math.log2(Math.min(highest, ...totals)));
    const range = Math.max(1, Math.log2((highest * 1.2) / low));
    const height = (/** @type {number} */ value) =>
      value <= low ? 0 : Math.log2(value / low) / range;
    return {
      height,
      marks: [0, 10, 20, 30, 40, 50]
        .flatMap((power) => [2 ** power, 32 * 2 ** power])
        .filter((mark) => mark > low && mark <= highest * 1.2),
    };
  }
  const unit = 2 ** Math.floor(Math.log2(highest / 2));
  return {
    height: (value) => value / (highest * 1.08),
    marks: [0, 1, 2, 3, 4].map((times) => times * unit).filter((mark) => mark <= highest * 1.08),
  };
}

/** @param {number} value */
function clamped(value) {
  return Math.max(0, Math.min(1, value));
}

/**
 * @param {{model: Model, moments: MemoryState[], span: Span, here: number, place: (step: number) =>
 *   string, jump: (step: number) => void}} properties here: the current step; place: where a step
 *   is, in words
 */
export function MemoryChart({ model, moments, span, here, place, jump }) {
  const columns = columnsOf(moments, span, COLUMNS);
  const peak = columns.reduce(
    (best, { total }, column) => (total > columns[best].total ? column : best),
    0,
  );
  const [chosen, choose] = useState(-1);
  const [scale, setScale] = useState("");
  const isLogarithmic = scale ? scale === "logarithmic" : isSteep(columns);
  if (!columns[peak].total) return html`<p>No tensor was alive here.</p>`;
  const width = widthOfCharts(WIDEST);
  const { height, marks } = scaleOf(columns, isLogarithmic);
  const length = span.beyond - span.first;
  const columnAt = (/** @type {number} */ step) =>
    Math.max(
      0,
      Math.min(columns.length - 1, Math.floor(((step - span.first) / length) * columns.length)),
    );
  const isInside = here >= span.first && here < span.beyond;
  const now = chosen >= 0 ? chosen : isInside ? columnAt(here) : peak;
  const x = (/** @type {number} */ column) =>
    LEFT + (column / columns.length) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ value) =>
    HEIGHT - BOTTOM - clamped(height(value)) * (HEIGHT - TOP - BOTTOM);
  const isHere = chosen < 0 && isInside;
  const shown = isHere ? momentAfter(moments, here) : columns[now];
  const said = `step ${integer(shown.step + 1)}, ${place(shown.step)}: ${bytes(shown.total)}`;
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const last = columns.length - 1;
    /** @type {Record<string, number>} */
    const targets = {
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      PageDown: now + 30,
      PageUp: now - 30,
      Home: 0,
      End: last,
      p: peak,
    };
    if (event.key !== "Enter" && !(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") jump(shown.step);
    else choose(Math.max(0, Math.min(last, targets[event.key])));
  };
  const columnUnder = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    return Math.max(
      0,
      Math.min(
        columns.length - 1,
        Math.floor(((at - LEFT) / (width - LEFT - RIGHT)) * columns.length),
      ),
    );
  };
  const peakLeft = x(peak + 0.5);
  return html`
    <div class="inspect-choices">
      <label>
        Scale${" "}
        <select
          value=${isLogarithmic ? "logarithmic" : "linear"}
          onChange=${(/** @type {any} */ event) => setScale(event.target.value)}
        >
          <option value="linear">linear</option>
          <option value="logarithmic">logarithmic</option>
        </select>
      </label>
      <button
        class="inspect-button"
        title="Go to where most was alive"
        onClick=${() => jump(columns[peak].step)}
      >
        Go to the peak
      </button>
    </div>
    <figure class="inspect-figure memory">
      <svg
        viewBox=${`0 0 ${width} ${HEIGHT}`}
        role="slider"
        tabindex="0"
        aria-label="memory over time; Enter goes to the step, p to the peak"
        aria-valuemin=${span.first + 1}
        aria-valuemax=${span.beyond}
        aria-valuenow=${shown.step + 1}
        aria-valuetext=${said}
        onKeyDown=${onKey}
        onMouseMove=${(/** @type {any} */ event) => choose(columnUnder(event))}
        onMouseLeave=${() => choose(-1)}
        onClick=${(/** @type {any} */ event) => jump(columns[columnUnder(event)].step)}
      >
        ${marks.map(
          (mark) =>
            html`<g class="inspect-axis">
              <line x1=${LEFT} x2=${width - RIGHT} y1=${y(mark)} y2=${y(mark)} />
              <text x=${LEFT - 6} y=${y(mark) + 4} text-anchor="end">
                ${bytes(mark)}
              </text>
            </g>`,
        )}
        ${CATEGORIES.map(
          (_, category) =>
            html`<path
              class=${`memory-area memory-${category}`}
              d=${areaOf(columns, category, x, y)}
            />`,
        )}
        <g class="memory-peak">
          <line x1=${peakLeft} x2=${peakLeft} y1=${TOP - 8} y2=${y(columns[peak].total)} />
          <text
            x=${Math.max(LEFT + 50, Math.min(width - 60, peakLeft))}
            y=${TOP - 12}
            text-anchor="middle"
          >
            peak ${bytes(columns[peak].total)}
          </text>
        </g>
        ${
          isInside &&
          html`<g
            class="memory-here"
            transform=${`translate(${x(columnAt(here) + 0.5).toFixed(1)})`}
          >
            <path d=${`M0 ${TOP}V${HEIGHT - BOTTOM + 4}`} />
            <path d=${`M0 ${TOP}V${HEIGHT - BOTTOM + 4}`} />
            <path d=${`M-5 ${TOP - 7}h10l-5 7z`} />
          </g>`
        }
        <line
          class="memory-cursor"
          x1=${x(now + 0.5)}
          x2=${x(now + 0.5)}
          y1=${TOP}
          y2=${HEIGHT - BOTTOM}
        />
        <g class="inspect-axis">
          <text x=${LEFT} y=${HEIGHT - BOTTOM + 18}>
            step ${integer(span.first + 1)}
          </text>
          <text x=${width - RIGHT} y=${HEIGHT - BOTTOM + 18} text-anchor="end">
            ${integer(span.beyond)}
          </text>
        </g>
      </svg>
      <figcaption class="inspect-readout">
        ${said}
        ${isHere ? ", the current step" : now === peak ? ", the peak" : ""}
      </figcaption>
    </figure>
    <table class="inspect-table memory-legend">
      <thead>
        <tr>
          <th scope="col">category</th>
          <th scope="col">
            ${chosen >= 0 ? "at the cursor" : isInside ? "after the current step" : "at the peak"}
          </th>
          <th scope="col">at the peak</th>
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
              <td>${bytes(columns[peak].live[category])}</td>
            </tr>`,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">all</th>
          <td>${bytes(shown.total)}</td>
          <td>${bytes(columns[peak].total)}</td>
        </tr>
      </tfoot>
    </table>
    <p class="quiet">
      Of the steps that share a column of the chart, the one with most alive is shown
      ${isLogarithmic ? "; on this scale areas do not add up by eye" : ""}. The peak of${" "}
      ${bytes(columns[peak].total)} is at ${place(columns[peak].step)}, step${" "}
      ${integer(columns[peak].step + 1)} of ${integer(model.steps)}.
    </p>
  `;
}

/**
 * The area between what lies below a category and what lies below the next, in steps.
 * @param {MemoryState[]} columns
 * @param {number} category
 * @param {(column: number) => number} x
 * @param {(value: number) => number} y
 */
function areaOf(columns, category, x, y) {
  const below = columns.map(({ live }) =>
    live.slice(0, category).reduce((sum, part) => sum + part, 0),
  );
  const edge = (/** @type {number[]} */ values) =>
    values.map((value, column) => [column, y(value)]);
  const top = edge(below.map((value, column) => value + columns[column].live[category]));
  const up = top.map(
    ([column, at]) => `L${x(column).toFixed(1)} ${at.toFixed(1)}H${x(column + 1).toFixed(1)}`,
  );
  const down = edge(below)
    .toReversed()
    .map(([column, at]) => `L${x(column + 1).toFixed(1)} ${at.toFixed(1)}H${x(column).toFixed(1)}`);
  return `M${up.join("").slice(1)}${down.join("")}Z`;
}
