// The list of sections beside the page.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { FRONT, pageOfStep, WHOLE } from "viewer/model/book.js";
import { countOnPath } from "viewer/model/path.js";
import { functionOf } from "viewer/model/run.js";
import { chaptersOf, claimsWithin, headingOf, sectionOfStep } from "viewer/model/sections.js";
import { html, memo } from "viewer/parts/html.js";
import { addressOfPlace, goTo } from "viewer/state/address.js";
import { command } from "viewer/state/commands.js";
import { visibleSection } from "viewer/state/layout.js";
import { current, dialog, loaded, mode, page, presenting, step } from "viewer/state/state.js";
import { PageLink } from "viewer/views/chapter.js";

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
      href=${addressOfPlace({ mode: mode.value, at: func.name })}
      data-activation=${activation}
      aria-current=${here ? "location" : null}
      onClick=${open}
    >
      <span class="outline-title">
        ${headingOf(func)}
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
 * A chapter, open where the reader is; as a page of a book it is a link.
 * @type {View<OutlineChapter & {here: number, isHere: boolean}>} here: the section that is read, if
 *   it is of this chapter, or -1
 */
const Chapter = memo(({ title, number, label, counts, sections, here, isHere }) => {
  const [open, setOpen] = useState(isHere);
  useLayoutEffect(() => setOpen(isHere), [isHere]);
  const name = number ? `${label}. ${title}` : title;
  return html`<div class=${`chapter ${open ? "is-open" : ""}`}>
    <div class="chapter-line">
      <button
        class="chapter-toggle"
        aria-expanded=${open}
        aria-label=${`Sections of ${title}`}
        title="Sections"
        onClick=${() => setOpen(!open)}
      >
        ›
      </button>
      ${
        number
          ? html`<${PageLink}
            number=${number}
            class="chapter-link"
            here=${isHere && here < 0}
          >
            ${name}
          </${PageLink}>`
          : html`<span class="chapter-link">${name}</span>`
      }
      <${Count} ...${counts} />
    </div>
    ${open && entries(sections, here)}
  </div>`;
});

/** Whether what scrolls past is what one reads. */
const isRead = () => mode.value === "read" && !presenting.value;

/** The activation of the section that is read or stepped through, or -1. */
const shownSection = computed(() => {
  if (isRead() || !loaded.value) return visibleSection.value;
  const shown = sectionOfStep(loaded.value.sections, step.value);
  return shown && shown.depth > 0 ? shown.activation : -1;
});

/** The number of the chapter that is read or stepped through, or 0. */
const shownChapter = computed(() => {
  const { sections = [], book = [] } = loaded.value ?? {};
  if (!isRead()) return pageOfStep(book, step.value);
  if (page.value !== WHOLE) return page.value;
  const read = sections.find(({ activation }) => activation === visibleSection.value);
  return read && read.depth > 0 ? pageOfStep(book, read.first) : 0;
});

/** How deep the outline goes into calls. */
const DEEPEST = 3;

/** @returns {OutlineChapter[]} */
function countedChapters() {
  const { model, sections, leftOut, book } = current();
  const shown = sections.filter(({ depth }) => depth <= DEEPEST);
  return chaptersOf(shown).map(({ title, sections: own }) => {
    const page = book.find(({ sections: [first] }) => first.order === own[0].order);
    const span = page ?? { first: own[0].first, beyond: Math.max(...own.map((one) => one.beyond)) };
    return {
      title,
      number: page?.number ?? 0,
      label: page?.label ?? 0,
      counts: claimsWithin(model, span, leftOut),
      sections: own.map((section) => ({
        ...section,
        func: functionOf(model, section.activation),
        counts: claimsWithin(model, section),
      })),
    };
  });
}

/** The list of sections, by chapters where the table of contents has headings. */
export function Outline() {
  const { document, book, sections } = current();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const chapters = useMemo(countedChapters, [document, sections]);
  const here = shownSection.value;
  const page = shownChapter.value;
  useEffect(() => {
    // `scrollIntoView` would move the page too.
    const box = place.current?.closest(".sidebar, .panel-body");
    const entry = place.current?.querySelector("[aria-current]")?.getBoundingClientRect();
    if (!box || !entry) return;
    const { top, bottom } = box.getBoundingClientRect();
    const air = (bottom - top) / 4;
    if (entry.top < top || entry.bottom + air > bottom) box.scrollTop += entry.top - top - air;
  }, [here, page]);
  return html`<nav class="outline" aria-label="outline" ref=${place}>
    ${book.length > 0 && html`<${Pages} />`}
    ${chapters.map(({ sections, ...chapter }) => {
      const holds = sections.some(({ activation }) => activation === here);
      return chapter.title
        ? html`<${Chapter}
          key=${sections[0].activation}
          ...${chapter}
          sections=${sections}
          here=${holds ? here : -1}
          isHere=${chapter.number ? chapter.number === page : holds}
        />`
        : entries(sections, here);
    })}
  </nav>`;
}

/** The pages that are no chapter. */
function Pages() {
  const { model, all, leftOut } = current();
  const hasPath = countOnPath(model, all) > 0;
  const isShown = (/** @type {number} */ number) => isRead() && page.value === number;
  return html`<div class="outline-pages">
    <${PageLink} number=${FRONT} here=${isShown(FRONT)}>Front</${PageLink}>
    <${PageLink} number=${WHOLE} here=${isShown(WHOLE)}>One page</${PageLink}>
    ${
      hasPath &&
      html`<button
        class="outline-path"
        aria-pressed=${leftOut.size > 0}
        title=${command("path").title}
        onClick=${command("path").run}
      >
        ${leftOut.size > 0 ? "All sections" : "Short path"}
      </button>`
    }
  </div>`;
}
