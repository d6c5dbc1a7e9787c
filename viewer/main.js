// Wiring: address -> document -> page; keys; what a screen reader hears.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "viewer/app.js";
import { html } from "viewer/html.js";
import { onKey } from "viewer/keys.js";
import { narrate } from "viewer/narration.js";
import { followScrolling } from "viewer/progress.js";
import { titleOf } from "viewer/reading.js";
import { readHash } from "viewer/state.js";
import { dialog, fail, goToHash, listing, loaded, loading, mode, open, problem, step } from "viewer/store.js";
import { startTheme } from "viewer/theme.js";

const FOLDER = "traces/";

/** @param {string} file @returns {Promise<any>} */
async function fetchListing(file) {
  const response = await fetch(FOLDER + file, { cache: "no-cache" });
  const found = response.ok ? await response.json().catch(() => null) : null;
  const documents = Array.isArray(found?.documents) ? found.documents : [];
  return { documents, hasLocal: found?.local === true || isOurServer(response) };
}

/** Whether the server is `python -m trace --serve`, which always has a local index. Another server would answer
 * 404, which browsers print as an error. @param {Response} response */
function isOurServer(response) {
  return ["127.0.0.1", "localhost"].includes(location.hostname) && response.headers.get("X-Content-Type-Options") === "nosniff";
}

/** The lectures of this site, and on the author's machine those that are not committed. */
async function fetchListings() {
  const index = await fetchListing("index.json");
  const local = index.hasLocal ? await fetchListing("index.local.json") : { documents: [] };
  listing.value = [...index.documents, ...local.documents];
}

/** A page that was exported as one file carries its document in `<script type="application/json" id="document">`.
 * @returns {boolean} whether there is one */
function openEmbedded() {
  const embedded = document.getElementById("document");
  if (embedded) open(embedded.dataset.name ?? "document", embedded.textContent ?? "");
  return embedded !== null;
}

/** Show what the address names. */
async function followAddress() {
  const wanted = readHash(location.hash).doc || (listing.value.length === 1 ? listing.value[0].file.replace(/\.json$/, "") : "");
  dialog.value = "";
  if (loaded.value && loaded.value.name === wanted) return goToHash();
  loaded.value = null;
  problem.value = "";
  loading.value = true;
  if (openEmbedded()) loading.value = false;
  else if (wanted) await fetchDocument(wanted);
  else if (!listing.value.length) fail("No lecture has been recorded yet; run: python -m trace lecture.main");
  loading.value = false;
}

/** @param {string} name */
async function fetchDocument(name) {
  if (!/^[\w.-]+$/.test(name)) return fail("The address names no lecture of this site.");
  try {
    const response = await fetch(`${FOLDER}${name}.json`, { cache: "no-cache" });
    if (response.ok) open(name, await response.text());
    else fail(`There is no lecture “${name}” here; record it with: python -m trace ${name}`);
  } catch {
    fail("The lecture could not be fetched; is the server still running? python -m trace lecture.main --serve");
  }
}

/** Start the page. */
async function start() {
  document.getElementById("not-served")?.remove();
  startTheme();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  addEventListener("keydown", onKey);
  addEventListener("hashchange", followAddress);
  followScrolling();
  if (!document.getElementById("document")) await fetchListings().catch(() => {});
  await followAddress();
}

effect(() => {
  document.title = loaded.value ? titleOf(loaded.value.model) : "Executable lectures";
});
effect(() => {
  const live = document.getElementById("live");
  if (live && loaded.value && mode.value === "step") live.textContent = narrate(loaded.value.model, step.value);
});
start();
