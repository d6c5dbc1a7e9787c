// The slider of all steps, with sections and claims on it.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { integer } from "viewer/model/format.js";
import { html } from "viewer/parts/html.js";
import { goTo } from "viewer/state/address.js";
import { current, pinned, step } from "viewer/state/state.js";
import { colourOf, colours } from "viewer/state/theme.js";

/** The slider with its count. */
export function Timeline() {
  const { model } = current();
  const last = model.steps - 1;
  const ticks = useMemo(() => html`<${Ticks} />`, []);
  const text = `${integer(step.value + 1)} / ${integer(last + 1)}`;
  return html`<div class="timeline">
    <div class="timeline-track">
      ${ticks}
      <input
        type="range"
        min="0"
        max=${last}
        value=${step.value}
        aria-label="step"
        aria-valuetext=${`step ${text}`}
        onInput=${(/** @type {any} */ event) => goTo(Number(event.target.value))}
      />
    </div>
    <output
      class="timeline-count"
      style=${{ width: `${2 * integer(last + 1).length + 3}ch` }}
    >
      <span class="apart">${text}</span>
    </output>
  </div>`;
}

/** One canvas however many claims there are. */
function Ticks() {
  const { model } = current();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shown = [colours.value, pinned.value].join();
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => drawTicks(element);
    draw();
    const watcher = new ResizeObserver(draw);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [model, shown]);
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
  const tick = (
    /** @type {number} */ at,
    /** @type {number} */ top,
    /** @type {number} */ height,
    width = 1,
  ) =>
    context.fillRect(
      (at / Math.max(1, model.steps - 1)) * (canvas.width - width * scale),
      top * scale,
      width * scale,
      height * scale,
    );
  context.fillStyle = colourOf("var(--line-strong)");
  for (const { first, depth } of sections)
    if (depth > 0 && depth < 3) tick(first, depth === 1 ? 0 : 4, depth === 1 ? 12 : 8);
  context.fillStyle = colourOf("var(--right)");
  claims.step.forEach((at, row) => claims.held[row] && tick(at, 13, 4));
  context.fillStyle = colourOf("var(--wrong)");
  claims.step.forEach((at, row) => claims.held[row] || tick(at, 0, 17));
  context.fillStyle = colourOf("var(--accent)");
  if (pinned.value >= 0) tick(pinned.value, 0, 17, 3);
}
