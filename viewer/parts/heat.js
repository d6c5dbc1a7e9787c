// Cells of a tensor as a heat map that one walks with the arrow keys, and its legend.

import { numberOf } from "viewer/model/elements.js";
import { number } from "viewer/model/format.js";
import { cellTexts } from "viewer/model/values.js";
import { html } from "viewer/parts/html.js";
import { tint } from "viewer/parts/tensor.js";

/** The strongest colour still lets the text on it be read. */
const STRONGEST = 85;

/**
 * Class and colour of a cell by sign and size; what is no number is hatched.
 * @param {Cell} cell
 * @param {number} scale
 */
export function heat(cell, scale) {
  const amount = numberOf(cell);
  if (amount === null) return { name: "no-number", style: {} };
  if (!Number.isFinite(amount))
    return { name: Number.isNaN(amount) ? "is-nan" : "is-inf", style: {} };
  return { name: "", style: { background: tint(amount, scale, STRONGEST) } };
}

/**
 * Move among the buttons of a block with the arrow keys; one of them is in the order of tabs.
 * @param {KeyboardEvent} event
 */
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

/** From how many columns on the cells are narrow, where there is little room and elsewhere. */
const [NARROW_MANY, MANY] = [7, 13];
/** Letters that a row has room for, there and elsewhere, and those of the space after each. */
const [NARROW_ROW, ROW] = [42, 64];
const SPACE = 2;

/**
 * A heat map. Cells are buttons; the picked one is in the order of tabs.
 * @param {{plane: Plane, scale: number, picked: string, pick: (index: number[]) => void,
 *   label: string, title: (index: number[], cell: Cell) => string, alike?: string[],
 *   isTight?: boolean}} properties
 *   alike: other indices to mark with the picked one; isTight: with no more room than on a phone
 */
export function HeatMap(properties) {
  const { plane, scale, picked, pick, label, title, alike = [] } = properties;
  const { isTight = innerWidth < 700 } = properties;
  const { lines, columns, step, cells } = plane;
  const isNarrow = columns.length >= (isTight ? NARROW_MANY : MANY);
  const elements = cells.map(({ cell }) => cell);
  const row = isTight ? NARROW_ROW : ROW;
  const room = Math.floor(row / columns.length) - SPACE;
  const texts = cellTexts(elements, isNarrow ? 2 : 3, room);
  const tab = cells.some(({ index }) => String(index) === picked)
    ? picked
    : String(cells[0]?.index);
  const gap = (/** @type {number[]} */ along, /** @type {number} */ at, by = 1) =>
    at > 0 && along[at] > along[at - 1] + by ? "gap" : "";
  const kind = ["heat", isNarrow && "narrow", isOfTruths(elements) && "truths"]
    .filter(Boolean)
    .join(" ");
  const isVector = lines.length === 1 && (cells[0]?.index.length ?? 0) < 2; // has no rows to count
  const placesOf = (/** @type {number} */ row) =>
    [...cells.keys()].slice(row * columns.length, (row + 1) * columns.length);
  const drawn = (/** @type {number} */ at) => {
    const { index, cell } = cells[at];
    const key = String(index);
    const mark = key === picked ? "picked" : alike.includes(key) ? "alike" : "";
    return html`<td class=${gap(columns, at % columns.length)}>
      <${HeatCell}
        cell=${cell}
        text=${texts[at]}
        scale=${scale}
        mark=${mark}
        isTab=${key === tab}
        title=${title(index, cell)}
        pick=${() => pick(index)}
      />
    </td>`;
  };
  return html`<div class="heat-place">
    <table class=${kind} aria-label=${label} onKeyDown=${walk}>
      <thead>
        <tr>
          <td></td>
          ${columns.map(
            (column, at) => html`<th scope="col" class=${gap(columns, at)}>${column}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          (line, row) =>
            html`<tr class=${gap(lines, row, step) && "gap-above"}>
              ${isVector ? html`<td></td>` : html`<th scope="row">${line}</th>`}
              ${placesOf(row).map(drawn)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * @param {{cell: Cell, text: string, scale: number, mark: string, isTab: boolean, title: string,
 *   pick: () => void}} properties
 */
function HeatCell({ cell, text, scale, mark, isTab, title, pick }) {
  const { name, style } = heat(cell, scale);
  return html`<button
    data-cell
    class=${`heat-cell ${name} ${mark}`}
    style=${style}
    tabindex=${isTab ? 0 : -1}
    title=${title}
    aria-label=${title}
    aria-pressed=${mark === "picked"}
    onFocus=${pick}
    onClick=${pick}
  >
    ${text}
  </button>`;
}

/** Whether cells are false or true, and no numbers. @param {Cell[]} cells */
function isOfTruths([first]) {
  return typeof first === "boolean";
}

/** What the colours mean. @param {{cells: Cell[], scale: number}} properties */
export function Legend({ cells, scale }) {
  if (isOfTruths(cells)) return null; // each cell says what it is
  const numbers = cells.map(numberOf);
  const has = (/** @type {(amount: number) => boolean} */ test) =>
    numbers.some((amount) => amount !== null && test(amount));
  const below = has((amount) => amount < 0 && Number.isFinite(amount));
  const [least, most] = [tint(-1, 1, STRONGEST), tint(1, 1, STRONGEST)];
  const colours = [...(below ? [least] : []), "var(--cell)", most];
  const background = `linear-gradient(90deg, ${colours.join(", ")})`;
  return html`<div class="legend">
    ${
      scale > 0 &&
      html`<span class="legend-scale">
        ${below && html`<span>${number(-scale)}</span>`}
        ${!below && html`<span>0</span>`}
        <span class="legend-bar" style=${{ background }}>
          ${below && html`<span class="legend-zero">0</span>`}
        </span>
        <span>${number(scale)}</span>
      </span>`
    }
    ${
      has(Number.isNaN) &&
      html`<span>
        <span class="swatch is-nan"></span> nan
      </span>`
    }
    ${
      has((amount) => Math.abs(amount) === Infinity) &&
      html`<span>
        <span class="swatch is-inf"></span> infinite
      </span>`
    }
  </div>`;
}
