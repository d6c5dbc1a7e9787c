// The list of sections beside the page.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { functionOf } from "viewer/model/run.js";
import { chaptersOf, claimsWithin, headingOf, sectionOfStep } from "viewer/model/sections.js";
import { html, memo } from "viewer/parts/html.js";
import { Topics } from "viewer/parts/notes.js";
import { goTo } from "viewer/state/address.js";
import { visibleSection } from "viewer/state/layout.js";
import { current, dialog, loaded, mode, step } from "viewer/state/state.js";

/** @param {{claims: number, failed: number}} properties */
function Count({ claims, failed }) {
  if (failed)
    return html`<span class="outline-claims failed" title="failed claims">
      ✗ ${failed}
    </span>`;
  return claims
    ? html`<span class="outline-claims" title="claims that held">
      ✓ ${claims}
    </span>`
    : null;
}

/** @type {View<{section: CountedSection, here: boolean}>} */
const Entry = memo(({ section, here }) => {
  const { activation, depth, first, func, counts } = section;
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    dialog.value = "";
    goTo(first, { jump: true });
  };
  return html`<li class=${`outline-entry depth-${depth}`}>
    <a
      href=${`#activation-${activation}`}
      aria-current=${here ? "location" : null}
      onClick=${open}
    >
      <span class="outline-title">
        ${headingOf(func)}${" "}
        <span class="outline-topics">
          <${Topics} marks=${func.marks} />
        </span>
      </span>
      <${Count} ...${counts} />
    </a>
  </li>`;
});

/** @param {CountedSection[]} sections @param {number} here */
function entries(sections, here) {
  return html`<ol>
    ${sections.map(
      (section) =>
        html`<${Entry}
          key=${section.activation}
          section=${section}
          here=${section.activation === here}
        />`,
    )}
  </ol>`;
}

/**
 * @type {View<OutlineChapter & {here: number}>} here: the section that is read, if it is of this
 *   chapter, or -1
 */
const Chapter = memo(({ title, sections, here }) => {
  const [open, setOpen] = useState(here >= 0);
  useLayoutEffect(() => {
    if (here >= 0) setOpen(true);
  }, [here >= 0]);
  const counts = /** @type {CountedSection[]} */ (sections).flatMap(({ depth, counts }) =>
    depth === 1 ? [counts] : [],
  );
  const claims = counts.reduce((sum, count) => sum + count.claims, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return html`<details
    class="chapter"
    open=${open}
    onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}
  >
    <summary>
      <span>${title}</span>
      <${Count} claims=${claims} failed=${failed} />
    </summary>
    ${entries(sections, here)}
  </details>`;
});

/** The activation of the section that is read or stepped through, or -1. */
const shownSection = computed(() => {
  if (mode.value === "read" || !loaded.value) return visibleSection.value;
  const shown = sectionOfStep(loaded.value.sections, step.value);
  return shown && shown.depth > 0 ? shown.activation : -1;
});

/** How deep the outline goes into calls. */
const DEEPEST = 3;

/** @returns {OutlineChapter[]} */
function countedChapters() {
  const { model, sections } = current();
  return chaptersOf(sections.filter(({ depth }) => depth <= DEEPEST)).map((chapter) => ({
    title: chapter.title,
    sections: chapter.sections.map((section) => ({
      ...section,
      func: functionOf(model, section.activation),
      counts: claimsWithin(model, section),
    })),
  }));
}

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { document } = current();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const chapters = useMemo(countedChapters, [document]);
  const here =
    shownSection.value > 0 ? shownSection.value : (chapters[0]?.sections[0].activation ?? -1);
  useEffect(() => {
    // `scrollIntoView` would move the page too.
    const box = place.current?.closest(".sidebar, .panel-body");
    const entry = place.current?.querySelector("[aria-current]")?.getBoundingClientRect();
    if (!box || !entry) return;
    const { top, bottom } = box.getBoundingClientRect();
    box.scrollTop += Math.min(0, entry.top - top) + Math.max(0, entry.bottom - bottom);
  }, [here]);
  return html`<nav class="outline" aria-label="outline" ref=${place}>
    ${chapters.map(({ title, sections }) =>
      title
        ? html`<${Chapter}
          key=${sections[0].activation}
          title=${title}
          sections=${sections}
          here=${sections.some(({ activation }) => activation === here) ? here : -1}
        />`
        : entries(sections, shownSection.value),
    )}
  </nav>`;
}
