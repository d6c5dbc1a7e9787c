// What stands beside code is as high as it is, or ends where something else begins below it. Asks
// the laid out page, since prose and pictures between two lines make room, too.

import { useLayoutEffect, useRef } from "preact/hooks";
import { counted } from "viewer/model/format.js";
import { html } from "viewer/parts/html.js";
import { presenting } from "viewer/state/state.js";

/** What stands in the margin; pictures on slides reach into it. */
const OCCUPANTS = ".beside-line, .scrubber, .row-after";

/** By how much values reach beyond their section, in the size of letters: it shows nothing else. */
const BEYOND = 2;

/** How high a line of code is, and a line of values, in the size of letters. */
const LINE = 1.352;

/** How high the line is that says what is left out. */
const MORE = 1.1;

/** Sections whose size or content has changed. */
const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) if (isLaidOut(target)) fitAgain(target);
});

/** Where the values of sections had to end when they were last cut for a screen.
 * @type {WeakMap<Element, number>} */
const ends = new WeakMap();

/** Cut them anew for the same screen. @param {Element} section */
export const fitAgain = (section) => fit(section, ends.get(section));

addEventListener(
  "contentvisibilityautostatechange",
  ({ target }) => target instanceof Element && watcher.observe(target),
  true,
);

/** Whether a section is near the screen. @param {Element} section */
function isLaidOut({ firstElementChild: head }) {
  return !head || head.checkVisibility({ contentVisibilityAuto: true });
}

/**
 * Values beside a line, as many as find room.
 * @param {{children?: any}} properties
 */
export function Beside({ children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    // Who is observed again is told of once more, before anything is drawn.
    const section = place.current?.closest(".section");
    if (section) watcher.observe(section);
  });
  // On a slide there is no card that shows the rest, so a press does.
  const More = presenting.value ? "button" : "span";
  return html`<div class="beside-line" ref=${place}>
    ${children}
    <${More} class="beside-more"></${More}>
  </div>`;
}

/**
 * How much room there is for values: to what stands below them, or to where their section ends.
 * @param {HTMLElement} place
 * @param {DOMRect[]} boxes in the margin, from above
 * @param {number} letter the size of one
 * @param {number} last where values have to end
 */
function roomOf(place, boxes, letter, last) {
  if (getComputedStyle(place).position !== "absolute") return Infinity;
  const own = place.getBoundingClientRect();
  const below = boxes.find(
    ({ top, left, right }) => top > own.top + 1 && left < own.right && right > own.left,
  );
  const section = place.closest(".section .section");
  const isClipped = section && getComputedStyle(section).contain !== "none";
  const end = isClipped ? section.getBoundingClientRect().bottom + BEYOND * letter : last;
  const room = Math.min(below?.top ?? Infinity, end) - own.top;
  return Math.max(LINE * letter, Math.min(room, Number(place.dataset.room ?? Infinity)));
}

/** What is seen whole or not at all: a row of elements, a line of text. */
const PIECES = ".tensor-head, tr, code, .parts-type, dt, dl > div:not(:has(dl)), .veiled, .more";

/**
 * Where a value can end so that no piece of it is cut.
 * @param {Element} value
 * @param {number} least
 * @param {number} most
 */
function wholeEnd(value, least, most) {
  const pieces = [...value.querySelectorAll(PIECES)].flatMap((piece) => [
    ...piece.getClientRects(),
  ]);
  const ends = pieces
    .map(({ bottom }) => bottom)
    .filter(
      (end) => end <= most && !pieces.some(({ top, bottom }) => top < end - 2 && bottom > end + 2),
    );
  return Math.max(least, ...ends);
}

/**
 * What is shown of values that do not all find room: as many as are seen whole, or else of the
 * first the rows that are.
 * @param {Element[]} values
 * @param {number} top
 * @param {number} room
 * @param {number} letter
 */
