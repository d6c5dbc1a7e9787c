// A line of the article, and what stands beside it.

import { environmentAt } from "viewer/model/changes.js";
import { outcomeOf } from "viewer/model/claims.js";
import { shortened } from "viewer/model/format.js";
import { activationOf, endOf, eventOf, stepAfter } from "viewer/model/run.js";
import { rows } from "viewer/model/sorted.js";
import { heightOf, isPicture } from "viewer/model/values.js";
import { Code } from "viewer/parts/code.js";
import { html } from "viewer/parts/html.js";
import { Claim, Cost, MAX_OPERAND } from "viewer/parts/notes.js";
import { NamedValue } from "viewer/parts/value.js";
import { goTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";

/** Characters in a line of prose and beside code, about; lines that are too many there. */
const PROSE_WIDTH = 80;
const ASIDE_WIDTH = 36;
const TALL = 4;

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

  /** End the row. @param {boolean} [isFollowed] by a line that has values too */
  end(isFollowed = false) {
    if (this.row) this.page.push(html`<${Row} row=${this.row} isFollowed=${isFollowed} />`);
    this.row = null;
  }

  /** Mark where a section ends and its caller goes on without a heading. */
  goOn() {
    if (this.hasEnded) this.page.push(html`<hr class="section-end" />`);
    this.hasEnded = false;
  }

  /** @param {any} prose @param {string} text */
  addProse(prose, text) {
    if (/^#{1,6}\s/.test(text)) this.hasEnded = false;
    this.goOn();
    this.row ??= { line: null, aside: [], rest: [], steps: [], tall: [], height: 0 };
    this.row.height += 2 + text.length / PROSE_WIDTH;
    this.row.rest.push(prose);
  }

  /** Something that has rows of its own. @param {any} loop */
  addLoop(loop) {
    this.goOn();
    this.end(true);
    this.page.push(loop);
  }

  /**
   * A line that measured something begins a row; others join the one before.
   * @param {CodeParts} parts
   * @param {number} lines how many of the source they are
   */
  addCode({ line, aside, tall, steps, rest, sections }, lines) {
    if (line) this.goOn();
    if (aside.length) this.end(true);
    if (line && this.row) this.row.rest.push(line);
    else if (line) this.row = { line, aside, rest: [], steps, tall, height: 0 };
    if (this.row) {
      this.row.rest.push(...rest);
      this.row.height += lines + 2 * rest.length;
    }
    if (sections.length) this.end();
    this.page.push(...sections);
    this.hasEnded ||= sections.length > 0;
  }
}

/**
 * Tall values stand below their line where they would part it from the next.
 * @param {{row: PageRow, isFollowed: boolean}} properties isFollowed: the next line has values too
 */
function Row({ row, isFollowed }) {
  const excess = row.tall.reduce((sum, [, lines]) => sum + lines, 0) - row.height;
  const below = isFollowed && excess >= TALL ? row.tall.map(([value]) => value) : [];
  const aside = row.aside.filter((part) => !below.includes(part));
  return html`<div class="row" data-steps=${row.steps.join(" ")}>
    ${
      row.line &&
      html`<div class="row-line">
        ${row.line}
        ${below.length > 0 && html`<div class="row-below">${below}</div>`}
      </div>`
    }
    ${aside.length > 0 && html`<div class="row-aside">${aside}</div>`}
    ${row.rest.length > 0 && html`<div class="row-rest">${row.rest}</div>`}
  </div>`;
}

/**
 * @param {{block: {first: number, last: number}, file: SourceFile, indent: number, steps: number[],
 *   ran: boolean, spaced?: boolean}} properties
 */
export function Line({ block, file, indent, steps, ran, spaced }) {
  const { model, document } = current();
  const claims = steps.flatMap((step) => rows(model.claimsOf, step));
  const failed = claims.some((row) => document.claims.held[row] !== true);
  const classes = ["line", ran ? "" : "unrun", spaced ? "spaced" : "", failed ? "failed" : ""].join(
    " ",
  );
  const step = steps.at(-1) ?? -1;
  return html`<div
    class=${classes}
    data-step=${step >= 0 ? step : null}
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
      <${Code} file=${file} first=${block.first} last=${block.last} indent=${indent} />
    </pre>
  </div>`;
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

/**
 * What stands beside a line, and which of it is tall.
 * @param {number[]} steps
 * @param {boolean} unfolded whether their calls are shown with their own cost
 */
export function asidesOf(steps, unfolded) {
  const parts = steps.flatMap((step) => asideOf(step, unfolded));
  return {
    aside: parts.map(([part]) => part),
    tall: parts.filter(([, lines]) => lines >= TALL),
  };
}

/** Whether anything was computed or allocated. @param {Amounts} amounts */
function weighs(amounts) {
  return amounts.matmul_flops + amounts.other_flops + amounts.allocated_bytes > 0;
}

/** @param {number} step @param {boolean} unfolded @returns {[part: any, lines: number][]} */
function asideOf(step, unfolded) {
  const { model, document, cost, times } = current();
  const found = inspectedAt(step).filter(({ value }) => !isPicture(value));
  const outcomes = rows(model.claimsOf, step).map((row) => outcomeOf(model, row));
  const beyond = unfolded ? step + 1 : stepAfter(model, step);
  const sum = cost(step, beyond);
  const costs = weighs(sum) || weighs(sum.onMeta) || times?.text(step, beyond);
  /** @type {[any, number][]} */
  const parts = found.map(({ name, value }) => [
    html`<${NamedValue} name=${name} value=${value} shares=${sharesAt(step, name, value)} />`,
    heightOf(value),
  ]);
  for (const outcome of outcomes) {
    const lines = outcome.operands.reduce(
      (sum, { source, text }) =>
        sum + Math.ceil((source.length + shortened(text, MAX_OPERAND).length) / ASIDE_WIDTH),
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

/**
 * @param {{chosen: number, count: number, choose: (turn: number) => void, line: number}} properties
 */
export function Scrubber({ chosen, count, choose, line }) {
  const to = (/** @type {number} */ turn) => choose(Math.max(0, Math.min(count - 1, turn)));
  return html`<div class="scrubber" role="group" aria-label=${`turns of the loop on line ${line}`}>
    <button title="Previous turn" disabled=${chosen === 0} onClick=${() => to(chosen - 1)}>
      ‹
    </button>
    <input
      type="range"
      min="1"
      max=${count}
      value=${chosen + 1}
      aria-label="turn"
      onInput=${(/** @type {any} */ event) => to(Number(event.target.value) - 1)}
    />
    <button
      title="Next turn"
      disabled=${chosen === count - 1}
      onClick=${() => to(chosen + 1)}
    >
      ›
    </button>
    <span class="scrubber-count">
      ${chosen + 1} of ${count}
    </span>
  </div>`;
}
