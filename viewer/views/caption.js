// What stands below a picture of the article. Fetched when there is one.

import { captionOf, figureName, isSaidTwice } from "viewer/model/figures.js";
import { html } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";

/** @param {{step: number, name: string, value: Value}} properties name: of the value */
export function Caption({ step, name, value }) {
  const number = figureName(current(), step, name);
  const text = captionOf(value);
  if (!number && !text) return null;
  // The value tells two figures of a chapter apart that say the same.
  const isAlike = text && isSaidTwice(current(), step, name);
  return html`<figcaption class="caption">
    ${number && html`<b>${number}${text && "."}</b>`} ${text}${
      isAlike && html`: <code>${name}</code>`
    }
  </figcaption>`;
}
