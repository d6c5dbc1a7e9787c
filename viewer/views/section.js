// A section of the article: a call unfolded, with sections, loops and calls inside it. A call that
// is a whole statement is a section. A line that measured something starts a new row of the page's
// grid: line on the left, values on the right, and below the line whatever follows it.

import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { blocksOnPage, FRONT, WHOLE } from "viewer/model/book.js";
import { firstUsedBy } from "viewer/model/definitions.js";
import { bodyOf, isOfUnrunCode } from "viewer/model/blocks.js";
import { lastSteps } from "viewer/model/loops.js";
import { withValues } from "viewer/model/quotes.js";
import {
  callerOf,
  entryOf,
  functionIndex,
  functionOf,
  stepRange,
  wholeScope,
} from "viewer/model/run.js";
import {
  callsOf,
  hasMark,
  isBareCall,
  isMarked,
  isPart,
  plainTitle,
  writtenCall,
  speaks,
} from "viewer/model/sections.js";
import { rows as rowsOf } from "viewer/model/sorted.js";
import { linesOf } from "viewer/model/source.js";
import { isFigure, isPicture } from "viewer/model/values.js";
import { html, later } from "viewer/parts/html.js";
import { Printed } from "viewer/parts/notes.js";
import { Prose } from "viewer/parts/prose.js";
import { NamedValue, ValueView } from "viewer/parts/value.js";
import { isPathShown } from "viewer/state/path.js";
import { current, laidOut, presenting, printing, shownPage } from "viewer/state/state.js";
import { proseWithheld, valueWithheld } from "viewer/state/withheld.js";
import { Calls } from "viewer/views/caller.js";
import { Definitions, FoldedLine } from "viewer/views/definitions.js";
import { Anchor, Meta } from "viewer/views/heading.js";
import { inspectedAt, Line, Rows } from "viewer/views/line.js";
import { Loop } from "viewer/views/loop.js";
import { Withheld } from "viewer/views/withheld.js";

const Exercise = later(async () => (await import("viewer/views/exercise.js")).Exercise);

const Caption = later(
  async () => (await import("viewer/views/caption.js")).Caption,
  () => html`<figcaption class="caption"> </figcaption>`,
);

/** Only lectures of other tools need it. */
const Said = later(async () => (await import("viewer/views/said.js")).Said);

/** A title in which no line ends within a name, such as GPT-2: behind its hyphen nothing is seen.
 * @param {string} title */
const joined = (title) => title.replace(/-(?=[A-Z\d])/g, "-\u2060");

/** @param {{activation: number, depth: number}} properties */
export function Section({ activation, depth }) {
  const { model, sections } = current();
  const listed = sections.find((section) => section.activation === activation);
  const isBelowChapter = shownPage.value === WHOLE || presenting.value;
  const hasChapters = isBelowChapter && sections.some((section) => section.chapter);
  const level = depth > 0 && hasChapters ? depth + 1 : depth;
  const ready = useComputed(
    () => presenting.value || printing.value || !listed || laidOut.value.has(listed.order),
  ).value;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const func = functionOf(model, activation);
  const Heading = `h${Math.min(level + 1, 6)}`;
  const [first] = stepRange(model, activation);
  useEffect(() => {
    if (ready && depth > 0)
      requestAnimationFrame(() =>
        requestAnimationFrame(() => place.current?.classList.add("settled")),
      );
  }, [ready]);
  return html`<section
    ref=${place}
    class=${`section depth-${Math.min(level, 4)}`}
    id=${`activation-${activation}`}
    aria-labelledby=${`title-${activation}`}
  >
    <header class="section-head">
      ${depth > 0 && html`<${Anchor} name=${func.name} first=${first} />`}
      <${Heading} id=${`title-${activation}`} class="section-title">
        ${func.title ? joined(plainTitle(func.title)) : html`<code>${func.name}</code>`}
      </${Heading}>
      <${Meta} activation=${activation} depth=${depth} />
    </header>
    ${
      ready
        ? html`<${Activation} activation=${activation} depth=${depth} />`
        : html`<p class="waiting" style=${{ height: `${(func.end_line - func.line) * 1.6}rem` }}>
          …
        </p>`
    }
  </section>`;
}

/**
 * Arguments and body of one call; of a table of contents, what stands on the page.
 * @param {{activation: number, depth: number}} properties
 */
