// Lines of the article in blocks that nothing parts, what stands beside them, and below them.

import { environmentAt } from "viewer/model/changes.js";
import { outcomeOf } from "viewer/model/claims.js";
import { activationOf, endOf, eventOf, stepAfter, statementOf } from "viewer/model/run.js";
import { rows } from "viewer/model/sorted.js";
import { heightOf, isPicture } from "viewer/model/values.js";
import { Code } from "viewer/parts/code.js";
import { html, later } from "viewer/parts/html.js";
import { Beside } from "viewer/parts/margin.js";
import { Claim, Cost } from "viewer/parts/notes.js";
import { NamedValue } from "viewer/parts/value.js";
import { goTo } from "viewer/state/address.js";
import { isAsked, isPending } from "viewer/state/answers.js";
import { current, density, printing } from "viewer/state/state.js";
import { claimWithheld, valueWithheld } from "viewer/state/withheld.js";
import { Caller } from "viewer/views/caller.js";
import { Withheld } from "viewer/views/withheld.js";

/** Only where a reader is asked. */
const Asked = later(async () => (await import("viewer/views/question.js")).Asked);

/** Lays out what is below each other in a call: rows, and what stands between them. */
export class Rows {
  constructor() {
    /** @type {any[]} */
    this.page = [];
    /** @type {PageRow | null} */
    this.row = null;
    /** Whether a section has ended, and nothing has followed. */
    this.hasEnded = false;
  }

  /** End the row. @param {boolean} [isLast] whether nothing follows in its section */
  end(isLast = false) {
    if (this.row) this.page.push(html`<${Row} row=${this.row} isLast=${isLast} />`);
    this.row = null;
  }

  /** Mark where a section ends and its caller goes on without a heading. */
  goOn() {
    if (this.hasEnded) this.page.push(html`<hr class="section-end" />`);
    this.hasEnded = false;
  }

