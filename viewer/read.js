// Read: the run unfolded as an article.

import { useLayoutEffect } from "preact/hooks";
import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { bringIntoView } from "viewer/scrolling.js";
import { Section } from "viewer/section.js";
import { current, focus } from "viewer/store.js";

/** The article. */
export function Read() {
  const { document, model, sections } = current();
  const target = focus.value;
  useLayoutEffect(() => {
    if (target.step >= 0) scrollToStep(target.step);
  }, [target]);
  const roots = sections.filter((section) => section.parent < 0);
  return html`<main id="article" class="article" tabindex="-1">
    ${roots.map(({ activation }) => html`<${Section} key=${activation} activation=${activation} depth=${0} />`)}
    ${model.stepEvent.length === 0 && html`<p class="notice-inline">Nothing of this lecture ran.</p>`}
    <${Colophon} document=${document} />
  </main>`;
}

/** Bring the line of a step into view, or the line that led to it. @param {number} step */
export function scrollToStep(step) {
  const { model } = current();
  for (let at = step; at >= 0; at = model.parentStep[model.stepActivation[at]]) {
    if (bringIntoView(`[data-step="${at}"], [data-steps~="${at}"]`)) return;
    if (bringIntoView(`#activation-${model.stepActivation[at]}`)) return;
  }
}

/** What the run depended on and what it did not count. @param {{document: import("viewer/schema.js").Document}} properties */
function Colophon({ document }) {
  const { environment, uncounted, warnings } = document;
  const run = Object.entries(environment).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
  const missing = Object.entries(uncounted).map(([name, count]) => `${name} (${counted(count, "time")})`);
  return html`<footer class="colophon">
    <p>The values, claims and costs on this page come from one run of <code>${document.module}</code>: ${run}.</p>
    ${missing.length > 0 && html`<details><summary>${counted(missing.length, "operator")} ran without a formula for some cost, so that part is not counted</summary><p>${missing.join(", ")}.</p></details>`}
    ${warnings.length > 0 && html`<details><summary>${counted(warnings.length, "warning")} for the author</summary>
      <ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul></details>`}
  </footer>`;
}
