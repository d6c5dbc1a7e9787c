// What the panels show. Fetched when the first of them opens.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html, keyName } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { current, dialog, goTo, mode } from "viewer/store.js";
import { search } from "viewer/search.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
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

/** The panels by their names; the larger ones are fetched when they open. @type {Record<string, () => any>} */
export const PANELS = {
  Claims: async () => (await import("viewer/inspect/claims_view.js")).Claims,
  Compare: async () => (await import("viewer/inspect/compare_view.js")).Compare,
  Costs: async () => (await import("viewer/inspect/costs.js")).Costs,
  Help: async () => (await import("viewer/present.js"), Help),
  Inspector: async () => (await import("viewer/inspect/inspector.js")).Inspector,
  Menu: async () => (await import("viewer/menu.js")).Menu,
  Search: () => Search,
};

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
    <ul class="results" aria-live="polite">${results.map(({ step, kind, before, match, after, place }) => html`<li><button title="Go there" onClick=${() => leaveTo(step)}>
      <span class=${`result-text ${kind}`}>${before}<mark>${match}</mark>${after}</span><span class="result-place">${place}</span></button></li>`)}</ul>
    ${query.trim().length > 1 && !results.length && html`<p class="quiet">Nothing that ran contains “${query}”.</p>`}`;
}

/** The table of keys. */
function Help() {
  const rows = (/** @type {Command["where"]} */ where) => COMMANDS.filter((command) => command.where === where).map(({ keys, title }) => html`<tr><td>${keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</td><td>${title}</td></tr>`);
  return html`<table class="keys"><caption>Everywhere</caption><tbody>${rows("any")}</tbody></table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}><caption>In Step</caption><tbody>${rows("step")}</tbody></table>
    <table class="keys"><caption>While presenting</caption><tbody>${rows("present")}</tbody></table>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>`;
}

// They open at once later, also when the server has ended.
for (const load of [...Object.values(PANELS), () => import("viewer/print.js")]) Promise.resolve(load()).catch(() => {});
