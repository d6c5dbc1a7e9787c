// Read: the run unfolded as an article.

import { useLayoutEffect } from "preact/hooks";
import { FRONT } from "viewer/model/book.js";
import { bodyOf } from "viewer/model/blocks.js";
import { activationOf, callerOf, functionIndex } from "viewer/model/run.js";
import { titleOf } from "viewer/model/sections.js";
import { html, later } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { bringIntoView, takeFocus } from "viewer/state/article.js";
import { course, current, focus, page, shownPage } from "viewer/state/state.js";
import { fetchRules, lacksRules } from "viewer/state/withheld.js";
import { article, fetchArticle } from "viewer/views/articles.js";

/** The article: a chapter, the page before them, or all in one. */
export function Read() {
  const { model, book } = current();
  const target = focus.value;
  useLayoutEffect(() => {
    if (target.step >= 0) scrollToStep(target);
  }, [target]);
  const chapter = book[page.value - 1];
  const isFront = shownPage.value === FRONT;
  const Article = article.value;
  const waits = !isFront && lacksRules();
  useLayoutEffect(() => {
    if (!isFront) fetchArticle();
  }, [isFront]);
  useLayoutEffect(() => {
    if (waits) fetchRules();
  }, [waits]);
  return html`<main
    key=${page.value}
    id="article"
    class=${`article ${isFront ? "is-front" : ""}`}
    tabindex="-1"
  >
    ${isFront && html`<${FrontPage} />`}
    ${!isFront && !waits && Article && html`<${Article} chapter=${chapter} />`}
    ${model.steps === 0 && html`<p class="notice-inline">Nothing of this lecture ran.</p>`}
  </main>`;
}

/** The page before the chapters: its title and first paragraph; the rest comes a little later. */
function FrontPage() {
  const { document, model, sections } = current();
  const { docstring } = bodyOf(document, functionIndex(model, sections[0].activation));
  const [lead, ...rest] = docstring.split(/\n\s*\n/);
  const { author, date, licence } = course.value;
  const head = html`
    <header class="section-head">
      <h1 class="section-title">${titleOf(model)}</h1>
      <div class="section-meta">${[author, date, licence].filter(Boolean).join(" · ")}</div>
    </header>
    ${lead && html`<${Prose} text=${lead} />`}
  `;
  return html`<section class="section depth-0">
    <${Front} head=${head} text=${rest.join("\n\n")} />
  </section>`;
}

/**
 * Bring a step into view: the title of a section that begins with it, its line, or the line that
 * led to it; or what a panel led to.
 * @param {{step: number, top?: number, takes?: boolean, find?: Find}} target
 */
function scrollToStep({ step, top, takes, find }) {
  const { model, sections } = current();
  const begun = sections.find(({ depth, first }) => depth > 0 && first === step);
  const isTitle = begun && top === undefined;
  bringIntoView(() => {
    const line = () => (isTitle && headingOf(begun.activation)) || lineOfStep(model, step);
    const found = find?.() ?? line();
    if (takes) takeFocus(found);
    return found;
  }, top);
}

/** @param {number} activation */
function headingOf(activation) {
  return document.getElementById(`title-${activation}`);
}

/** @param {Model} model @param {number} target a step @returns {Element | null} */
function lineOfStep(model, target) {
  for (let at = target; at >= 0; at = callerOf(model, activationOf(model, at))) {
    const line = document.querySelector(`[data-step="${at}"], [data-steps~="${at}"]`);
    const found = line ?? headingOf(activationOf(model, at));
    if (found) return found;
  }
  return null;
}

const Front = later(
  async () => (await import("viewer/views/front.js")).Front,
  ({ head }) =>
    html`<div class="cover">
      <div class="cover-text">${head}</div>
    </div>`,
);