export function Activation({ activation, depth }) {
  const { model, document } = current();
  const body = bodyOf(document, functionIndex(model, activation));
  const { indent, docstring, blocks } = body;
  const shown = shownPage.value;
  const isOnPage = depth > 0 || shown <= FRONT;
  const isRoot = callerOf(model, activation) < 0;
  const scope = wholeScope(model, activation);
  const { file } = functionOf(model, activation);
  const text = withValues(document, { file, line: body.line, text: docstring }, scope);
  const code = html`<${Blocks}
    blocks=${depth > 0 ? blocks : onPage(activation)}
    scope=${scope}
    indent=${indent}
    depth=${depth}
    isLast=${depth > 0}
  />`;
  const func = functionOf(model, activation);
  if (hasMark(func, "exercise"))
    return html`<${Exercise} name=${func.name} text=${text}>${code}</${Exercise}>`;
  return html`
    <${Arguments} activation=${activation} />
    ${isOnPage && docstring && html`<${Prose} text=${text} />`}
    ${printing.value && isRoot && shown === WHOLE && html`<${ChapterMap} />`} ${code}
  `;
}

/** On paper it stands where the page before the chapters has it. */
const ChapterMap = later(async () => (await import("viewer/views/map.js")).ChapterMap);

/** What ran in a call within an expression. @param {number} activation @param {number} depth */
function unfold(activation, depth) {
  return html`<${Activation} activation=${activation} depth=${depth} />`;
}

/** What of a table of contents is shown now. @param {number} contents an activation */
function onPage(contents) {
  const { model, book, sections, leftOut } = current();
  return blocksOnPage(model, book, sections, contents, shownPage.value, leftOut.size > 0);
}

/** Values that were inspected at the entry of a call. @param {{activation: number}} properties */
function Arguments({ activation }) {
  const { model, document } = current();
  const found = rowsOf(model.inspected, entryOf(model, activation)).filter(
    (row) => document.inspections.value[row] !== null,
  );
  if (!found.length) return null;
  return html`<div class="arguments" aria-label="arguments">
    ${found.map(
      (row) =>
        html`<${NamedValue}
          value=${document.values[document.inspections.value[row] ?? 0]}
          name=${document.names[document.inspections.name[row]]}
        />`,
    )}
  </div>`;
}

/** What stands below the first line of a loop. */
const BELOW = { Blocks, saidOf, afterOf, unfold };

/**
 * @param {{blocks: Block[], scope: Scope, indent: number, depth: number, ranOnly?: boolean,
 *   isLast?: boolean}} properties ranOnly: whether prose of branches that did not run is left out;
 *   isLast: whether a section ends with them
 */
export function Blocks({ blocks, scope, indent, depth, ranOnly = false, isLast = false }) {
  const { document, model } = current();
  const ran = lastSteps(model, scope);
  const { file } = functionOf(model, scope.activation);
  const lines = linesOf(document.files[file]);
  const rows = new Rows();
  let previous = -1;
  for (const block of blocks) {
    if (block.kind === "prose" && block.isBridge && !isPathShown()) continue;
    if (block.kind === "prose") {
      previous = -1;
      const id = proseWithheld(block, blocks, ran);
      if (id) {
        rows.addProse(html`<${Withheld} id=${id}>What this says is asked next.</${Withheld}>`);
        continue;
      }
      const isUnrun = isOfUnrunCode(block, blocks, ran, lines);
      if (isUnrun && ranOnly) continue;
      const prose = html`<${Prose}
        key=${`prose-${block.line}`}
        text=${withValues(document, { file, ...block }, scope)}
        heading=${depth === 0 ? 2 : 4}
        unrun=${isUnrun}
      />`;
      rows.addProse(prose, block.text);
      continue;
    }
    const spaced = previous >= 0 && block.first > previous + 1;
    const parts = block.kind === "loop" ? null : partsOf(block, ran, scope, indent, depth, spaced);
    // A line that is not shown, as a call that is a section below, needs no definitions.
    const isShown = parts?.line || parts?.said;
    const own = block.kind === "loop" ? [block.statement] : isShown ? block.statements : [];
    const definitions = firstUsedBy(model, scope.activation, own);
    if (definitions.length) rows.addProse(html`<${Definitions} definitions=${definitions} />`, "");
    if (block.kind === "loop") {
      const key = `loop-${block.first}`;
      const loop = { block, scope, indent, depth, below: BELOW };
      const isEnd = isLast && block === blocks.at(-1);
      rows.addLoop(html`<${Loop} key=${key} ...${loop} isLast=${isEnd} />`);
    } else if (parts) {
      if (parts.said) rows.addProse(parts.said);
      rows.addCode(parts);
    }
    previous = block.kind === "code" ? block.last : -1;
  }
  rows.end(isLast);
  return rows.page;
}

