// What stands below a picture of the article. Fetched when there is one.

import { captionOf, figureName } from "viewer/model/figures.js";
import { html } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";

/** @param {{step: number, name: string, value: Value}} properties name: of the value */
export function Caption({ step, name, value }) {
  const number = figureName(current(), step, name);
  const text = captionOf(value);
  if (!number && !text) return null;
  return html`<figcaption class="caption">
    ${number && html`<b>${number}${text && "."}</b>`} ${text}
  </figcaption>`;
}
