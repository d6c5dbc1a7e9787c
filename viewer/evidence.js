// What a line measured: claims with both sides, cost, output.

import { html } from "viewer/html.js";
import { costDetails, costText } from "viewer/costs.js";
import { rows } from "viewer/model.js";
import { current } from "viewer/store.js";
import { isLiteral, valueText } from "viewer/value-text.js";

const LONG = 120;

/**
 * @typedef {object} Outcome one execution of an assert
 * @property {number} row
 * @property {number} step
 * @property {boolean | null} held
 * @property {string} text
 * @property {{source: string, text: string}[]} operands measured, without the literals
 */

/** @param {import("viewer/model.js").Model} model @param {number} row @returns {Outcome} */
export function outcomeOf(model, row) {
  const { claims, assertions, values } = model.document;
  const assertion = assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const operands = (assertion?.operands ?? []).flatMap((source, index) => {
    const value = claims.operands[row]?.[index] ?? null;
    if (value === null) return claims.held[row] === true || isLiteral(source) ? [] : [{ source, text: "not evaluated" }];
    return isLiteral(source) ? [] : [{ source, text: valueText(values[value]) }];
  });
  return { row, step: claims.step[row], held: claims.held[row], text: assertion?.text ?? "", operands };
}

/** @param {{outcome: Outcome, text?: boolean}} properties text: repeat the condition */
export function Claim({ outcome, text = false }) {
  const { held, operands } = outcome;
  const verdict = held ? "held" : held === null ? "could not be evaluated" : "false";
  return html`<div class=${`claim ${held ? "held" : "failed"}`}>
    <span class="verdict" title=${`This claim ${held === null || held ? verdict : "is false"}`}>${held ? "✓" : "✗"}<span class="visually-hidden"> ${verdict}</span></span>
    <div class="claim-body">
      ${text && html`<code class="condition">${outcome.text}</code>`}
      ${operands.map(({ source, text: measured }) => html`<div class="operand"><code class="operand-source">${source}</code> <span class="equals">=</span> <code class="operand-value" title=${measured}>${held ? shortened(measured) : measured}</code></div>`)}
    </div>
  </div>`;
}

/** @param {string} text */
function shortened(text) {
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}

/** @param {{first: number, beyond: number}} properties a range of steps */
export function Cost({ first, beyond }) {
  const cost = current().cost(first, beyond);
  const text = costText(cost);
  return text ? html`<div class="cost" title=${costDetails(cost)}>${text}</div>` : null;
}

/** What a step printed. @param {{step: number}} properties */
export function Printed({ step }) {
  const { model, document } = current();
  const found = [...rows(model.outputOf, step)].map((row) => document.output[row]);
  return found.length ? html`<pre class="output" aria-label="output">${found.map(({ stream, text }) => html`<span class=${stream}>${text}</span>`)}</pre>` : null;
}
