// Printing: the whole article, whatever was on the screen. Fetched a moment after the page, since a browser that prints
// does not wait.

import { options } from "preact";
import { colours, laidOut, loaded, printing } from "viewer/store.js";
import { styled } from "viewer/styles.js";

/** Milliseconds after which charts that are not drawn are given up. */
const PATIENCE = 30_000;

/** Disclosures that were closed. @type {HTMLDetailsElement[]} */
let unfolded = [];
let shade = "";
let place = 0;

/** Lay out everything, at once. */
function prepare() {
  if (!loaded.value || printing.value) return;
  place = scrollY;
  shade = document.documentElement.dataset.theme ?? "auto";
  document.documentElement.dataset.theme = "light";
  const debounce = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  printing.value = true;
  colours.value++;
  laidOut.value = new Set(loaded.value.sections.map(({ order }) => order));
  options.debounceRendering = debounce;
  unfolded = [...document.querySelectorAll("details")].filter((details) => !details.open && !details.matches(".folded:not(:has(> .folded-body))"));
  for (const details of unfolded) details.open = true;
}

/** Show again what was on the screen. */
function restore() {
  if (!printing.value) return;
  for (const details of unfolded) details.open = false;
  unfolded = [];
  document.documentElement.dataset.theme = shade;
  printing.value = false;
  colours.value++;
  requestAnimationFrame(() => scrollTo({ top: place, behavior: "instant" }));
}

/** Until each chart is drawn. */
async function charts() {
  const deadline = performance.now() + PATIENCE;
  while (document.querySelector(".chart-place:empty, .chart:empty") && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Lay out everything, wait for its charts, and open the browser's own dialog. */
export async function printPage() {
  prepare();
  await charts();
  await document.fonts.ready;
  window.print();
}

styled("print.css");
addEventListener("beforeprint", prepare);
addEventListener("afterprint", restore);
