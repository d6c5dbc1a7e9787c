// A tensor in the article: its elements as coloured cells, a few slices at once.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted, shape } from "viewer/model/format.js";
import { cellTexts, largest, sliceName } from "viewer/model/values.js";
import { breakable, html, later } from "viewer/parts/html.js";
import { Inspect } from "viewer/parts/inspect.js";

const SLICES_AT_ONCE = 4;
const NARROW_COLUMNS = 5;
/** Letters that a row has room for, and those that stand for the space between two cells. */
const ROW = 48;
const SPACE = 2;
/** Letters of a long number. */
const LONG = 6;

/**
 * @param {{value: Value, shares?: string, name?: string, label?: string}} properties shares: names
 *   of the same storage; label: a name shown elsewhere
 */
export function Tensor({ value, shares = "", name = "", label = name }) {
  const sizes = value.shape ?? [];
  return html`<div class="tensor">
    <div class="tensor-head">
      ${
        name &&
        html`<${Inspect} value=${value} name=${name} view="history">
          <code>${name}</code>
        </${Inspect}>`
      }
      <${Inspect} value=${value} name=${label}>
        <span class="dtype">${value.dtype ?? value.type}</span>${" "}
        <span class="shape">${shape(sizes)}</span>
      </${Inspect}>
      ${value.device && value.device !== "cpu" && html`<span class="badge">${value.device}</span>`}
    </div>
    <div class="tensor-body">
      <${Elements} value=${value} label=${label} />
      <div class="tensor-notes">
        ${
          shares &&
          html`<span class="badge shares" title="These names show the same storage">
            shares storage with ${breakable(shares)}
          </span>`
        }
        ${
          (value.strides || value.storage) &&
          html`<span class="layout">
            ${[value.storage && `storage #${value.storage}`, isGapped(value) && "not contiguous"]
              .filter(Boolean)
              .join(", ")}
          </span>`
        }
      </div>
    </div>
    ${value.statistics && value.cut && html`<${Statistics} value=${value} />`}
  </div>`;
}

/** At a glance strides are left out where they are the usual ones. @param {Value} value */
function isGapped({ contiguous, strides }) {
  return contiguous === undefined ? strides !== undefined : !contiguous;
}

/** @param {{value: Value, label: string}} properties label: its name, if it has one */
function Elements({ value, label }) {
  const [all, setAll] = useState(false);
  const { elements, shape: sizes = [] } = value;
  if (!elements?.length) return null;
  const shown = sizes.map((size, axis) => value.shown?.[axis] ?? [...Array(size).keys()]);
  const scale = largest(elements);
  const columns = shown.at(-1) ?? [0];
  const lines = shown.length > 1 ? (shown.at(-2) ?? []) : [0];
  const perSlice = columns.length * lines.length;
  const slices = perSlice ? elements.length / perSlice : 0;
  return html`<div class="slices">
    ${Array.from(
      { length: all ? slices : Math.min(slices, SLICES_AT_ONCE) },
      (_, slice) =>
        html`<${Slice} name=${slices > 1 ? sliceName(shown, slice) : ""} of=${label}>
          <${Grid}
            cells=${elements.slice(slice * perSlice, (slice + 1) * perSlice)}
            lines=${lines}
            columns=${columns}
            scale=${scale}
          />
        </${Slice}>`,
    )}
    ${
      !all &&
      slices > SLICES_AT_ONCE &&
      html`<button class="quiet-link" title="Show all slices" onClick=${() => setAll(true)}>
        and ${counted(slices - SLICES_AT_ONCE, "more slice")}
      </button>`
    }
  </div>`;
}

/** What is wider than its place is scrolled with the keyboard, too. Told of what is laid out. */
const watcher = new ResizeObserver((entries) => {
  const slices = entries.map(({ target }) => /** @type {HTMLElement} */ (target));
  const wide = slices.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
  for (const slice of slices) {
    if (wide.includes(slice)) slice.tabIndex = 0;
    else slice.removeAttribute("tabindex");
  }
});

/** @param {{name: string, of: string, children?: any}} properties of: the name of its tensor */
function Slice({ name, of, children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const slice = /** @type {HTMLElement} */ (place.current);
    // Who is observed again is told of once more: other elements may be wider in the same place.
    watcher.observe(slice);
    return () => watcher.unobserve(slice);
  });
  const label = ["elements", of && `of ${of}`, name].filter(Boolean).join(" ");
  return html`<figure ref=${place} class="slice" role="group" aria-label=${label}>
    ${name && html`<figcaption>${name}</figcaption>`}${children}
  </figure>`;
}

/**
 * @param {{cells: (number | boolean | string)[], lines: number[], columns: number[], scale:
 *   number}} properties
 */
function Grid({ cells, lines, columns, scale }) {
  const room = Math.floor(ROW / columns.length) - SPACE;
  const texts = cellTexts(cells, columns.length > NARROW_COLUMNS ? 2 : 3, room);
  return html`<table class="grid" style=${lines.length > 1 ? undefined : sizesOf(texts)}>
    <tbody>
      ${lines.map(
        (line, row) =>
          html`<tr class=${row > 0 && line > lines[row - 1] + 1 ? "skipped" : ""}>
            ${columns.map((column, index) => {
              const at = row * columns.length + index;
              const skipped = index > 0 && column > columns[index - 1] + 1 ? "skipped" : "";
              const style = background(cells[at], scale);
              return html`<td class=${skipped} style=${style} title=${String(cells[at])}>
                ${texts[at]}
              </td>`;
            })}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** For a row that goes on below where there is no room, after 4 cells or, of long numbers, after 2:
 * how wide it is. @param {string[]} texts */
function sizesOf(texts) {
  const cells = texts.length;
  const letters = Math.max(...texts.map(({ length }) => length));
  const stretch = letters > LONG ? 2 : 4;
  return {
    "--letters": letters,
    "--cells": cells > stretch ? stretch * Math.ceil(cells / stretch) : cells,
    "--stretch": "var(--cell-width) ".repeat(stretch),
  };
}

/** Background by sign and size. @param {number | boolean | string} cell @param {number} scale */
function background(cell, scale) {
  const amount = Number(cell);
  if (!Number.isFinite(amount)) return { background: "var(--wrong-soft)" };
  return { background: tint(amount, scale) };
}

/**
 * A colour by the sign of an amount, as strong as its share of the scale.
 * @param {number} amount
 * @param {number} scale
 * @param {number} [strongest] in per cent
 */
export function tint(amount, scale, strongest = 100) {
  const share = scale ? Math.round((Math.abs(amount) / scale) * strongest) : 0;
  const colour = amount < 0 ? "--negative" : "--positive";
  return `color-mix(in oklab, var(${colour}) ${share}%, var(--cell))`;
}

/** Their code is fetched when there are some; their place is kept free. */
const Statistics = later(
  async () => (await import("viewer/parts/statistics.js")).Statistics,
  () => html`<div style=${{ height: "1.6rem" }}></div>`,
);
