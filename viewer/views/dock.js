// The panel beside the program: the inspector, or two steps compared. It follows each step. Fetched
// when it is first opened.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { CommandButton } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { keepInside } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { keep, kept } from "viewer/state/kept.js";
import { docked, inspected, step, variablesAs } from "viewer/state/state.js";
import { Compare } from "viewer/views/inspect/compare.js";
import { Inspector } from "viewer/views/inspect/inspector.js";

await styled("panels.css");

/** How much of the room it has at least and at most, and by how much a key moves its edge. */
const [LEAST, MOST, MOVE] = [20, 85, 5];

/** How much of the room it has, in percent, until the reader says otherwise: a graph needs more. */
const USUAL = { table: 60, graph: 40 };

/** As the reader left it; 0: untouched. */
const chosen = signal(Number(kept("dock")) || 0);

const share = computed(() => within(chosen.value || USUAL[variablesAs.value]));

/** @param {number} percent */
function within(percent) {
  return Math.max(LEAST, Math.min(MOST, Math.round(percent)));
}

/** @param {number} percent */
function resize(percent) {
  chosen.value = within(percent);
  keep("dock", String(chosen.value));
}

/** The edge between the variables and what is docked, to be moved by pointer or keys. */
function Edge() {
  const drag = (/** @type {any} */ event) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { bottom, height } = event.currentTarget.closest(".beside").getBoundingClientRect();
    resize((100 * (bottom - event.clientY)) / height);
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const way = { ArrowUp: MOVE, ArrowDown: -MOVE }[event.key];
    if (!way) return;
    event.preventDefault();
    resize(share.value + way);
  };
  return html`<div
    class="dock-edge"
    role="separator"
    tabindex="0"
    title="Drag, or use the arrow keys"
    aria-label="height of what is docked"
    aria-orientation="horizontal"
    aria-valuemin=${LEAST}
    aria-valuemax=${MOST}
    aria-valuenow=${share.value}
    onPointerDown=${(/** @type {any} */ event) =>
      event.currentTarget.setPointerCapture(event.pointerId)}
    onPointerMove=${drag}
    onKeyDown=${onKey}
  ></div>`;
}

/** What is docked. */
export function Dock() {
  const isComparing = docked.value === "compare";
  const watched = isComparing ? undefined : inspected.value?.watched;
  useLayoutEffect(() => showRow(watched), [watched]);
  useLayoutEffect(() => {
    // What a step changes is in sight first.
    if (!document.querySelector(".facts .variable.changed")) showRow(watched);
  }, [step.value]);
  const title = isComparing ? "Two steps compared" : "Inspector";
  return html`<section
    class=${`dock panel-${docked.value}`}
    aria-label=${title}
    style=${{ "--share": `${share.value}%` }}
  >
    <${Edge} />
    <header class="panel-head">
      <h2>${title}</h2>
      <${CommandButton} id="close" />
    </header>
    <div class="panel-body" tabindex="0" role="region" aria-label=${`${title}: what it shows`}>
      ${isComparing ? html`<${Compare} />` : html`<${Inspector} />`}
    </div>
  </section>`;
}

/**
 * Bring the variable that is inspected into view, of which the panel left a part.
 * @param {Watched | undefined} watched
 */
function showRow(watched) {
  if (!watched) return;
  const row = document.querySelector(
    `.facts [data-variable="${watched.activation} ${watched.name}"]`,
  );
  const box = row?.closest(".graph, .apart");
  if (row && box) keepInside(box, row);
}
