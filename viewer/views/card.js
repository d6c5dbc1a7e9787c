// One card beside the line in focus: values, claims and costs. Fetched once an article is shown.

import { render } from "preact";
import { effect } from "@preact/signals";
import { namesOn } from "viewer/model/names.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { takeFocus } from "viewer/state/article.js";
import { command } from "viewer/state/commands.js";
import { isHolding } from "viewer/state/holding.js";
import {
  current,
  density,
  dialog,
  mode,
  openDefinition,
  presenting,
  printing,
} from "viewer/state/state.js";
import { leadLate } from "viewer/views/cells.js";
import { notesOf } from "viewer/views/line.js";

styled("card.css");

/** Where on the screen a line comes into focus by scrolling, from the top, and how far around. */
const EYE = 0.38;
const AROUND = 0.2;

/** Milliseconds after which who has scrolled is reading. */
const REST = 180;

/** Lines that measured something. */
const TELLING = "#article .line.has-notes";

/** More than the tick, which stands beside the line already. */
const SAYING = ".card > :not(.claim.bare, .card-legend)";

/** What was measured, and not only names that lead somewhere. */
const MEASURED = ".card > :not(.claim.bare, .card-legend, .card-names)";

const host = document.createElement("div");
host.className = "card-place";

/** @type {HTMLElement | null} */
let shown = null;

/** Whether a key led to it: then it stays until the reader does something else. */
let isKept = false;

/**
 * Names on the line that are defined in this document, for those who do not point at them.
 * @param {{file: number, text: string}} properties
 */
function Names({ file, text }) {
  const names = namesOn(current().document, file, text);
  if (!names.length) return null;
  return html`<div class="card-names">
    ${names.map(
      ({ name, definition }) =>
        html`<button
          class="card-name"
          title=${definition.text || "Its definition"}
          onClick=${() => openDefinition(definition)}
        >
          ${name}
        </button>`,
    )}
  </div>`;
}

/** @param {{steps: number[], unfolded: boolean, file: number, text: string}} properties */
function Card({ steps, unfolded, file, text }) {
  const legend = command("legend");
  return html`<div class="card" role="note" aria-label="what this line measured">
    ${steps.flatMap((step) => notesOf(step, unfolded))}
    <${Names} file=${file} text=${text} />
    <button class="card-legend" title=${legend.title} onClick=${legend.run}>?</button>
  </div>`;
}

/** Take the card away. */
function clear() {
  if (shown) render(null, host);
  host.remove();
  shown?.classList.remove("in-focus");
  shown = null;
}

/** Pixels by which a card may reach over its line, as its frame does. */
const EDGE = 8;

/**
 * Whether the card stands before what is shown beside another line.
 * @param {HTMLElement} line
 * @param {number} from where on the screen that may be in the way begins
 */
function covers(line, from) {
  const to = host.getBoundingClientRect().bottom;
  const row = line.closest(".row-line") ?? line;
  const others = line.closest(".section")?.querySelectorAll(".beside-line, .scrubber") ?? [];
  return [...others].some((other) => {
    const { top, bottom, height } = other.getBoundingClientRect();
    const own = other.matches(".scrubber") ? row : line;
    return height > 0 && !own.contains(other) && top < to && bottom > from;
  });
}

/** The part of the screen below which a card is not moved out of the way. */
const FARTHEST = 0.4;

/** Pixels that a card needs to stand to the right of values. */
const NARROWEST = 170;

/** How far to the right something reaches with what it shows. @param {Element} element */
function endOf(element) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const ends = [...element.querySelectorAll("svg, canvas, img")].map(
    (drawn) => drawn.getBoundingClientRect().right,
  );
  while (texts.nextNode()) {
    range.selectNodeContents(texts.currentNode);
    ends.push(range.getBoundingClientRect().right);
  }
  return Math.max(0, ...ends);
}

/**
 * Values of the lines above may reach down to here: the card stands to the right of them, or else
 * below, and hides nothing.
 * @param {HTMLElement} line
 */
function makeRoom(line) {
  host.removeAttribute("style");
  const { top, left, right } = host.getBoundingClientRect();
  const above = [...(line.closest(".section")?.querySelectorAll(".beside-line") ?? [])]
    .filter((other) => !line.contains(other))
    .map((other) => ({ other, ...other.getBoundingClientRect().toJSON() }))
    .filter((box) => box.height > 0 && box.top < top && box.bottom > top + EDGE);
  if (!isBeside() || !above.length) return;
  const begin = Math.max(...above.map(({ other }) => endOf(other))) + 4 * EDGE;
  const lower = Math.max(...above.map(({ bottom }) => bottom)) + EDGE - top;
  if (right - begin >= NARROWEST) {
    host.style.marginLeft = `${begin - left}px`;
    host.style.width = `${right - begin}px`;
    return;
  }
  if (lower < FARTHEST * innerHeight) host.style.top = `${lower}px`;
  if (covers(line, top + lower)) host.style.top = "";
}

