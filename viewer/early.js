// What the address names, asked for before the rest of the page's code is there.

import { askAhead, embedded } from "viewer/state/fetching.js";
import { kept } from "viewer/state/kept.js";

/**
 * Show a chapter as its plain page has it, where there are such pages.
 * @param {string} file
 */
async function showPlain(file) {
  if (document.documentElement.dataset.parts === undefined) return;
  const response = await fetch(file, { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const first = page.getElementById("first");
  const app = document.getElementById("app");
  if (first && !app?.querySelector("main")) app?.before(first);
}

/** Let the rest of the page's code come. @param {boolean} isFront whether that of its front page */
function loadPage(isFront) {
  for (const name of ["later", isFront ? "front" : "chapters"]) {
    const part = /** @type {HTMLTemplateElement | null} */ (document.getElementById(name));
    if (part) document.head.append(part.content);
  }
}

/** Take up the reader's colours. */
function takeUpTheme() {
  const theme = kept("theme") ?? "";
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
}

/** Show what the address names. */
async function start() {
  document.documentElement.classList.add("served"); // a page opened as a file does not get here
  const { doc } = document.documentElement.dataset;
  // A regular expression is there at once, URLSearchParams is not.
  const named = /[#&]doc=([\w.-]+)(?=&|$)/.exec(location.hash);
  const name = embedded?.dataset.name ?? named?.[1] ?? doc;
  const answer = name ? askAhead(name) : null;
  takeUpTheme();
  const isElsewhere = /[#&](at=|mode=step|chapter=)/.test(location.hash);
  if (document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
  const chapter = /[#&]chapter=([\w%-]+)$/.exec(location.hash)?.[1];
  const isShort = location.hash.includes("&path=");
  if (chapter && name && !isShort) showPlain(`${name}.${chapter}.html`);
  const isThere = document.getElementById("first") !== null;
  let isFront = !isElsewhere && !document.documentElement.dataset.chapter;
  const begin = isElsewhere || isThere ? null : (await import("viewer/views/beginning.js")).begin;
  const first = begin && (await answer?.catch(() => null));
  if (first) {
    isFront = begin(first);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }
  loadPage(isFront);
}

start();
