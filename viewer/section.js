// Read: the run unfolded as an article. A call that is a whole statement is a section of it.

import { useComputed } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import { Blocks } from "viewer/blocks.js";
import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { functionOf, rows, stepRange } from "viewer/model.js";
import { Cost } from "viewer/program.js";
import { Prose } from "viewer/prose.js";
import { holds, wholeScope } from "viewer/reading.js";
import { bringIntoView, laidOut } from "viewer/scrolling.js";
import { bodyOf } from "viewer/source.js";
import { current, focus, goTo } from "viewer/store.js";
import { NamedValue } from "viewer/value.js";

/** Topic ids as chips; other words of a label are for readers of the source. @param {{labels: string}} properties */
export function Topics({ labels }) {
  const { topics } = current().document;
  return labels.split(/[\s,;]+/).filter((label) => Object.hasOwn(topics, label)).map((label) => html`<span class="topic" title=${topics[label]}>${label}</span>`);
}

/** @param {{activation: number, depth: number}} properties */
export function Section({ activation, depth }) {
  const { model, sections } = current();
  const order = sections.find((section) => section.activation === activation)?.order ?? 0;
  const level = depth > 0 && sections.some((section) => section.chapter) ? depth + 1 : depth;
  const ready = useComputed(() => laidOut.value > order);
  const func = functionOf(model, activation);
  const Heading = `h${Math.min(level + 1, 6)}`;
  const [first, beyond] = stepRange(model, activation);
  return html`<section class=${`section depth-${Math.min(level, 4)}`} id=${`activation-${activation}`} aria-labelledby=${`title-${activation}`}>
    <header class="section-head">
      <${Heading} id=${`title-${activation}`} class="section-title">${func.title ? plainTitle(func.title) : html`<code>${func.name}</code>`}</${Heading}>
      <div class="section-meta"><${Topics} labels=${func.labels} />
        ${depth > 0 && html`<button class="quiet-link" title="Step through this section" onClick=${() => goTo(first, { jump: true, to: "step" })}>${func.name}() ▸</button>`}
        ${depth > 0 && html`<${Cost} first=${first} beyond=${beyond} />`}</div>
    </header>
    ${ready.value ? html`<${Activation} activation=${activation} depth=${depth} />` : html`<p class="waiting">…</p>`}
  </section>`;
}

/** A title is plain text: Markdown's marks around code and emphasis go. @param {string} title */
export function plainTitle(title) {
  return title.replace(/[`*]+/g, "").replace(/\.$/, "");
}

/** Arguments and body of one call. @param {{activation: number, depth: number}} properties */
export function Activation({ activation, depth }) {
  const { model, document } = current();
  const { indent, docstring, blocks } = bodyOf(document, model.activationFunction[activation]);
  return html`<${Arguments} activation=${activation} />
    ${docstring && html`<${Prose} text=${docstring} />`}
    <${Blocks} blocks=${blocks} scope=${wholeScope(model, activation)} indent=${indent} depth=${depth} />`;
}

/** Values that were inspected at the entry of a call. @param {{activation: number}} properties */
function Arguments({ activation }) {
  const { model, document } = current();
  const found = [...rows(model.inspected, model.entryEvent[activation])].filter((row) => document.inspections.value[row] !== null);
  if (!found.length) return null;
  return html`<div class="arguments" aria-label="arguments">${found.map((row) => html`
    <${NamedValue} value=${document.values[document.inspections.value[row] ?? 0]} name=${document.names[document.inspections.name[row]]} />`)}</div>`;
}

/** @param {{activation: number, depth: number}} properties */
export function Folded({ activation, depth }) {
  const { model } = current();
  const target = focus.value;
  const holdsTarget = target.step >= 0 && holds(model, wholeScope(model, activation), target.step);
  const [open, setOpen] = useState(holdsTarget);
  useLayoutEffect(() => {
    if (holdsTarget) setOpen(true);
  }, [target]);
  const func = functionOf(model, activation);
  return html`<details class="folded" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>stepped into <code>${func.name}</code>${func.title && html` <span class="folded-title">${func.title}</span>`}</summary>
    ${open && html`<div class="folded-body" id=${`activation-${activation}`}><${Activation} activation=${activation} depth=${depth + 1} /></div>`}
  </details>`;
}

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