function planOf(values, top, room, letter) {
  const isWithin = (/** @type {number} */ end) => (/** @type {Element} */ value) =>
    value.getBoundingClientRect().bottom <= end + 2;
  const below = top + room - MORE * letter;
  const whole = values.filter(isWithin(below)).length;
  if (whole) return { whole, end: Infinity, rows: 0, isTight: false };
  const [first] = values;
  if (isWithin(top + room)(first)) return { whole: 1, end: Infinity, rows: 0, isTight: true };
  const end = wholeEnd(first, top + LINE * letter, below);
  const rows = [...first.querySelectorAll("tr, dl > div")];
  const left = rows.filter((row) => row.getBoundingClientRect().bottom > end + 2);
  return { whole: 1, end: end - top, rows: left.length, isTight: false };
}

/** @param {HTMLElement} place */
function valuesIn(place) {
  const more = /** @type {HTMLElement} */ (place.lastElementChild);
  return { values: /** @type {HTMLElement[]} */ ([...place.children].slice(0, -1)), more };
}

/** Show values whole again. @param {HTMLElement} place */
export function restore(place) {
  const { values, more } = valuesIn(place);
  place.classList.remove("is-cut", "is-one", "is-tight");
  more.textContent = "";
  for (const value of values) {
    value.classList.remove("left-out", "is-clipped");
    value.style.removeProperty("--end");
  }
}

/** @param {Element} element */
const isWiderThanShown = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1;

/** Values on one line, as many as are seen whole. @param {HTMLElement} place */
function cutToOneLine(place) {
  const { values, more } = valuesIn(place);
  place.classList.add("is-cut", "is-one");
  const rows = values[0].querySelectorAll("tr, dl > div").length;
  if (values.length === 1 && rows) {
    more.textContent = counted(rows, "more row");
    if (isWiderThanShown(place)) more.textContent = `${rows} more`;
  }
  for (let shown = values.length - 1; shown > 0; shown--) {
    if (![place, ...place.querySelectorAll(".value")].some(isWiderThanShown)) return;
    values[shown].classList.add("left-out");
    more.textContent = `${values.length - shown} more`;
  }
}

/** @param {HTMLElement} place @param {ReturnType<typeof planOf>} plan */
function cutTo(place, { whole, end, rows, isTight }) {
  const { values, more } = valuesIn(place);
  place.classList.add("is-cut");
  place.classList.toggle("is-tight", isTight);
  for (const value of values.slice(whole)) value.classList.add("left-out");
  values[0].classList.toggle("is-clipped", end < Infinity);
  if (end < Infinity) values[0].style.setProperty("--end", `${Math.ceil(end)}px`);
  const left = values.length - whole;
  const others = left > 0 ? `, ${counted(left, "value")}` : "";
  const rest = left > 0 ? `${left} more` : end < Infinity ? "more" : "";
  more.textContent = rows ? counted(rows, "more row") + others : rest;
}

/** Whether any of it is on this page of a slide. @param {Element} occupant */
const showsSomething = ({ children }) =>
  [...children].some((child) => child.getBoundingClientRect().height > 0);

/** Cut the values of a section where they find no room, between whole ones.
 * @param {Element} section @param {number} [end] where they have to end on the screen */
export function fit(section, end = Infinity) {
  if (end < Infinity) ends.set(section, end);
  const places = /** @type {HTMLElement[]} */ ([...section.querySelectorAll(".beside-line")]);
  for (const place of places) restore(place);
  const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const boxes = [...section.querySelectorAll(OCCUPANTS)]
    .filter(showsSomething)
    .map((occupant) => occupant.getBoundingClientRect())
    .sort((one, other) => one.top - other.top);
  // All that is asked of the page, before anything changes on it.
  const cuts = places.flatMap((place) => {
    const room = roomOf(place, boxes, letter, end);
    if (place.scrollHeight <= room + 2) return [];
    const isOne = room < 2 * LINE * letter;
    const { top } = place.getBoundingClientRect();
    return [{ place, plan: isOne ? null : planOf(valuesIn(place).values, top, room, letter) }];
  });
  for (const { place, plan } of cuts) if (plan) cutTo(place, plan);
  for (const { place, plan } of cuts) if (!plan) cutToOneLine(place);
}
