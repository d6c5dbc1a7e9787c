// Where a step leads, the address of what is shown, with places that survive a new recording. Pure.

import {
  activationOf,
  callerOf,
  callStack,
  changesOf,
  eventOf,
  lowerBound,
  lowerBoundBy,
  statementOf,
  stepAfter,
  stepRange,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model.js";

/** @param {Model} model @param {number} step */
export function clamp(model, step) {
  return Math.max(0, Math.min(model.steps - 1, step));
}

/** The step after this statement and the calls it made. @param {Model} model @param {number} step */
export function over(model, step) {
  return clamp(model, stepAfter(model, step));
}

/** The step before this one in the same call, or else the caller's. @param {Model} model @param {number} step */
export function backOver(model, step) {
  if (step === 0) return 0;
  const activation = activationOf(model, step);
  const frame = callStack(model, step - 1).find((open) => open.activation === activation);
  if (frame) return frame.step;
  let last = -1; // before a call that was suspended
  visitSteps(
    model,
    { ...wholeScope(model, activation), to: eventOf(model, step) },
    (event) => (last = event),
  );
  if (last >= 0) return stepsBefore(model, last);
  const caller = callerOf(model, activation);
  return caller >= 0 ? caller : step - 1;
}

/** The step after the return of this call. @param {Model} model @param {number} step */
export function out(model, step) {
  const activation = activationOf(model, step);
  if (callerOf(model, activation) < 0) return step;
  return clamp(model, Math.max(step, stepRange(model, activation)[1]));
}

/**
 * The values of a call that are known after a number of events: name -> its row and how many led to it.
 * @param {Model} model
 * @param {number} activation
 * @param {number} at
 * @returns {Map<number, {row: number, count: number}>}
 */
export function environmentAt(model, activation, at) {
  const times = model.document.inspections.at;
  /** @type {[name: number, since: number, row: number, count: number][]} */
  const known = [];
  for (const [name, { rows, clears }] of changesOf(model, activation)) {
    const last = lowerBoundBy(rows, (row) => times[row], at + 1) - 1;
    const clear = clears[lowerBound(clears, last + 1) - 1] ?? -1;
    if (last > clear) known.push([name, rows[clear + 1], rows[last], last - clear]);
  }
  known.sort(([, one], [, other]) => one - other);
  return new Map(known.map(([name, , row, count]) => [name, { row, count }]));
}

/**
 * @param {string} hash such as `#doc=lecture.main&mode=step&at=12`, or the name of a function: `#main`
 * @returns {State}
 */
export function readHash(hash) {
  const text = hash.replace(/^#/, "");
  const parameters = new URLSearchParams(text.includes("=") ? text : `at=${text}`);
  return {
    doc: parameters.get("doc") ?? "",
    mode: parameters.get("mode") === "step" ? "step" : "read",
    at: parameters.get("at") ?? "",
  };
}

/** @param {State} state */
export function writeHash({ doc, mode, at }) {
  const parts = [
    `doc=${encode(doc)}`,
    ...(mode === "step" ? ["mode=step"] : []),
    ...(at ? [`at=${encode(at)}`] : []),
  ];
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
 */
export function placeOfStep(model, step) {
  if (step >= model.steps) return "";
  const statement = statementOf(model, step);
  const [file, , , , , func] = model.document.statements[statement];
  const ordinal = statementsOf(model, func).indexOf(statement) + 1;
  const occurrence = occurrences(model, statement, eventOf(model, step));
  const path = shortPaths(model.document.files.map((source) => source.path))[file];
  return `${path}:${model.document.functions[func].name}:${ordinal}.${occurrence}`;
}

/**
 * The step of a place, of a plain step number, or the first of a function; the nearest that still exists, or -1.
 * @param {Model} model
 * @param {string} place
 */
export function stepOfPlace(model, place) {
  if (/^\d+$/.test(place)) return Math.min(Number(place), model.steps - 1);
  const match = /^(.+):([^:]+):(\d+)\.(\d+)$/.exec(place);
  if (!match) return firstOf(model, place);
  const { functions, files } = model.document;
  const paths = shortPaths(files.map((source) => source.path));
  const func = functions.findIndex(
    (candidate) => candidate.name === match[2] && paths[candidate.file] === match[1],
  );
  const statements = statementsOf(model, func);
  for (let ordinal = Math.min(Number(match[3]), statements.length); ordinal > 0; ordinal--) {
    const found = occurrence(model, statements[ordinal - 1], Math.max(1, Number(match[4])));
    if (found >= 0) return found;
  }
  return -1;
}

/** The first statement of a function's first call, or -1. @param {Model} model @param {string} name */
function firstOf(model, name) {
  const code = -1 - model.document.functions.findIndex((func) => func.name === name);
  const entry = code < 0 ? model.events.indexOf(code) : -1;
  return entry < 0 ? -1 : stepsBefore(model, entry);
}

/** How often a statement has run when an event is over. @param {Model} model @param {number} statement @param {number} event */
function occurrences({ events }, statement, event) {
  let count = 0;
  for (let at = 0; at <= event; at++) if (events[at] === statement + 1) count++;
  return count;
}

/** The step at which a statement ran for the n-th or else the last time, or -1. @param {Model} model @param {number} statement @param {number} wanted */
function occurrence(model, statement, wanted) {
  let found = -1;
  for (let at = 0, count = 0; at < model.events.length && count < wanted; at++)
    if (model.events[at] === statement + 1) {
      count++;
      found = at;
    }
  return found < 0 ? -1 : stepsBefore(model, found);
}

/** @param {Model} model @param {number} func @returns {number[]} */
function statementsOf(model, func) {
  return model.document.statements.flatMap((statement, index) =>
    statement[5] === func ? [index] : [],
  );
}

/** Paths without the folder that they all share. @param {string[]} paths @returns {string[]} */
export function shortPaths(paths) {
  const folders = paths.map((path) => path.split("/").slice(0, -1));
  let shared = 0;
  while (
    folders.length &&
    folders.every((parts) => shared < parts.length && parts[shared] === folders[0][shared])
  )
    shared++;
  return paths.map((path) => path.split("/").slice(shared).join("/"));
}
