// Which part of a run an article shows: occurrences of statements, iterations of loops, calls, sections. Pure.

import { functionOf, lowerBound, rows, stepRange } from "viewer/model.js";
import { isWithin, linesOf } from "viewer/source.js";

/**
 * Steps of one activation, by their positions in it: all of them or those of one iteration.
 * @typedef {{activation: number, from: number, to: number}} Scope
 * @typedef {{header: number, scope: Scope}} Iteration header: the step of the loop's first line
 * @typedef {{activation: number, depth: number, order: number, parent: number, chapter: string}} Section
 *   chapter: the heading in the table of contents that the section is the first of, or empty
 * @typedef {import("viewer/model.js").Model} Model
 */

const MAX_SECTION_DEPTH = 5;

/** @param {Model} model @param {number} activation @returns {Scope} */
export function wholeScope(model, activation) {
  return { activation, from: 0, to: rows(model.stepsOf, activation).length };
}

/** Steps at which a statement ran in a scope. @param {Model} model @param {Scope} scope @param {number} statement */
export function stepsIn(model, scope, statement) {
  const own = rows(model.stepsOf, scope.activation);
  if (scope.from >= scope.to) return [];
  const runs = rows(model.runs, statement);
  const low = lowerBound(runs, own[scope.from]);
  const high = lowerBound(runs, own[scope.to - 1] + 1);
  return [...runs.subarray(low, high)].filter((step) => model.stepActivation[step] === scope.activation);
}

/** @param {Model} model @param {Scope} scope @param {number} step @returns {boolean} */
export function holds(model, scope, step) {
  const own = rows(model.stepsOf, scope.activation);
  if (scope.from >= scope.to || step < own[scope.from]) return false;
  const next = scope.to < own.length ? own[scope.to] : stepRange(model, scope.activation)[1];
  return step < next;
}

/**
 * The turns that a loop took in a scope; the header's last evaluation is no turn when nothing followed it.
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} statement
 * @returns {Iteration[]}
 */
export function iterations(model, scope, statement) {
  const { statements } = model.document;
  const own = rows(model.stepsOf, scope.activation);
  const headers = stepsIn(model, scope, statement);
  const turns = headers.map((header, index) => {
    const from = model.position[header] + 1;
    let to = index + 1 < headers.length ? model.position[headers[index + 1]] : from;
    if (index + 1 === headers.length)
      while (to < scope.to && isWithin(statements, model.stepStatement[own[to]], statement)) to++;
    return { header, scope: { activation: scope.activation, from, to } };
  });
  return turns.filter((turn, index) => turn.scope.to > turn.scope.from || index + 1 < turns.length);
}

/**
 * The calls of a step: the one that unfolds as a section, if the statement is that call, and the others.
 * @param {Model} model
 * @param {number} step
 * @returns {{section: number, folded: number[]}}
 */
export function callsOf(model, step) {
  const calls = [...rows(model.calls, step)];
  const [file, line, , , kind] = model.document.statements[model.stepStatement[step]];
  if (kind !== "call" || !calls.length) return { section: -1, folded: calls };
  const text = linesOf(model.document.files[file])[line - 1] ?? "";
  const called = /^\s*(?:await\s+)?([\w.]+)\s*\(/.exec(text)?.[1].split(".").at(-1);
  const section = calls.findLast((call) => isCalled(model, call, called ?? "")) ?? -1;
  const recursive = section >= 0 && isNested(model, section);
  return recursive ? { section: -1, folded: calls } : { section, folded: calls.filter((call) => call !== section) };
}

/** @param {Model} model @param {number} call @param {string} name */
function isCalled(model, call, name) {
  return functionOf(model, call).name.split(".").includes(name);
}

/** Whether the same function is open already, or too many are. @param {Model} model @param {number} activation */
function isNested(model, activation) {
  let depth = 0;
  const func = model.activationFunction[activation];
  for (let step = model.parentStep[activation]; step >= 0; depth++) {
    const caller = model.stepActivation[step];
    if (model.activationFunction[caller] === func) return true;
    step = model.parentStep[caller];
  }
  return depth > MAX_SECTION_DEPTH;
}

/** Whether a call statement passes nothing, as a table of contents does. @param {Model} model @param {number} statement */
export function isBareCall(model, statement) {
  const [file, line, last] = model.document.statements[statement];
  return line === last && /^\s*[\w.]+\(\)\s*(#.*)?$/.test(linesOf(model.document.files[file])[line - 1] ?? "");
}

/**
 * The sections of a run in reading order, the outermost calls first. A line that calls often counts once.
 * @param {Model} model
 * @returns {Section[]}
 */
export function sectionsOf(model) {
  /** @type {Section[]} */
  const sections = [];
  const roots = [...model.parentStep.keys()].filter((activation) => model.parentStep[activation] < 0);
  for (const root of roots) {
    addSections(model, sections, root, 0, -1);
    nameChapters(model, sections, root);
  }
  return sections;
}

/** Headings among the calls of a table of contents. @param {Model} model @param {Section[]} sections @param {number} root */
function nameChapters(model, sections, root) {
  const { file, line, end_line: end } = functionOf(model, root);
  const { files, statements } = model.document;
  for (const { first_line: at, text } of files[file].prose) {
    const heading = /^#{1,6}\s+(.+)/.exec(text);
    if (!heading || at < line || at > end) continue;
    const lineOf = (/** @type {Section} */ section) => statements[model.stepStatement[model.parentStep[section.activation]]][1];
    const first = sections.find((section) => section.parent === root && lineOf(section) > at);
    if (first) first.chapter = heading[1].trim();
  }
}

/**
 * @param {Model} model
 * @param {Section[]} sections
 * @param {number} activation
 * @param {number} depth
 * @param {number} parent
 */
function addSections(model, sections, activation, depth, parent) {
  sections.push({ activation, depth, order: sections.length, parent, chapter: "" });
  const seen = new Set();
  for (const step of rows(model.stepsOf, activation)) {
    const statement = model.stepStatement[step];
    if (model.calls.starts[step] === model.calls.starts[step + 1] || seen.has(statement)) continue;
    const { section } = callsOf(model, step);
    if (section < 0 || !functionOf(model, section).title) continue;
    seen.add(statement);
    addSections(model, sections, section, depth + 1, activation);
  }
}

/** The title of the lecture: that of the function that was run, or else of its module. @param {Model} model */
export function titleOf(model) {
  const title = model.activationFunction.length ? functionOf(model, 0).title : "";
  return (title || model.document.title).replace(/[`*]+/g, "").replace(/\.$/, "");
}

/** The section that shows a step: the innermost one around it. @param {Model} model @param {Section[]} sections @param {number} step */
export function sectionOfStep(model, sections, step) {
  return sections.findLast(({ activation }) => {
    const [first, beyond] = stepRange(model, activation);
    return first <= step && step < beyond;
  });
}

/** @param {Model} model @param {number} activation @returns {{claims: number, failed: number}} claims inside a call */
export function claimsWithin(model, activation) {
  const [first, beyond] = stepRange(model, activation);
  const found = model.claimsOf.members.subarray(model.claimsOf.starts[first], model.claimsOf.starts[beyond]);
  const statements = new Set();
  let failed = 0;
  for (const row of found) {
    statements.add(model.document.claims.statement[row]);
    if (model.document.claims.held[row] !== true) failed++;
  }
  return { claims: statements.size, failed };
}
