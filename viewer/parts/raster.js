// Pictures made of pixels: those that a value draws, and arrays that are one.

import { shape } from "viewer/model/format.js";
import { html } from "viewer/parts/html.js";
import { Inspect } from "viewer/parts/inspect.js";
import { addressOf } from "viewer/parts/prose.js";

/** Pictures of fewer pixels are enlarged, each pixel a square. */
const SMALL = 160;
const ORDINALS = ["", "", "second ", "third "];

/** @param {{value: Value, name: string}} properties */
export function Raster({ value, name }) {
  const address = pixelAddress(value);
  if (!address) return html`<figure class="picture">‹${value.type}›</figure>`;
  const [height = 0, width = 0] = value.shape ?? [];
  const times = width > 0 ? Math.max(1, Math.floor(SMALL / Math.max(height, width))) : 1;
  const style = times > 1 ? { width: `${times * width}px`, imageRendering: "pixelated" } : null;
  return html`<figure class="picture">
    <img src=${address} alt=${name} style=${style} />
    ${
      value.shape &&
      html`<figcaption class="quiet">
        <${Inspect} value=${value} name=${name}>
          ${value.dtype} ${shape(value.shape)}
        </${Inspect}>
        ${(value.every ?? 1) > 1 && `, every ${ordinal(value.every ?? 1)}pixel`}
      </figcaption>`
    }
  </figure>`;
}

/** @param {number} number */
function ordinal(number) {
  return ORDINALS[number] ?? `${number}th `;
}

/** @param {Value} value @returns {string} the address of its pixels, or empty */
function pixelAddress({ png, jpeg, file }) {
  if (file) return addressOf({ mime: "", file });
  const [kind, base64] = png === undefined ? ["jpeg", jpeg] : ["png", png];
  return /^[A-Za-z0-9+/=\s]+$/.test(base64 ?? "") ? `data:image/${kind};base64,${base64}` : "";
}
