// Step: the program with the statement that just ran, the calls that are open, and their variables.
// Fetched when it is first shown, or while the reader rests.

import { useEffect, useMemo } from "preact/hooks";
import { outcomeOf } from "viewer/model/claims.js";
import { steppedOver } from "viewer/model/onestep.js";
import { eventOf, hasCalls, statementOf, stepAfter } from "viewer/model/run.js";
import { titleOf } from "viewer/model/sections.js";
import { rows } from "viewer/model/sorted.js";
import { CommandButton, Icon } from "viewer/parts/buttons.js";
import { html, later } from "viewer/parts/html.js";
import { Claim, Cost, Printed } from "viewer/parts/notes.js";
import { styled } from "viewer/parts/styles.js";
import {
  chosenFrame,
  current,
  docked,
  playing,
  proseShown,
  speed,
  step,
  variablesAs,
  variablesShown,
} from "viewer/state/state.js";
import { isAhead, stateNow } from "viewer/state/stops.js";
import "viewer/state/moves.js";
import { Failure } from "viewer/views/alert.js";
import { Program } from "viewer/views/program.js";
import { Timeline } from "viewer/views/timeline.js";
import { Variables } from "viewer/views/variables.js";

await styled("step.css");

const Dock = later(async () => (await import("viewer/views/dock.js")).Dock);

/** The stepping page. What does not follow each step is made once. */
export function Step() {
  const { model } = current();
  const controls = useMemo(() => html`<${Controls} />`, []);
  if (!model.steps)
    return html`<main id="stepping" class="stepping">
      <p class="notice-inline">Nothing of this lecture ran.</p>
    </main>`;
  const state = stateNow();
  const { frames } = state;
  const shown =
    frames.find((frame) => frame.activation === chosenFrame.value) ?? frames[frames.length - 1];
  return html`<main id="stepping" class="stepping" tabindex="-1">
    <h1 class="visually-hidden">${titleOf(model)}</h1>
    <${Program} at=${shown.step} inner=${shown.step === step.value} />
    <div class=${docked.value ? "beside docked" : "beside"}>
      <aside
        class=${variablesAs.value === "graph" ? "facts graphed" : "facts"}
        aria-label=${`state ${isAhead() ? "before the calls of" : "after"} this statement`}>
        <div class="apart">
          <div class="facts-head">
            ${current().document.failure?.step === step.value && html`<${Failure} />`}
            ${isAhead() ? html`<div class="outcome"></div>` : html`<${Outcome} />`}
          </div>
          <${Variables} state=${state} shown=${shown.activation} />
        </div>
      </aside>
      ${docked.value && html`<${Dock} />`}
    </div>
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
    ${steppedOver(model, statementOf(model, at)).map(
      (name) => html`<p class="one-step"><code>${name}</code> is recorded as one step.</p>`,
    )}
  </section>`;
}

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
      <${CommandButton} id="speed" class="wide-only">${speed.value}×</${CommandButton}>
      <${CommandButton} id="notes" class="wide-only" pressed=${proseShown.value !== "none"} />
      <${CommandButton} id="raw" class="wide-only" pressed=${proseShown.value === "raw"} />
      <${CommandButton} id="variables" class="wide-only" pressed=${variablesShown.value} />
    </div>
    <${Timeline} />
  </div>`;
}