/**
 * Put the card beside a line, if it has enough to say.
 * @param {HTMLElement | null | undefined} line
 * @param {string} [least] what it has to hold
 */
function show(line, least = SAYING) {
  if (line === shown || !line) return;
  clear();
  if (density.value === "everything" || printing.value || presenting.value) return;
  const steps = (line.dataset.steps ?? "").split(" ").filter(Boolean).map(Number);
  const unfolded = line.dataset.unfolded !== undefined;
  const text = line.querySelector("pre")?.textContent ?? "";
  const file = Number(line.dataset.file);
  render(html`<${Card} ...${{ steps, unfolded, file, text }} />`, host);
  if (!host.querySelector(least)) return render(null, host);
  line.append(host);
  makeRoom(line);
  line.classList.add("in-focus");
  shown = line;
}

/** @param {Event} event @returns {HTMLElement | null} */
function lineOf({ target }) {
  return target instanceof Element ? target.closest(TELLING) : null;
}

/** Whether the card stands beside its line, and not below it. */
function isBeside() {
  return matchMedia("(min-width: 60.01rem)").matches;
}

/** Who goes through the values in the margin by keys sees them already. @param {Event} event */
function onFocus(event) {
  const isShown = event.target instanceof Element && event.target.closest(".beside-line");
  if (!isShown) onPoint(event);
}

/** @param {Event} event */
function onPoint(event) {
  if (isBeside() || event.type === "click") show(lineOf(event));
}

/** Away from its line the card is in nobody's way. @param {PointerEvent} event */
function onMove(event) {
  isKept = false;
  if (!isBeside()) return;
  if (event.target instanceof Node && !shown?.contains(event.target)) clear();
  onPoint(event);
}

/** The line that one points at, or of those near where one reads the nearest.
 * @returns {HTMLElement | null} */
function lineRead() {
  const pointed = /** @type {HTMLElement | null} */ (document.querySelector(`${TELLING}:hover`));
  if (pointed) return pointed;
  const article = document.getElementById("article")?.getBoundingClientRect();
  if (!article) return null;
  const tries = 13;
  for (let index = 0; index < tries; index++) {
    const away = (Math.ceil(index / 2) * (index % 2 ? 1 : -1) * AROUND * 2) / tries;
    const under = document.elementFromPoint(article.left + 60, innerHeight * (EYE + away));
    const line = /** @type {HTMLElement | null} */ (under?.closest(TELLING) ?? null);
    if (line) return line;
  }
  return null;
}

let rest = 0;

/** The line where the reader rests. */
function onScroll() {
  clearTimeout(rest);
  rest = setTimeout(() => {
    const isReading = mode.value === "read" && !dialog.value && !isHolding();
    if (!isReading || isKept || density.value !== "evidence" || !isBeside()) return;
    if (host.contains(document.activeElement)) return; // its keys are in use
    const before = shown;
    show(lineRead(), MEASURED);
    // What comes by itself hides nothing.
    if (!shown || shown === before) return;
    if (covers(shown, shown.getBoundingClientRect().top + EDGE)) clear();
  }, REST);
}

/** To the next line that measured something, or the one before. @param {1 | -1} direction */
export function showNext(direction) {
  const lines = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(TELLING)]).filter(
    (line) => line.checkVisibility(),
  );
  const from = shown?.isConnected ? lines.indexOf(shown) : besideEye(lines, direction);
  for (let at = from + direction; lines[at]; at += direction) {
    show(lines[at], MEASURED);
    if (shown !== lines[at]) continue;
    isKept = true;
    takeFocus(lines[at]); // the next Tab leads into the card
    for (const part of [host, lines[at]])
      part.scrollIntoView({ block: "nearest", behavior: "instant" });
    return;
  }
}

/** Before which of the lines one begins where none is in focus.
 * @param {HTMLElement[]} lines @param {1 | -1} direction */
function besideEye(lines, direction) {
  const below = lines.findIndex((line) => line.getBoundingClientRect().top > innerHeight * EYE);
  const next = lines.indexOf(lineRead() ?? lines[below < 0 ? lines.length : below]);
  const at = next < 0 ? lines.length : next;
  return direction > 0 ? at - 1 : at;
}

// Not `pointerover`: what scrolls below a pointer at rest is not pointed at.
addEventListener("pointermove", onMove, { passive: true });
for (const event of ["wheel", "touchmove", "pointerdown", "keydown"])
  addEventListener(event, () => (isKept = false), { capture: true, passive: true });
addEventListener("click", onPoint, { passive: true });
addEventListener("focusin", onFocus);
addEventListener("scroll", onScroll, { passive: true });

/** What the reader did before this was there. @param {Event} event */
export function attend(event) {
  leadLate(event);
  if (lineOf(event)) onPoint(event);
  else onScroll();
}

effect(() => {
  if (mode.value !== "read" || density.value === "everything" || printing.value) clear();
});
