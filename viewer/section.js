// A call as a section of the article: heading, arguments, prose, and lines with what they measured.

import { useComputed } from "@preact/signals";
import { html } from "viewer/html.js";
import { functionOf, rows, stepRange } from "viewer/model.js";
import { Blocks } from "viewer/blocks.js";
import { Cost } from "viewer/evidence.js";
import { Prose } from "viewer/prose-view.js";
import { laidOut } from "viewer/progress.js";
import { wholeScope } from "viewer/reading.js";
import { bodyOf } from "viewer/source.js";
import { current, goTo } from "viewer/store.js";
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
