// What stands on a slide. Fetched when a presentation starts.

import { bodyOf } from "viewer/model/blocks.js";
import { plainProse } from "viewer/model/excerpts.js";
import { lastSteps } from "viewer/model/loops.js";
import { withValues } from "viewer/model/quotes.js";
import { functionIndex, functionOf, wholeScope } from "viewer/model/run.js";
import { placeInChapter, restOfRoot } from "viewer/model/slides.js";
import { titleOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { shown, slides } from "viewer/state/slides.js";
import { current } from "viewer/state/state.js";
import { proseWithheld } from "viewer/state/withheld.js";
import { Blocks, Section } from "viewer/views/section.js";

/** Where one is in the chapter that is shown. */
export function InChapter() {
  const place = placeInChapter(current().book, slides(), shown.value);
  return place && html`<span class="slide-place" title="Slide of this chapter">Ch. ${place}</span>`;
}

/** The prose of a section that waits for answers, as it reads.
 * @param {Section | null} section @returns {string[]} */
function waitingIn(section) {
  if (!section) return [];
  const { model, document: lecture } = current();
  const { blocks } = bodyOf(lecture, functionIndex(model, section.activation));
  const ran = lastSteps(model, wholeScope(model, section.activation));
  return blocks.flatMap((block) =>
    block.kind === "prose" && proseWithheld(block, blocks, ran) ? [plainProse(block.text)] : [],
  );
}

/** Let what waits for an answer have the room already that it will take.
 * @param {HTMLElement} root @param {Slide} slide */
export function reserve(root, { section }) {
  /** @type {NodeListOf<HTMLElement>} */
  const places = root.querySelectorAll(".row-rest > .veiled");
  const texts = places.length ? waitingIn(section) : [];
  if (texts.length === places.length)
    for (const [index, place] of places.entries()) place.dataset.says = texts[index];
}

/** @param {{slide: Slide}} properties */
export function Contents({ slide: { section, text, title } }) {
  const { model, document: lecture, sections } = current();
  if (!section)
    return html`<div class="slide-heading">
      <${Prose} text=${text} heading=${1} />
    </div>`;
  if (section.depth > 0)
    return html`
      ${text && html`<div class="slide-before"><${Prose} text=${text} /></div>`}
      <${Section} activation=${section.activation} depth=${section.depth} />
    `;
  const { indent, line, docstring } = bodyOf(lecture, functionIndex(model, section.activation));
  const { file } = functionOf(model, section.activation);
  const scope = wholeScope(model, section.activation);
  const whole = withValues(lecture, { file, line, text: docstring }, scope);
  // A book has a page for who reads it, with the ways through it and what prepares the run.
  const isBook = current().book.length > 0;
  const said = isBook ? whole.split("\n\n")[0] : whole;
  return html`<section class="section depth-0">
    <header class="section-head">
      <h1 class="section-title">${title}</h1>
    </header>
    ${said && html`<${Prose} text=${said} />`}
    ${
      !isBook &&
      html`<${Blocks}
        blocks=${restOfRoot(model, sections, section)}
        scope=${scope}
        indent=${indent}
        depth=${0}
      />`
    }
  </section>`;
}

/**
 * The lecture and the chapter that a slide is of, and its title where the page does not show it.
 * A table of contents is a title itself.
 * @param {{slide: Slide, isFurther: boolean}} properties
 */
export function Above({ slide: { section, chapter, title }, isFurther }) {
  if (section?.depth === 0) return null;
  const further = isFurther && html`<span class="slide-further"> › ${title}</span>`;
  return html`
    <h1 class=${chapter ? "visually-hidden" : "slide-chapter"}>
      ${titleOf(current().model)}${!chapter && further}
    </h1>
    ${section && chapter && html`<h2 class="slide-chapter">${chapter}${further}</h2>`}
  `;
}
