// What stands above a chapter: its number and title; and links to chapters.

import { useMemo } from "preact/hooks";
import { amountOf } from "viewer/model/book.js";
import { needsOf } from "viewer/model/needs.js";
import { counted } from "viewer/model/format.js";
import { functionOf } from "viewer/model/run.js";
import { claimsWithin, headingOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { addressOfPage, openPage } from "viewer/state/address.js";
import { current, printing } from "viewer/state/state.js";

/** What a chapter holds, in words. @param {Chapter} chapter @returns {string} */
export function factsOf(chapter) {
  const { model, leftOut } = current();
  const { minutes, exercises } = amountOf(model, chapter);
  const { claims, failed } = claimsWithin(model, chapter, leftOut);
  return [
    `${minutes} min`,
    failed ? `✗ ${counted(failed, "failure")}` : claims && counted(claims, "claim"),
    exercises && counted(exercises, "exercise"),
  ]
    .filter(Boolean)
    .join(" · ");
}

/**
 * A link to a page of the book.
 * @param {{number: number, class?: string, rel?: string, here?: boolean, label?: string,
 *   children: any}} properties
 */
export function PageLink({ number, class: name, rel, here = false, label, children }) {
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openPage(number);
  };
  return html`<a
    class=${name}
    href=${addressOfPage(number)}
    rel=${rel}
    aria-current=${here ? "page" : null}
    aria-label=${label}
    onClick=${open}
  >
    ${children}
  </a>`;
}

/** @param {{chapter: Chapter}} properties */
export function ChapterHead({ chapter }) {
  const { book, chapters, leftOut } = current();
  const facts = useMemo(() => factsOf(chapter), [chapter]);
  const place = leftOut.size
    ? `${chapter.label} · ${chapter.number} of ${book.length} on the short path`
    : `${chapter.label} of ${chapters.length}`;
  return html`<header class="chapter-head">
    <p class="chapter-place">
      Chapter ${place}
      <span class="chapter-facts">${facts}</span>
    </p>
    <h1 id="chapter-title" class="section-title">${chapter.title}</h1>
    ${chapter.about && html`<${Prose} text=${chapter.about} heading=${2} />`}
    <${MostNeeded} chapter=${chapter} />
    ${printing.value && html`<${PrintedContents} sections=${chapter.sections} />`}
  </header>`;
}

/** How many chapters are named that one builds on. */
const MOST_NEEDED = 4;

/** The chapters that one builds on most. @param {{chapter: Chapter}} properties */
function MostNeeded({ chapter }) {
  const { model, book } = current();
  const needed = useMemo(() => needsOf(model, book)[chapter.number - 1], [book, chapter]);
  const shown = needed.slice(0, MOST_NEEDED).sort((one, other) => one - other);
  return html`<${Needs} numbers=${shown} />`;
}

/** Chapters that one builds on, as links. @param {{numbers: number[]}} properties */
export function Needs({ numbers }) {
  const { book } = current();
  if (!numbers.length) return null;
  return html`<p class="chapter-needs">
    Builds on${" "}
    ${numbers.map(
      (number, index) =>
        html`${index > 0 && ", "}<${PageLink} number=${number}>
            ${book[number - 1].label}. ${book[number - 1].title}</${PageLink}>`,
    )}
  </p>`;
}

/** On paper a chapter begins with its contents. @param {{sections: Section[]}} properties */
function PrintedContents({ sections }) {
  const { model } = current();
  return html`<nav class="printed-contents" aria-label="contents">
    <ul>
      ${sections
        .filter(({ depth }) => depth === 1)
        .map(
          ({ activation }) =>
            html`<li>
              <a href=${`#title-${activation}`}>${headingOf(functionOf(model, activation))}</a>
            </li>`,
        )}
    </ul>
  </nav>`;
}
