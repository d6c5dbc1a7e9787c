// What the elements of a large tensor are together, below the few that are shown. Fetched when
// there is one.

import { namedStatistics } from "viewer/model/elements.js";
import { number } from "viewer/model/format.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";

await styled("later.css");

/** @param {{value: Value}} properties */
export function Statistics({ value }) {
  const entries = Object.entries(namedStatistics(value, value.statistics ?? {})).filter(
    ([name, amount]) => !(["nan", "inf"].includes(name) && amount === 0),
  );
  return html`<div class="statistics">
    ${value.histogram && html`<${Histogram} histogram=${value.histogram} />`}
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

/** @param {{histogram: {low: number, high: number, counts: number[]}}} properties */
function Histogram({ histogram: { low, high, counts } }) {
  const most = Math.max(...counts, 1);
  const text = `histogram from ${number(low)} to ${number(high)}`;
  return html`<svg
    class="histogram"
    viewBox=${`0 0 ${counts.length} 10`}
    preserveAspectRatio="none"
    role="img"
    aria-label=${text}
  >
    <title>${text}</title>
    ${counts.map(
      (count, bin) =>
        html`<rect
          x=${bin + 0.08}
          width="0.84"
          y=${10 - (count / most) * 10}
          height=${(count / most) * 10}
        />`,
    )}
  </svg>`;
}
