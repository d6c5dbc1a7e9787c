// What stands beside code is as high as it is, or ends where something else begins below it. Asks
// the laid out page, since prose and pictures between two lines make room, too.

import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";

/** What stands in the margin; pictures on slides reach into it. */
const OCCUPANTS = ".beside-line, .scrubber, .row-after";

/** By how much values reach beyond their section, in the size of letters: it shows nothing else. */
const BEYOND = 2;

/** How high a line of code is, and a line of values, in the size of letters. */
const LINE = 1.352;

/** Sections whose size or content has changed. */
const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) if (isLaidOut(target)) fit(target);
});

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
  return html`<div class="beside-line" ref=${place}>${children}</div>`;
}

/**
 * How much room there is for values: to what stands below them, or to where their section ends.
 * @param {HTMLElement} place
 * @param {DOMRect[]} boxes in the margin, from above
 * @param {number} letter the size of one
 */
function roomOf(place, boxes, letter) {
  if (getComputedStyle(place).position !== "absolute") return place.clientHeight;
  const own = place.getBoundingClientRect();
  const below = boxes.find(
    ({ top, left, right }) => top > own.top + 1 && left < own.right && right > own.left,
  );
  const section = place.closest(".section .section");
  const isClipped = section && getComputedStyle(section).contain !== "none";
  const end = isClipped ? section.getBoundingClientRect().bottom + BEYOND * letter : Infinity;
  return Math.max(LINE * letter, Math.min(below?.top ?? Infinity, end) - own.top);
}

/** Cut the values of a section where they find no room. @param {Element} section */
export function fit(section) {
  const places = /** @type {HTMLElement[]} */ ([...section.querySelectorAll(".beside-line")]);
  for (const place of places) place.classList.remove("is-cut", "is-one");
  const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const boxes = [...section.querySelectorAll(OCCUPANTS)]
    .map((occupant) => occupant.getBoundingClientRect())
    .sort((one, other) => one.top - other.top);
  const sizes = places.map((place) => ({
    place,
    room: roomOf(place, boxes, letter),
    height: place.scrollHeight,
  }));
  for (const { place, room, height } of sizes) {
    const isCut = height > room + 2;
    place.classList.toggle("is-cut", isCut);
    place.classList.toggle("is-one", isCut && room < 2 * LINE * letter);
    place.style.setProperty("--room", `${Math.floor(room)}px`);
  }
}
