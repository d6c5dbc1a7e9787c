// The address of what is shown: the URL hash, and places that survive a new recording. Pure.

import { rows } from "viewer/model.js";

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
