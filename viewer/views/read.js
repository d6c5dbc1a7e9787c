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
    if (target.step >= 0) scrollToStep(target);
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

/**
 * Bring a step into view: the title of a section that begins with it, its line, or the line that
 * led to it.
 * @param {{step: number, top?: number}} target
 */
function scrollToStep({ step, top }) {
  const { model, sections } = current();
  const begun = sections.find(({ depth, first }) => depth > 0 && first === step);
  const isTitle = begun && top === undefined;
  bringIntoView(() => (isTitle && titleOf(begun.activation)) || lineOfStep(model, step), top);
}

/** @param {number} activation */
function titleOf(activation) {
  return document.getElementById(`title-${activation}`);
}

/** @param {Model} model @param {number} target a step @returns {Element | null} */
function lineOfStep(model, target) {
  for (let at = target; at >= 0; at = callerOf(model, activationOf(model, at))) {
    const line = document.querySelector(`[data-step="${at}"], [data-steps~="${at}"]`);
    const found = line ?? titleOf(activationOf(model, at));
    if (found) return found;
  }
  return null;
}

const Colophon = later(async () => (await import("viewer/views/colophon.js")).Colophon);
