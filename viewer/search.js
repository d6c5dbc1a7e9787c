// Find text, code, names and values. Pure.

import { valueText } from "viewer/format.js";
import { functionOf, rows } from "viewer/model.js";
import { linesOf } from "viewer/source.js";

/**
 * @typedef {{step: number, kind: "prose" | "code" | "title" | "value", before: string, match: string, after: string, place: string}} Result
 * @typedef {import("viewer/model.js").Model} Model
 */

const MAX_RESULTS = 60;
const CONTEXT = 48;
/** How many lines below prose its statement may stand. */
const BELOW = 12;

/**
 * Places whose text contains the query, titles first; each leads to the first step there.
 * @param {Model} model
 * @param {string} query
 * @returns {Result[]}
 */
export function search(model, query) {
  const wanted = query.trim().toLowerCase();
  if (wanted.length < 2) return [];
  return [...titles(model, wanted), ...lines(model, wanted), ...values(model, wanted)].slice(0, MAX_RESULTS);
}

/** @param {Model} model @param {string} wanted @returns {Result[]} */
function titles(model, wanted) {
  const { functions } = model.document;
  return functions.flatMap((func, index) => {
    const text = `${func.title} ${func.labels}`;
    const activation = model.activationFunction.indexOf(index);
    if (activation < 0 || !text.toLowerCase().includes(wanted)) return [];
    const step = model.eventStep[model.entryEvent[activation]];
    return [{ step, kind: /** @type {const} */ ("title"), ...around(text, wanted), place: func.name }];
  });
}

/** @param {Model} model @param {string} wanted @returns {Result[]} */
function lines(model, wanted) {
  const firstRuns = firstRunByLine(model);
  return model.document.files.flatMap((file, index) => {
    const prose = file.prose.map(({ last_line: line, text }) => ({ line, text, kind: /** @type {const} */ ("prose") }));
    const isProse = (/** @type {number} */ line) => file.prose.some((block) => block.first_line <= line && line <= block.last_line);
    const code = linesOf(file).map((text, at) => ({ line: at + 1, text: text.trim(), kind: /** @type {const} */ ("code") }));
    return [...prose, ...code.filter(({ line }) => !isProse(line))]
      .filter(({ text }) => text.toLowerCase().includes(wanted))
      .map(({ line, text, kind }) => ({ step: stepNear(firstRuns[index], line), kind, ...around(text.replace(/\s+/g, " "), wanted) }))
      .filter(({ step }) => step >= 0)
      .map((result) => ({ ...result, place: functionOf(model, model.stepActivation[result.step]).name }));
  });
}

/** Names and values that were shown, each pair once, where it was first so.
 * @param {Model} model @param {string} wanted @returns {Result[]} */
function values(model, wanted) {
  const { inspections, names, values: recorded } = model.document;
  const seen = new Set();
  /** @type {Result[]} */
  const found = [];
  for (let row = 0; row < inspections.at.length && found.length < MAX_RESULTS; row++) {
    const value = inspections.value[row];
    const key = `${inspections.name[row]}:${value}`;
    if (value === null || seen.has(key)) continue;
    seen.add(key);
    const text = `${names[inspections.name[row]]} = ${valueText(recorded[value])}`;
    if (!text.toLowerCase().includes(wanted)) continue;
    const step = Math.min(model.eventStep[inspections.event[row]], model.stepEvent.length - 1);
    if (step < 0) continue;
    found.push({ step, kind: "value", ...around(text, wanted), place: functionOf(model, model.stepActivation[step]).name });
  }
  return found;
}

/** For each file: line -> first step of the statement there. @param {Model} model @returns {Map<number, number>[]} */
function firstRunByLine(model) {
  /** @type {Map<number, number>[]} */
  const found = model.document.files.map(() => new Map());
  model.document.statements.forEach(([file, first, last], statement) => {
    const [step] = rows(model.runs, statement);
    if (step === undefined) return;
    for (let line = first; line <= last; line++) if (!found[file].has(line)) found[file].set(line, step);
  });
  return found;
}

/** The step of a line, or of the next line below that ran: prose stands above its statement.
 * @param {Map<number, number>} firstRuns @param {number} line */
function stepNear(firstRuns, line) {
  for (let at = line; at < line + BELOW; at++) if (firstRuns.has(at)) return firstRuns.get(at) ?? -1;
  return -1;
}

/** @param {string} text @param {string} wanted */
function around(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted);
  const end = at + wanted.length;
  const start = Math.max(0, at - CONTEXT);
  return {
    before: (start > 0 ? "…" : "") + text.slice(start, at),
    match: text.slice(at, end),
    after: text.slice(end, end + CONTEXT) + (text.length > end + CONTEXT ? "…" : ""),
  };
}