  /** @param {any} prose @param {string} [text] */
  addProse(prose, text = "") {
    if (/^#{1,6}\s/.test(text)) this.hasEnded = false;
    this.goOn();
    this.row ??= { lines: [], after: [], prose: [] };
    this.row.prose.push(prose);
  }

  /** Something that has rows of its own. @param {any} loop */
  addLoop(loop) {
    this.goOn();
    this.end();
    this.page.push(loop);
  }

  /** Lines stand below each other until prose or a section parts them. @param {CodeParts} parts */
  addCode({ line, after, sections }) {
    if (line) this.goOn();
    if (line && this.row?.prose.length) this.end();
    if (line) this.row ??= { lines: [], after: [], prose: [] };
    if (line) this.row?.lines.push(line);
    if (sections.length && !line) this.addSections(sections);
    if (after.length) (this.row ??= { lines: [], after: [], prose: [] }).after.push(...after);
    if (sections.length && line) this.addSections(sections);
  }

  /** @param {any[]} sections */
  addSections(sections) {
    this.end();
    this.page.push(...sections);
    this.hasEnded = true;
  }
}

/** Of values that stand at the end of a section, as many lines are shown. */
const SHOWN_AT_END = 8;

/**
 * How many lines high the last block of a section is, so that the values beside it can be read.
 * @param {CodeLine[]} lines
 */
function leastOf(lines) {
  let above = 0;
  return lines.reduce((least, { block, steps }) => {
    const height = Math.min(SHOWN_AT_END, heightBeside(steps));
    const needed = height ? above + height : 0;
    above += block.last - block.first + 1;
    return Math.max(least, needed);
  }, 0);
}

/**
 * A block of code with what it printed and drew below it, and the prose that follows.
 * @param {{row: PageRow, isLast: boolean}} properties isLast: nothing follows in its section
 */
function Row({ row: { lines, after, prose }, isLast }) {
  const least = isLast ? leastOf(lines) : 0;
  const steps = lines.flatMap((line) => line.steps);
  return html`<div class="row" style=${least ? { "--least": least } : null}>
    ${
      lines.length > 0 &&
      html`<div class="row-line">
        ${lines.map((line) => html`<${Line} ...${line} />`)}
      </div>`
    }
    <${Evidence} lines=${lines} />
    ${after.length > 0 && html`<div class="row-after" data-steps=${steps.join(" ")}>${after}</div>`}
    ${prose.length > 0 && html`<div class="row-rest">${prose}</div>`}
  </div>`;
}

/** How many lines high the values beside a line are. @param {number[]} steps */
function heightBeside(steps) {
  return steps
    .flatMap(inspectedAt)
    .filter(({ value }) => !isPicture(value))
    .reduce((sum, { value }) => sum + heightOf(value), 0);
}

/** @param {CodeLine} properties */
export function Line(properties) {
  const { calls = [], depth = 0, unfold } = properties;
  const line = (/** @type {any} */ into) => html`<${Plain} ...${properties} into=${into} />`;
  return calls.length ? html`<${Caller} ...${{ calls, depth, unfold, line }} />` : line(null);
}

/** @param {CodeLine & {into?: any}} properties into: the mark of calls at its end */
function Plain(properties) {
  const { block, file, indent, steps, at, ran, spaced, unfolded, into } = properties;
  const { model, document } = current();
  const claims = steps.flatMap((step) => rows(model.claimsOf, step));
  const failed = claims.some((row) => document.claims.held[row] !== true);
  const hasNotes = claims.length > 0 || steps.some((step) => tells(step, unfolded));
  const classes = ["line", !ran && "unrun", spaced && "spaced", failed && "failed"];
  const step = at ?? steps.at(-1) ?? -1;
  const line = html`<div
    class=${[...classes, hasNotes && "has-notes"].filter(Boolean).join(" ")}
    data-step=${step >= 0 ? step : null}
    data-steps=${steps.length ? steps.join(" ") : null}
    data-unfolded=${unfolded ? "" : null}
    data-file=${document.files.indexOf(file)}
    data-first=${block.first}
    title=${ran ? null : "This line did not run"}
  >
    <button
      class="line-number"
      tabindex="-1"
      disabled=${step < 0}
      title=${`Line ${block.first}: step from here`}
      onClick=${() => goTo(step, { jump: true, to: "step" })}
    >
      ${block.first}
    </button>
    <pre>
      <${Code} ...${{ file, first: block.first, last: block.last, indent, into }} />
    </pre>
    ${claims.length > 0 && html`<${Tick} failed=${failed} count=${claims.length} />`}
    ${failed && html`<div class="failed-claims">${claims.map(claimOf)}</div>`}
    <${Values} steps=${steps} />
  </div>`;
  const id = claims.map(claimWithheld).find(Boolean);
  if (id) return html`<${Withheld} id=${id}>What this line claims is asked here.</${Withheld}>`;
  const asked = claims.find(isAsked);
  return asked === undefined ? line : html`<${Asked} row=${asked} line=${line} />`;
}

/** A claim with its sides; one that failed says what it claimed. @param {number} row */
function claimOf(row) {
  const outcome = outcomeOf(current().model, row);
  return html`<${Claim} outcome=${outcome} text=${outcome.held !== true} />`;
}

/** @param {{failed: boolean, count: number}} properties */
function Tick({ failed, count }) {
  const told = failed ? "This claim is false" : count > 1 ? "These claims held" : "This claim held";
  return html`<span class=${`held-mark ${failed ? "wrong" : ""}`} title=${told}>
    <span aria-hidden="true">${failed ? "✗" : "✓"}</span>
    <span class="visually-hidden">${told}</span>
  </span>`;
}

/** The values that the author asks for, beside their line. @param {{steps: number[]}} properties */
function Values({ steps }) {
  const values = steps.flatMap((step) => valuesOf(step));
  if (!values.length || density.value !== "evidence" || printing.value) return null;
  return html`<${Beside}>${values}</${Beside}>`;
}

/**
 * All that a block's lines measured, below it, where the reader asks for everything, and on paper.
 * @param {{lines: CodeLine[]}} properties
 */
export function Evidence({ lines }) {
  if (density.value !== "everything" && !printing.value) return null;
  const told = lines
    .map(({ block, steps, unfolded }) => ({
      block,
      steps,
      parts: steps
        .filter((step) => !rows(current().model.claimsOf, step).some(isSecret))
        .flatMap((step) => notesOf(step, unfolded)),
    }))
    .filter(({ parts }) => parts.length);
  if (!told.length) return null;
  return html`<ul class="evidence">
    ${told.map(
      ({ block, steps, parts }) =>
        html`<li data-line=${block.first} data-steps=${steps.join(" ")}>
          <span class="evidence-line" title=${`Line ${block.first}`}>${block.first}</span>
          <div>${parts}</div>
        </li>`,
    )}
  </ul>`;
}

/** Whether a claim is asked, or gives away what is. @param {number} row */
function isSecret(row) {
  return isPending(row) || claimWithheld(row) !== "";
}

/** Values beside a line, without pictures. @param {number} step @returns {Named[]} */
export function inspectedAt(step) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  return rows(model.inspected, eventOf(model, step)).flatMap((row) => {
    const value = inspections.value[row];
    return value === null ? [] : [{ name: names[inspections.name[row]], value: values[value] }];
  });
}

