// Where a step leads, and the address of what is shown, with places that survive a new recording. Pure.

import { lowerBound, rows, stepRange } from "viewer/model.js";

/** @param {Model} model @param {number} step @returns {number} */
export function clamp(model, step) {
  return Math.max(0, Math.min(model.stepEvent.length - 1, step));
}

/** The step after this statement and the calls it made. @param {Model} model @param {number} step */
export function over(model, step) {
  return clamp(model, model.eventStep[model.stepEnd[step]]);
}

/** The step before this one in the same call, or else the caller's. @param {Model} model @param {number} step */
export function backOver(model, step) {
  const activation = model.stepActivation[step];
  const position = model.position[step];
  if (position > 0) return rows(model.stepsOf, activation)[position - 1];
  return model.parentStep[activation] >= 0 ? model.parentStep[activation] : clamp(model, step - 1);
}

/** The step after the return of this call. @param {Model} model @param {number} step */
export function out(model, step) {
  const activation = model.stepActivation[step];
  if (model.parentStep[activation] < 0) return step;
  return clamp(model, Math.max(step, stepRange(model, activation)[1]));
}

/**
 * Calls that are open at a step, outermost first: each with the step that it has reached.
 * @param {Model} model
 * @param {number} step
 * @returns {{activation: number, step: number}[]}
 */
export function callStack(model, step) {
  const frames = [];
  for (let at = step; at >= 0; at = callerOf(model, model.stepActivation[at], model.stepEvent[step]))
    frames.unshift({ activation: model.stepActivation[at], step: at });
  return frames;
}

/** @param {Model} model @param {number} activation @param {number} event @returns {number} */
function callerOf(model, activation, event) {
  const resumed = model.resumes.findLast((resume) => resume.activation === activation && resume.event <= event);
  return resumed ? resumed.caller : model.parentStep[activation];
}

/**
 * The values of a call that are known after a number of events: name -> its row and how many led to it.
 * @param {Model} model
 * @param {number} activation
 * @param {number} at
 * @returns {Map<number, {row: number, count: number}>}
 */
export function environmentAt(model, activation, at) {
  const { inspections } = model.document;
  /** @type {Map<number, {row: number, count: number}>} */
  const known = new Map();
  for (const row of rows(model.environment, activation)) {
    if (inspections.at[row] > at) continue;
    const name = inspections.name[row];
    if (inspections.value[row] === null) known.delete(name);
    else known.set(name, { row, count: (known.get(name)?.count ?? 0) + 1 });
  }
  return known;
}

/**
 * The step at which a name of this call changes next (direction 1) or changed before (-1), or -1.
 * @param {Model} model
 * @param {number} activation
 * @param {number} name
 * @param {number} step
 * @param {1 | -1} direction
 */
export function nextChange(model, activation, name, step, direction) {
  const { inspections, events } = model.document;
  const own = [...rows(model.environment, activation)].filter((row) => inspections.name[row] === name);
  const steps = own
    .filter((row, index) => index === 0 || inspections.value[row] !== inspections.value[own[index - 1]])
    .filter((row) => events[inspections.event[row]] > 0)
    .map((row) => model.eventStep[inspections.event[row]]);
  const found = direction > 0 ? steps.find((other) => other > step) : steps.findLast((other) => other < step);
  return found ?? -1;
}

/**
 * The next step on a line of a file, or else the one before, or -1: what a click on its number means.
 * @param {Model} model
 * @param {number} file
 * @param {number} line
 * @param {number} step
 */
export function runToLine(model, file, line, step) {
  const { statements } = model.document;
  const onLine = statements
    .map((statement, index) => ({ statement, index }))
    .filter(({ statement }) => statement[0] === file && statement[1] <= line && line <= statement[2]);
  const steps = onLine.flatMap(({ index }) => [...rows(model.runs, index)]).sort((a, b) => a - b);
  const next = lowerBound(steps, step + 1);
  return next < steps.length ? steps[next] : (steps.findLast((other) => other < step) ?? -1);
}

/**
 * @typedef {{doc: string, mode: 'read' | 'step', at: string}} State
 * @typedef {import("viewer/model.js").Model} Model
 */

/**
 * @param {string} hash such as `#doc=lecture.main&mode=step&at=12`
 * @returns {State}
 */
export function readHash(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    doc: parameters.get("doc") ?? "",
    mode: parameters.get("mode") === "step" ? "step" : "read",
    at: parameters.get("at") ?? "",
  };
}

/** @param {State} state @returns {string} */
export function writeHash({ doc, mode, at }) {
  const parts = [`doc=${encode(doc)}`, ...(mode === "step" ? ["mode=step"] : []), ...(at ? [`at=${encode(at)}`] : [])];
  return `#${parts.join("&")}`;
}

/** Percent-encode, but leave what is harmless in a hash readable. @param {string} text */
function encode(text) {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2F", "/");
}

/**
 * A step as `file:function:statement.occurrence`, both counted from 1, the statement within its function.
 * @param {Model} model
 * @param {number} step
 * @returns {string}
 */
export function placeOfStep(model, step) {
  const statement = model.stepStatement[step];
  if (statement === undefined) return "";
  const [file, , , , , func] = model.document.statements[statement];
  const ordinal = statementsOf(model, func).indexOf(statement) + 1;
  const occurrence = rows(model.runs, statement).indexOf(step) + 1;
  const path = shortPaths(model.document.files.map((source) => source.path))[file];
  return `${path}:${model.document.functions[func].name}:${ordinal}.${occurrence}`;
}

/**
 * The step of a place, or of a plain step number; the nearest that still exists, or -1.
 * @param {Model} model
 * @param {string} place
 * @returns {number}
 */
export function stepOfPlace(model, place) {
  const steps = model.stepEvent.length;
  if (/^\d+$/.test(place)) return Math.min(Number(place), steps - 1);
  const match = /^(.+):([^:]+):(\d+)\.(\d+)$/.exec(place);
  if (!match) return -1;
  const { functions, files } = model.document;
  const paths = shortPaths(files.map((source) => source.path));
  const func = functions.findIndex((candidate) => candidate.name === match[2] && paths[candidate.file] === match[1]);
  const statements = statementsOf(model, func);
  for (let ordinal = Math.min(Number(match[3]), statements.length); ordinal > 0; ordinal--) {
    const runs = rows(model.runs, statements[ordinal - 1]);
    if (runs.length) return runs[Math.max(0, Math.min(Number(match[4]), runs.length) - 1)];
  }
  return -1;
}

/** @param {Model} model @param {number} func @returns {number[]} */
function statementsOf(model, func) {
  return model.document.statements.flatMap((statement, index) => (statement[5] === func ? [index] : []));
}

/** Paths without the folder that they all share. @param {string[]} paths @returns {string[]} */
export function shortPaths(paths) {
  const folders = paths.map((path) => path.split("/").slice(0, -1));
  let shared = 0;
  while (folders.length && folders.every((parts) => shared < parts.length && parts[shared] === folders[0][shared])) shared++;
  return paths.map((path) => path.split("/").slice(shared).join("/"));
}
