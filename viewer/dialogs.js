// The panels over the page. Fetched when the first of them opens, or while the reader rests.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CommandButton, html, keyName, later } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { Outline } from "viewer/main.js";
import { current, dialog, goTo, mode, rested } from "viewer/store.js";
import { search } from "viewer/search.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
dialog { width: min(44rem, calc(100vw - 2rem)); max-height: min(80vh, 50rem); margin: 8vh auto auto; padding: 0; border: 1px solid var(--line); border-radius: 10px; background: var(--page); color: inherit; box-shadow: 0 12px 48px #0006; overflow: hidden; }
dialog[open] { display: flex; flex-direction: column; }
dialog::backdrop { background: #0006; }
.panel-head { display: flex; align-items: center; justify-content: space-between; padding: 0.6rem 0.75rem 0.6rem 1.25rem; border-bottom: 1px solid var(--line); }
.panel-head h2 { margin: 0; font-size: 1rem; }
.panel-body { padding: 0.75rem 1.25rem 1.25rem; overflow-y: auto; }
.panel-body:focus-visible { outline-width: 1px; outline-offset: -1px; }
.panel-outline .panel-body { padding: 0 0 1rem; }
.claim-list, .results { list-style: none; margin: 0; padding: 0; }
.claim-list > li, .results > li { border-top: 1px solid var(--line); }
.claim-entry, .results button { display: block; width: 100%; padding: 0.5rem 0.4rem; }
.claim-entry:hover, .results button:hover { background: var(--raised); }
.claim-place, .result-place { display: block; font-size: 0.75rem; color: var(--quiet); padding-left: 1.4rem; }
.filter { display: flex; gap: 1rem; align-items: center; margin-bottom: 0.5rem; }
.filter label { white-space: nowrap; font-size: 0.84rem; }
.search-field { width: 100%; padding: 0.55rem 0.75rem; border: 1px solid var(--line-strong); border-radius: var(--radius); background: var(--raised); }
.result-text { font-size: 0.9rem; overflow-wrap: anywhere; }
.result-text.code { font-family: var(--mono); font-size: 0.8rem; }
.result-text.title { font-weight: 600; }
.result-place { padding-left: 0; }
mark { background: var(--changed); color: inherit; border-radius: 2px; }
.keys { width: 100%; border-collapse: collapse; margin-bottom: 1rem; font-size: 0.9rem; }
.keys caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
.keys td { padding: 0.2rem 0; border-top: 1px solid var(--line); }
.keys td:first-child { width: 13rem; }
kbd { font-size: 0.75rem; padding: 0.05rem 0.4rem; border: 1px solid var(--line-strong); border-bottom-width: 2px; border-radius: 4px; background: var(--raised); }
`);

/** The panels: title, and what fetches the content. @type {Record<string, [title: string, load: () => Promise<any>]>} */
const PANELS = {
  search: ["Search", async () => Search],
  help: ["Keys", async () => (await import("viewer/present.js"), Help)],
  menu: ["More", async () => (await import("viewer/menu.js")).Menu],
  outline: ["Outline", async () => Outline],
  claims: ["Claims", async () => (await import("viewer/inspect/claims_view.js")).Claims],
  inspect: ["Inspector", async () => (await import("viewer/inspect/inspector.js")).Inspector],
  compare: [
    "Two steps compared",
    async () => (await import("viewer/inspect/compare_view.js")).Compare,
  ],
  costs: ["Costs", async () => (await import("viewer/inspect/costs.js")).Costs],
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
  return html`<dialog key=${name} ref=${place} class=${`panel panel-${name}`} aria-labelledby="panel-title" onClose=${() => dialog.value === name && (dialog.value = "")} onClick=${onBackdrop}>
    <header class="panel-head"><h2 id="panel-title">${PANELS[name][0]}</h2><${CommandButton} id="close" /></header>
    <div class="panel-body" tabindex="0" autofocus=${name !== "search"}><${CONTENTS[name]} /></div>
  </dialog>`;
}

/** @param {number} target a step */
function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/** Search as one types. */
function Search() {
  const [query, setQuery] = useState("");
  const results = search(current().model, query);
  const first = results[0];
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (first) leaveTo(first.step);
  };
  return html`<form onSubmit=${submit}><input ref=${field} class="search-field" type="text" inputmode="search" placeholder="text, code, a name, a value or the number of a step" aria-label="search" value=${query} onInput=${(/** @type {any} */ event) => setQuery(event.target.value)} /></form>
    <ul class="results" aria-live="polite">${results.map(
      ({
        step,
        kind,
        before,
        match,
        after,
        place,
      }) => html`<li><button title="Go there" onClick=${() => leaveTo(step)}>
      <span class=${`result-text ${kind}`}>${before}<mark>${match}</mark>${after}</span><span class="result-place">${place}</span></button></li>`,
    )}</ul>
    ${query.trim().length > 1 && !results.length && html`<p class="quiet">Nothing that ran contains “${query}”.</p>`}`;
}

/** The table of keys. */
function Help() {
  const rows = (/** @type {Command["where"]} */ where) =>
    COMMANDS.filter((command) => command.where === where).map(
      ({ keys, title }) =>
        html`<tr><td>${keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</td><td>${title}</td></tr>`,
    );
  return html`<table class="keys"><caption>Everywhere</caption><tbody>${rows("any")}</tbody></table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}><caption>In Step</caption><tbody>${rows("step")}</tbody></table>
    <table class="keys"><caption>While presenting</caption><tbody>${rows("present")}</tbody></table>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>`;
}

/** Fetch the rest of the page: it is then there at once, also when the server has ended. */
async function fetchAll() {
  const others = [
    () => import("viewer/speech.js"),
    () => import("viewer/colophon.js"),
    () => import("viewer/moves.js"),
    () => import("viewer/print.js"),
  ];
  for (const load of [...others, ...Object.values(PANELS).map(([, load]) => load)])
    await rested()
      .then(load)
      .catch(() => {});
}

fetchAll();
