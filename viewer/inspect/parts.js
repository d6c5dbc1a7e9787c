// What the inspectors share: cells that one walks with the arrow keys, their colours, the legend, histograms, jumps.

import { integer, number } from "viewer/format.js";
import { html } from "viewer/html.js";
import { numberOf } from "viewer/inspect/tensors.js";
import { activationOf, functionOf } from "viewer/model.js";
import { plainTitle } from "viewer/read.js";
import { current, dialog, firstVisibleStep, focus, goTo, mode, step } from "viewer/store.js";
import { cellText, sharedDecimals } from "viewer/value.js";

/** The strongest colour still lets the text on it be read. */
const STRONGEST = 85;

/** Leave the panel for a step. @param {number} target */
export function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/** Scroll a box, and nothing around it, so that a part of it is on the screen. @param {Element} box @param {Element} part */
export function keepInside(box, part) {
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  box.scrollTop +=
    Math.min(0, inner.top - outer.top - 4) + Math.max(0, inner.bottom - outer.bottom + 4);
}

/** The step that the reader is at. */
export function stepOfReader() {
  if (mode.value === "step") return step.value;
  const visible = firstVisibleStep(focus.value.step);
  return visible >= 0 ? visible : step.value;
}

/** What a section is called. @param {Section} section */
export function titleOfSection({ activation }) {
  const func = functionOf(current().model, activation);
  return func.title ? plainTitle(func.title) : func.name;
}

/** @param {{step: number, place?: boolean}} properties place: name the function too */
export function Jump({ step: target, place = false }) {
  const { model } = current();
  const where = place ? ` in ${functionOf(model, activationOf(model, target)).name}` : "";
  return html`<button class="jump" title=${`Go to step ${target + 1}`} onClick=${() => leaveTo(target)}>step ${integer(target + 1)}${where}</button>`;
}

/** Class and colour of a cell by sign and size; what is no number is hatched. @param {Cell} cell @param {number} scale */
export function heat(cell, scale) {
  const amount = numberOf(cell);
  if (amount === null) return { name: "no-number", style: {} };
  if (!Number.isFinite(amount))
    return { name: Number.isNaN(amount) ? "is-nan" : "is-inf", style: {} };
  const share = scale ? Math.round((Math.abs(amount) / scale) * STRONGEST) : 0;
  return {
    name: "",
    style: {
      background: `color-mix(in oklab, var(${amount < 0 ? "--negative" : "--positive"}) ${share}%, var(--cell))`,
    },
  };
}

/** Move among the buttons of a block with the arrow keys; one of them is in the order of tabs. @param {KeyboardEvent} event */
export function walk(event) {
  const block = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = /** @type {HTMLElement[]} */ ([...block.querySelectorAll("button[data-cell]")]);
  const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
  if (at < 0) return;
  const { top } = buttons[at].getBoundingClientRect();
  const start = buttons.findIndex(
    (button) => Math.abs(button.getBoundingClientRect().top - top) < 2,
  );
  const width = buttons.filter(
    (button) => Math.abs(button.getBoundingClientRect().top - top) < 2,
  ).length;
  /** @type {Record<string, number>} */
  const targets = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at - width,
    ArrowDown: at + width,
    Home: start,
    End: start + width - 1,
  };
  const target = buttons[targets[event.key]];
  if (!(event.key in targets)) return;
  event.preventDefault();
  event.stopPropagation();
  target?.focus();
}

/**
 * A heat map. Cells are buttons; the picked one is in the order of tabs. Alike: other indices to mark with the picked one.
 * @param {{plane: Plane, scale: number, picked: string, pick?: (index: number[]) => void, label: string, title: (index: number[], cell: Cell) => string, alike?: string[]}} properties
 */
