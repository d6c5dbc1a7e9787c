// Wiring: address -> document -> page; its bar and its outline; keys.

import { computed, effect } from "@preact/signals";
import { Component, render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { documentOf, embedded, isOurServer } from "viewer/early.js";
import { integer } from "viewer/format.js";
import { CommandButton, html, Icon, later, memo } from "viewer/html.js";
import { onKey } from "viewer/keys.js";
import { functionOf } from "viewer/model.js";
import { readHash } from "viewer/navigate.js";
import { Failure, plainTitle, Read, Topics } from "viewer/read.js";
import { claimsWithin, sectionOfStep, titleOf } from "viewer/reading.js";
import { checkSize, DocumentError } from "viewer/schema.js";
import { Step } from "viewer/step.js";
import {
  current,
  dialog,
  fail,
  followScrolling,
  goTo,
  goToHash,
  listing,
  loaded,
  loading,
  mode,
  open,
  outlineShown,
  presenting,
  printing,
  problem,
  rested,
  step,
  theme,
  visibleSection,
} from "viewer/store.js";

const FOLDER = "traces/";
/** Milliseconds after which panels are fetched, to open at once. */
const LATER = 2000;

/** @param {string} file @returns {Promise<any>} */
async function fetchListing(file) {
  const response = await fetch(FOLDER + file, { cache: "no-cache" });
  const found = response.ok ? await response.json().catch(() => null) : null;
  const documents = Array.isArray(found?.documents) ? found.documents : [];
  return { documents, hasLocal: found?.local === true || isOurServer(response) };
}

/** The lectures of this site, and on the author's machine those that are not committed. */
async function fetchListings() {
  const index = await fetchListing("index.json");
  const local = index.hasLocal ? await fetchListing("index.local.json") : { documents: [] };
  listing.value = [...index.documents, ...local.documents];
}

/** @type {Promise<void> | undefined} */
let listings;

/** Whether to ask for seconds: where the list has them, and of our own server.
 * @param {string} name @param {Answer} answer */
async function hasTimes(name, { isLocal }) {
  if (!isLocal) await listings;
  return (
    isLocal || listing.value.some(({ file, times }) => file === `${name}.json` && times === true)
  );
}

/** Show what the address names. */
async function followAddress() {
  const { doc, at } = readHash(location.hash);
  const wanted =
    embedded?.dataset.name ||
    doc ||
    (at && loaded.value?.name) ||
    (listing.value.length === 1 ? listing.value[0].file.replace(/\.json$/, "") : "");
  dialog.value = "";
  if (loaded.value && loaded.value.name === wanted) return goToHash();
  loaded.value = null;
  problem.value = "";
  loading.value = true;
  if (wanted) await fetchDocument(wanted);
  else if (!listing.value.length)
    fail("No lecture has been recorded yet; run the tracer on one, then load this page again.");
  loading.value = false;
}

/** @param {string} name */
async function fetchDocument(name) {
  if (!/^[\p{ID_Continue}.-]+$/u.test(name))
    return fail("The address names no lecture of this site.");
  try {
    const answer = await documentOf(name);
    checkSize(answer.size);
    if (answer.found)
      open(
        name,
        answer.document,
        (await hasTimes(name, answer)) ? await fetchTimes(name, answer.document) : null,
      );
    else fail(`There is no lecture “${name}” here.`);
  } catch (error) {
    if (error instanceof DocumentError) return fail(error.message);
    fail("The lecture could not be fetched; is the server still running?");
  }
}

/** Seconds that were measured beside the document, if any. @param {string} name @param {any} lecture */
export async function fetchTimes(name, lecture) {
  const response = await fetch(`${FOLDER}${name}.times.json`, { cache: "no-cache" });
  if (response.status !== 200) return null;
  const { takeTimes } = await import("viewer/times.js");
  return takeTimes(lecture, await response.json().catch(() => null));
}

/** Start the page. */
async function start() {
  document.getElementById("not-served")?.remove();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  addEventListener("keydown", onKey);
  addEventListener("hashchange", followAddress);
  followScrolling();
  listings = embedded ? undefined : fetchListings().catch(() => {});
  if (!readHash(location.hash).doc) await listings;
  await followAddress();
  setTimeout(() => rested().then(() => import("viewer/dialogs.js")), LATER);
}

/** Take away the first lines, which stood in for the page. */
function removeFirst() {
  document.getElementById("first")?.remove();
}

const Home = later(async () => (await import("viewer/home.js")).Home);
const Panel = later(async () => (await import("viewer/dialogs.js")).Panel);
const Present = later(async () => (await import("viewer/present.js")).Present);
const Sentence = later(async () => (await import("viewer/home.js")).Problem);

/** A sentence instead of a document. */
function Problem() {
  useLayoutEffect(removeFirst, []);
  return html`<${Sentence} />`;
}

/** Catches what a malformed document does to a component, so that the page says something. */
export class App extends Component {
  /** @param {Error} error */
  componentDidCatch(error) {
    console.warn(error);
    fail(`A part of this document cannot be shown (${error.message}); record it again.`);
  }

  /** */
  render() {
    if (problem.value) return html`<${Problem} />`;
    if (loading.value)
      return document.getElementById("first")
        ? null
        : html`<p class="notice-inline" role="status">Loading…</p>`;
    return loaded.value ? html`<${Page} key=${loaded.value.model} />` : html`<${Home} />`;
  }
}

/** A document. */
function Page() {
  useLayoutEffect(removeFirst, []);
  const wide = outlineShown.value && current().sections.length > 1;
  const panel = dialog.value && html`<${Panel} />`;
  if (presenting.value && !printing.value) return html`<${Present} />${panel}`;
  return html`<a class="skip" href=${mode.value === "read" ? "#article" : "#stepping"} onClick=${skip}>Skip to the lecture</a>
    <${Bar} />
    <div class=${`page mode-${mode.value} ${wide ? "with-outline" : ""}`}>
      ${wide && html`<div class="sidebar"><${Outline} /></div>`}
      <div class="content">${mode.value === "read" || printing.value ? html`<${Failure} /><${Read} />` : html`<${Step} />`}</div>
    </div>
    ${panel}`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.querySelector("main")?.focus();
}

/** Name, modes and panels. */
function Bar() {
  const { document, model } = current();
  const { held } = document.claims;
  const failed = held.filter((outcome) => outcome !== true).length;
  const claims = new Set(document.claims.statement).size;
  return html`<header class="bar">
    <${CommandButton} id="outline" class="icon" />
    <a class="bar-title" href="#" title="All lectures">${titleOf(model)}</a>
    <span class="bar-spacer"></span>
    <${CommandButton} id="mode" class="modes"><span class=${mode.value === "read" ? "on" : ""}>Read</span><span class=${mode.value === "step" ? "on" : ""}>Step</span></${CommandButton}>
    <${CommandButton} id="claims" class=${failed ? "failed" : "held"}>${failed ? `✗ ${integer(failed)}` : `✓ ${integer(claims)}`}<span class="wide-only"> ${failed ? "failed" : claims === 1 ? "claim" : "claims"}</span></${CommandButton}>
    <${CommandButton} id="costs" class="icon wide-only" />
    <${CommandButton} id="search" class="icon" />
    <${CommandButton} id="theme" class="icon wide-only"><${Icon} name=${theme.value} /></${CommandButton}>
    <${CommandButton} id="menu" class="icon" />
  </header>`;
}

/** @param {{claims: number, failed: number}} properties */
function Count({ claims, failed }) {
  if (failed)
    return html`<span class="outline-claims failed" title="failed claims">✗ ${failed}</span>`;
  return claims
    ? html`<span class="outline-claims" title="claims that held">✓ ${claims}</span>`
    : null;
}

/** @type {View<{section: CountedSection, here: boolean}>} */
const Entry = memo(({ section, here }) => {
  const { activation, depth, first, func, counts } = section;
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.value = "";
    goTo(first, { jump: true });
  };
  return html`<li class=${`outline-entry depth-${depth}`}>
    <a href=${`#activation-${activation}`} aria-current=${here ? "location" : null} onClick=${open}>
      <span class="outline-title">${func.title ? plainTitle(func.title) : func.name} <span class="outline-topics"><${Topics} labels=${func.labels} /></span></span>
      <${Count} ...${counts} />
    </a></li>`;
});

/** @param {CountedSection[]} sections @param {number} here */
function entries(sections, here) {
  return html`<ol>${sections.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>`;
}

/** @type {View<OutlineChapter & {here: number}>} here: the section that is read, if it is of this chapter, or -1 */
const Chapter = memo(({ title, sections, here }) => {
  const [open, setOpen] = useState(here >= 0);
  useLayoutEffect(() => {
    if (here >= 0) setOpen(true);
  }, [here >= 0]);
  const counts = /** @type {CountedSection[]} */ (sections).flatMap(({ depth, counts }) =>
    depth === 1 ? [counts] : [],
  );
  const claims = counts.reduce((sum, count) => sum + count.claims, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return html`<details class="chapter" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary><span>${title}</span><${Count} claims=${claims} failed=${failed} /></summary>
    ${entries(sections, here)}
  </details>`;
});

/** The activation of the section that is read or stepped through, or -1. */
const shownSection = computed(() => {
  if (mode.value === "read" || !loaded.value) return visibleSection.value;
  return sectionOfStep(loaded.value.sections, step.value)?.activation ?? -1;
});

/** @returns {OutlineChapter[]} one without a title where the table of contents has no headings */
function chaptersOf() {
  const { model, sections } = current();
  /** @type {OutlineChapter[]} */
  const chapters = [];
  for (const section of sections) {
    if (section.depth === 0 || section.depth > 3) continue;
    if (section.chapter || !chapters.length)
      chapters.push({ title: section.chapter, sections: [] });
    chapters[chapters.length - 1].sections.push({
      ...section,
      func: functionOf(model, section.activation),
      counts: claimsWithin(model, section),
    });
  }
  return chapters;
}

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { document } = current();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const chapters = useMemo(chaptersOf, [document]);
  const here =
    shownSection.value > 0 ? shownSection.value : (chapters[0]?.sections[0].activation ?? -1);
  useEffect(() => {
    // `scrollIntoView` would move the page too.
    const box = place.current?.closest(".sidebar, .panel-body");
    const entry = place.current?.querySelector("[aria-current]")?.getBoundingClientRect();
    if (!box || !entry) return;
    const { top, bottom } = box.getBoundingClientRect();
    box.scrollTop += Math.min(0, entry.top - top) + Math.max(0, entry.bottom - bottom);
  }, [here]);
  return html`<nav class="outline" aria-label="outline" ref=${place}>${chapters.map(
    ({ title, sections }) =>
      title
        ? html`<${Chapter} key=${sections[0].activation} title=${title} sections=${sections} here=${sections.some(({ activation }) => activation === here) ? here : -1} />`
        : entries(sections, shownSection.value),
  )}</nav>`;
}

effect(() => {
  document.title = loaded.value ? titleOf(loaded.value.model) : "Executable lectures";
});
start();