/**
 * What a block of code shows, sorted by where it stands.
 * @param {CodeBlock} block
 * @param {Map<number, number>} last the last step of each statement that ran
 * @param {Scope} scope
 * @param {number} indent
 * @param {number} depth
 * @param {boolean} spaced whether blank lines precede it
 * @returns {CodeParts}
 */
function partsOf(block, last, scope, indent, depth, spaced) {
  const { model, document, leftOut } = current();
  const steps = block.statements.flatMap((statement) => last.get(statement) ?? []);
  const calls = steps.map((step) => callsOf(model, step));
  const called = calls.flatMap(({ section }) => (section >= 0 ? [section] : []));
  const sections = called.filter((section) => !leftOut.has(section));
  const isContents = called.some(
    (section) => isBareCall(model, block.statements[0]) || writtenCall(model, section),
  );
  const ran = !block.statements.length || steps.length > 0;
  const isFolded = block.statements.some((statement) => isMarked(model, statement, "fold"));
  const isAsked = steps.some((step) => inspectedAt(step).length > 0);
  const isLine = (!isContents || isAsked) && !block.spoken && !isFolded;
  const file = document.files[functionOf(model, scope.activation).file];
  const unfolded = sections.length > 0;
  const folded = calls.flatMap((call) => call.folded);
  const isShown = isLine || isFolded;
  // What a line that is not shown calls on the way to its section, such as for an argument.
  const early = isShown ? [] : folded.filter((call) => call < Math.max(...sections));
  const late = isShown ? [] : folded.filter((call) => !early.includes(call));
  const line = { block, file, indent, steps, ran, spaced, unfolded, calls: folded, depth, unfold };
  const said = block.spoken
    ? html`<${Said}
      steps=${steps}
      title=${functionOf(model, scope.activation).title}
      heading=${depth === 0 ? 2 : 4}
    />`
    : isFolded
      ? html`<${FoldedLine} line=${html`<${Line} ...${line} />`} />`
      : early.length > 0 && html`<${Calls} ...${{ calls: early, unfold, depth }} />`;
  return {
    line: isLine ? line : null,
    said,
    after: [
      ...steps.flatMap((step) => [...(block.spoken ? [] : saidOf(step)), ...afterOf(step)]),
      ...(late.length ? [html`<${Calls} ...${{ calls: late, unfold, depth }} />`] : []),
    ],
    sections: sections.map((section) =>
      depth === 0 && isPart(model, section)
        ? html`<${Activation} key=${`part-${section}`} activation=${section} depth=${0} />`
        : html`<${Section} key=${`section-${section}`} activation=${section} depth=${depth + 1} />`,
    ),
  };
}

/** What a step said that did something else, too. @param {number} step */
function saidOf(step) {
  if (!speaks(current().model, step, step + 1)) return [];
  return [html`<${Said} steps=${[step]} title="" heading=${4} />`];
}

/** What a step printed and drew. @param {number} step */
function afterOf(step) {
  const pictures = inspectedAt(step).filter(({ value }) => isPicture(value));
  return [
    ...(rowsOf(current().model.outputOf, step).length ? [html`<${Printed} step=${step} />`] : []),
    ...pictures.map((picture) => html`<${Drawn} step=${step} picture=${picture} />`),
  ];
}

/** A picture, unless it gives an answer away. @param {{step: number, picture: Named}} properties */
function Drawn({ step, picture }) {
  const { name, value } = picture;
  const id = valueWithheld(step, picture);
  if (id)
    return html`<${Withheld} id=${id}>
      This picture gives an answer away.
    </${Withheld}>`;
  if (isFigure(value))
    return html`<figure class="drawn">
      <${ValueView} value=${value} name=${name} bare=${true} />
      <${Caption} step=${step} name=${name} value=${value} />
    </figure>`;
  return html`<div class="drawn">
    <code class="drawn-name">${name}</code>
    <${ValueView} value=${value} name=${name} />
  </div>`;
}
