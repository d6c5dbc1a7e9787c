// Chapters, or all of a lecture in one.

import { html, later } from "viewer/parts/html.js";
import { isLaidOut } from "viewer/state/layout.js";
import { current } from "viewer/state/state.js";
import { ChapterHead } from "viewer/views/chapter.js";
import { Activation, Section } from "viewer/views/section.js";

/** @param {{chapter?: Chapter}} properties chapter: or everything, where there is none */
export function Article({ chapter }) {
  if (chapter) return html`<${ChapterPage} chapter=${chapter} />`;
  return html`
    <${Roots} />
    ${isLaidOut.value && html`<${Colophon} />`}
  `;
}

/** Everything that ran, from its outermost calls. */
function Roots() {
  return current()
    .sections.filter((section) => section.parent < 0)
    .map(
      ({ activation }) =>
        html`<${Section} key=${activation} activation=${activation} depth=${0} />`,
    );
}

/** @param {{chapter: Chapter}} properties */
function ChapterPage({ chapter }) {
  const { activation } = current().sections[0];
  return html`<section class="section depth-0" aria-labelledby="chapter-title">
    <${ChapterHead} chapter=${chapter} />
    <${Activation} activation=${activation} depth=${0} />
    <${ChapterFoot} chapter=${chapter} />
  </section>`;
}

const ChapterFoot = later(async () => (await import("viewer/views/foot.js")).ChapterFoot);

const Colophon = later(async () => (await import("viewer/views/colophon.js")).Colophon);
