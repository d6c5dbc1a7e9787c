// The panel beside the program: the inspector, or two steps compared. It follows each step. Fetched
// when it is first opened.

import { CommandButton } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { docked } from "viewer/state/state.js";
import { Compare } from "viewer/views/inspect/compare.js";
import { Inspector } from "viewer/views/inspect/inspector.js";

await styled("panels.css");

/** What is docked. */
export function Dock() {
  const isComparing = docked.value === "compare";
  const title = isComparing ? "Two steps compared" : "Inspector";
  return html`<section class=${`dock panel-${docked.value}`} aria-label=${title}>
    <header class="panel-head">
      <h2>${title}</h2>
      <${CommandButton} id="close" />
    </header>
    <div class="panel-body" tabindex="0" role="region" aria-label=${`${title}: what it shows`}>
      ${isComparing ? html`<${Compare} />` : html`<${Inspector} />`}
    </div>
  </section>`;
}
