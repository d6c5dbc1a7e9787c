// Who spent what: the costs of a run, or of a part of it, summed by line, function, section or
// operator. Pure.

import { QUANTITIES } from "viewer/model/costs.js";

/** The name under which the recorder books memory: no operator. */
export const MEMORY = "memory";

/**
 * Visit the steps of a span with the calls that are open, outermost first: those of the span's own
 * call and inside it.
 * @param {Model} model
 * @param {Span} span
 * @param {(step: number, frames: OpenCall[]) => void} visit the list is the same one each time
 */
function visitFrames({ events, functions }, { first, beyond }, visit) {
  /** @type {OpenCall[]} */
  const activations = [];
  /** @type {OpenCall[]} */
  const stack = [];
  /** @type {OpenCall[]} */
  let shown = [];
  let [step, outside] = [0, -1];
  for (const code of events) {
    if (code > 0) {
      const frame = stack[stack.length - 1];
      frame.statement = code - 1;
      frame.step = step;
      if (step >= first && step < beyond) {
        if (outside < 0) outside = stack.length - 1;
        shown = outside ? stack.slice(Math.min(outside, stack.length - 1)) : stack;
        visit(step, shown);
      }
      if (++step >= beyond) return;
    } else if (code === 0) stack.pop();
    else if (-code <= functions) {
      const frame = { func: -code - 1, statement: -1, step: -1 };
      activations.push(frame);
      stack.push(frame);
    } else stack.push(activations[-code - functions - 1]);
  }
}

/** Rows of the costs by step. @param {Costs} costs @param {number} meta those of `meta`, or not */
function rowsByStep(costs, meta) {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  costs.step.forEach((step, row) => {
    if (costs.meta[row] === meta && !found.get(step)?.push(row)) found.set(step, [row]);
  });
  return found;
}

/**
 * For each step the order of the innermost section around it.
 * @param {Section[]} sections
 * @param {number} steps
 */
function sectionOfEachStep(sections, steps) {
  const owner = new Int32Array(steps);
  for (const { order, first, beyond } of sections) owner.fill(order, first, beyond);
  return owner;
}

/**
 * @param {Tallied} run
 * @param {Grouping} grouping
 * @param {Span} span
 * @param {boolean} withCalls count for a line, function or section also what the calls in it spent;
 *   sums then overlap
 * @param {boolean} [onMeta] what would be spent on device `meta`, in place of what was
 * @returns {TallyEntry[]}
 */
export function tally(run, grouping, span, withCalls, onMeta = false) {
  const { model, sections, seconds, withClaims } = run;
  const { costs, statements } = model.document;
  if (!costs) return [];
  const rows = rowsByStep(costs, Number(onMeta));
  const owner =
    grouping === "section" ? sectionOfEachStep(sections, model.steps) : new Int32Array(0);
  /** @type {Map<number, TallyEntry & {most: number}>} */
  const entries = new Map();
  const entryOf = (/** @type {number} */ key, /** @type {number} */ step) => {
    const entry = entries.get(key) ?? { ...nothing(key, step, Boolean(seconds)), most: -1 };
    entries.set(key, entry);
    return entry;
  };
  const isClaim = (/** @type {OpenCall} */ { statement }) => statements[statement][4] === "assert";
  visitFrames(model, span, (step, frames) => {
    const spent = rows.get(step) ?? [];
    const time = seconds?.(step, step + 1) ?? 0;
    if (!spent.length && !time) return;
    if (!withClaims && frames.some(isClaim)) return;
    const places = placesOf(grouping, withCalls, step, frames, sections, owner);
    for (const [key, at] of places) {
      const entry = entryOf(key, at);
      if (entry.seconds !== null) entry.seconds += time;
    }
    for (const row of spent) {
      const operator = costs.operator[row];
      for (const [key, at] of grouping === "operator" ? [[operator, step]] : places)
        add(entryOf(key, at), costs, row, at);
    }
  });
  return [...entries.values()].map(({ most, ...entry }) => entry);
}

