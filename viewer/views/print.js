// Printing: the whole article, whatever was on the screen. Fetched a moment after the page, since a
// browser that prints does not wait.

import { options } from "preact";
import { styled } from "viewer/parts/styles.js";
import { density, laidOut, loaded, printing } from "viewer/state/state.js";
import { colours } from "viewer/state/theme.js";
import { Article } from "viewer/views/article.js";
import { article } from "viewer/views/articles.js";
import "viewer/views/calls.js";
import "viewer/views/caption.js";
import "viewer/views/map.js";

/** Milliseconds after which charts that are not drawn are given up. */
const PATIENCE = 30_000;

/** Disclosures that were closed. @type {HTMLDetailsElement[]} */
let unfolded = [];
let shade = "";
let place = 0;

/**
 * Draw at once what changes meanwhile, and start its charts: a browser that prints by its own
 * command waits for no frame. Charts whose libraries are there are drawn in the promises that it
 * does wait for.
 * @param {() => void} change
 */
function atOnce(change) {
  const { debounceRendering, requestAnimationFrame: frame } = options;
  /** @type {(() => void)[]} */
  const effects = [];
  options.debounceRendering = (draw) => draw();
  options.requestAnimationFrame = (flush) => effects.push(flush);
  change();
  Object.assign(options, { debounceRendering, requestAnimationFrame: frame });
  for (const flush of effects) flush();
}

/** Lay out everything, at once. */
function prepare() {
  if (!loaded.value || printing.value) return;
  const { sections } = loaded.value;
  place = scrollY;
  shade = document.documentElement.dataset.theme ?? "auto";
  document.documentElement.dataset.theme = "light";
  document.documentElement.classList.toggle("sheet", density.value === "story");
  atOnce(() => {
    printing.value = true;
    colours.value++;
    laidOut.value = new Set(sections.map(({ order }) => order));
  });
  for (const link of document.querySelectorAll(".prose a"))
    link.classList.toggle("spelled", link.textContent === link.getAttribute("href"));
  unfolded = [...document.querySelectorAll("details")].filter(
    (details) => !details.open && !details.matches(".folded:not(:has(> .folded-body))"),
  );
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

/** Until each chart is drawn, also those that are drawn again. */
async function charts() {
  const deadline = performance.now() + PATIENCE;
  do await new Promise((resolve) => setTimeout(resolve, 50));
  while (
    document.querySelector(".chart-place:empty, .chart:empty") &&
    performance.now() < deadline
  );
}

/** Lay out everything, wait for its charts, and open the browser's own dialog. */
export async function printPage() {
  prepare();
  await charts();
  await document.fonts.ready;
  window.print();
}

article.value = Article;
styled("print.css");
addEventListener("beforeprint", prepare);
addEventListener("afterprint", restore);
