// Any recorded value: one line where it fits, a card where it does not, a picture where it draws
// itself.

import { integer } from "viewer/model/format.js";
import {
  hasTensor,
  isFlat,
  isOnClock,
  isPicture,
  isSmall,
  LINE_LENGTH,
  partsOf,
  tensorText,
  valueText,
} from "viewer/model/values.js";
import { html, later, memo } from "viewer/parts/html.js";
import { Inspect } from "viewer/parts/inspect.js";
import { OnClock } from "viewer/parts/notes.js";
import { Prose } from "viewer/parts/prose.js";
import { Tensor } from "viewer/parts/tensor.js";

/**
 * A value with its name before it.
 * @param {{value: Value, shares?: string, name: string}} properties
 */
export function NamedValue({ value, shares, name }) {
  if (value.shape?.length)
    return html`<div class=${`named-value is-tensor ${isSmall(value) ? "is-small" : ""}`}>
      <${Tensor} value=${value} shares=${shares} name=${name} />
    </div>`;
  return html`<div class="named-value">
    <${Inspect} value=${value} name=${name} view="history">
      <code>${name}</code>
    </${Inspect}>
    <${ValueView} value=${value} name=${name} />
  </div>`;
}

/** @type {View<{value: Value, shares?: string, name?: string, bare?: boolean}>} bare: a picture
 *   without its title, which stands elsewhere */
export const ValueView = memo(({ value, shares, name = "", bare = false }) => {
  if (isOnClock(value)) return html`<${OnClock} />`;
  if (isPicture(value)) return html`<${Picture} value=${value} name=${name} bare=${bare} />`;
  if (value.shape && value.shape.length === 0)
    return html`<span class="value">
      <${Inspect} value=${value} name=${name}>
        <code>${tensorText(value)}</code>
      </${Inspect}>
    </span>`;
  if (value.shape) return html`<${Tensor} value=${value} shares=${shares} label=${name} />`;
  const text = valueText(value);
  if (value.error !== undefined) return html`<span class="value wrong">${text}</span>`;
  if (typeof value.value === "string" && value.value.includes("\n"))
    return html`<pre class="value text">
      ${value.value}
      ${value.cut && "…"}
    </pre>`;
  const isShort = text.length <= LINE_LENGTH && !text.includes("\n");
  const parts = isShort && !hasTensor(value) ? [] : partsOf(value);
  return parts.length
    ? html`<${Parts} value=${value} parts=${parts} />`
    : html`<span class="value">
      <code class=${`is-${value.type}`}>${text}</code>
    </span>`;
});

/** @param {{value: Value, parts: [string, Value][]}} properties */
function Parts({ value, parts }) {
  const rest = value.cut ? (value.length ?? 0) - parts.length : 0;
  if (isFlat(value, parts))
    return html`<span class="value">
      <code class="long">${valueText(value)}</code>
    </span>`;
  return html`<div class="parts">
    <div class="parts-type">
      ${value.type}
      ${value.length !== undefined && ` of ${integer(value.length)}`}
    </div>
    <dl>
      ${parts.map(
        ([key, part]) =>
          html`<div>
            <dt>${key}</dt>
            <dd>
              <${ValueView} value=${part} name=${key} />
            </dd>
          </div>`,
      )}
    </dl>
    ${rest > 0 && html`<p class="more">and ${integer(rest)} more</p>`}
  </div>`;
}

/** @param {{value: Value, name: string, bare: boolean}} properties */
function Picture({ value, name, bare }) {
  if (value.vega) {
    const height = chartHeight(value.vega);
    return html`<${LaterChart} spec=${value.vega} name=${name} height=${height} bare=${bare} />`;
  }
  if (value.svg !== undefined)
    return html`<${LaterSvg} source=${value.svg} name=${name} bare=${bare} />`;
  if (value.file?.endsWith(".svg"))
    return html`<${LaterSvgFile} file=${value.file} name=${name} bare=${bare} />`;
  if (value.markdown !== undefined)
    return html`<div class="picture">
      <${Prose} text=${value.markdown} />
    </div>`;
  if (value.html !== undefined)
    return html`<${LaterMarkup} source=${value.html} name=${name || value.type} />`;
  return html`<${LaterRaster} value=${value} name=${name} />`;
}

/** Height of a line of a legend. */
const KEY_LINE = 14;

/** Room for a chart with its title, axes and legend. @param {any} spec */
function chartHeight(spec) {
  return `${((Number(spec.height) || 220) + 80 + KEY_LINE * keyLines(spec)) / 16}rem`;
}

/** Lines of the legend below a chart. @param {any} spec */
function keyLines({ data, encoding }) {
  const { field, legend, scale } = encoding?.color ?? {};
  if (legend?.orient !== "bottom") return 0;
  const rows = /** @type {any[]} */ (data?.values ?? []);
  const { length } = scale?.domain ?? [...new Set(rows.map((row) => row[field]))];
  return Math.ceil(length / (legend.columns || length || 1));
}

/** The code of charts is fetched when there is one; its place is kept free. */
const LaterChart = later(
  async () => (await import("viewer/parts/chart.js")).Chart,
  ({ height }) => html`<figure class="picture chart" style=${{ minHeight: height }}></figure>`,
);

/** The same for pictures. @param {string} source */
const pictureHeight = (source) => `${/<svg[^>]* height="(\d+)/.exec(source)?.[1] ?? 0}px`;

const LaterSvg = later(
  async () => (await import("viewer/parts/picture.js")).Svg,
  ({ source }) =>
    html`<figure class="picture" style=${{ minHeight: pictureHeight(source) }}></figure>`,
);

const LaterSvgFile = later(
  async () => (await import("viewer/parts/large.js")).SvgFile,
  () => html`<figure class="picture"></figure>`,
);

const LaterMarkup = later(
  async () => (await import("viewer/parts/markup.js")).Markup,
  ({ source }) => {
    const rows = Math.min(source.split("<tr").length, 20);
    return html`<figure class="picture" style=${{ minHeight: `${1.5 * rows}rem` }}></figure>`;
  },
);

const LaterRaster = later(
  async () => (await import("viewer/parts/raster.js")).Raster,
  () => html`<figure class="picture"></figure>`,
);
