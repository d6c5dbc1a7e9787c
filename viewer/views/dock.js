// The panel beside the program: the inspector, or two steps compared. It follows each step. Fetched
// when it is first opened.

import { useLayoutEffect } from "preact/hooks";
import { CommandButton } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { keepInside } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { docked, inspected } from "viewer/state/state.js";
import { Compare } from "viewer/views/inspect/compare.js";
import { Inspector } from "viewer/views/inspect/inspector.js";

await styled("panels.css");

/** What is docked. */
export function Dock() {
  const isComparing = docked.value === "compare";
  const watched = isComparing ? undefined : inspected.value?.watched;
  useLayoutEffect(() => showRow(watched), [watched]);
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

/**
 * Bring the variable that is inspected into view, of which the panel left a part.
 * @param {Watched | undefined} watched
 */
function showRow(watched) {
  if (!watched) return;
  const row = document.querySelector(
    `.facts [data-variable="${watched.activation} ${watched.name}"]`,
  );
  const box = row?.closest(".graph, .apart");
  if (row && box) keepInside(box, row);
}
