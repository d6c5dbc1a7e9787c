// What stands in place of something that gives an answer away.

import { html } from "viewer/parts/html.js";
import { reveal } from "viewer/state/withheld.js";

/** @param {{id: string, children?: any}} properties id: by which it is shown */
export function Withheld({ id, children }) {
  return html`<p class="veiled">
    ${children}${" "}
    <button class="quiet-link" onClick=${() => reveal(id)}>Show it</button>
  </p>`;
}
