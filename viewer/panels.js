// Panels over the page, and the outline, which is a panel on small screens only.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CommandButton, html, later, memo } from "viewer/html.js";
import { functionOf } from "viewer/model.js";
import { plainTitle, Topics } from "viewer/read.js";
import { claimsWithin, sectionOfStep } from "viewer/reading.js";
import { current, dialog, goTo, loaded, mode, step, visibleSection } from "viewer/store.js";

/** @param {"Claims" | "Search" | "Help"} name */
function dialogLater(name) {
  return later(async () => (await import("viewer/dialogs.js"))[name]);
}

/** @type {Record<string, {title: string, content: (properties: {}) => any}>} */
const PANELS = {
  claims: { title: "Claims", content: dialogLater("Claims") },
  search: { title: "Search", content: dialogLater("Search") },
  help: { title: "Keys", content: dialogLater("Help") },
  outline: { title: "Outline", content: Outline },
};

/** The open panel, if any. */
export function Panel() {
  const place = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const name = dialog.value;
  useLayoutEffect(() => {
    if (name && place.current && !place.current.open) place.current.showModal();
  }, [name]);
  if (!name || !loaded.value) return null;
  const { title, content: Content } = PANELS[name];
  const onBackdrop = (/** @type {Event} */ event) => event.target === place.current && (dialog.value = "");
  return html`<dialog key=${name} ref=${place} class=${`panel panel-${name}`} aria-labelledby="panel-title" onClose=${() => (dialog.value = "")} onClick=${onBackdrop}>
    <header class="panel-head"><h2 id="panel-title">${title}</h2><${CommandButton} id="close" /></header>
    <div class="panel-body" tabindex="-1" autofocus=${name !== "search"}><${Content} /></div>
  </dialog>`;
}

/** @param {{claims: number, failed: number}} properties */
function Count({ claims, failed }) {
  if (failed) return html`<span class="outline-claims failed" title="failed claims">✗ ${failed}</span>`;
  return claims ? html`<span class="outline-claims" title="claims that held">✓ ${claims}</span>` : null;
}

/** @type {(properties: {section: CountedSection, here: boolean}) => any} */
const Entry = memo(({ section, here }) => {
  const { activation, depth, first, func, counts } = section;
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.value = "";
    goTo(first, { jump: true });
  };
  return html`<li class=${`outline-entry depth-${depth}`}>
    <a href=${`#activation-${activation}`} aria-current=${here ? "location" : null} onClick=${open}>
      <span class="outline-title">${func.title ? plainTitle(func.title) : func.name} <span class="outline-topics"><${Topics} labels=${func.labels} /></span></span>
      <${Count} ...${counts} />
    </a></li>`;
});

/** @param {CountedSection[]} sections @param {number} here */
function entries(sections, here) {
  return html`<ol>${sections.map((section) => html`<${Entry} key=${section.activation} section=${section} here=${section.activation === here} />`)}</ol>`;
}

/** @type {(properties: OutlineChapter & {here: number}) => any} here: the section that is read, if it is of this chapter, or -1 */
const Chapter = memo(({ title, sections, here }) => {
  const [open, setOpen] = useState(here >= 0);
  useLayoutEffect(() => {
    if (here >= 0) setOpen(true);
  }, [here >= 0]);
  const counts = /** @type {CountedSection[]} */ (sections).flatMap(({ depth, counts }) => (depth === 1 ? [counts] : []));
  const claims = counts.reduce((sum, count) => sum + count.claims, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return html`<details class="chapter" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary><span>${title}</span><${Count} claims=${claims} failed=${failed} /></summary>
    ${entries(sections, here)}
  </details>`;
});

/** The activation of the section that is read or stepped through, or -1. */
const shownSection = computed(() => {
  if (mode.value === "read" || !loaded.value) return visibleSection.value;
  return sectionOfStep(loaded.value.sections, step.value)?.activation ?? -1;
});

/** @returns {OutlineChapter[]} one without a title where the table of contents has no headings */
function chaptersOf() {
  const { model, sections } = current();
  /** @type {OutlineChapter[]} */
  const chapters = [];
  for (const section of sections) {
    if (section.depth === 0 || section.depth > 3) continue;
    if (section.chapter || !chapters.length) chapters.push({ title: section.chapter, sections: [] });
    chapters[chapters.length - 1].sections.push({ ...section, func: functionOf(model, section.activation), counts: claimsWithin(model, section) });
  }
  return chapters;
}

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { document } = current();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const chapters = useMemo(chaptersOf, [document]);
  const here = shownSection.value > 0 ? shownSection.value : (chapters[0]?.sections[0].activation ?? -1);
  useEffect(() => {
    // `scrollIntoView` would move the page too.
    const box = place.current?.closest(".sidebar, .panel-body");
    const entry = place.current?.querySelector("[aria-current]")?.getBoundingClientRect();
    if (!box || !entry) return;
    const { top, bottom } = box.getBoundingClientRect();
    box.scrollTop += Math.min(0, entry.top - top) + Math.max(0, entry.bottom - bottom);
  }, [here]);
  return html`<nav class="outline" aria-label="outline" ref=${place}>${chapters.map(({ title, sections }) => (title
    ? html`<${Chapter} key=${sections[0].activation} title=${title} sections=${sections} here=${sections.some(({ activation }) => activation === here) ? here : -1} />`
    : entries(sections, shownSection.value)))}</nav>`;
}
