// The panels over the page. Fetched when the first of them opens, or while the reader rests.

import { useLayoutEffect, useRef } from "preact/hooks";
import { CommandButton } from "viewer/parts/buttons.js";
import { html, later } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { rested } from "viewer/state/address.js";
import { dialog } from "viewer/state/state.js";
import { Help } from "viewer/views/help.js";
import { Outline } from "viewer/views/outline.js";
import { Search } from "viewer/views/search.js";

await styled("panels.css");

/**
 * The panels: title, and what fetches the content.
 * @type {Record<string, [title: string, load: () => Promise<any>]>}
 */
const PANELS = {
  search: ["Search", async () => Search],
  help: ["Keys", async () => (await import("viewer/views/present.js"), Help)],
  menu: ["More", async () => (await import("viewer/views/menu.js")).Menu],
  legend: ["Beside the code", async () => (await import("viewer/views/legend.js")).Legend],
  glossary: ["Glossary", async () => (await import("viewer/views/glossary.js")).Glossary],
  progress: ["Your answers", async () => (await import("viewer/views/progress.js")).Progress],
  outline: ["Outline", async () => Outline],
  claims: ["Claims", async () => (await import("viewer/views/inspect/claims.js")).Claims],
  inspect: ["Inspector", async () => (await import("viewer/views/inspect/inspector.js")).Inspector],
  costs: ["Costs", async () => (await import("viewer/views/inspect/costs.js")).Costs],
};

const CONTENTS = Object.fromEntries(
  Object.entries(PANELS).map(([name, [, load]]) => [name, later(load)]),
);

/** The open panel. */
export function Panel() {
  const place = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const name = dialog.value;
  useLayoutEffect(() => {
    if (place.current && !place.current.open) place.current.showModal();
  }, [name]);
  if (!name) return null;
  const onBackdrop = (/** @type {Event} */ event) =>
    event.target === place.current && (dialog.value = "");
  return html`<dialog
    key=${name}
    ref=${place}
    class=${`panel panel-${name}`}
    aria-labelledby="panel-title"
    onClose=${() => dialog.value === name && (dialog.value = "")}
    onClick=${onBackdrop}
  >
    <header class="panel-head">
      <h2 id="panel-title">${PANELS[name][0]}</h2>
      <${CommandButton} id="close" />
    </header>
    <div class="panel-body" tabindex="0" autofocus=${name !== "search"}>
      <${CONTENTS[name]} />
    </div>
  </dialog>`;
}

/** Fetch the rest of the page: it is then there at once, also when the server has ended. */
async function fetchAll() {
  const others = [
    () => import("viewer/views/step.js"),
    () => import("viewer/views/speech.js"),
    () => import("viewer/views/colophon.js"),
    () => import("viewer/state/moves.js"),
    () => import("viewer/state/ending.js"),
    () => import("viewer/state/ways.js"),
    () => import("viewer/views/card.js"),
    () => import("viewer/views/names.js"),
    () => import("viewer/views/definition.js"),
    () => import("viewer/views/dock.js"),
    () => import("viewer/views/graph.js"),
    () => import("viewer/views/map.js"),
    () => import("viewer/views/print.js"),
  ];
  for (const load of [...others, ...Object.values(PANELS).map(([, load]) => load)])
    await rested()
      .then(load)
      .catch(() => {});
}

fetchAll();
