// Blocks of a function's body with what they measured beside them. A line that measured something starts a new
// row of the page's grid: line on the left, values on the right, and below the line whatever follows it.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { html } from "viewer/html.js";
import { functionOf, rows } from "viewer/model.js";
import { environmentAt } from "viewer/navigate.js";
import { Claim, Code, Cost, outcomeOf, Printed } from "viewer/program.js";
import { Prose } from "viewer/prose.js";
import { callsOf, holds, isBareCall, iterations, stepsIn } from "viewer/reading.js";
import { Folded, Section } from "viewer/section.js";
import { isWithin } from "viewer/source.js";
import { current, focus, goTo } from "viewer/store.js";
import { isPicture, NamedValue, ValueView } from "viewer/value.js";

/**
 * @typedef {import("viewer/source.js").Block} Block
 * @typedef {import("viewer/source.js").CodeBlock} CodeBlock
 * @typedef {import("viewer/reading.js").Scope} Scope
 * @typedef {{name: string, value: import("viewer/schema.js").Value}} Named
 * @typedef {{line: any, aside: any[], rest: any[], steps: number[]}} Row
 */

/** @param {{blocks: Block[], scope: Scope, indent: number, depth: number}} properties */
export function Blocks({ blocks, scope, indent, depth }) {
  /** @type {any[]} */
  const page = [];
  /** @type {Row | null} */
  let row = null;
  let previous = -1;
  const flush = () => {
    if (row) page.push(html`<${PageRow} row=${row} />`);
    row = null;
  };
  for (const block of blocks) {
    if (block.kind === "prose") {
      row ??= { line: null, aside: [], rest: [], steps: [] };
      row.rest.push(html`<${Prose} key=${`prose-${block.line}`} text=${block.text} heading=${depth === 0 ? 2 : 4} />`);
    } else if (block.kind === "loop") {
      flush();
      page.push(html`<${Loop} key=${`loop-${block.first}`} block=${block} scope=${scope} indent=${indent} depth=${depth} />`);
    } else {
      const parts = partsOf(block, scope, indent, depth, previous >= 0 && block.first > previous + 1);
      if (parts.aside.length) flush();
      if (parts.line && !row) row = { line: null, aside: parts.aside, rest: [], steps: parts.steps };
      if (row && row.aside === parts.aside) row.line = parts.line;
      else if (parts.line) row?.rest.push(parts.line);
      row?.rest.push(...parts.rest);
      if (parts.sections.length) flush();
      page.push(...parts.sections);
    }
    previous = block.kind === "code" ? block.last : -1;
  }
  flush();
  return page;
}

/** @param {{row: Row}} properties */
function PageRow({ row }) {
  return html`<div class="row" data-steps=${row.steps.join(" ")}>
    ${row.line && html`<div class="row-line">${row.line}</div>`}
    ${row.aside.length > 0 && html`<div class="row-aside">${row.aside}</div>`}
    ${row.rest.length > 0 && html`<div class="row-rest">${row.rest}</div>`}
  </div>`;
}

/**
 * What a block of code shows, sorted by where it stands.
 * @param {CodeBlock} block
 * @param {Scope} scope
 * @param {number} indent
 * @param {number} depth
 * @param {boolean} spaced whether blank lines precede it
 */
function partsOf(block, scope, indent, depth, spaced) {
  const { model, document } = current();
  const occurrences = block.statements.map((statement) => stepsIn(model, scope, statement));
  const steps = occurrences.flatMap((found) => found.slice(-1));
  const calls = steps.map((step) => callsOf(model, step));
  const sections = calls.flatMap(({ section }) => (section >= 0 ? [section] : []));
  const isContents = sections.length > 0 && isBareCall(model, block.statements[0]);
  const ran = !block.statements.length || steps.length > 0;
  return {
    steps,
    line: isContents ? null : html`<${Line} block=${block} file=${document.files[functionOf(model, scope.activation).file]} indent=${indent} steps=${steps} ran=${ran} spaced=${spaced} />`,
    aside: isContents ? [] : steps.flatMap((step) => asideOf(step, sections.length > 0)),
    rest: steps.flatMap((step, index) => restOf(step, calls[index].folded, depth)),
    sections: sections.map((section) => html`<${Section} key=${`section-${section}`} activation=${section} depth=${depth + 1} />`),
  };
}

