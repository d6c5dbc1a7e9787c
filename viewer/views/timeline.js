// The slider of all steps, or of those of a section or a call, with sections and claims on it.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { integer } from "viewer/model/format.js";
import { bandsOf, depthsOf, stretchOf } from "viewer/model/stretch.js";
import { CommandButton } from "viewer/parts/buttons.js";
import { html, memo } from "viewer/parts/html.js";
import { goTo } from "viewer/state/address.js";
import { current, pinned, reached, step } from "viewer/state/state.js";
import { reachedStep, stopAt } from "viewer/state/stops.js";
import { colourOf, colours } from "viewer/state/theme.js";

const REACHES = { run: "whole run", section: "this section", call: "this call" };

/** The slider with its count, what it reaches over, and what its marks mean. */
export function Timeline() {
  const { model, sections, chapters } = current();
  const at = reachedStep();
  const stretch = stretchOf(model, sections, [step.value, at], reached(), chapters);
  const { first, beyond, title, isChapter } = stretch;
  const text = `${integer(at + 1 - first)} / ${integer(beyond - first)}`;
  const number = integer(step.value + 1);
  const isEnded = at !== step.value;
  const within = title ? ` of ${title}` : "";
  return html`<div class="timeline">
    <div class="timeline-track">
      <${Bands} first=${first} beyond=${beyond} />
      <${Ticks} first=${first} beyond=${beyond} />
      <input
        type="range"
        min=${first}
        max=${beyond - 1}
        value=${at}
        aria-label="step"
        aria-valuetext=${`step ${text}${within}`}
        onInput=${(/** @type {any} */ { target }) =>
          stopAt({ step: Number(target.value), isReturned: false })}
      />
    </div>
    <div class="timeline-words">
      <output
        class="timeline-count"
        style=${{ width: `${2 * integer(model.steps).length + 3}ch` }}
      >
        <span class="apart">${text}</span>
      </output>
      <${CommandButton} id="reach">
        ${isChapter ? "this chapter" : REACHES[title ? reached() : "run"]}
      </${CommandButton}>
      <span
        class="timeline-step quiet wide-only"
        style=${{ width: `${integer(model.steps).length + 10}ch` }}
      >
        ${isEnded ? `step ${number} ended` : title && `step ${number}`}
      </span>
      ${useMemo(() => html`<${Legend} first=${first} beyond=${beyond} />`, [first, beyond])}
    </div>
  </div>`;
}

/** What the marks mean. @param {Span} stretch */
function Legend(stretch) {
  const { model, all, chapters, sections, document } = current();
  const { held } = document.claims;
  /** @type {[kind: string, text: string, isThere: boolean][]} */
  const kinds = [
    ["calls", "open calls", !bandsOf(model, all, stretch, chapters).length],
    ["section", "section begins", sections.length > 1],
    ["held", "claim held", held.some((outcome) => outcome)],
    ["failed", "claim failed", held.some((outcome) => !outcome)],
    ["pinned", "A", true],
  ];
  return html`<ul class="timeline-legend wide-only" aria-label="marks on the timeline">
    ${kinds.map(
      ([kind, text, isThere]) =>
        isThere &&
        html`<li class=${isUnused(kind) ? "unused" : ""}>
          <span class=${`tick ${kind}`} aria-hidden="true"></span>${text}
        </li>`,
    )}
  </ul>`;
}

/** What may come has its place before, so that the timeline stays as long. @param {string} kind */
const isUnused = (kind) => kind === "pinned" && pinned.value < 0;

/** @param {Band} band */
const titleOf = ({ number, title }) => (number ? `${number}. ${title}` : title);

/**
 * Chapters or sections by name, as wide as their steps; where there are none, how deep calls are.
 * @type {View<Span>}
 */
