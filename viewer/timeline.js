// The run from left to right: drag to any step; ticks mark sections and claims.

import { useEffect, useRef } from "preact/hooks";
import { integer } from "viewer/format.js";
import { html } from "viewer/html.js";
import { stepRange } from "viewer/model.js";
import { current, goTo, step } from "viewer/store.js";
import { colourOf, colours } from "viewer/theme.js";

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
