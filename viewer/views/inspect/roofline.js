// What an accelerator could reach with the operators of a part of the run, and what the machine did
// reach that timed its lines.

import { signal } from "@preact/signals";
import { ACCELERATORS } from "viewer/model/accelerators.js";
import { bytes, duration, flops, number, ratio } from "viewer/model/format.js";
import { measuredPoints, pointsOf } from "viewer/model/roofline.js";
import { html } from "viewer/parts/html.js";
import { breakable } from "viewer/parts/panel.js";
import { stepOfReader } from "viewer/state/article.js";
import { current } from "viewer/state/state.js";
import { Chart, ridgeOf } from "viewer/views/inspect/roof.js";
import { Wider } from "viewer/views/inspect/scope.js";
import { Sideways } from "viewer/views/inspect/sideways.js";
import { labels } from "viewer/views/inspect/table.js";

/** What the reader chose last, for as long as the page is open; null: nothing yet. */
const card = signal(/** @type {number | null} */ (null));
const wanted = signal("bf16");

/** The machine that timed the lines, in place of an accelerator with a data sheet. */
const MEASURED = -1;

/** What the columns below the chart are. */
export const ROOFLINE_MEANINGS = {
  intensity: "FLOPs for each byte read or written: at most so many, as each byte counts once",
  "at most": "FLOPs in a second that the accelerator allows for at so many FLOP/B",
  "at least": "seconds that the counted FLOPs take at that rate",
  "limited by": "memory, left of where the roof bends, or arithmetic",
  reached: "FLOPs of a line for each second that it took in another run",
  "of the roof": "what was reached, as a part of what its FLOP/B allow for",
  took: "seconds of the line there, those of Python included",
};

/** @param {RooflinePoint[]} points */
function totalSeconds(points) {
  return points.reduce((sum, { seconds }) => sum + seconds, 0);
}

/**
 * @param {{operators: TallyEntry[], timed: TimedPoint[], reached: Limits | null, device: string,
 *   took: number, jump: (step: number) => void}} properties
 *   timed: lines, and the best that lines of the whole run reached; device: where that was; took:
 *   seconds of this part of the run there
 */
export function Roofline({ operators, timed, reached, device, took, jump }) {
  const chosen = card.value ?? (reached && timed.length ? MEASURED : 0);
  const lines = labels("line");
  if (chosen === MEASURED && reached) {
    const points = measuredPoints(timed, lines, reached);
    return html`
      <${Choices} chosen=${MEASURED} format="" device=${device} />
      <${Drawn}
        title=${`Roofline of ${device}`}
        points=${points}
        limits=${reached}
        took=${took}
        jump=${jump}
        isReached
      >
        <${Reached} limits=${reached} device=${device} />
      </${Drawn}>
    `;
  }
  const index = Math.max(0, chosen);
  const { name, memory, rates } = ACCELERATORS[index];
  const format = wanted.value in rates ? wanted.value : Object.keys(rates)[0];
  const limits = { peak: rates[format], memory };
  const points = pointsOf(operators, current().document.names, limits);
  const measured = isOn(name, device) ? measuredPoints(timed, lines, limits) : [];
  return html`
    <${Choices} chosen=${index} format=${format} device=${reached ? device : ""} />
    <${Drawn}
      key=${`${index} ${format}`}
      title=${`Roofline of ${name} in ${format}`}
      points=${[...points, ...measured]}
      limits=${limits}
      took=${took}
      jump=${jump}
    >
      <${Sheet} chosen=${index} format=${format} device=${measured.length ? device : ""} />
    </${Drawn}>
  `;
}

/** Whether times are of such an accelerator: drivers name "H100 SXM" as "NVIDIA H100 80GB HBM3".
 * @param {string} name @param {string} device */
function isOn(name, device) {
  return device.split(/[\s,]+/).includes(name.split(" ").find((word) => /\d/.test(word)) ?? name);
}

/** @param {{chosen: number, format: string, device: string}} properties device: one with times */
function Choices({ chosen, format, device }) {
  const rates = ACCELERATORS[chosen]?.rates ?? {};
  return html`<div class="inspect-choices">
    <label>
      Accelerator${" "}
      <select
        value=${chosen}
        onChange=${(/** @type {any} */ event) => (card.value = Number(event.target.value))}
      >
        ${device && html`<option value=${MEASURED}>measured: ${device.split(",")[0]}</option>`}
        ${ACCELERATORS.map(
          (accelerator, index) => html`<option value=${index}>${accelerator.name}</option>`,
        )}
      </select>
    </label>
    ${
      format &&
      html`<label>
        Arithmetic in${" "}
        <select
          value=${format}
          onChange=${(/** @type {any} */ event) => (wanted.value = event.target.value)}
        >
          ${Object.keys(rates).map((rate) => html`<option value=${rate}>${rate}</option>`)}
        </select>
      </label>`
    }
  </div>`;
}

/**
 * What the data sheet says; device: where lines were timed, if it is one of these.
 * @param {{chosen: number, format: string, device: string}} properties
 */
function Sheet({ chosen, format, device }) {
  const { name, memory, rates, source } = ACCELERATORS[chosen];
  return html`<p class="quiet">
    ${name}: at most ${flops(rates[format])}/s in ${format}, dense, and${" "}
    ${number(memory / 1e12)} TB/s from memory (<a href=${source} rel="noreferrer">data sheet</a>).
    Below ${ridgeOf({ peak: rates[format], memory })} FLOP/B an operator waits for memory.${" "}
    ${
      device
        ? html`Diamonds are lines as they were measured on ${device}. Of the operators nothing was
            measured: their marks are`
        : "Nothing here ran on this accelerator: the marks are"
    }${" "}
    the FLOPs and bytes that this run counted, at the most that the sheet allows for them, and so
    lie on the roof <b>by construction</b>.
  </p>`;
}

