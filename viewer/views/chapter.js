// What stands around a chapter: its number and title above, the ways on below.

import { useMemo } from "preact/hooks";
import { amountOf } from "viewer/model/book.js";
import { counted } from "viewer/model/format.js";
import { functionOf } from "viewer/model/run.js";
import { claimsWithin, headingOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { addressOfPage, openPage } from "viewer/state/address.js";
import { current, printing } from "viewer/state/state.js";

/** What a chapter holds, in words. @param {Chapter} chapter @returns {string} */
export function factsOf(chapter) {
  const { model } = current();
  const { minutes, exercises } = amountOf(model, chapter);
  const { claims, failed } = claimsWithin(model, chapter);
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
 * @param {{number: number, class?: string, rel?: string, here?: boolean, children: any}} properties
 */
export function PageLink({ number, class: name, rel, here = false, children }) {
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
    onClick=${open}
  >
    ${children}
  </a>`;
}

/** @param {{chapter: Chapter}} properties */
export function ChapterHead({ chapter }) {
  const { book } = current();
  const facts = useMemo(() => factsOf(chapter), [chapter]);
  return html`<header class="chapter-head">
    <p class="chapter-place">
      Chapter ${chapter.number} of ${book.length}
      <span class="chapter-facts">${facts}</span>
    </p>
    <h1 id="chapter-title" class="section-title">${chapter.title}</h1>
    ${chapter.about && html`<${Prose} text=${chapter.about} heading=${2} />`}
    ${printing.value && html`<${PrintedContents} sections=${chapter.sections} />`}
  </header>`;
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

/** @param {{chapter: Chapter}} properties */
export function ChapterFoot({ chapter: { number } }) {
  const { book } = current();
  const [before, after] = [book[number - 2], book[number]];
  return html`<nav class="chapter-foot" aria-label="chapters">
    <${PageLink} number=${number - 1} rel="prev" class="chapter-way">
      <span class="quiet">← ${before ? `Chapter ${number - 1}` : "Front page"}</span>
      <span>${before ? before.title : "All chapters"}</span>
    </${PageLink}>
    ${
      after &&
      html`<${PageLink} number=${number + 1} rel="next" class="chapter-way">
        <span class="quiet">Chapter ${number + 1} →</span>
        <span>${after.title}</span>
      </${PageLink}>`
    }
  </nav>`;
}