/** @param {{block: CodeBlock, file: import("viewer/schema.js").SourceFile, indent: number, steps: number[], ran: boolean, spaced: boolean}} properties */
function Line({ block, file, indent, steps, ran, spaced }) {
  const { model, document } = current();
  const claims = steps.flatMap((step) => [...rows(model.claimsOf, step)]);
  const failed = claims.some((row) => document.claims.held[row] !== true);
  const classes = ["line", ran ? "" : "unrun", spaced ? "spaced" : "", failed ? "failed" : ""].join(" ");
  const step = steps.at(-1) ?? -1;
  return html`<div class=${classes} data-step=${step >= 0 ? step : null} title=${ran ? null : "This line did not run"}>
    <button class="line-number" tabindex="-1" disabled=${step < 0} title=${`Line ${block.first}: step from here`} onClick=${() => goTo(step, { jump: true, to: "step" })}>${block.first}</button>
    <pre><${Code} file=${file} first=${block.first} last=${block.last} indent=${indent} /></pre>
  </div>`;
}

/** Values beside a line, without pictures. @param {number} step @returns {Named[]} */
export function inspectedAt(step) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  return [...rows(model.inspected, model.stepEvent[step])].flatMap((row) => {
    const value = inspections.value[row];
    return value === null ? [] : [{ name: names[inspections.name[row]], value: values[value] }];
  });
}

/** @param {number} step @param {boolean} unfolded whether the calls of the step are shown with their own cost */
export function asideOf(step, unfolded) {
  const { model, document, cost } = current();
  const found = inspectedAt(step).filter(({ value }) => !isPicture(value));
  const claims = [...rows(model.claimsOf, step)];
  const beyond = unfolded ? step + 1 : model.eventStep[model.stepEnd[step]];
  const sum = cost(step, beyond);
  const costs = sum.matmul_flops + sum.other_flops + sum.allocated_bytes > 0;
  return [
    ...found.map(({ name, value }) => html`<${NamedValue} name=${name} value=${value} shares=${sharesAt(step, name, value)} />`),
    ...claims.map((row) => html`<${Claim} outcome=${outcomeOf(model, row)} text=${document.claims.held[row] !== true} />`),
    ...(costs ? [html`<${Cost} first=${step} beyond=${beyond} />`] : []),
  ];
}

/** Other names of the same call that show the same storage then. @param {number} step @param {string} name @param {Named["value"]} value */
function sharesAt(step, name, value) {
  if (value.storage === undefined) return [];
  const { model, document } = current();
  const { names, values, inspections } = document;
  const known = environmentAt(model, model.stepActivation[step], model.stepEnd[step]);
  return [...known]
    .filter(([other, { row }]) => names[other] !== name && values[inspections.value[row] ?? 0].storage === value.storage)
    .map(([other]) => names[other]);
}

/** @param {number} step @param {number[]} folded @param {number} depth */
export function restOf(step, folded, depth) {
  const pictures = inspectedAt(step).filter(({ value }) => isPicture(value));
  return [
    html`<${Printed} step=${step} />`,
    ...pictures.map(({ name, value }) => html`<${ValueView} value=${value} name=${name} />`),
    ...(folded.length ? [html`<${Calls} calls=${folded} depth=${depth} />`] : []),
  ];
}

const CALLS_AT_ONCE = 3;

