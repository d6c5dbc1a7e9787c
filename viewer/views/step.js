// Step: the program with the statement that just ran, the calls that are open, and what is known.

import { useEffect, useMemo } from "preact/hooks";
import { outcomeOf } from "viewer/model/claims.js";
import {
  callStack,
  eventOf,
  functionOf,
  hasCalls,
  statementOf,
  stepAfter,
} from "viewer/model/run.js";
import { plainTitle, titleOf } from "viewer/model/sections.js";
import { rows } from "viewer/model/sorted.js";
import { CommandButton, Icon } from "viewer/parts/buttons.js";
import { html, memo } from "viewer/parts/html.js";
import { Claim, Cost, Printed } from "viewer/parts/notes.js";
import {
  chosenFrame,
  current,
  playing,
  proseShown,
  step,
  variablesShown,
} from "viewer/state/state.js";
import { Failure } from "viewer/views/alert.js";
import { Program } from "viewer/views/program.js";
import { Timeline } from "viewer/views/timeline.js";
import { Variables } from "viewer/views/variables.js";

/** The stepping page. What does not follow each step is made once. */
export function Step() {
  const { model } = current();
  const controls = useMemo(() => html`<${Controls} />`, []);
  if (!model.steps)
    return html`<main id="stepping" class="stepping">
      <p class="notice-inline">Nothing of this lecture ran.</p>
    </main>`;
  const frames = callStack(model, step.value);
  const shown =
    frames.find((frame) => frame.activation === chosenFrame.value) ?? frames[frames.length - 1];
  return html`<main id="stepping" class="stepping" tabindex="-1">
    <h1 class="visually-hidden">${titleOf(model)}</h1>
    <${Program} at=${shown.step} inner=${shown.step === step.value} />
    <aside class="facts" aria-label="state after this statement">
      <div class="apart">
        ${current().document.failure?.step === step.value && html`<${Failure} />`}
        <${Frames} frames=${frames} shown=${shown.activation} />
        <${Outcome} />
        ${variablesShown.value && html`<${Variables} activation=${shown.activation} />`}
      </div>
    </aside>
    ${controls}
  </main>`;
}

/** Claims, output and cost of the statement that just ran. */
function Outcome() {
  const { model } = current();
  const at = step.value;
  const claims = rows(model.claimsOf, at).map((row) => outcomeOf(model, row));
  const called = hasCalls(model, eventOf(model, at));
  return html`<section class="outcome">
    ${claims.map((outcome) => html`<${Claim} outcome=${outcome} text />`)}
    <${Printed} step=${at} />
    <div class="outcome-cost">
      <${Cost} first=${at} beyond=${stepAfter(model, at)} />
      ${called && html`<span class="quiet">with the calls it made</span>`}
    </div>
  </section>`;
}

/** @param {{frames: {activation: number, step: number}[], shown: number}} properties */
function Frames({ frames, shown }) {
  const innermost = frames.length - 1;
  return html`<nav class="frames" aria-label="open calls">
    <ol>
      ${frames.map(
        ({ activation, step: at }, depth) =>
          html`<${Frame}
            activation=${activation}
            at=${depth < innermost || activation !== shown ? at : -1}
            isShown=${activation === shown}
          />`,
      )}
    </ol>
  </nav>`;
}

/** An open call, with the line that it has reached unless that is marked in the program (-1).
 * @type {View<{activation: number, at: number, isShown: boolean}>} */
const Frame = memo(({ activation, at, isShown }) => {
  const { model, document } = current();
  const { name, title } = functionOf(model, activation);
  const look = () => (chosenFrame.value = activation);
  return html`<li>
    <button
      class=${isShown ? "frame shown" : "frame"}
      aria-current=${isShown}
      title=${title ? plainTitle(title) : "Look at this call"}
      onClick=${look}
    >
      <code>${name}</code>
      ${
        at >= 0 &&
        html`<span class="frame-line">:${document.statements[statementOf(model, at)][1]}</span>`
      }
    </button>
  </li>`;
});

/** Buttons and timeline. */
function Controls() {
  const buttons = ["first", "backOver", "back", "forward", "over", "out", "last"];
  useEffect(() => () => (playing.value = false), []);
  return html`<div class="controls" role="toolbar" aria-label="stepping">
    <div class="control-buttons">
      ${buttons.map((id) => html`<${CommandButton} id=${id} />`)}
      <${CommandButton} id="play" pressed=${playing.value}>
        <${Icon} name=${playing.value ? "pause" : "play"} />
      </${CommandButton}>
      <${CommandButton} id="notes" class="wide-only" pressed=${proseShown.value !== "none"} />
      <${CommandButton} id="raw" class="wide-only" pressed=${proseShown.value === "raw"} />
      <${CommandButton} id="variables" class="wide-only" pressed=${variablesShown.value} />
    </div>
    <${Timeline} />
  </div>`;
}