/** @param {{limits: Limits, device: string}} properties */
function Reached({ limits, device }) {
  return html`<p class="quiet">
    Measured in another run, on ${device}: the FLOPs of a line over the seconds that it took,
    Python's own included. There is no data sheet for this machine, so its roof is the best that any
    line of the whole run reached: ${flops(limits.peak)}/s, and ${bytes(limits.memory)}/s of bytes
    moved (at least so many, from caches too). The line that set a limit lies on the roof
    ${" "}<b>by construction</b>; how far the others are below it is what was measured.
  </p>`;
}

/**
 * @param {{title: string, points: RooflinePoint[], limits: Limits, took: number,
 *   jump: (step: number) => void, isReached?: boolean, children?: any}} properties children: what
 *   the chart shows, in words
 */
function Drawn({ title, points, limits, took, jump, isReached = false, children }) {
  const numbered = points.map((point, index) => ({ ...point, number: index + 1 }));
  const operators = numbered.filter(({ isMeasured }) => !isMeasured);
  const lines = numbered.filter(({ isMeasured }) => isMeasured);
  const waiting = operators.filter((point) => point.waits);
  const least = totalSeconds(operators);
  if (!points.length)
    return html`
      <p>
        ${
          isReached
            ? "No line here has a count of both FLOPs and bytes and took long enough for a clock."
            : "No operator here has a count of both FLOPs and bytes."
        }
      </p>
      <${Wider} at=${stepOfReader()} />
      ${children}
    `;
  return html`
    <${Chart}
      ...${{ points, limits, title, isReached }}
      whole=${(/** @type {RooflinePoint} */ { isMeasured }) => (isMeasured ? took : least)}
    />
    ${children}
    ${
      operators.length > 0 &&
      html`<p>
        ${waiting.length} of ${operators.length} operators wait for memory; they would take${" "}
        ${duration(totalSeconds(waiting))} of at least ${duration(least)} in all.
      </p>`
    }
    ${
      lines.length > 0 &&
      html`
        <p>
          ${lines.length > 1 ? `These ${lines.length} lines` : "This line"} took${" "}
          ${duration(totalSeconds(lines))} of the${" "}
          ${duration(took)} that all of this part of the run took: shares are of that.
        </p>
        <${Lines} points=${lines} took=${took} jump=${jump} />
      `
    }
    ${
      operators.length > 0 && html`<${Operators} points=${operators} least=${least} jump=${jump} />`
    }
  `;
}

/**
 * @param {{what: string, heads: string[], points: RooflinePoint[], jump: (step: number) => void,
 *   cells: (point: RooflinePoint) => string[]}} properties
 */
function Table({ what, heads, points, jump, cells }) {
  return html`<${Sideways} what=${what}>
    <table class="inspect-table">
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${points.map(
          (point) =>
            html`<tr key=${point.entry.key}>
              <th scope="row">
                <button
                  class="inspect-jump"
                  title="Go to where it cost most"
                  onClick=${() => jump(point.entry.step)}
                >
                  <span class="quiet">${point.number}.</span> <code>${breakable(point.name)}</code>
                  ${
                    point.place &&
                    html`<span class="inspect-place">${breakable(point.place)}</span>`
                  }
                </button>
              </th>
              ${cells(point).map((text) => html`<td>${text}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </${Sideways}>`;
}

/** A part of some seconds. @param {number} seconds @param {number} whole */
function percent(seconds, whole) {
  return `${((100 * seconds) / whole).toFixed(1)} %`;
}

/**
 * @param {{points: RooflinePoint[], least: number, jump: (step: number) => void}} properties least:
 *   seconds of all operators
 */
function Operators({ points, least, jump }) {
  return html`<${Table}
    what="operators of the roofline"
    heads=${["operator", "intensity", "at most", "at least", `of ${duration(least)}`, "limited by"]}
    points=${points}
    jump=${jump}
    cells=${(/** @type {RooflinePoint} */ point) => [
      `${ratio(point.intensity)} FLOP/B`,
      `${flops(point.attainable)}/s`,
      duration(point.seconds),
      percent(point.seconds, least),
      point.waits ? "memory" : "arithmetic",
    ]}
  />`;
}

/** How many lines are listed. */
const MOST_LINES = 60;

/**
 * @param {{points: RooflinePoint[], took: number, jump: (step: number) => void}} properties took:
 *   seconds of this part of the run
 */
function Lines({ points, took, jump }) {
  return html`<${Table}
    what="measured lines of the roofline"
    heads=${[
      ...["measured line", "intensity", "reached", "of the roof", "took"],
      `of ${duration(took)}`,
    ]}
    points=${points.slice(0, MOST_LINES)}
    jump=${jump}
    cells=${(/** @type {RooflinePoint} */ point) => [
      `${ratio(point.intensity)} FLOP/B`,
      `${flops(Number(point.rate.toPrecision(3)))}/s`,
      `${ratio((100 * point.rate) / point.attainable)} %`,
      duration(point.seconds),
      percent(point.seconds, took),
    ]}
  />`;
}
