// Any recorded value: one line where it fits, a card where it does not, a picture where it draws itself.

import { useState } from "preact/hooks";
import { counted, element, integer, shape, tensorText, valueText } from "viewer/format.js";
import { html, later, memo } from "viewer/html.js";
import { pngAddress, Prose } from "viewer/prose.js";

const LINE_LENGTH = 44;

/** Whether a value is shown as a picture, across the article. @param {Value} value */
export function isPicture(value) {
  return ["svg", "png", "vega", "markdown"].some((key) => key in value);
}

/** How many lines a value takes beside code, about. @param {Value} value @returns {number} */
export function heightOf(value) {
  if (value.shape?.length)
    return (
      2 +
      Math.min(
        value.shown?.at(-2)?.length ?? value.shape.at(-2) ?? 1,
        (value.elements ?? []).length,
      )
    );
  if (typeof value.value === "string" && value.value.includes("\n"))
    return 1 + value.value.split("\n").length;
  const parts = partsOf(value);
  const text = valueText(value).length / LINE_LENGTH;
  return (text > 1 || hasTensor(value)) && parts.length && !isFlat(value, parts)
    ? parts.reduce((sum, [, part]) => sum + heightOf(part), 1)
    : Math.ceil(text);
}

/** A value with its name before it. @param {{value: Value, shares?: string, name: string}} properties */
export function NamedValue({ value, shares, name }) {
  if (value.shape?.length)
    return html`<div class="named-value is-tensor"><${Tensor} value=${value} shares=${shares} name=${name} /></div>`;
  return html`<div class="named-value"><${Inspect} value=${value} name=${name} view="history"><code>${name}</code></${Inspect}><${ValueView} value=${value} name=${name} /></div>`;
}

/** @type {View<{value: Value, shares?: string, name?: string}>} */
export const ValueView = memo(({ value, shares, name = "" }) => {
  if (isPicture(value)) return html`<${Picture} value=${value} name=${name} />`;
  if (value.shape && value.shape.length === 0)
    return html`<span class="value"><${Inspect} value=${value} name=${name}><code>${tensorText(value)}</code></${Inspect}></span>`;
  if (value.shape) return html`<${Tensor} value=${value} shares=${shares} label=${name} />`;
  const text = valueText(value);
  if (value.error !== undefined) return html`<span class="value wrong">${text}</span>`;
  if (typeof value.value === "string" && value.value.includes("\n"))
    return html`<pre class="value text">${value.value}${value.cut && "…"}</pre>`;
  const isShort = text.length <= LINE_LENGTH && !text.includes("\n");
  const parts = isShort && !hasTensor(value) ? [] : partsOf(value);
  return parts.length
    ? html`<${Parts} value=${value} parts=${parts} />`
    : html`<span class="value"><code class=${`is-${value.type}`}>${text}</code></span>`;
});

/** @param {Value} value */
function hasTensor(value) {
  return partsOf(value).some(([, part]) => part.shape && part.shape.length > 0);
}

/** Named parts of a container. @param {Value} value @returns {[string, Value][]} */
function partsOf(value) {
  if (value.fields) return Object.entries(value.fields);
  if (value.entries) return value.entries.map(([key, item]) => [valueText(key), item]);
  return (value.items ?? []).map((item, index) => [String(index), item]);
}

/** Whether a container is shown as text. @param {Value} value @param {[string, Value][]} parts */
function isFlat(value, parts) {
  return !value.fields && !value.entries && parts.every(([, part]) => part.value !== undefined);
}

/** @param {{value: Value, parts: [string, Value][]}} properties */
function Parts({ value, parts }) {
  const rest = value.cut ? (value.length ?? 0) - parts.length : 0;
  if (isFlat(value, parts))
    return html`<span class="value"><code class="long">${valueText(value)}</code></span>`;
  return html`<div class="parts">
    <div class="parts-type">${value.type}${value.length !== undefined && ` of ${integer(value.length)}`}</div>
    <dl>${parts.map(([key, part]) => html`<div><dt>${key}</dt><dd><${ValueView} value=${part} name=${key} /></dd></div>`)}</dl>
    ${rest > 0 && html`<p class="more">and ${integer(rest)} more</p>`}
  </div>`;
}

/** @param {{value: Value, name: string}} properties */
function Picture({ value, name }) {
  if (value.vega) return html`<${LaterChart} spec=${value.vega} name=${name} />`;
  if (value.svg !== undefined) return html`<${LaterSvg} source=${value.svg} name=${name} />`;
  if (value.markdown !== undefined)
    return html`<div class="picture"><${Prose} text=${value.markdown} /></div>`;
  const address = pngAddress(value.png ?? "");
  return html`<figure class="picture">${address ? html`<img src=${address} alt=${name} />` : valueText(value)}</figure>`;
}

/** Room for a chart with its title and axes. @param {any} spec */
export function chartHeight(spec) {
  return `${(Number(spec.height) || 220) + 80}px`;
}

/** The code of charts is fetched when there is one; its place is kept free. */
const LaterChart = later(
  async () => (await import("viewer/chart.js")).Chart,
  ({ spec }) =>
    html`<figure class="picture chart" style=${{ minHeight: chartHeight(spec) }}></figure>`,
);

/** The same for pictures. @param {string} source */
const pictureHeight = (source) => `${/<svg[^>]* height="(\d+)/.exec(source)?.[1] ?? 0}px`;
const LaterSvg = later(
  async () => (await import("viewer/picture.js")).Svg,
  ({ source }) =>
    html`<figure class="picture" style=${{ minHeight: pictureHeight(source) }}></figure>`,
);

