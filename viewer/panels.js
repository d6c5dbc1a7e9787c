// Panels over the page: claims, search, keys; and the outline, a panel on small screens only.

import { computed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "viewer/format.js";
import { CommandButton, html, keyName } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { activationOf, functionOf } from "viewer/model.js";
import { Claim, outcomeOf, plainTitle, Topics } from "viewer/read.js";
import { claimsWithin, sectionOfStep } from "viewer/reading.js";
import { current, dialog, goTo, loaded, mode, step, visibleSection } from "viewer/store.js";
import { search } from "viewer/navigate.js";

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
function Claims() {
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
function Search() {
  const [query, setQuery] = useState("");
  const results = search(current().model, query);
  const first = results[0];
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (first) leaveTo(first.step);
  };
  return html`<form onSubmit=${submit}><input class="search-field" type="text" inputmode="search" autofocus placeholder="text, code, a name, a value or the number of a step" aria-label="search" value=${query} onInput=${(/** @type {any} */ event) => setQuery(event.target.value)} /></form>
    <ul class="results" aria-live="polite">${results.map(({ step, kind, before, match, after, place }) => html`<li><button title="Go there" onClick=${() => leaveTo(step)}>
      <span class=${`result-text ${kind}`}>${before}<mark>${match}</mark>${after}</span><span class="result-place">${place}</span></button></li>`)}</ul>
    ${query.trim().length > 1 && !results.length && html`<p class="quiet">Nothing that ran contains “${query}”.</p>`}`;
}

/** The table of keys. */
function Help() {
  const rows = (/** @type {"step" | "any"} */ where) => COMMANDS.filter((command) => command.where === where).map(({ keys, title }) => html`<tr><td>${keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</td><td>${title}</td></tr>`);
  return html`<table class="keys"><caption>Everywhere</caption><tbody>${rows("any")}</tbody></table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}><caption>In Step</caption><tbody>${rows("step")}</tbody></table>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>`;
}

/** @param {{claims: number, failed: number}} properties */
function Count({ claims, failed }) {
  if (failed) return html`<span class="outline-claims failed" title="failed claims">✗ ${failed}</span>`;
  return claims ? html`<span class="outline-claims" title="claims that held">✓ ${claims}</span>` : null;
}

/** @param {{section: Section, here: boolean}} properties */
function Entry({ section, here }) {
  const { model } = current();
  const { activation, depth, first } = section;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const func = functionOf(model, activation);
  useLayoutEffect(() => {
    if (here) place.current?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.value = "";
    goTo(first, { jump: true });
  };
  return html`<li class=${`outline-entry depth-${depth}`} ref=${place}>
    <a href=${`#activation-${activation}`} aria-current=${here ? "location" : null} onClick=${open}>
      <span class="outline-title">${func.title ? plainTitle(func.title) : func.name} <span class="outline-topics"><${Topics} labels=${func.labels} /></span></span>
      <${Count} ...${claimsWithin(model, section)} />
    </a></li>`;
}

/** @param {{title: string, sections: Section[], here: number}} properties */
function Chapter({ title, sections, here }) {
  const { model } = current();
  const holdsHere = sections.some(({ activation }) => activation === here);
  const [open, setOpen] = useState(holdsHere);
  useLayoutEffect(() => {
    if (holdsHere) setOpen(true);
  }, [holdsHere]);
  const counts = sections.filter(({ depth }) => depth === 1).map((section) => claimsWithin(model, section));
  const claims = counts.reduce((sum, count) => sum + count.claims, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return html`<details class="chapter" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary><span>${title}</span><${Count} claims=${claims} failed=${failed} /></summary>
    <ol>${sections.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>
  </details>`;
}

/** The activation of the section that is read or stepped through, or -1. */
const shownSection = computed(() => {
  if (mode.value === "read" || !loaded.value) return visibleSection.value;
  return sectionOfStep(loaded.value.sections, step.value)?.activation ?? -1;
});

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { sections } = current();
  const shown = sections.filter((section) => section.depth > 0 && section.depth < 4);
  const here = shownSection.value;
  /** @type {{title: string, sections: Section[]}[]} */
  const chapters = [];
  for (const section of shown) {
    if (section.chapter || !chapters.length) chapters.push({ title: section.chapter, sections: [] });
    chapters[chapters.length - 1].sections.push(section);
  }
  return html`<nav class="outline" aria-label="outline">${chapters.map(({ title, sections: own }, index) => (title
    ? html`<${Chapter} key=${index} title=${title} sections=${own} here=${here > 0 ? here : shown[0].activation} />`
    : html`<ol>${own.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>`))}</nav>`;
}
