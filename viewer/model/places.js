// The address of what is shown, with places that survive a new recording. Pure.

import { eventOf, statementOf, stepsBefore } from "viewer/model/run.js";

/**
 * @param {string} hash such as `#doc=lecture.main&mode=step&at=12`, or the name of a function:
 *   `#main`
 * @returns {State}
 */
export function readHash(hash) {
  const text = hash.replace(/^#/, "");
  const parameters = new URLSearchParams(text.includes("=") ? text : `at=${text}`);
  return {
    doc: parameters.get("doc") ?? "",
    mode: parameters.get("mode") === "step" ? "step" : "read",
    at: parameters.get("at") ?? "",
    chapter: parameters.get("chapter") ?? "",
    whole: parameters.has("whole"),
    short: parameters.get("path") === "core",
    present: parameters.has("present") ? Number(parameters.get("present")) || 1 : 0,
  };
}

/** @param {State} state */
export function writeHash(state) {
  const { doc, mode, at, chapter = "", whole = false, short = false, present = 0 } = state;
  const parts = [
    `doc=${encode(doc)}`,
    ...(mode === "step" ? ["mode=step"] : []),
    ...(short ? ["path=core"] : []),
    ...(present ? [present > 1 ? `present=${present}` : "present"] : []),
    ...(whole ? ["whole"] : []),
    ...(chapter ? [`chapter=${encode(chapter)}`] : []),
    ...(at ? [`at=${encode(at)}`] : []),
  ];
  return `#${parts.join("&")}`;
}

/** Percent-encode, but leave what is harmless in a hash readable. @param {string} text */
function encode(text) {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2F", "/");
}

/**
 * A step as `file:function:statement.occurrence`, both counted from 1, the statement within its
 * function.
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
 * The step of a place, of a plain step number, or the first of a function; the nearest that still
 * exists, or -1.
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

/**
 * The first statement of a function's first call, or -1.
 * @param {Model} model
 * @param {string} name
 */
function firstOf(model, name) {
  const code = -1 - model.document.functions.findIndex((func) => func.name === name);
  const entry = code < 0 ? model.events.indexOf(code) : -1;
  return entry < 0 ? -1 : stepsBefore(model, entry);
}

/**
 * How often a statement has run when an event is over.
 * @param {Model} model
 * @param {number} statement
 * @param {number} event
 */
function occurrences({ events }, statement, event) {
  let count = 0;
  for (let at = 0; at <= event; at++) if (events[at] === statement + 1) count++;
  return count;
}

/**
 * The step at which a statement ran for the n-th or else the last time, or -1.
 * @param {Model} model
 * @param {number} statement
 * @param {number} wanted
 */
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
