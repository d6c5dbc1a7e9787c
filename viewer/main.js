// Wiring: address -> document -> page; keys; what a screen reader hears.

import { effect } from "@preact/signals";
import { Component, render } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { documentOf, isOurServer } from "viewer/early.js";
import { integer, narrate } from "viewer/format.js";
import { CommandButton, html, Icon, later } from "viewer/html.js";
import { onKey } from "viewer/keys.js";
import { readHash } from "viewer/navigate.js";
import { Outline, Panel } from "viewer/panels.js";
import { Failure, Read } from "viewer/read.js";
import { titleOf } from "viewer/reading.js";
import { checkSize, DocumentError } from "viewer/schema.js";
import { current, dialog, fail, followScrolling, goToHash, listing, loaded, loading, mode, open, outlineShown, problem, startTheme, step, theme } from "viewer/store.js";
import { Step } from "viewer/step.js";

const FOLDER = "traces/";
/** Milliseconds after which the panels are fetched, so that they open at once, even when the server has ended. */
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

/** A page that was exported as one file carries its document in `<script type="application/json" id="document">`. */
function embeddedName() {
  return document.getElementById("document")?.dataset.name ?? "";
}

/** What is being fetched: the lists of documents. @type {Promise<void> | undefined} */
let listings;

/** Whether there may be seconds beside a document: the list says so, and our own server answers in any case.
 * @param {string} name @param {Answer} answer */
async function hasTimes(name, { isLocal }) {
  if (!isLocal) await listings;
  return isLocal || listing.value.some(({ file, times }) => file === `${name}.json` && times === true);
}

/** Show what the address names. */
async function followAddress() {
  const wanted = embeddedName() || readHash(location.hash).doc || (listing.value.length === 1 ? listing.value[0].file.replace(/\.json$/, "") : "");
  dialog.value = "";
  if (loaded.value && loaded.value.name === wanted) return goToHash();
  loaded.value = null;
  problem.value = "";
  loading.value = true;
  if (wanted) await fetchDocument(wanted);
  else if (!listing.value.length) fail("No lecture has been recorded yet; run: python -m trace lecture.main");
  loading.value = false;
}

/** @param {string} name */
async function fetchDocument(name) {
  if (!/^[\w.-]+$/.test(name)) return fail("The address names no lecture of this site.");
  try {
    const answer = await documentOf(name);
    checkSize(answer.size);
    if (answer.found) open(name, answer.document, (await hasTimes(name, answer)) ? await fetchTimes(name, answer.document) : null);
    else fail(`There is no lecture “${name}” here; record it with: python -m trace ${name}`);
  } catch (error) {
    if (error instanceof DocumentError) return fail(error.message);
    fail("The lecture could not be fetched; is the server still running? python -m trace lecture.main --serve");
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
  startTheme();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  addEventListener("keydown", onKey);
  addEventListener("hashchange", followAddress);
  followScrolling();
  listings = embeddedName() ? undefined : fetchListings().catch(() => {});
  if (!readHash(location.hash).doc) await listings;
  await followAddress();
  setTimeout(() => import("viewer/dialogs.js"), LATER);
}

/** Take away the first lines, which stood in for the page. */
function removeFirst() {
  document.getElementById("first")?.remove();
}

const Home = later(async () => (await import("viewer/home.js")).Home);
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
    fail(`A part of this document cannot be shown (${error.message}); record it again: python -m trace lecture.main`);
  }

  /** */
  render() {
    if (problem.value) return html`<${Problem} />`;
    if (loading.value) return document.getElementById("first") ? null : html`<p class="notice-inline" role="status">Loading…</p>`;
    return loaded.value ? html`<${Page} key=${loaded.value.model} />` : html`<${Home} />`;
  }
}

/** A document. */
function Page() {
  useLayoutEffect(removeFirst, []);
  const wide = outlineShown.value && current().sections.length > 1;
  return html`<a class="skip" href="#article" onClick=${skip}>Skip to the lecture</a>
    <${Bar} />
    <div class=${`page mode-${mode.value} ${wide ? "with-outline" : ""}`}>
      ${wide && html`<div class="sidebar"><${Outline} /></div>`}
      <div class="content">${mode.value === "read" ? html`<${Failure} /><${Read} />` : html`<${Step} />`}</div>
    </div>
    <${Panel} />`;
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
    <${CommandButton} id="search" class="icon" />
    <${CommandButton} id="theme" class="icon"><${Icon} name=${theme.value} /></${CommandButton}>
    <${CommandButton} id="help" class="icon wide-only" />
  </header>`;
}

/** A screen reader speaks of the step at which one rests. */
const NARRATION_DELAY = 100;
let narration = 0;

effect(() => {
  document.title = loaded.value ? titleOf(loaded.value.model) : "Executable lectures";
});
effect(() => {
  clearTimeout(narration);
  if (!loaded.value || mode.value !== "step") return;
  const { model } = loaded.value;
  const at = step.value;
  narration = setTimeout(() => {
    const live = document.getElementById("live");
    if (live) live.textContent = narrate(model, at);
  }, NARRATION_DELAY);
});
start();
