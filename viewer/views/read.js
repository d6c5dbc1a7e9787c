// Read: the run unfolded as an article.

import { useComputed } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { activationOf, callerOf } from "viewer/model/run.js";
import { html, later } from "viewer/parts/html.js";
import { bringIntoView } from "viewer/state/article.js";
import { laidOut } from "viewer/state/layout.js";
import { current, focus } from "viewer/state/state.js";
import { Section } from "viewer/views/section.js";

/** The article. */
export function Read() {
  const { model, sections } = current();
  const target = focus.value;
  useLayoutEffect(() => {
    if (target.step >= 0) scrollToStep(target.step);
  }, [target]);
  const isWhole = useComputed(() => laidOut.value.size >= sections.length).value;
  const roots = sections.filter((section) => section.parent < 0);
  return html`<main id="article" class="article" tabindex="-1">
    ${roots.map(
      ({ activation }) =>
        html`<${Section} key=${activation} activation=${activation} depth=${0} />`,
    )}
    ${model.steps === 0 && html`<p class="notice-inline">Nothing of this lecture ran.</p>`}
    ${isWhole && html`<${Colophon} />`}
  </main>`;
}

/** Bring the line of a step into view, or the line that led to it. @param {number} step */
function scrollToStep(step) {
  const { model } = current();
  for (let at = step; at >= 0; at = callerOf(model, activationOf(model, at))) {
    if (bringIntoView(`[data-step="${at}"], [data-steps~="${at}"]`)) return;
    if (bringIntoView(`#activation-${activationOf(model, at)}`)) return;
  }
}

const Colophon = later(async () => (await import("viewer/views/colophon.js")).Colophon);
