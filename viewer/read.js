// Read: the run unfolded as an article. A call that is a whole statement is a section. A line that measured something
// starts a new row of the page's grid: line on the left, values on the right, and below the line whatever follows it.

import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { costDetails, costText, counted, isLiteral, valueText } from "viewer/format.js";
import { html, later } from "viewer/html.js";
import {
  activationOf,
  callerOf,
  endOf,
  entryOf,
  eventOf,
  functionIndex,
  functionOf,
  rows,
  stepAfter,
  stepRange,
  wholeScope,
} from "viewer/model.js";
import { environmentAt } from "viewer/navigate.js";
import { Prose } from "viewer/prose.js";
import {
  bodyOf,
  callsOf,
  claimsWithin,
  holds,
  isBareCall,
  isWithin,
  isOfUnrunCode,
  lastSteps,
  linesOf,
  pieces,
  turnAt,
  turnOf,
  turnsOf,
  withoutDirectives,
} from "viewer/reading.js";
import {
  bringIntoView,
  claimsOf,
  current,
  dialog,
  focus,
  goTo,
  laidOut,
  presenting,
  printing,
} from "viewer/store.js";
import { heightOf, isPicture, NamedValue, ValueView } from "viewer/value.js";

/** Topic ids as chips; other words of a label are for readers of the source. @param {{labels: string}} properties */
export function Topics({ labels }) {
  const { topics } = current().document;
  return labels
    .split(/[\s,;]+/)
    .filter((label) => Object.hasOwn(topics, label))
    .map((label) => html`<span class="topic" title=${topics[label]}>${label}</span>`);
}

/** @param {{activation: number, depth: number}} properties */
export function Section({ activation, depth }) {
  const { model, sections } = current();
  const order = sections.find((section) => section.activation === activation)?.order ?? 0;
  const level = depth > 0 && sections.some((section) => section.chapter) ? depth + 1 : depth;
  const ready = useComputed(
    () => presenting.value || printing.value || laidOut.value.has(order),
  ).value;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const func = functionOf(model, activation);
  const Heading = `h${Math.min(level + 1, 6)}`;
  const [first, beyond] = stepRange(model, activation);
  useEffect(() => {
    if (ready && depth > 0)
      requestAnimationFrame(() =>
        requestAnimationFrame(() => place.current?.classList.add("settled")),
      );
  }, [ready]);
  return html`<section ref=${place} class=${`section depth-${Math.min(level, 4)}`} id=${`activation-${activation}`} aria-labelledby=${`title-${activation}`}>
    <header class="section-head">
      <${Heading} id=${`title-${activation}`} class="section-title">${func.title ? plainTitle(func.title) : html`<code>${func.name}</code>`}</${Heading}>
      <div class="section-meta"><${Topics} labels=${func.labels} />
        ${depth > 0 && html`<button class="quiet-link" title="Step through this section" onClick=${() => goTo(first, { jump: true, to: "step" })}>▸ ${func.name}()</button>`}
        ${depth > 0 && html`<${ClaimCount} section=${{ activation, first, beyond }} /><${Cost} first=${first} beyond=${beyond} />`}</div>
    </header>
    ${ready ? html`<${Activation} activation=${activation} depth=${depth} />` : html`<p class="waiting" style=${{ height: `${(func.end_line - func.line) * 1.6}rem` }}>…</p>`}
  </section>`;
}

/** A section's claims, and a way to their list. @param {{section: Pick<Section, "activation" | "first" | "beyond">}} properties */
function ClaimCount({ section }) {
  const { claims, failed } = claimsWithin(current().model, section);
  const open = () => {
    claimsOf.value = section.activation;
    dialog.value = "claims";
  };
  return (
    claims > 0 &&
    html`<button class=${`quiet-link ${failed ? "wrong" : ""}`} title="List the claims of this section" onClick=${open}>${failed ? `✗ ${counted(failed, "failure")}` : `✓ ${counted(claims, "claim")}`}</button>`
  );
}

