// Step: the program with the statement that just ran, the calls that are open, and what is known.

import { useEffect, useRef } from "preact/hooks";
import { counted, integer } from "viewer/format.js";
import { CommandButton, html, Icon } from "viewer/html.js";
import { playing, stopPlaying } from "viewer/keys.js";
import { functionOf, rows, stepRange } from "viewer/model.js";
import { callStack, environmentAt, over } from "viewer/navigate.js";
import { Claim, Cost, Failure, outcomeOf, Printed, Program } from "viewer/program.js";
import { plainTitle } from "viewer/section.js";
import { chosenFrame, chosenName, colourOf, colours, current, goTo, step, variablesShown } from "viewer/store.js";
import { ValueView } from "viewer/value.js";

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
      ${variablesShown.value && html`<${Variables} activation=${shown.activation} />`}
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
  useEffect(() => stopPlaying, []);
  return html`<div class="controls" role="toolbar" aria-label="stepping">
    <div class="control-buttons">${buttons.map((id) => html`<${CommandButton} id=${id} />`)}
      <${CommandButton} id="play" pressed=${playing.value}><${Icon} name=${playing.value ? "pause" : "play"} /></${CommandButton}>
      <${CommandButton} id="variables" class="wide-only" pressed=${variablesShown.value} /></div>
    <${Timeline} />
  </div>`;
}

/** The slider with its count. */
export function Timeline() {
  const { model } = current();
  const last = model.stepEvent.length - 1;
  const text = `${integer(step.value + 1)} / ${integer(last + 1)}`;
  return html`<div class="timeline">
    <div class="timeline-track">
      <${Ticks} />
      <input type="range" min="0" max=${last} value=${step.value} aria-label="step" aria-valuetext=${`step ${text}`} onInput=${(/** @type {any} */ event) => goTo(Number(event.target.value))} />
    </div>
    <output class="timeline-count">${text}</output>
  </div>`;
}

/** One canvas however many claims there are. */
function Ticks() {
  const { model } = current();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shade = colours.value;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => drawTicks(element);
    draw();
    const watcher = new ResizeObserver(draw);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [model, shade]);
  return html`<canvas ref=${canvas} class="ticks" aria-hidden="true"></canvas>`;
}

/** @param {HTMLCanvasElement} canvas */
function drawTicks(canvas) {
  const { model, sections, document } = current();
  const scale = devicePixelRatio;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const context = canvas.getContext("2d");
  const { claims } = document;
  if (!context) return;
  const tick = (/** @type {number} */ at, /** @type {number} */ top, /** @type {number} */ height) =>
    context.fillRect((at / Math.max(1, model.stepEvent.length - 1)) * (canvas.width - scale), top * scale, scale, height * scale);
  context.fillStyle = colourOf("--line-strong");
  for (const { activation, depth } of sections) if (depth > 0 && depth < 3) tick(stepRange(model, activation)[0], depth === 1 ? 0 : 4, depth === 1 ? 12 : 8);
  context.fillStyle = colourOf("--right");
  claims.step.forEach((at, row) => claims.held[row] && tick(at, 13, 4));
  context.fillStyle = colourOf("--wrong");
  claims.step.forEach((at, row) => claims.held[row] || tick(at, 0, 17));
}

/**
 * @typedef {{name: number, text: string, value: import("viewer/schema.js").Value, count: number, changed: boolean}} Variable
 */

/** @param {number} activation @returns {Variable[]} */
function variablesOf(activation) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  const known = environmentAt(model, activation, model.stepEnd[step.value]);
  return [...known].map(([name, { row, count }]) => ({
    name,
    text: names[name],
    value: values[inspections.value[row] ?? 0],
    count,
    changed: inspections.event[row] === model.stepEvent[step.value],
  }));
}

/** @param {{activation: number}} properties */
export function Variables({ activation }) {
  const { model } = current();
  const variables = variablesOf(activation);
  return html`<section class="variables" aria-label="variables">
    <h2>in <code>${functionOf(model, activation).name}</code>${chosenName.value >= 0 && html`<span class="changes"><${CommandButton} id="previousChange" /><${CommandButton} id="nextChange" /></span>`}</h2>
    ${!variables.length && html`<p class="quiet">No value of this call is shown yet.</p>`}
    ${variables.map((variable) => html`<${Row} key=${variable.name} variable=${variable} shares=${sharing(variables, variable)} />`)}
  </section>`;
}

/** @param {Variable[]} variables @param {Variable} variable @returns {string[]} */
function sharing(variables, variable) {
  const { storage } = variable.value;
  return storage === undefined ? [] : variables.filter((other) => other !== variable && other.value.storage === storage).map((other) => other.text);
}

/** @param {{variable: Variable, shares: string[]}} properties */
function Row({ variable, shares }) {
  const { name, text, value, count, changed } = variable;
  const chosen = chosenName.value === name;
  const choose = () => (chosenName.value = chosen ? -1 : name);
  return html`<div class=${["variable", changed && "changed", chosen && "chosen"].filter(Boolean).join(" ")}>
    <button class="variable-name" aria-pressed=${chosen} title="Choose this variable: [ and ] go to its changes" onClick=${choose}><code>${text}</code>
      ${changed && html`<span class="mark" title="Changed by this statement">●<span class="visually-hidden"> changed</span></span>`}
      ${count > 1 && html`<span class="count" title=${`recorded ${counted(count, "time")} so far`}>×${count}</span>`}</button>
    <${ValueView} value=${value} shares=${shares} name=${text} />
  </div>`;
}
