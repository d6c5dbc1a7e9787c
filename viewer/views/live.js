// Follows a lecture while it is written: `python -m trace --watch` adds this to the page and sends
// news of each run.

import { DocumentError } from "viewer/model/check.js";
import { sameStep } from "viewer/model/recordings.js";
import { clamp } from "viewer/model/run.js";
import { goTo, noteReading, readAddress } from "viewer/state/address.js";
import { firstVisibleStep } from "viewer/state/article.js";
import { documentOf } from "viewer/state/fetching.js";
import { fetchTimes, firstLook } from "viewer/state/library.js";
import { checkSize, fail, open } from "viewer/state/opening.js";
import { focus, loaded, loading, mode, problem, step } from "viewer/state/state.js";

/** Milliseconds after which it is worth saying that the lecture runs. */
const PATIENCE = 400;

/** @typedef {{state: string, document: string, recorded: string, sentence: string}} News */

const notice = document.body.appendChild(document.createElement("div"));
notice.className = "live-notice";
notice.setAttribute("role", "status");

/** When the document that is shown was recorded. */
let shown =
  /** @type {HTMLElement} */ (document.querySelector("script[data-recorded]")).dataset.recorded ??
  "";
let patience = 0;

/** @param {string} text @param {boolean} [isWrong] */
function say(text, isWrong = false) {
  clearTimeout(patience);
  notice.textContent = text;
  notice.classList.toggle("wrong", isWrong);
}

/** @param {News} news */
async function hear({ state, document: name, recorded, sentence }) {
  clearTimeout(patience);
  await firstLook; // what the page itself finds missing is not to cover the news
  if (loaded.value && loaded.value.name !== name) return; // of another lecture that is watched
  if (state === "running" && recorded)
    patience = setTimeout(() => say("The lecture is running again …"), PATIENCE);
  else if (state === "running") say("The lecture is running for the first time …");
  if (recorded !== shown) {
    shown = recorded;
    await showAgain(name);
  }
  if (state !== "running") say(sentence, state === "failed");
  if (!loaded.value && !recorded && isWanted(name)) wait(state === "running" ? "" : sentence);
}

/** Whether the address names this document. @param {string} name */
function isWanted(name) {
  return readAddress().doc === name;
}

/** While there is no document yet, say why; no sentence: it will come. @param {string} sentence */
function wait(sentence) {
  if (sentence) fail(sentence);
  else problem.value = "";
  loading.value = !sentence;
}

/** Fetch the document anew and show it where the reader was. @param {string} name */
async function showAgain(name) {
  const before = loaded.value;
  if (before ? before.name !== name : !isWanted(name)) return;
  const answer = await documentOf(name);
  try {
    checkSize(answer.size);
  } catch (error) {
    return fail(error instanceof DocumentError ? error.message : String(error));
  }
  if (!answer.found) return;
  const times = answer.isLocal ? await fetchTimes(name, answer.document) : null;
  const place = before && placeNow(before.model);
  const view = mode.value;
  open(name, answer.document, times);
  loading.value = false;
  if (!before || !place || !loaded.value) return;
  const { model } = loaded.value;
  const line = sameStep(before.model, model, place.line);
  goTo(sameStep(before.model, model, place.step), { to: view });
  if (line >= 0) noteReading(line);
  if (line >= 0) focus.value = { step: line, top: place.top };
}

/**
 * The step that is shown, and where on the screen the first line of an article is.
 * @param {Model} model
 */
function placeNow(model) {
  const line = mode.value === "read" ? firstVisibleStep(step.value) : -1;
  return {
    step: clamp(model, step.value),
    line,
    top: lineOf(line)?.getBoundingClientRect().top ?? 0,
  };
}

/** @param {number} wanted a step @returns {Element | null} */
function lineOf(wanted) {
  return document.querySelector(`#article [data-step="${wanted}"]`);
}

/**
 * Listen while the page can be seen: browsers allow few connections, and a hidden page will hear
 * the latest news later.
 */
let source = /** @type {EventSource | null} */ (null);

/** One piece of news after the other. @type {Promise<void>} */
let heard = Promise.resolve();

/** */
function listen() {
  source?.close();
  source = document.hidden ? null : new EventSource("news");
  if (!source) return;
  source.onmessage = ({ data }) => (heard = heard.then(() => hear(JSON.parse(data))));
  source.onerror = () => say("The server has ended; start it again to go on.", true);
}

document.addEventListener("visibilitychange", listen);
listen();
