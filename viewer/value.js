// Any recorded value: one line where it fits, a card where it does not, a picture where it draws itself.

import { useEffect, useRef } from "preact/hooks";
import { Chart } from "viewer/chart.js";
import { html } from "viewer/html.js";
import { pngAddress, renderSvg } from "viewer/picture.js";
import { Prose } from "viewer/prose-view.js";
import { Tensor } from "viewer/tensor.js";
import { tensorText, valueText } from "viewer/value-text.js";

/** @typedef {import("viewer/schema.js").Value} Value */

const LINE_LENGTH = 44;

/** Whether a value is shown as a picture, across the article. @param {Value} value */
export function isPicture(value) {
  return ["svg", "png", "vega", "markdown"].some((key) => key in value);
}

/** A value with its name before it. @param {{value: Value, shares?: string[], name: string}} properties */
export function NamedValue({ value, shares, name }) {
  if (value.shape?.length) return html`<div class="named-value is-tensor"><${Tensor} value=${value} shares=${shares} name=${name} /></div>`;
  return html`<div class="named-value"><code class="value-name">${name}</code><${ValueView} value=${value} name=${name} /></div>`;
}

/** @param {{value: Value, shares?: string[], name?: string}} properties */
export function ValueView({ value, shares, name = "" }) {
  if (isPicture(value)) return html`<${Picture} value=${value} name=${name} />`;
  if (value.shape && value.shape.length === 0) return html`<span class="value"><code>${tensorText(value)}</code></span>`;
  if (value.shape) return html`<${Tensor} value=${value} shares=${shares} />`;
  const text = valueText(value);
  if (value.error !== undefined) return html`<span class="value wrong">${text}</span>`;
  if (typeof value.value === "string" && value.value.includes("\n")) return html`<pre class="value text">${value.value}${value.cut && "…"}</pre>`;
  const isShort = text.length <= LINE_LENGTH && !text.includes("\n");
  const parts = isShort && !hasTensor(value) ? [] : partsOf(value);
  return parts.length ? html`<${Parts} value=${value} parts=${parts} />` : html`<span class="value"><code class=${`is-${value.type}`}>${text}</code></span>`;
}

/** @param {Value} value @returns {boolean} */
function hasTensor(value) {
  return partsOf(value).some(([, part]) => part.shape && part.shape.length > 0);
}

/** Named parts of a container. @param {Value} value @returns {[string, Value][]} */
function partsOf(value) {
  if (value.fields) return Object.entries(value.fields);
  if (value.entries) return value.entries.map(([key, item]) => [valueText(key), item]);
  return (value.items ?? []).map((item, index) => [String(index), item]);
}

/** @param {{value: Value, parts: [string, Value][]}} properties */
function Parts({ value, parts }) {
  const rest = value.cut ? (value.length ?? 0) - parts.length : 0;
  const flat = !value.fields && !value.entries && parts.every(([, part]) => part.value !== undefined);
  if (flat) return html`<span class="value"><code class="long">${valueText(value)}</code></span>`;
  return html`<div class="parts">
    <div class="parts-type">${value.type}${value.length !== undefined && ` of ${value.length}`}</div>
    <dl>${parts.map(([key, part]) => html`<div><dt>${key}</dt><dd><${ValueView} value=${part} name=${key} /></dd></div>`)}</dl>
    ${rest > 0 && html`<p class="more">and ${rest} more</p>`}
  </div>`;
}

/** @param {{value: Value, name: string}} properties */
function Picture({ value, name }) {
  if (value.vega) return html`<${Chart} spec=${value.vega} name=${name} />`;
  if (value.svg !== undefined) return html`<${Svg} source=${value.svg} name=${name} />`;
  if (value.markdown !== undefined) return html`<div class="picture"><${Prose} text=${value.markdown} /></div>`;
  const address = pngAddress(value.png ?? "");
  return html`<figure class="picture">${address ? html`<img src=${address} alt=${name} />` : valueText(value)}</figure>`;
}

/** @param {{source: string, name: string}} properties */
function Svg({ source, name }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const svg = renderSvg(source);
    if (svg && !svg.hasAttribute("aria-label") && !svg.querySelector("title")) svg.setAttribute("aria-label", `picture ${name}`);
    place.current?.replaceChildren(svg ?? "This picture cannot be shown.");
  }, [source]);
  return html`<figure class="picture" ref=${place}></figure>`;
}