/** A title is plain text: Markdown's marks around code and emphasis go. @param {string} title */
export function plainTitle(title) {
  return title.replace(/[`*]+/g, "").replace(/\.$/, "");
}

/** Arguments and body of one call. @param {{activation: number, depth: number}} properties */
function Activation({ activation, depth }) {
  const { model, document } = current();
  const { indent, docstring, blocks } = bodyOf(document, functionIndex(model, activation));
  return html`<${Arguments} activation=${activation} />
    ${docstring && html`<${Prose} text=${docstring} />`}
    <${Blocks} blocks=${blocks} scope=${wholeScope(model, activation)} indent=${indent} depth=${depth} />`;
}

/** Values that were inspected at the entry of a call. @param {{activation: number}} properties */
function Arguments({ activation }) {
  const { model, document } = current();
  const found = rows(model.inspected, entryOf(model, activation)).filter(
    (row) => document.inspections.value[row] !== null,
  );
  if (!found.length) return null;
  return html`<div class="arguments" aria-label="arguments">${found.map(
    (row) => html`
    <${NamedValue} value=${document.values[document.inspections.value[row] ?? 0]} name=${document.names[document.inspections.name[row]]} />`,
  )}</div>`;
}

/** How deep paper goes into calls, which may be recursive. */
const UNFOLDED = 7;

/** @param {{activation: number, depth: number}} properties */
function Folded({ activation, depth }) {
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
    ${(open || (printing.value && depth < UNFOLDED)) && html`<div class="folded-body" id=${`activation-${activation}`}><${Activation} activation=${activation} depth=${depth + 1} /></div>`}
  </details>`;
}

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
    ${roots.map(({ activation }) => html`<${Section} key=${activation} activation=${activation} depth=${0} />`)}
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

/** @param {{blocks: Block[], scope: Scope, indent: number, depth: number}} properties */
export function Blocks({ blocks, scope, indent, depth }) {
  /** @type {any[]} */
  const page = [];
  /** @type {PageRow | null} */
  let row = null;
  let previous = -1;
  const { document, model } = current();
  const ran = lastSteps(model, scope);
  const lines = linesOf(document.files[functionOf(model, scope.activation).file]);
  const flush = (isFollowed = false) => {
    if (row) page.push(html`<${Row} row=${row} isFollowed=${isFollowed} />`);
    row = null;
  };
  for (const block of blocks) {
    if (block.kind === "prose") {
      row ??= { line: null, aside: [], rest: [], steps: [], tall: [], height: 0 };
      row.height += 2 + block.text.length / PROSE_WIDTH;
      row.rest.push(
        html`<${Prose} key=${`prose-${block.line}`} text=${block.text} heading=${depth === 0 ? 2 : 4} unrun=${isOfUnrunCode(block, blocks, ran, lines)} />`,
      );
    } else if (block.kind === "loop") {
      flush(true);
      page.push(
        html`<${Loop} key=${`loop-${block.first}`} block=${block} scope=${scope} indent=${indent} depth=${depth} />`,
      );
    } else {
      const parts = partsOf(
        block,
        ran,
        scope,
        indent,
        depth,
        previous >= 0 && block.first > previous + 1,
      );
      if (parts.aside.length) flush(true);
      if (parts.line && !row)
        row = {
          line: null,
          aside: parts.aside,
          rest: [],
          steps: parts.steps,
          tall: parts.tall,
          height: 0,
        };
      if (row && row.aside === parts.aside) row.line = parts.line;
      else if (parts.line) row?.rest.push(parts.line);
      row?.rest.push(...parts.rest);
      if (row) row.height += block.last - block.first + 1 + 2 * parts.rest.length;
      if (parts.sections.length) flush();
      page.push(...parts.sections);
    }
    previous = block.kind === "code" ? block.last : -1;
  }
  flush();
  return page;
}

/** Characters in a line of prose and beside code, about; lines that are too many there. */
const PROSE_WIDTH = 80;
const ASIDE_WIDTH = 36;
const TALL = 4;

/** Tall values stand below their line where they would part it from the next.
 * @param {{row: PageRow, isFollowed: boolean}} properties isFollowed: the next line has values too */
function Row({ row, isFollowed }) {
  const excess = row.tall.reduce((sum, [, lines]) => sum + lines, 0) - row.height;
  const below = isFollowed && excess >= TALL ? row.tall.map(([value]) => value) : [];
  const aside = row.aside.filter((part) => !below.includes(part));
  return html`<div class="row" data-steps=${row.steps.join(" ")}>
    ${row.line && html`<div class="row-line">${row.line}${below.length > 0 && html`<div class="row-below">${below}</div>`}</div>`}
    ${aside.length > 0 && html`<div class="row-aside">${aside}</div>`}
    ${row.rest.length > 0 && html`<div class="row-rest">${row.rest}</div>`}
  </div>`;
}

/**
 * What a block of code shows, sorted by where it stands.
 * @param {CodeBlock} block
 * @param {Map<number, number>} last the last step of each statement that ran
 * @param {Scope} scope
 * @param {number} indent
 * @param {number} depth
 * @param {boolean} spaced whether blank lines precede it
 */
function partsOf(block, last, scope, indent, depth, spaced) {
  const { model, document } = current();
  const steps = block.statements.flatMap((statement) => last.get(statement) ?? []);
  const calls = steps.map((step) => callsOf(model, step));
  const sections = calls.flatMap(({ section }) => (section >= 0 ? [section] : []));
  const isContents = sections.length > 0 && isBareCall(model, block.statements[0]);
  const ran = !block.statements.length || steps.length > 0;
  return {
    steps,
    line: isContents
      ? null
      : html`<${Line} block=${block} file=${document.files[functionOf(model, scope.activation).file]} indent=${indent} steps=${steps} ran=${ran} spaced=${spaced} />`,
    ...(isContents ? { aside: [], tall: [] } : asidesOf(steps, sections.length > 0)),
    rest: steps.flatMap((step, index) => restOf(step, calls[index].folded, depth)),
    sections: sections.map(
      (section) =>
        html`<${Section} key=${`section-${section}`} activation=${section} depth=${depth + 1} />`,
    ),
  };
}

/** @param {{block: {first: number, last: number}, file: SourceFile, indent: number, steps: number[], ran: boolean, spaced?: boolean}} properties */
function Line({ block, file, indent, steps, ran, spaced }) {
  const { model, document } = current();
  const claims = steps.flatMap((step) => rows(model.claimsOf, step));
  const failed = claims.some((row) => document.claims.held[row] !== true);
  const classes = ["line", ran ? "" : "unrun", spaced ? "spaced" : "", failed ? "failed" : ""].join(
    " ",
  );
  const step = steps.at(-1) ?? -1;
  return html`<div class=${classes} data-step=${step >= 0 ? step : null} title=${ran ? null : "This line did not run"}>
    <button class="line-number" tabindex="-1" disabled=${step < 0} title=${`Line ${block.first}: step from here`} onClick=${() => goTo(step, { jump: true, to: "step" })}>${block.first}</button>
    <pre><${Code} file=${file} first=${block.first} last=${block.last} indent=${indent} /></pre>
  </div>`;
}

/** Values beside a line, without pictures. @param {number} step @returns {Named[]} */
function inspectedAt(step) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  return rows(model.inspected, eventOf(model, step)).flatMap((row) => {
    const value = inspections.value[row];
    return value === null ? [] : [{ name: names[inspections.name[row]], value: values[value] }];
  });
}

/** What stands beside a line, and which of it is tall.
 * @param {number[]} steps @param {boolean} unfolded whether their calls are shown with their own cost */
function asidesOf(steps, unfolded) {
  const parts = steps.flatMap((step) => asideOf(step, unfolded));
  return { aside: parts.map(([part]) => part), tall: parts.filter(([, lines]) => lines >= TALL) };
}

/** @param {number} step @param {boolean} unfolded @returns {[part: any, lines: number][]} */
function asideOf(step, unfolded) {
  const { model, document, cost, times } = current();
  const found = inspectedAt(step).filter(({ value }) => !isPicture(value));
  const outcomes = rows(model.claimsOf, step).map((row) => outcomeOf(model, row));
  const beyond = unfolded ? step + 1 : stepAfter(model, step);
  const sum = cost(step, beyond);
  const costs =
    sum.matmul_flops + sum.other_flops + sum.allocated_bytes > 0 || times?.text(step, beyond);
  /** @type {[any, number][]} */
  const parts = found.map(({ name, value }) => [
    html`<${NamedValue} name=${name} value=${value} shares=${sharesAt(step, name, value)} />`,
    heightOf(value),
  ]);
  for (const outcome of outcomes) {
    const lines = outcome.operands.reduce(
      (sum, { source, text }) =>
        sum + Math.ceil((source.length + shortened(text).length) / ASIDE_WIDTH),
      0,
    );
    parts.push([
      html`<${Claim} outcome=${outcome} text=${document.claims.held[outcome.row] !== true} />`,
      lines,
    ]);
  }
  if (costs) parts.push([html`<${Cost} first=${step} beyond=${beyond} />`, 1]);
  return parts;
}

/** Other names of the same call that show the same storage then, or nothing. @param {number} step @param {string} name @param {Named["value"]} value */
function sharesAt(step, name, value) {
  if (value.storage === undefined) return "";
  const { model, document } = current();
  const { names, values, inspections } = document;
  const known = environmentAt(model, activationOf(model, step), endOf(model, step));
  return [...known]
    .filter(
      ([other, { row }]) =>
        names[other] !== name && values[inspections.value[row] ?? 0].storage === value.storage,
    )
    .map(([other]) => names[other])
    .join(", ");
}

/** @param {number} step @param {number[]} folded @param {number} depth */
function restOf(step, folded, depth) {
  const pictures = inspectedAt(step).filter(({ value }) => isPicture(value));
  return [
    ...(rows(current().model.outputOf, step).length ? [html`<${Printed} step=${step} />`] : []),
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

/** @param {{block: LoopBlock, scope: Scope, indent: number, depth: number}} properties */
function Loop({ block, scope, indent, depth }) {
  const { model, document } = current();
  const turns = useMemo(
    () => turnsOf(model, scope, block.statement),
    [model, scope.activation, scope.from, scope.to],
  );
  const target = focus.value;
  const aimed = turnAt(model, turns, target.step);
  const [chosen, choose] = useState(aimed >= 0 ? aimed : turns.count - 1);
  useLayoutEffect(() => {
    if (aimed >= 0) choose(aimed);
  }, [target]);
  const turn = turns.headers.length
    ? turnOf(
        model,
        scope,
        block.statement,
        turns.headers,
        Math.max(0, Math.min(chosen, turns.count - 1)),
      )
    : null;
  const header = turn?.header ?? -1;
  const [file, first, last] = document.statements[block.statement];
  const onHeader = header < 0 ? [] : [header, ...(turn ? stepsOnLine(turn.scope, block) : [])];
  const { aside } = asidesOf(onHeader, false);
  const inner = turn?.scope ?? { ...scope, to: scope.from };
  return html`<div class="loop" data-first=${block.first}>
    <div class="row" data-steps=${onHeader.join(" ")}>
      <div class="row-line"><${Line} block=${{ first, last }} file=${document.files[file]} indent=${indent} steps=${header < 0 ? [] : [header]} ran=${header >= 0} />
        ${turns.count > 1 && html`<${Scrubber} chosen=${chosen} count=${turns.count} choose=${choose} line=${block.first} />`}</div>
      ${aside.length > 0 && html`<div class="row-aside">${aside}</div>`}
      ${header >= 0 && html`<div class="row-rest">${onHeader.flatMap((step) => restOf(step, callsOf(model, step).folded, depth))}</div>`}
    </div>
    <${Blocks} key=${chosen} blocks=${block.body} scope=${inner} indent=${indent} depth=${depth} />
  </div>`;
}

/** Steps of a turn that stand on the first line themselves: `for x in y: total += x`.
 * @param {Scope} scope @param {LoopBlock} block */
function stepsOnLine(scope, block) {
  const { model, document } = current();
  const { statements } = document;
  return [...lastSteps(model, scope)]
    .filter(
      ([statement]) =>
        statements[statement][1] <= statements[block.statement][2] &&
        isWithin(statements, statement, block.statement),
    )
    .map(([, step]) => step);
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

const CONTINUATION = 4;

/** @param {Piece[]} line */
function spans(line) {
  return line.map(({ text, kind }) =>
    kind ? html`<span class=${`token-${kind}`}>${text}</span>` : text,
  );
}

/** A line that continues, where it must wrap, a little to the right of its own indentation. @param {Piece[]} line */
function hanging(line) {
  const indent = `${(line[0]?.text.search(/\S|$/) ?? 0) + CONTINUATION}ch`;
  return html`<span class="source-line" style=${{ paddingLeft: indent, textIndent: `-${indent}` }}>${spans(line)}${"\n"}</span>`;
}

/** Lines of an article, without directives. @param {{file: SourceFile, first: number, last: number, indent: number}} properties */
function Code({ file, first, last, indent }) {
  const lines = Array.from({ length: last - first + 1 }, (_, index) =>
    withoutDirectives(pieces(file, first + index, indent)),
  );
  return html`<code class="source">${lines.map(hanging)}</code>`;
}

/** One line of a program. @param {SourceFile} file @param {number} line @param {boolean} isRaw with directives */
export function codeLine(file, line, isRaw) {
  const found = pieces(file, line);
  return html`<code class="source">${hanging(isRaw ? found : withoutDirectives(found))}</code>`;
}

const LONG = 120;

/** @param {Model} model @param {number} row @returns {Outcome} */
export function outcomeOf(model, row) {
  const { claims, assertions, values } = model.document;
  const assertion = assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const operands = (assertion?.operands ?? []).flatMap((source, index) => {
    const value = claims.operands[row]?.[index] ?? null;
    if (value === null)
      return claims.held[row] === true || isLiteral(source)
        ? []
        : [{ source, text: "not evaluated" }];
    return isLiteral(source) ? [] : [{ source, text: valueText(values[value]) }];
  });
  return {
    row,
    step: claims.step[row],
    held: claims.held[row],
    text: assertion?.text ?? "",
    operands,
  };
}

/** @param {{outcome: Outcome, text?: boolean}} properties text: repeat the condition */
export function Claim({ outcome, text = false }) {
  const { held, operands } = outcome;
  const verdict = held ? "held" : held === null ? "could not be evaluated" : "false";
  return html`<div class=${`claim ${held ? "held" : "failed"} ${text || operands.length ? "" : "bare"}`}>
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
  const { cost, times } = current();
  const sum = cost(first, beyond);
  const time = times?.text(first, beyond);
  const text = [costText(sum), time].filter(Boolean).join(" · ");
  return text
    ? html`<div class="cost" title=${costDetails(sum) + (time ? `; ${time} on ${times?.device}` : "")}>${text}</div>`
    : null;
}

/** What a step printed. @param {{step: number}} properties */
export function Printed({ step }) {
  const { model, document } = current();
  const found = rows(model.outputOf, step).map((row) => document.output[row]);
  return found.length
    ? html`<pre class="output" aria-label="output">${found.map(({ stream, text }) => html`<span class=${stream}>${text}</span>`)}</pre>`
    : null;
}

const Colophon = later(async () => (await import("viewer/colophon.js")).Colophon);
const Ended = later(async () => (await import("viewer/failure.js")).Failure);

/** The alert; none when the lecture ran to its end. */
export function Failure() {
  return current().document.failure && html`<${Ended} />`;
}
