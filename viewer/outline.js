// The table of contents: chapters, sections with their topics, and how many claims each holds.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "viewer/html.js";
import { functionOf, stepRange } from "viewer/model.js";
import { visibleSection } from "viewer/progress.js";
import { claimsWithin, sectionOfStep } from "viewer/reading.js";
import { Topics, plainTitle } from "viewer/section.js";
import { current, dialog, goTo, mode, step } from "viewer/store.js";

/** @typedef {import("viewer/reading.js").Section} Section */

/** @param {{claims: number, failed: number}} properties */
function Count({ claims, failed }) {
  if (failed) return html`<span class="outline-claims failed" title="failed claims">✗ ${failed}</span>`;
  return claims ? html`<span class="outline-claims" title="claims that held">✓ ${claims}</span>` : null;
}

/** @param {{section: Section, here: boolean}} properties */
function Entry({ section: { activation, depth }, here }) {
  const { model } = current();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const func = functionOf(model, activation);
  useLayoutEffect(() => {
    if (here) place.current?.scrollIntoView({ block: "nearest" });
  }, [here]);
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.value = "";
    goTo(stepRange(model, activation)[0], { jump: true });
  };
  return html`<li class=${`outline-entry depth-${depth}`} ref=${place}>
    <a href=${`#activation-${activation}`} aria-current=${here ? "location" : null} onClick=${open}>
      <span class="outline-title">${func.title ? plainTitle(func.title) : func.name} <span class="outline-topics"><${Topics} labels=${func.labels} /></span></span>
      <${Count} ...${claimsWithin(model, activation)} />
    </a></li>`;
}

/** @param {{title: string, sections: Section[], here: number}} properties */
function Chapter({ title, sections, here }) {
  const { model } = current();
  const holdsHere = sections.some(({ activation }) => activation === here);
  const [open, setOpen] = useState(holdsHere);
  useLayoutEffect(() => {
    if (holdsHere) setOpen(true);
  }, [holdsHere]);
  const counts = sections.filter(({ depth }) => depth === 1).map(({ activation }) => claimsWithin(model, activation));
  const claims = counts.reduce((sum, count) => sum + count.claims, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return html`<details class="chapter" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary><span>${title}</span><${Count} claims=${claims} failed=${failed} /></summary>
    <ol>${sections.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>
  </details>`;
}

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { model, sections } = current();
  const inStep = mode.value === "step" ? sectionOfStep(model, sections, step.value)?.activation : visibleSection.value;
  const shown = sections.filter((section) => section.depth > 0 && section.depth < 4);
  const here = inStep ?? -1;
  /** @type {{title: string, sections: Section[]}[]} */
  const chapters = [];
  for (const section of shown) {
    if (section.chapter || !chapters.length) chapters.push({ title: section.chapter, sections: [] });
    chapters[chapters.length - 1].sections.push(section);
  }
  return html`<nav class="outline" aria-label="outline">${chapters.map(({ title, sections: own }, index) => (title
    ? html`<${Chapter} key=${index} title=${title} sections=${own} here=${here > 0 ? here : shown[0].activation} />`
    : html`<ol>${own.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>`))}</nav>`;
}
