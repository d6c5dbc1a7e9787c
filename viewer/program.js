// Source lines, highlighted; what a line measured (claims with both sides, cost, output); why a run ended early.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { costDetails, costText, isLiteral, valueText } from "viewer/format.js";
import { html } from "viewer/html.js";
import { rows } from "viewer/model.js";
import { runToLine, shortPaths } from "viewer/navigate.js";
import { Prose } from "viewer/prose.js";
import { keepInside } from "viewer/scrolling.js";
import { linesOf, pieces, withoutDirectives } from "viewer/source.js";
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

/** @typedef {import("viewer/schema.js").SourceFile} SourceFile */

const CONTINUATION = 4;

/** @param {import("viewer/source.js").Piece[]} line */
function spans(line) {
  return line.map(({ text, kind }) => (kind ? html`<span class=${`token-${kind}`}>${text}</span>` : text));
}

/** A line that continues, where it must wrap, a little to the right of its own indentation.
 * @param {{line: import("viewer/source.js").Piece[]}} properties */
function Hanging({ line }) {
  const indent = `${(line[0]?.text.search(/\S|$/) ?? 0) + CONTINUATION}ch`;
  return html`<span class="source-line" style=${{ paddingLeft: indent, textIndent: `-${indent}` }}>${spans(line)}${"\n"}</span>`;
}

/** Lines of an article, without directives. @param {{file: SourceFile, first: number, last: number, indent: number}} properties */
export function Code({ file, first, last, indent }) {
  const lines = Array.from({ length: last - first + 1 }, (_, index) => withoutDirectives(pieces(file, first + index, indent)));
  return html`<code class="source">${lines.map((line) => html`<${Hanging} line=${line} />`)}</code>`;
}

/** One line of a program. @param {{file: SourceFile, line: number}} properties */
export function CodeLine({ file, line }) {
  return html`<code class="source"><${Hanging} line=${pieces(file, line)} /></code>`;
}

const LONG = 120;

/**
 * @typedef {object} Outcome one execution of an assert
 * @property {number} row
 * @property {number} step
 * @property {boolean | null} held
 * @property {string} text
 * @property {{source: string, text: string}[]} operands measured, without the literals
 */

/** @param {import("viewer/model.js").Model} model @param {number} row @returns {Outcome} */
export function outcomeOf(model, row) {
  const { claims, assertions, values } = model.document;
  const assertion = assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const operands = (assertion?.operands ?? []).flatMap((source, index) => {
    const value = claims.operands[row]?.[index] ?? null;
    if (value === null) return claims.held[row] === true || isLiteral(source) ? [] : [{ source, text: "not evaluated" }];
    return isLiteral(source) ? [] : [{ source, text: valueText(values[value]) }];
  });
  return { row, step: claims.step[row], held: claims.held[row], text: assertion?.text ?? "", operands };
}

/** @param {{outcome: Outcome, text?: boolean}} properties text: repeat the condition */
export function Claim({ outcome, text = false }) {
  const { held, operands } = outcome;
  const verdict = held ? "held" : held === null ? "could not be evaluated" : "false";
  return html`<div class=${`claim ${held ? "held" : "failed"}`}>
    <span class="verdict" title=${`This claim ${held === null || held ? verdict : "is false"}`}>${held ? "✓" : "✗"}<span class="visually-hidden"> ${verdict}</span></span>
    <div class="claim-body">
      ${text && html`<code class="condition">${outcome.text}</code>`}
      ${operands.map(({ source, text: measured }) => html`<div class="operand"><code class="operand-source">${source}</code> <span class="equals">=</span> <code class="operand-value" title=${measured}>${held ? shortened(measured) : measured}</code></div>`)}
    </div>
  </div>`;
}

/** @param {string} text */
function shortened(text) {
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}

/** @param {{first: number, beyond: number}} properties a range of steps */
export function Cost({ first, beyond }) {
  const cost = current().cost(first, beyond);
  const text = costText(cost);
  return text ? html`<div class="cost" title=${costDetails(cost)}>${text}</div>` : null;
}

/** What a step printed. @param {{step: number}} properties */
export function Printed({ step }) {
  const { model, document } = current();
  const found = [...rows(model.outputOf, step)].map((row) => document.output[row]);
  return found.length ? html`<pre class="output" aria-label="output">${found.map(({ stream, text }) => html`<span class=${stream}>${text}</span>`)}</pre>` : null;
}

/** @type {Record<string, string>} */
const TITLES = {
  claim: "A claim of this lecture is false",
  exception: "This lecture raised an exception",
  exit: "This lecture ended itself",
  interrupt: "This run was interrupted",
  "step limit": "This run reached its step limit",
};

/** The alert; none when the lecture ran to its end. */
export function Failure() {
  const { document, model } = current();
  const { failure } = document;
  if (!failure) return null;
  const outcomes = failure.step >= 0 ? [...rows(model.claimsOf, failure.step)].filter((row) => document.claims.held[row] !== true) : [];
  return html`<section class="failure" role="alert">
    <h2>${TITLES[failure.kind] ?? "This run ended early"}</h2>
    <p><code>${failure.type}</code>${failure.message && `: ${failure.message}`}</p>
    ${outcomes.map((row) => html`<${Claim} outcome=${outcomeOf(model, row)} text />`)}
    <ol class="traceback">${failure.traceback.map(({ path, line, function: name }) => html`<li><${TracebackLine} path=${path} line=${line} name=${name} /></li>`)}</ol>
    <p class="quiet">What is below ran before that.</p>
  </section>`;
}

/** @param {{path: string, line: number, name: string}} properties */
function TracebackLine({ path, line, name }) {
  const { document, model } = current();
  const text = `${path}:${line} in ${name}`;
  const file = document.files.findIndex((source) => source.path === path);
  const limit = document.failure && document.failure.step >= 0 ? document.failure.step : Infinity;
  const steps = document.statements.flatMap(([owner, first, last], statement) =>
    owner === file && first <= line && line <= last ? [...rows(model.runs, statement)].filter((step) => step <= limit).slice(-1) : [],
  );
  if (!steps.length) return html`<span class="quiet">${text}</span>`;
  return html`<button class="quiet-link" title="Go to this step" onClick=${() => goTo(Math.max(...steps), { jump: true, to: "step" })}>${text}</button>`;
}