/** @param {number} key @param {number} step @param {boolean} isTimed @returns {TallyEntry} */
function nothing(key, step, isTimed) {
  const amounts = Object.fromEntries(
    [...QUANTITIES, "uncounted", "calls"].map((name) => [name, 0]),
  );
  return /** @type {any} */ ({ key, step, ...amounts, seconds: isTimed ? 0 : null });
}

/** All of a part of the run as one. @param {Tallied} run @param {Span} span
 * @param {boolean} onMeta @returns {TallyEntry} */
export function total(run, span, onMeta) {
  const [sum] = tally(run, "whole", span, false, onMeta);
  return sum ?? nothing(0, span.first, Boolean(run.seconds));
}

/**
 * The keys that a step counts for, each with the step to go to.
 * @param {Grouping} grouping
 * @param {boolean} withCalls
 * @param {number} step
 * @param {OpenCall[]} frames
 * @param {Section[]} sections
 * @param {Int32Array} owner
 * @returns {Map<number, number>}
 */
function placesOf(grouping, withCalls, step, frames, sections, owner) {
  /** @type {Map<number, number>} */
  const places = new Map();
  if (grouping === "whole") places.set(0, step);
  else if (grouping === "section") {
    for (
      let at = sections[owner[step]];
      at;
      at = /** @type {Section} */ (sections.find(({ activation }) => activation === at.parent))
    ) {
      places.set(at.order, at.first);
      if (!withCalls) break;
    }
  } else if (grouping !== "operator")
    for (const frame of withCalls ? frames : frames.slice(-1)) {
      const key = grouping === "line" ? frame.statement : frame.func;
      if (!places.has(key)) places.set(key, frame.step);
    }
  return places;
}

/**
 * @param {TallyEntry & {most: number}} entry
 * @param {Costs} costs
 * @param {number} row
 * @param {number} step
 */
function add(entry, costs, row, step) {
  let spent = 0;
  for (const quantity of QUANTITIES) {
    entry[quantity] += costs[quantity][row];
    spent += costs[quantity][row];
  }
  entry.calls += costs.calls[row];
  entry.uncounted += costs.uncounted[row];
  if (spent > entry.most) [entry.most, entry.step] = [spent, step];
}

/**
 * FLOPs for each byte moved, at most; null where nothing was computed or moved, or not all of it
 * was counted.
 * @param {TallyEntry} entry
 */
export function intensityOf({
  matmul_flops: products,
  other_flops: other,
  read_bytes: read,
  written_bytes: written,
  uncounted,
}) {
  const computed = products + other;
  return computed && read + written && !uncounted ? computed / (read + written) : null;
}

/**
 * The largest first or the smallest first; what is not there comes last. Among equals, those that
 * spent more stand first.
 * @param {TallyEntry[]} entries
 * @param {(entry: TallyEntry) => number | string | null} value
 * @param {"ascending" | "descending"} direction
 */
export function sorted(entries, value, direction) {
  const sign = direction === "ascending" ? 1 : -1;
  return entries.toSorted((one, other) => {
    const [left, right] = [value(one), value(other)];
    if (left === null || right === null)
      return Number(left === null) - Number(right === null) || bySpending(one, other);
    const order =
      typeof left === "string" ? left.localeCompare(String(right), "en") : left - Number(right);
    return sign * order || bySpending(one, other);
  });
}

/** @param {TallyEntry} one @param {TallyEntry} other */
function bySpending(one, other) {
  const quantity = QUANTITIES.find((name) => one[name] !== other[name]);
  if (quantity) return other[quantity] - one[quantity];
  return (other.seconds ?? 0) - (one.seconds ?? 0) || one.key - other.key;
}

/**
 * Operators without a formula, and how often they ran.
 * @param {Tallied} run
 * @param {Span} span
 * @returns {[name: string, count: number][]}
 */
export function uncountedIn(run, span) {
  const { names } = run.model.document;
  const entries = [false, true].flatMap((onMeta) => tally(run, "operator", span, false, onMeta));
  return entries
    .filter(({ uncounted }) => uncounted)
    .map(({ key, uncounted }) => [names[key], uncounted]);
}
