// What stands in place of something that gives an answer away.

import { useId } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { reveal } from "viewer/state/withheld.js";

/** @param {{id: string, children?: any}} properties id: by which it is shown */
export function Withheld({ id, children }) {
  const said = useId();
  return html`<p class="veiled">
    <span id=${said}>${children}</span>${" "}
    <button class="quiet-link" aria-describedby=${said} onClick=${() => reveal(id)}>
      Show it
    </button>
  </p>`;
}