const Bands = memo(({ first, beyond }) => {
  // The run is whole, whatever Read leaves out.
  const { model, all, chapters } = current();
  const share = (/** @type {number} */ at) =>
    `${(100 * (at - first)) / Math.max(1, beyond - first)}%`;
  const bands = bandsOf(model, all, { first, beyond }, chapters);
  return html`<div class="timeline-bands">
    ${bands.map(
      (band) =>
        html`<button
          tabindex="-1"
          class="timeline-band"
          style=${{ left: share(band.first), width: share(band.beyond - band.first + first) }}
          title=${`${titleOf(band)}: go to step ${integer(band.first + 1)}`}
          onClick=${() => goTo(band.first, { jump: true })}
        >
          ${band.number > 0 && html`<span class="band-number">${band.number}</span>`}
          <span class="band-title">${band.title}</span>
        </button>`,
    )}
    ${!bands.length && html`<${Canvas} draw=${drawDepths} first=${first} beyond=${beyond} />`}
  </div>`;
});

/** One canvas however many claims there are. @type {View<Span>} */
const Ticks = memo(
  ({ first, beyond }) => html`<${Canvas} draw=${drawTicks} first=${first} beyond=${beyond} />`,
);

/** @param {Span & {draw: (canvas: HTMLCanvasElement, stretch: Span) => void}} properties */
function Canvas({ draw, first, beyond }) {
  const { model } = current();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shown = [colours.value, pinned.value, first, beyond].join();
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const drawAgain = () => draw(element, { first, beyond });
    drawAgain();
    const watcher = new ResizeObserver(drawAgain);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [model, shown]);
  return html`<canvas ref=${canvas} class="ticks" aria-hidden="true"></canvas>`;
}

/** How high one more open call is at most, and how high a place without one, as a part. */
const CALL = 1 / 3;
const GROUND = 0.12;

/** @param {HTMLCanvasElement} canvas @param {Span} stretch */
function drawDepths(canvas, stretch) {
  const { width, height, context } = cleared(canvas);
  if (!context) return;
  const depths = depthsOf(current().model, stretch, canvas.clientWidth);
  const call = Math.min(CALL, (1 - GROUND) / Math.max(...depths));
  context.fillStyle = colourOf("var(--line-strong)");
  depths.forEach((depth, place) => {
    const [left, right] = [place, place + 1].map((at) => Math.round((at * width) / depths.length));
    const high = Math.round((GROUND + call * depth) * height);
    context.fillRect(left, height - high, right - left, high);
  });
}

/** As fine as the screen is. @param {HTMLCanvasElement} canvas */
function cleared(canvas) {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  return { width: canvas.width, height: canvas.height, context: canvas.getContext("2d") };
}

/** @param {HTMLCanvasElement} canvas @param {Span} stretch */
function drawTicks(canvas, { first, beyond }) {
  const { sections, document } = current();
  const scale = devicePixelRatio;
  const { context } = cleared(canvas);
  const { claims } = document;
  if (!context) return;
  const tick = (
    /** @type {number} */ at,
    /** @type {number} */ top,
    /** @type {number} */ height,
    width = 1,
  ) => {
    if (first <= at && at < beyond)
      context.fillRect(
        ((at - first) / Math.max(1, beyond - first - 1)) * (canvas.width - width * scale),
        top * scale,
        width * scale,
        height * scale,
      );
  };
  context.fillStyle = colourOf("var(--line-strong)");
  for (const { first: begin, depth } of sections)
    if (depth > 0 && depth < 3) tick(begin, depth === 1 ? 0 : 4, depth === 1 ? 12 : 8);
  context.fillStyle = colourOf("var(--right)");
  claims.step.forEach((at, row) => claims.held[row] && tick(at, 13, 4));
  context.fillStyle = colourOf("var(--wrong)");
  claims.step.forEach((at, row) => claims.held[row] || tick(at, 0, 17));
  context.fillStyle = colourOf("var(--accent)");
  if (pinned.value >= 0) tick(pinned.value, 0, 17, 3);
}