const SLICES_AT_ONCE = 4;
const NARROW_COLUMNS = 5;

/** Open the inspector. @param {Event} event @param {Value} value @param {string} name @param {"value" | "history"} [view] */
export async function inspect({ currentTarget: place }, value, name, view) {
  (await import("viewer/inspect/open.js")).inspect(
    /** @type {Element} */ (place),
    value,
    name,
    view,
  );
}

/** A button that opens it. @param {{value: Value, name: string, view?: "history", children: any}} properties */
function Inspect({ value, name, view, children }) {
  return html`<button class=${view ? "value-name" : "inspect"} tabindex=${view && value.shape ? -1 : 0} title=${view ? "Its values over the run" : "Inspect this tensor"} onClick=${(/** @type {Event} */ event) => inspect(event, value, name, view)}>${children}</button>`;
}

/** @param {{value: Value, shares?: string, name?: string, label?: string}} properties shares: names of the same storage; label: a name shown elsewhere */
export function Tensor({ value, shares = "", name = "", label = name }) {
  const sizes = value.shape ?? [];
  return html`<div class="tensor">
    <div class="tensor-head">
      ${name && html`<${Inspect} value=${value} name=${name} view="history"><code>${name}</code></${Inspect}>`}
      <${Inspect} value=${value} name=${label}><span class="dtype">${value.dtype ?? value.type}</span> <span class="shape">${shape(sizes)}</span></${Inspect}>
      ${value.device && value.device !== "cpu" && html`<span class="badge">${value.device}</span>`}
    </div>
    <div class="tensor-body">
      <${Elements} value=${value} />
      <div class="tensor-notes">
        ${shares && html`<span class="badge shares" title="These names show the same storage">shares storage with ${shares}</span>`}
        ${value.strides && html`<span class="layout">${[value.storage && `storage #${value.storage}`, value.contiguous === false && "not contiguous"].filter(Boolean).join(", ")}</span>`}
      </div>
    </div>
    ${value.statistics && value.cut && html`<${Statistics} value=${value} />`}
  </div>`;
}

/** @param {{value: Value}} properties */
function Elements({ value }) {
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
      (_, slice) => html`<figure class="slice">
      ${slices > 1 && html`<figcaption>${sliceName(shown, slice)}</figcaption>`}
      <${Grid} cells=${elements.slice(slice * perSlice, (slice + 1) * perSlice)} lines=${lines} columns=${columns} scale=${scale} />
    </figure>`,
    )}
    ${!all && slices > SLICES_AT_ONCE && html`<button class="quiet-link" title="Show all slices" onClick=${() => setAll(true)}>and ${counted(slices - SLICES_AT_ONCE, "more slice")}</button>`}
  </div>`;
}

/** Indices of the leading axes, such as `[0, 2, :, :]`. @param {number[][]} shown @param {number} slice */
function sliceName(shown, slice) {
  const indices = [];
  let rest = slice;
  for (const axis of shown.slice(0, -2).toReversed()) {
    indices.unshift(axis[rest % axis.length]);
    rest = Math.floor(rest / axis.length);
  }
  return `[${[...indices, ":", ":"].join(", ")}]`;
}

/** @param {(number | boolean | string)[]} elements */
function largest(elements) {
  return elements.reduce(
    (/** @type {number} */ most, cell) => Math.max(most, Math.abs(Number(cell)) || 0),
    0,
  );
}

/**
 * @param {{cells: (number | boolean | string)[], lines: number[], columns: number[], scale: number}} properties
 */
function Grid({ cells, lines, columns, scale }) {
  const decimals = sharedDecimals(cells, columns.length > NARROW_COLUMNS ? 2 : 3);
  return html`<table class="grid"><tbody>
    ${lines.map(
      (line, row) => html`<tr class=${row > 0 && line > lines[row - 1] + 1 ? "skipped" : ""}>
      ${columns.map((column, index) => {
        const cell = cells[row * columns.length + index];
        const skipped = index > 0 && column > columns[index - 1] + 1 ? "skipped" : "";
        return html`<td class=${skipped} style=${heat(cell, scale)} title=${String(cell)}>${cellText(cell, decimals)}</td>`;
      })}
    </tr>`,
    )}
  </tbody></table>`;
}

/** Digits after the point that all cells of a grid can share, or -1 when they differ too much.
 * @param {(number | boolean | string)[]} cells @param {number} most */
export function sharedDecimals(cells, most) {
  const numbers = cells.filter((cell) => typeof cell === "number");
  if (numbers.some((cell) => cell !== 0 && (Math.abs(cell) >= 1e5 || Math.abs(cell) < 1e-3)))
    return -1;
  const wanted = numbers.map((cell) => (String(cell).split(".")[1] ?? "").length);
  return Math.min(most, Math.max(0, ...wanted));
}

/** @param {number | boolean | string} cell @param {number} decimals */
export function cellText(cell, decimals) {
  return typeof cell === "number" && decimals >= 0 ? cell.toFixed(decimals) : element(cell);
}

/** Background by sign and size. @param {number | boolean | string} cell @param {number} scale */
function heat(cell, scale) {
  const amount = Number(cell);
  if (!Number.isFinite(amount)) return { background: "var(--wrong-soft)" };
  const share = scale ? Math.round((Math.abs(amount) / scale) * 100) : 0;
  return {
    background: `color-mix(in oklab, var(${amount < 0 ? "--negative" : "--positive"}) ${share}%, var(--cell))`,
  };
}

/** Their code is fetched when there are some; their place is kept free. */
const Statistics = later(
  async () => (await import("viewer/statistics.js")).Statistics,
  () => html`<div style=${{ height: "1.6rem" }}></div>`,
);
