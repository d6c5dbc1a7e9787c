// What the elements of a large tensor are together, below the few that are shown. Fetched when
// there is one.

import { barsOfBins, drawnBars } from "viewer/model/bars.js";
import { namedStatistics, truthsOf } from "viewer/model/elements.js";
import { number } from "viewer/model/format.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";

await styled("later.css");

/** @param {{value: Value}} properties */
export function Statistics({ value }) {
  const truths = truthsOf(value);
  if (truths) return html`<p class="statistics">${truths}</p>`;
  const bars = value.histogram && barsOfBins(value.histogram, value.dtype ?? "");
  const entries = Object.entries(namedStatistics(value, value.statistics ?? {})).filter(
    ([name, amount]) => !(["nan", "inf"].includes(name) && amount === 0),
  );
  return html`<div class="statistics">
    ${bars && html`<${Histogram} histogram=${bars} />`}
    <dl>
      ${entries.map(
        ([name, amount]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>
              ${typeof amount === "number" ? number(Number(amount.toPrecision(4))) : amount}
            </dd>
          </div>`,
      )}
    </dl>
  </div>`;
}

/** @param {{histogram: Bars}} properties */
function Histogram({ histogram }) {
  const text = `histogram from ${number(histogram.low)} to ${number(histogram.high)}`;
  return html`<svg
    class="histogram"
    viewBox="0 0 1 1"
    preserveAspectRatio="none"
    role="img"
    aria-label=${text}
  >
    <title>${text}</title>
    ${drawnBars(histogram).map(
      ({ left, width, height }) =>
        html`<rect x=${left} width=${width} y=${1 - height} height=${height} />`,
    )}
  </svg>`;
}
