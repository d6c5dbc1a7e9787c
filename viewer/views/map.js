// The map of a lecture: what each chapter builds on, and what builds on it. Fetched when it comes
// near.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawingOf } from "viewer/model/map.js";
import { reachable, usersOf, withoutDetours } from "viewer/model/detours.js";
import { needsOf } from "viewer/model/needs.js";
import { html } from "viewer/parts/html.js";
import { SERIES } from "viewer/parts/series.js";
import { styled } from "viewer/parts/styles.js";
import { current, printing } from "viewer/state/state.js";
import { PageLink } from "viewer/views/chapter.js";

await styled("map.css");

/** Columns of boxes on a wide page, on a narrow one, and in the least room in which they fit. */
const MOST = 5;
const LEAST = 3;
const LEAST_ROOM = 480;
const ROOM_OF_ONE = 180;

/** The map, where one chapter links to another. */
export function ChapterMap() {
  const { model, book } = current();
  const needs = useMemo(() => withoutDetours(needsOf(model, book)), [model, book]);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    if (!place.current) return;
    const watcher = new ResizeObserver(([{ contentRect }]) => setRoom(contentRect.width));
    watcher.observe(place.current);
    setRoom(place.current.clientWidth);
    return () => watcher.disconnect();
  }, [needs]);
  if (!needs.some((own) => own.length)) return null;
  const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const fitting = Math.max(LEAST, Math.min(MOST, Math.floor(room / letter / ROOM_OF_ONE)));
  const columns = printing.value ? MOST : fitting;
  const isDrawn = printing.value || room >= LEAST_ROOM;
  return html`<figure ref=${place} class="chapter-map">
    ${isDrawn && html`<${Drawn} needs=${needs} columns=${columns} />`}
  </figure>`;
}

/** @param {{needs: number[][], columns: number}} properties */
function Drawn({ needs, columns }) {
  const { book } = current();
  const [chosen, choose] = useState(0);
  const drawing = useMemo(() => drawingOf(book, needs, columns), [book, needs, columns]);
  const users = useMemo(() => usersOf(needs), [needs]);
  const kindOf = useMemo(() => litBy(needs, users, chosen), [needs, chosen]);
  const { width, height, boxes, bands } = drawing;
  // Not on parts of the drawing: browsers stop at each that listens for the focus.
  const look = (/** @type {any} */ event) =>
    choose(Number(event.target.closest(".map-box")?.dataset.number ?? 0));
  // What is lit lies above the rest.
  const lines = drawing.lines
    .map((line) => ({ ...line, kind: kindOf(line.from, line.to) }))
    .sort((one, other) => Number(Boolean(one.kind)) - Number(Boolean(other.kind)));
  return html`
    <figcaption>
      <b>What builds on what.</b>
      ${" "}Lines of one colour lead from a chapter to those that build on it.
      <span class="on-screen">
        ${" "}Point at one to see <span class="key before">all that it needs</span> and
        ${" "}<span class="key after">all that needs it</span>.
      </span>
    </figcaption>
    <div
      onMouseOver=${look}
      onMouseLeave=${() => choose(0)}
      onFocusIn=${look}
      onFocusOut=${() => choose(0)}
    >
    <svg
      class=${chosen ? "has-chosen" : ""}
      viewBox=${`0 0 ${width} ${height}`}
      role="group"
      aria-label="map of the chapters"
    >
      ${bands.map((band) => html`<${Band} band=${band} width=${width} />`)}
      ${lines.map(
        ({ from, to, path, end, isBeside, kind }) =>
          html`<g
            key=${`${from} ${to}`}
            class=${`map-line ${kind}`}
            style=${{ "--own": SERIES[from % SERIES.length] }}
          >
            <path d=${path} />
            <path class="map-head" d=${headAt(end, isBeside)} />
          </g>`,
      )}
      ${boxes.map(
        (box) =>
          html`<${Box}
            key=${box.number}
            box=${box}
            kind=${box.number === chosen ? "chosen" : kindOf(box.number, box.number)}
            words=${wordsOf(book, box.number, needs, users)}
          />`,
      )}
    </svg>
    </div>
  `;
}

/**
 * What is lit while a chapter is chosen: what it needs and what needs it.
 * @param {number[][]} needs
 * @param {number[][]} users
 * @param {number} chosen 0: none
 * @returns {(from: number, to: number) => "before" | "after" | ""} of a line, or of a box as a line
 *   from itself to itself
 */
function litBy(needs, users, chosen) {
  if (!chosen) return () => "";
  const [before, after] = [reachable(needs, chosen), reachable(users, chosen)];
  return (from, to) => {
    if (before.has(from) && (to === chosen || before.has(to))) return "before";
    return after.has(to) && (from === chosen || after.has(from)) ? "after" : "";
  };
}

/** A part of the lecture. @param {{band: Drawing["bands"][0], width: number}} properties */
function Band({ band: { y, height, lines }, width }) {
  return html`<rect class="map-band" x="0" y=${y} width=${width} height=${height} rx="8" />
    <${Lines} class="map-label" lines=${lines} x=${12} y=${y + 27} />`;
}

/** What a line ends in. @param {[number, number]} end @param {boolean} isBeside */
function headAt([x, y], isBeside) {
  return isBeside ? `M${x} ${y}l-6 -4v8z` : `M${x} ${y}l-4 -6h8z`;
}

/** Which chapters one needs, and which need it, in words. @param {Chapter[]} book
 * @param {number} number @param {number[][]} needs @param {number[][]} users */
function wordsOf(book, number, needs, users) {
  const list = (/** @type {string} */ verb, /** @type {number[]} */ numbers) => {
    const labels = numbers.map((other) => book[other - 1].label);
    return labels.length ? `, ${verb} ${labels.join(", ")}` : "";
  };
  return list("builds on", needs[number - 1]) + list("leads to", users[number - 1]);
}

/** Lines of text. @param {{class: string, lines: string[], x: number, y: number}} properties */
function Lines({ class: name, lines, x, y }) {
  return html`<text class=${name}>
    ${lines.map((line, index) => html`<tspan x=${x} y=${y + 16 * index}>${line} </tspan>`)}
  </text>`;
}

/** @param {{box: Drawing["boxes"][0], kind: string, words: string}} properties */
function Box({ box: { number, lines, x, y, width, height }, kind, words }) {
  const { title, label } = current().book[number - 1];
  const top = y + height / 2 + 4.5 - 8 * (lines.length - 1);
  return html`<g class=${`map-box ${kind}`} data-number=${number}>
    <${PageLink} number=${number} label=${`${label} ${title}${words}`}>
      <rect x=${x} y=${y} width=${width} height=${height} rx="7" />
      <text class="box-number" x=${x + 25} y=${top}>${label}</text>
      <${Lines} class="box-title" lines=${lines} x=${x + 33} y=${top} />
    </${PageLink}>
  </g>`;
}