export function HeatMap({ plane, scale, picked, pick, label, title, alike = [] }) {
  const { lines, columns, step, cells } = plane;
  const isNarrow = columns.length > 12;
  const decimals = sharedDecimals(
    cells.map(({ cell }) => cell),
    isNarrow ? 2 : 3,
  );
  const hasPicked = cells.some(({ index }) => String(index) === picked);
  const gap = (/** @type {number[]} */ along, /** @type {number} */ at, by = 1) =>
    at > 0 && along[at] > along[at - 1] + by ? "gap" : "";
  return html`<div class="heat-place"><table class=${`heat ${isNarrow ? "narrow" : ""}`} aria-label=${label} onKeyDown=${walk}>
    <thead><tr><td></td>${columns.map((column, at) => html`<th scope="col" class=${gap(columns, at)}>${column}</th>`)}</tr></thead>
    <tbody>${lines.map(
      (
        line,
        row,
      ) => html`<tr class=${gap(lines, row, step) && "gap-above"}><th scope="row">${line}</th>
      ${cells.slice(row * columns.length, (row + 1) * columns.length).map(({ index, cell }, at) => {
        const { name, style } = heat(cell, scale);
        const isPicked = String(index) === picked;
        const isTab = isPicked || (!hasPicked && row === 0 && at === 0);
        return html`<td class=${gap(columns, at)}><button data-cell class=${`heat-cell ${name} ${isPicked ? "picked" : alike.includes(String(index)) ? "alike" : ""}`} style=${style} tabindex=${isTab ? 0 : -1} title=${title(index, cell)} aria-label=${title(index, cell)} aria-pressed=${isPicked} onFocus=${() => pick?.(index)} onClick=${() => pick?.(index)}>${cellText(cell, decimals)}</button></td>`;
      })}</tr>`,
    )}</tbody>
  </table></div>`;
}

/** What the colours mean. @param {{cells: Cell[], scale: number}} properties */
export function Legend({ cells, scale }) {
  const numbers = cells.map(numberOf);
  const has = (/** @type {(amount: number) => boolean} */ test) =>
    numbers.some((amount) => amount !== null && test(amount));
  const below = has((amount) => amount < 0 && Number.isFinite(amount));
  const colour = (/** @type {string} */ name) =>
    `color-mix(in oklab, var(--${name}) ${STRONGEST}%, var(--cell))`;
  const background = `linear-gradient(90deg, ${below ? `${colour("negative")}, ` : ""}var(--cell), ${colour("positive")})`;
  return html`<div class="legend">
    ${scale > 0 && html`<span class="legend-scale">${below && html`<span>${number(-scale)}</span>`}${!below && html`<span>0</span>`}<span class="legend-bar" style=${{ background }}>${below && html`<span class="legend-zero">0</span>`}</span><span>${number(scale)}</span></span>`}
    ${has(Number.isNaN) && html`<span><span class="swatch is-nan"></span> nan</span>`}
    ${has((amount) => Math.abs(amount) === Infinity) && html`<span><span class="swatch is-inf"></span> infinite</span>`}
  </div>`;
}

/** @param {{histogram: Bins}} properties */
export function Histogram({ histogram: { low, high, counts } }) {
  const most = Math.max(...counts, 1);
  const width = (high - low) / counts.length;
  const fullest = counts.indexOf(most);
  const from = (/** @type {number} */ bin) => number(Number((low + bin * width).toPrecision(4)));
  const text = `Histogram of ${counts.length} bins from ${number(low)} to ${number(high)}; most, ${integer(most)}, lie from ${from(fullest)} to ${from(fullest + 1)}.`;
  return html`<figure class="bins"><svg viewBox=${`0 0 ${counts.length * 10} 60`} preserveAspectRatio="none" role="img" aria-label=${text}>
    ${counts.map((count, bin) => html`<rect x=${bin * 10 + 0.5} width="9" y=${60 - (count / most) * 60} height=${(count / most) * 60}><title>${integer(count)} from ${from(bin)} to ${from(bin + 1)}</title></rect>`)}
  </svg><figcaption><span>${number(low)}</span><span>most in a bin: ${integer(most)}</span><span>${number(high)}</span></figcaption></figure>`;
}

/**
 * @param {{chosen: string, choose: (name: string) => void, tabs: [name: string, title: string][], children?: any}} properties
 */
export function Tabs({ chosen, choose, tabs, children }) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = (at + step + tabs.length) % tabs.length;
    choose(tabs[next][0]);
    /** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("button")[next].focus();
  };
  return html`<div class="tabs" role="tablist" onKeyDown=${onKey}>${tabs.map(([name, title]) => html`<button role="tab" id=${`tab-${name}`} aria-selected=${name === chosen} aria-controls="tab-panel" tabindex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>${title}</button>`)}</div>
    <div id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${chosen}`}>${children}</div>`;
}
