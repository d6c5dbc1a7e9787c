// What stands beside code: topics, claims with what they measured, costs, output.

import { costDetails, costText } from "viewer/model/costs.js";
import { shortened } from "viewer/model/format.js";
import { rows } from "viewer/model/sorted.js";
import { html } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";

/** How many letters of a measured value stand beside a claim that held. */
const MAX_OPERAND = 120;

/**
 * Topic ids as chips; other words on the line of a `def` are for readers of the source.
 * @param {{marks: string[]}} properties
 */
export function Topics({ marks }) {
  const { topics } = current().document;
  return marks
    .filter((mark) => Object.hasOwn(topics, mark))
    .map(
      (mark) =>
        html`<span class="topic" title=${`Topic ${mark} of the syllabus: ${topics[mark]}`}>
          ${mark}
        </span>`,
    );
}

/**
 * What sides of a claim are equal is said once, if it claims that: others may be cut alike.
 * @param {Outcome} outcome
 */
function sidesOf({ operands, text: condition }) {
  if (!condition.includes("=="))
    return operands.map(({ source, text }) => ({ text, sources: [source] }));
  /** @type {Map<string, string[]>} */
  const sources = new Map();
  for (const { source, text } of operands)
    if (!sources.get(text)?.push(source)) sources.set(text, [source]);
  return [...sources].map(([text, own]) => ({ text, sources: own }));
}

/** @param {{outcome: Outcome, text?: boolean}} properties text: repeat the condition */
export function Claim({ outcome, text = false }) {
  const { held, operands } = outcome;
  const verdict = held ? "held" : held === null ? "could not be evaluated" : "false";
  const classes = ["claim", held ? "held" : "failed", text || operands.length ? "" : "bare"];
  return html`<div class=${classes.join(" ")}>
    <span
      class="verdict"
      title=${`This claim ${held === null || held ? verdict : "is false"}`}
    >
      ${held ? "✓" : "✗"}
      <span class="visually-hidden"> ${verdict}</span>
    </span>
    <div class="claim-body">
      ${text && html`<code class="condition">${outcome.text}</code>`}
      ${sidesOf(outcome).map(
        ({ sources, text: measured }) =>
          html`<div class="operand">
            ${sources.map(
              (source) => html`
                <code class="operand-source">${source}</code> <span class="equals">=</span>${" "}
              `,
            )}
            <code class="operand-value" title=${measured}>
              ${held ? shortened(measured, MAX_OPERAND) : measured}
            </code>
          </div>`,
      )}
      ${outcome.isOnClock && html`<${OnClock} />`}
    </div>
  </div>`;
}

/** In place of values that no run with `--time` beside the document has measured. */
export function OnClock() {
  return html`<span class="quiet on-clock">
    depends on the clock: <code>--time</code> measures it
  </span>`;
}

/** @param {{first: number, beyond: number}} properties a range of steps */
export function Cost({ first, beyond }) {
  const { cost, times } = current();
  const sum = cost(first, beyond);
  const time = times?.text(first, beyond);
  const parts = [...costText(sum).split(" · "), time && `took ${time}`].filter(Boolean);
  const would = costText(sum.onMeta);
  const details = costDetails(sum) + (time ? `; ${time} on ${times?.device}` : "");
  const imagined = `On device meta nothing happened. It would cost: ${costDetails(sum.onMeta)}`;
  return [
    parts.length > 0 &&
      html`<div class="cost" title=${details}>
        ${parts.map((part, index) => html`${index > 0 && " · "}<span>${part}</span>`)}
      </div>`,
    would && html`<div class="cost on-meta" title=${imagined}>would cost ${would}</div>`,
  ].filter(Boolean);
}

/** What a step printed. @param {{step: number}} properties */
export function Printed({ step }) {
  const { model, document } = current();
  const found = rows(model.outputOf, step).map((row) => document.output[row]);
  return found.length
    ? html`<pre class="output" aria-label="output">
      ${found.map(({ stream, text }) => html`<span class=${stream}>${text}</span>`)}
    </pre>`
    : null;
}