/** Calls within an expression, each behind a disclosure. @param {{calls: number[], depth: number}} properties */
function Calls({ calls, depth }) {
  const [all, setAll] = useState(false);
  const shown = all ? calls : calls.slice(0, CALLS_AT_ONCE);
  return html`<div class="calls">
    ${shown.map((activation) => html`<${Folded} key=${activation} activation=${activation} depth=${depth} />`)}
    ${shown.length < calls.length && html`<button class="quiet-link" onClick=${() => setAll(true)}>and ${calls.length - shown.length} more calls</button>`}
  </div>`;
}

/** @param {{block: import("viewer/source.js").LoopBlock, scope: Scope, indent: number, depth: number}} properties */
export function Loop({ block, scope, indent, depth }) {
  const { model, document } = current();
  const turns = useMemo(() => iterations(model, scope, block.statement), [model, scope.activation, scope.from, scope.to]);
  const target = focus.value;
  const aimed = target.step < 0 ? -1 : turns.findIndex((turn) => turn.header === target.step || holds(model, turn.scope, target.step));
  const [chosen, choose] = useState(aimed >= 0 ? aimed : turns.length - 1);
  useLayoutEffect(() => {
    if (aimed >= 0) choose(aimed);
  }, [target]);
  const turn = turns[Math.min(chosen, turns.length - 1)];
  const header = turn?.header ?? stepsIn(model, scope, block.statement).at(-1) ?? -1;
  const [file, first, last] = document.statements[block.statement];
  const onHeader = header < 0 ? [] : [header, ...(turn ? stepsOnLine(turn.scope, block) : [])];
  const aside = onHeader.flatMap((step) => asideOf(step, false));
  const inner = turn?.scope ?? { ...scope, to: scope.from };
  return html`<div class=${`loop ${header < 0 ? "unrun" : ""}`} data-first=${block.first}>
    <div class="row">
      <div class="row-line"><div class="line" data-step=${header >= 0 ? header : null}><span class="line-number">${block.first}</span><pre><${Code} file=${document.files[file]} first=${first} last=${last} indent=${indent} /></pre></div>
        ${turns.length > 1 && html`<${Scrubber} chosen=${chosen} count=${turns.length} choose=${choose} line=${block.first} />`}</div>
      ${aside.length > 0 && html`<div class="row-aside">${aside}</div>`}
      ${header >= 0 && html`<div class="row-rest">${onHeader.flatMap((step) => restOf(step, callsOf(model, step).folded, depth))}</div>`}
    </div>
    <${Blocks} key=${chosen} blocks=${block.body} scope=${inner} indent=${indent} depth=${depth} />
  </div>`;
}

/** Steps of a turn that stand on the first line themselves: `for x in y: total += x`.
 * @param {Scope} scope @param {import("viewer/source.js").LoopBlock} block */
function stepsOnLine(scope, block) {
  const { model, document } = current();
  const { statements } = document;
  return statements.flatMap(([, first, , , , func], statement) =>
    first <= statements[block.statement][2] && statement !== block.statement && func === statements[block.statement][5] && isWithin(statements, statement, block.statement) ? stepsIn(model, scope, statement).slice(-1) : [],
  );
}

/** @param {{chosen: number, count: number, choose: (turn: number) => void, line: number}} properties */
function Scrubber({ chosen, count, choose, line }) {
  const to = (/** @type {number} */ turn) => choose(Math.max(0, Math.min(count - 1, turn)));
  return html`<div class="scrubber" role="group" aria-label=${`turns of the loop on line ${line}`}>
    <button title="Previous turn" disabled=${chosen === 0} onClick=${() => to(chosen - 1)}>‹</button>
    <input type="range" min="1" max=${count} value=${chosen + 1} aria-label="turn" onInput=${(/** @type {any} */ event) => to(Number(event.target.value) - 1)} />
    <button title="Next turn" disabled=${chosen === count - 1} onClick=${() => to(chosen + 1)}>›</button>
    <span class="scrubber-count">${chosen + 1} of ${count}</span>
  </div>`;
}
