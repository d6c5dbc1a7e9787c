// What the panels show. Fetched when the first of them opens.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "viewer/format.js";
import { addStyles, html, keyName } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { activationOf, functionOf } from "viewer/model.js";
import { Claim, outcomeOf, plainTitle } from "viewer/read.js";
import { current, dialog, goTo, mode } from "viewer/store.js";
import { search } from "viewer/search.js";

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

/** @param {number} target a step */
function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/** Every claim once, the failed ones first. @returns {ClaimEntry[]} */
function claimEntries() {
  const { model, document } = current();
  const { claims } = document;
  /** @type {Map<number, number[]>} */
  const byStatement = new Map();
  claims.statement.forEach((statement, row) => {
    if (!byStatement.get(statement)?.push(row)) byStatement.set(statement, [row]);
  });
  const entries = [...byStatement.values()].map((found) => {
    const row = found.find((candidate) => claims.held[candidate] !== true) ?? found[found.length - 1];
    const func = functionOf(model, activationOf(model, claims.step[row]));
    const place = func.title ? plainTitle(func.title) : func.name;
    const { text, operands } = outcomeOf(model, row);
    const words = [text, place, ...operands.map((operand) => operand.text)].join(" ").toLowerCase();
    return { row, count: found.length, failed: claims.held[row] !== true, place, words };
  });
  return entries.sort((one, other) => Number(other.failed) - Number(one.failed));
}

/** The claims that contain what is typed. */
export function Claims() {
  const { model, document } = current();
  const [query, setQuery] = useState("");
  const [onlyFailed, setOnlyFailed] = useState(false);
  const entries = useMemo(claimEntries, [document]);
  const failed = entries.filter((entry) => entry.failed).length;
  const shown = entries.filter((entry) => entry.words.includes(query.trim().toLowerCase()) && (entry.failed || !onlyFailed));
  return html`<p class="quiet">${counted(entries.length, "claim")} in ${counted(document.claims.held.length, "execution")}; ${failed ? `${failed} failed` : "all held"}.</p>
    <div class="filter"><input class="search-field" type="text" inputmode="search" placeholder="filter" aria-label="filter claims" value=${query} onInput=${(/** @type {any} */ event) => setQuery(event.target.value)} />
      ${failed > 0 && html`<label><input type="checkbox" checked=${onlyFailed} onChange=${() => setOnlyFailed(!onlyFailed)} /> failed only</label>`}</div>
    <ol class="claim-list">${shown.map(({ row, count, place }) => html`<li key=${row}><button class="claim-entry" title="Go to this claim" onClick=${() => leaveTo(document.claims.step[row])}>
      <${Claim} outcome=${outcomeOf(model, row)} text />
      <span class="claim-place">${place}${count > 1 && ` · ${count} times`}</span></button></li>`)}</ol>
    ${!shown.length && html`<p class="quiet">No claim contains “${query}”.</p>`}`;
}

/** Search as one types. */
export function Search() {
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
export function Help() {
  const rows = (/** @type {"step" | "any"} */ where) => COMMANDS.filter((command) => command.where === where).map(({ keys, title }) => html`<tr><td>${keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</td><td>${title}</td></tr>`);
  return html`<table class="keys"><caption>Everywhere</caption><tbody>${rows("any")}</tbody></table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}><caption>In Step</caption><tbody>${rows("step")}</tbody></table>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>`;
}
