// Step: the program with the statement that just ran, the calls that are open, and what is known.

import { CommandButton } from "viewer/buttons.js";
import { Claim, Cost, Printed, outcomeOf } from "viewer/evidence.js";
import { Failure } from "viewer/failure.js";
import { html } from "viewer/html.js";
import { functionOf, rows } from "viewer/model.js";
import { callStack, over } from "viewer/navigate.js";
import { Program } from "viewer/program.js";
import { plainTitle } from "viewer/section.js";
import { chosenFrame, current, step } from "viewer/store.js";
import { Timeline } from "viewer/timeline.js";
import { Variables } from "viewer/variables.js";

/** The stepping page. */
export function Step() {
  const { model } = current();
  if (!model.stepEvent.length) return html`<main id="stepping" class="stepping"><p class="notice-inline">Nothing of this lecture ran.</p></main>`;
  const frames = callStack(model, step.value);
  const shown = frames.find((frame) => frame.activation === chosenFrame.value) ?? frames[frames.length - 1];
  return html`<main id="stepping" class="stepping" tabindex="-1">
    <${Program} at=${shown.step} inner=${shown.step === step.value} />
    <aside class="facts" aria-label="state after this statement">
      ${current().document.failure?.step === step.value && html`<${Failure} />`}
      <${Frames} frames=${frames} shown=${shown.activation} />
      <${Outcome} />
      <${Variables} activation=${shown.activation} />
    </aside>
    <${Controls} />
  </main>`;
}

/** Claims, output and cost of the statement that just ran. */
function Outcome() {
  const { model } = current();
  const at = step.value;
  const claims = [...rows(model.claimsOf, at)].map((row) => outcomeOf(model, row));
  const called = over(model, at) > at + 1 || model.calls.starts[at] < model.calls.starts[at + 1];
  return html`<section class="outcome">
    ${claims.map((outcome) => html`<${Claim} outcome=${outcome} text />`)}
    <${Printed} step=${at} />
    <div class="outcome-cost"><${Cost} first=${at} beyond=${model.eventStep[model.stepEnd[at]]} />${called && html`<span class="quiet">with the calls it made</span>`}</div>
  </section>`;
}

/** @param {{frames: {activation: number, step: number}[], shown: number}} properties */
function Frames({ frames, shown }) {
  const { model, document } = current();
  return html`<nav class="frames" aria-label="open calls"><ol>
    ${frames.map(({ activation, step: at }) => {
      const func = functionOf(model, activation);
      const line = document.statements[model.stepStatement[at]][1];
      const look = () => (chosenFrame.value = activation);
      return html`<li><button class=${activation === shown ? "frame shown" : "frame"} aria-current=${activation === shown} title=${func.title ? plainTitle(func.title) : "Look at this call"} onClick=${look}><code>${func.name}</code><span class="frame-line">:${line}</span></button></li>`;
    })}
  </ol></nav>`;
}

/** Buttons and timeline. */
function Controls() {
  const buttons = ["first", "backOver", "back", "forward", "over", "out", "last"];
  return html`<div class="controls" role="toolbar" aria-label="stepping">
    <div class="control-buttons">${buttons.map((id) => html`<${CommandButton} id=${id} />`)}</div>
    <${Timeline} />
  </div>`;
}
