// The lectures of this site, and the one that the address names.

import { checked, DocumentError } from "viewer/model/check.js";
import { completed } from "viewer/model/packing.js";
import { followPath, goToHash, readAddress } from "viewer/state/address.js";
import { documentOf, embedded, isOurServer } from "viewer/state/fetching.js";
import { checkSize, complete, fail, open } from "viewer/state/opening.js";
import {
  course,
  current,
  dialog,
  listing,
  loaded,
  loading,
  notice,
  problem,
} from "viewer/state/state.js";

const FOLDER = "traces/";

/** @param {string} file @returns {Promise<any>} */
async function fetchListing(file) {
  const response = await fetch(FOLDER + file, { cache: "no-cache" });
  const found = response.ok ? await response.json().catch(() => null) : null;
  const documents = Array.isArray(found?.documents) ? found.documents : [];
  return { documents, course: found?.course ?? {}, hasLocal: isOurServer(response) };
}

/** Whether the tool serves this page, which reads traces of other tools. */
export let hasTool = false;

/** The lectures of this site, and on the author's machine those that are not committed. */
async function fetchListings() {
  const index = await fetchListing("index.json");
  const local = index.hasLocal ? await fetchListing("index.local.json") : { documents: [] };
  listing.value = [...index.documents, ...local.documents];
  hasTool = index.hasLocal;
  course.value = index.course;
  if (Object.keys(index.course).length)
    (await import("viewer/state/branding.js")).takeUpCourse(index.course);
}

/** @type {Promise<void> | undefined} */
let listings;

let endFirstLook = () => {};

/** Ends when what the address named first is shown, or said to be missing. @type {Promise<void>} */
export const firstLook = new Promise((resolve) => (endFirstLook = resolve));

/** Fetch the list of lectures, and show what the address names. */
export async function start() {
  listings = embedded ? undefined : fetchListings().catch(() => {});
  if (!readAddress().doc) await listings;
  await followAddress();
  endFirstLook();
}

/** Whether to ask for seconds: where the list has them, and of our own server.
 * @param {string} name @param {Answer} answer */
async function hasTimes(name, { isLocal }) {
  if (!isLocal) await listings;
  return isLocal || Boolean(machine) || entryOf(name)?.times === true;
}

/** @param {string} name of a document */
function entryOf(name) {
  return listing.value.find(({ file }) => file === `${name}.json`);
}

/** Whose seconds are shown: a label, or nothing for those that lie beside the document itself. */
let machine = "";

/**
 * The machines to choose from, and the one that is chosen; none where there is no choice.
 * @param {string} name of a document
 * @returns {{labels: string[], chosen: string}}
 */
export function machinesOf(name) {
  const entry = entryOf(name);
  const labels = [...(entry?.times ? [""] : []), ...(entry?.machines ?? [])];
  return { labels: entry?.machines ? labels : [], chosen: machine };
}

/** Show the seconds of another machine. @param {string} label */
export async function chooseMachine(label) {
  machine = label;
  const name = loaded.value?.name;
  if (name) await fetchDocument(name);
}

/** Show what the address names. */
export async function followAddress() {
  const { doc, at } = readAddress();
  const wanted =
    embedded?.dataset.name ||
    doc ||
    (at && loaded.value?.name) ||
    (listing.value.length === 1 ? listing.value[0].file.replace(/\.json$/, "") : "");
  dialog.value = "";
  if (loaded.value && loaded.value.name === wanted) {
    followPath();
    return goToHash();
  }
  loaded.value = null;
  machine = "";
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
    if (!answer.found) return fail(`There is no lecture “${name}” here.`);
    open(name, answer.document);
    addMeasured(name, answer);
  } catch (error) {
    if (error instanceof DocumentError) return fail(error.message);
    fail("The lecture could not be fetched; is the server still running?");
  }
}

/**
 * Add what is not needed to begin reading to the document that was opened: values, where they come
 * apart from the text, and seconds, where somebody measured them.
 * @param {string} name
 * @param {Answer} answer
 */
async function addMeasured(name, answer) {
  const opened = loaded.value?.all;
  if (!opened) return;
  const isShown = () => loaded.value?.all === opened;
  try {
    const rest = await answer.rest;
    const whole = rest ? checked(completed(answer.document, rest)) : current().document;
    if (rest && isShown()) complete(whole, null);
    const times = (await hasTimes(name, answer)) ? await fetchTimes(name, whole) : null;
    if (times && isShown()) complete(whole, times);
  } catch {
    if (isShown()) notice.value = "What was measured could not be fetched: load the page again.";
  }
}

/**
 * Seconds that were measured beside the document, if any.
 * @param {string} name
 * @param {any} lecture
 */
export async function fetchTimes(name, lecture) {
  const file = [name, machine, "times.json"].filter(Boolean).join(".");
  const response = await fetch(`${FOLDER}${file}`, { cache: "no-cache" });
  if (response.status !== 200) return null;
  const { takeTimes } = await import("viewer/model/times.js");
  return takeTimes(lecture, await response.json().catch(() => null));
}