/** Whether anything was computed or allocated. @param {Amounts} amounts */
function weighs(amounts) {
  return amounts.matmul_flops + amounts.other_flops + amounts.allocated_bytes > 0;
}

/** Seconds that are worth telling of a line that computes nothing. */
const LONG = 0.01;

/** Whether a line costs something to tell of. An assert's cost is that of its `==`.
 * @param {number} step @param {number} beyond */
function hasCost(step, beyond) {
  const { model, document, cost, times } = current();
  if (document.statements[statementOf(model, step)][4] === "assert") return false;
  const sum = cost(step, beyond);
  return weighs(sum) || weighs(sum.onMeta) || (times?.seconds(step, beyond) ?? 0) >= LONG;
}

/** @param {number} step @param {boolean} [unfolded] whether its calls tell their own cost */
function beyondOf(step, unfolded) {
  return unfolded ? step + 1 : stepAfter(current().model, step);
}

/** Whether there is more to a line than the claim that it makes.
 * @param {number} step @param {boolean} [unfolded] */
function tells(step, unfolded) {
  return inspectedAt(step).length > 0 || hasCost(step, beyondOf(step, unfolded));
}

/** @param {number} step */
function valuesOf(step) {
  return inspectedAt(step)
    .filter(({ value }) => !isPicture(value))
    .map(({ name, value }) => {
      const id = valueWithheld(step, { name, value });
      if (id)
        return html`<${Withheld} id=${id}><code>${name}</code> says what is asked.</${Withheld}>`;
      return html`<${NamedValue}
        name=${name}
        value=${value}
        shares=${sharesAt(step, name, value)}
      />`;
    });
}

/**
 * All that a step measured.
 * @param {number} step
 * @param {boolean} [unfolded] whether its calls are shown with their own cost
 * @returns {any[]}
 */
export function notesOf(step, unfolded) {
  const { model } = current();
  const beyond = beyondOf(step, unfolded);
  return [
    ...valuesOf(step),
    ...rows(model.claimsOf, step).map(claimOf),
    ...(hasCost(step, beyond) ? [html`<${Cost} first=${step} beyond=${beyond} />`] : []),
  ];
}

/**
 * Other names of the same call that show the same storage then, or nothing.
 * @param {number} step
 * @param {string} name
 * @param {Named["value"]} value
 */
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

/** Between one name that a loop binds and the next. */
const NEXT_NAME = /(?<=,) (?=[\p{ID_Continue}.]+ = )/u;

/** Letters that a phone has room for beside a slider. */
const SHORT = 20;

/** What a loop binds: a line breaks between names, and within what is too long for it alone.
 * @param {string} bound */
function boundNames(bound) {
  const kind = (/** @type {string} */ text) => (text.length > SHORT ? "" : "unbroken");
  return bound
    .split(NEXT_NAME)
    .map((text, index) => html`${index > 0 && " "}<span class=${kind(text)}>${text}</span>`);
}

/**
 * The rounds of a loop.
 * @param {{chosen: number, count: number, choose: (turn: number) => void, line: number,
 *   bound: string}} properties bound: what the loop binds in the chosen one
 */
export function Scrubber({ chosen, count, choose, line, bound }) {
  const round = `round ${chosen + 1} of ${count}`;
  const to = (/** @type {number} */ turn) => choose(Math.max(0, Math.min(count - 1, turn)));
  return html`<div class="scrubber" role="group" aria-label=${`rounds of the loop on line ${line}`}>
    <button title="Previous round" disabled=${chosen === 0} onClick=${() => to(chosen - 1)}>
      ‹
    </button>
    <input
      type="range"
      min="1"
      max=${count}
      value=${chosen + 1}
      aria-label="round"
      aria-valuetext=${bound ? `${bound}, ${round}` : round}
      onInput=${(/** @type {any} */ event) => to(Number(event.target.value) - 1)}
    />
    <button
      title="Next round"
      disabled=${chosen === count - 1}
      onClick=${() => to(chosen + 1)}
    >
      ›
    </button>
    <span class="scrubber-count" title=${bound}>
      ${bound && html`<code>${boundNames(bound)}</code>, `}<span>${round}</span>
    </span>
  </div>`;
}
