// The source of a file in Step: prose as text, code with line numbers, the current statement marked.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { CodeLine } from "viewer/code.js";
import { html } from "viewer/html.js";
import { runToLine } from "viewer/navigate.js";
import { Prose } from "viewer/prose-view.js";
import { keepInside } from "viewer/scrolling.js";
import { linesOf } from "viewer/source.js";
import { shortPaths } from "viewer/state.js";
import { current, goTo, step } from "viewer/store.js";

/** @param {{at: number, inner: boolean}} properties the step to mark, and whether it is the current one */
export function Program({ at, inner }) {
  const { model, document } = current();
  const [file, first, last] = document.statements[model.stepStatement[at]];
  const pane = useRef(/** @type {HTMLElement | null} */ (null));
  const paths = useMemo(() => shortPaths(document.files.map((source) => source.path)), [document]);
  useLayoutEffect(() => {
    if (pane.current) mark(pane.current, first, last, inner ? "current" : "caller");
  });
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return html`<section class="program" aria-label="program">
    <header class="program-head"><span class="path">${paths[file]}</span><span class="where">${inner ? `after ${lines} ran` : `during ${lines}`}</span></header>
    <div class="program-lines" ref=${pane} tabindex="0" role="region" aria-label=${`source of ${paths[file]}`}><${Lines} key=${file} file=${file} /></div>
  </section>`;
}

/** @param {HTMLElement} pane @param {number} first @param {number} last @param {"current" | "caller"} name */
function mark(pane, first, last, name) {
  for (const line of pane.querySelectorAll(".current, .caller")) line.classList.remove("current", "caller");
  for (let line = first; line <= last; line++) pane.querySelector(`[data-line="${line}"]`)?.classList.add(name);
  const target = /** @type {HTMLElement | null} */ (pane.querySelector(`[data-line="${first}"]`));
  if (target) keepInside(pane, target);
}

/** All lines of a file; they stay as they are while the reader steps. @param {{file: number}} properties */
function Lines({ file }) {
  const { document } = current();
  return useMemo(() => {
    const source = document.files[file];
    const lines = linesOf(source);
    const prose = new Map(source.prose.map((block) => [block.first_line, block]));
    const claims = new Set(document.assertions.map(({ statement }) => document.statements[statement]).filter(([owner]) => owner === file).map(([, line]) => line));
    const page = [];
    for (let line = 1; line <= lines.length; line++) {
      const block = prose.get(line);
      page.push(block ? html`<${ProseLine} block=${block} indent=${lines[line - 1].search(/\S|$/)} />` : html`<${SourceLine} file=${file} line=${line} isClaim=${claims.has(line)} />`);
      if (block) line = block.last_line;
    }
    return page;
  }, [document, file]);
}

/** @param {{block: import("viewer/schema.js").Prose, indent: number}} properties */
function ProseLine({ block, indent }) {
  const text = block.kind === "docstring" ? block.text.replace(/^[^\n]+/, (title) => `**${title}**\n`) : block.text;
  return html`<div class="program-prose"><span class="line-number">${block.first_line}</span><div style=${{ marginLeft: `${indent}ch` }}><${Prose} text=${text} /></div></div>`;
}

/** @param {{file: number, line: number, isClaim: boolean}} properties */
function SourceLine({ file, line, isClaim }) {
  const { document } = current();
  return html`<div class=${isClaim ? "program-line is-claim" : "program-line"} data-line=${line}>
    <button class="line-number" tabindex="-1" title="Run to this line" onClick=${() => runTo(file, line)}>${line}</button><${CodeLine} file=${document.files[file]} line=${line} />
  </div>`;
}

/** @param {number} file @param {number} line */
function runTo(file, line) {
  const target = runToLine(current().model, file, line, step.value);
  if (target >= 0) goTo(target);
}
