// Panels over the page: claims, search, keys, and the outline on small screens.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keyName, CommandButton } from "viewer/buttons.js";
import { Claim, outcomeOf } from "viewer/evidence.js";
import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { functionOf } from "viewer/model.js";
import { Outline } from "viewer/outline.js";
import { search } from "viewer/search.js";
import { plainTitle } from "viewer/section.js";
import { current, dialog, goTo, loaded, mode } from "viewer/store.js";

/** @type {Record<string, {title: string, content: () => any}>} */
const PANELS = {
  claims: { title: "Claims", content: Claims },
  search: { title: "Search", content: Search },
  help: { title: "Keys", content: Help },
  outline: { title: "Outline", content: Outline },
};

/** The open panel, if any. */
export function Panel() {
  const place = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const name = dialog.value;
  useLayoutEffect(() => {
    if (name && place.current && !place.current.open) place.current.showModal();
  }, [name]);
  if (!name || !loaded.value) return null;
  const { title, content: Content } = PANELS[name];
  const onBackdrop = (/** @type {Event} */ event) => event.target === place.current && (dialog.value = "");
  return html`<dialog key=${name} ref=${place} class=${`panel panel-${name}`} aria-labelledby="panel-title" onClose=${() => (dialog.value = "")} onClick=${onBackdrop}>
    <header class="panel-head"><h2 id="panel-title">${title}</h2><${CommandButton} id="close" /></header>
    <div class="panel-body" tabindex="-1" autofocus=${name !== "search"}><${Content} /></div>
  </dialog>`;
}

/** @param {number} target a step */
function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/** Every claim once, the failed ones first. */
function Claims() {
  const { model, document } = current();
  const { claims } = document;
  /** @type {Map<number, number[]>} */
  const byStatement = new Map();
  claims.statement.forEach((statement, row) => {
    if (!byStatement.get(statement)?.push(row)) byStatement.set(statement, [row]);
  });
  const entries = [...byStatement.values()].map((found) => ({ found, row: found.find((row) => claims.held[row] !== true) ?? found[found.length - 1] }));
  const ordered = [...entries.filter(({ row }) => claims.held[row] !== true), ...entries.filter(({ row }) => claims.held[row] === true)];
  const failed = entries.length - entries.filter(({ row }) => claims.held[row] === true).length;
  return html`<p class="quiet">${counted(entries.length, "claim")} in ${counted(claims.held.length, "execution")}; ${failed ? `${failed} failed` : "all held"}.</p>
    <ol class="claim-list">${ordered.map(({ found, row }) => {
      const func = functionOf(model, model.stepActivation[claims.step[row]]);
      return html`<li><button class="claim-entry" title="Go to this claim" onClick=${() => leaveTo(claims.step[row])}>
        <${Claim} outcome=${outcomeOf(model, row)} text />
        <span class="claim-place">${func.title ? plainTitle(func.title) : func.name}${found.length > 1 && ` · ${found.length} times`}</span></button></li>`;
    })}</ol>`;
}

/** Search as one types. */
function Search() {
  const [query, setQuery] = useState("");
  const results = search(current().model, query);
  const first = results[0];
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (first) leaveTo(first.step);
  };
  return html`<form onSubmit=${submit}><input class="search-field" type="text" inputmode="search" autofocus placeholder="text, code or a name" aria-label="search" value=${query} onInput=${(/** @type {any} */ event) => setQuery(event.target.value)} /></form>
    <ul class="results" aria-live="polite">${results.map(({ step, kind, before, match, after, place }) => html`<li><button title="Go there" onClick=${() => leaveTo(step)}>
      <span class=${`result-text ${kind}`}>${before}<mark>${match}</mark>${after}</span><span class="result-place">${place}</span></button></li>`)}</ul>
    ${query.length > 1 && !results.length && html`<p class="quiet">Nothing that ran contains “${query}”.</p>`}`;
}

/** The table of keys. */
function Help() {
  const rows = (/** @type {"step" | "any"} */ where) => COMMANDS.filter((command) => command.where === where).map(({ keys, title }) => html`<tr><td>${keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</td><td>${title}</td></tr>`);
  return html`<table class="keys"><caption>Everywhere</caption><tbody>${rows("any")}</tbody></table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}><caption>In Step</caption><tbody>${rows("step")}</tbody></table>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>`;
}
