// Where lines of files are shown: in the article, or as a definition beside it. Pure. Fetched with
// the search.

import { definitionsShown } from "viewer/model/definitions.js";
import { definitionAround } from "viewer/model/names.js";
import {
  activationOf,
  clamp,
  entryOf,
  functionIndex,
  functionOf,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";
import { headingOf } from "viewer/model/sections.js";

/** How many lines below prose its statement may stand. */
const BELOW = 12;

/** What the section of a step is called. @param {Model} model @param {number} step */
export function placeOf(model, step) {
  return headingOf(functionOf(model, activationOf(model, step)));
}

/** The first step of each statement, or -1. @param {Model} model */
export function firstRuns({ events, document }) {
  const found = new Int32Array(document.statements.length).fill(-1);
  let step = 0;
  for (const code of events) {
    if (code <= 0) continue;
    if (found[code - 1] < 0) found[code - 1] = step;
    step++;
  }
  return found;
}

/** Function -> its first activation. @param {Model} model */
export function firstCalls(model) {
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let activation = model.activations - 1; activation >= 0; activation--)
    found.set(functionIndex(model, activation), activation);
  return found;
}

/** @type {WeakMap<Model, ShownFile[]>} */
const known = new WeakMap();

/**
 * Where a line is shown: in the article at a step, or else in the definition that it is part of.
 * Prose that stands in no function belongs to what ran below it.
 * @param {Model} model
 * @param {number} file
 * @param {number} line
 * @param {boolean} [isProse]
 * @returns {Shown | null}
 */
export function shownAt(model, file, line, isProse = false) {
  const files = known.get(model) ?? filesOf(model);
  known.set(model, files);
  const { definitions, functions } = files[file];
  const exact = stepOn(files[file], line);
  if (exact >= 0) return { step: exact };
  const definition = definitions.find(({ first, last }) => first <= line && line <= last);
  const inside = functions.findLast((func) => func.line <= line && line <= func.end);
  if (definition && !(isProse && inside)) return { step: definition.step };
  if (inside) return { step: stepWithin(files[file], inside, line) };
  const around = definitionAround(model.document, file, line);
  if (!isProse || around.kind !== "file") return { step: -1, definition: { ...around, at: line } };
  const below = stepNear(files[file], line, Infinity);
  return below >= 0 ? { step: below } : null;
}

/**
 * What of each file ran, and what is shown of it.
 * @param {Model} model
 * @returns {ShownFile[]}
 */
function filesOf(model) {
  const { files, functions, statements } = model.document;
  /** @type {ShownFile[]} */
  const found = files.map(() => ({ ran: new Map(), definitions: [], functions: [] }));
  const steps = firstRuns(model);
  statements.forEach(([file, first, last, , , func], statement) => {
    const step = steps[statement];
    const { ran } = found[file];
    for (let line = first; step >= 0 && line <= last; line++)
      if (!ran.has(line)) ran.set(line, { step, func });
  });
  for (const [func, activation] of firstCalls(model)) {
    const { file, line, end_line: end } = functions[func];
    const step = clamp(model, stepsBefore(model, entryOf(model, activation)));
    found[file].functions.push({ func, line, end, step });
  }
  // Of functions in each other the inner one comes last.
  for (const own of found) own.functions.sort((one, other) => one.line - other.line);
  for (const { definition, activation, statement } of definitionsShown(model)) {
    const { file, first, last } = definition;
    const step = stepOf(model, activation, statement);
    found[files.indexOf(file)].definitions.push({ first, last, step });
  }
  return found;
}

/** The first step at which a call runs a statement.
 * @param {Model} model @param {number} activation @param {number} wanted */
function stepOf(model, activation, wanted) {
  let found = -1;
  visitSteps(model, wholeScope(model, activation), (event, statement) => {
    if (found < 0 && statement === wanted) found = event;
  });
  return stepsBefore(model, found);
}

/** The step of a line, or -1; of a function's own lines only, if one is named.
 * @param {ShownFile} file @param {number} line @param {number} [func] */
function stepOn({ ran }, line, func) {
  const found = ran.get(line);
  return found && (func === undefined || found.func === func) ? found.step : -1;
}

/**
 * The step of the next line below that ran, or -1: prose stands above its statement.
 * @param {ShownFile} file
 * @param {number} line
 * @param {number} end
 * @param {number} [func] of whose lines it is to be one
 */
function stepNear(file, line, end, func) {
  for (let at = line; at < line + BELOW && at <= end; at++)
    if (stepOn(file, at, func) >= 0) return stepOn(file, at, func);
  return -1;
}

/** Of a line that did not run, in a function that did: the step of what ran near it there.
 * @param {ShownFile} file @param {ShownFile["functions"][number]} inside @param {number} line */
function stepWithin(file, { func, line: first, end, step }, line) {
  const below = stepNear(file, line, end, func);
  if (below >= 0) return below;
  for (let at = line; at > first; at--)
    if (stepOn(file, at, func) >= 0) return stepOn(file, at, func);
  return step;
}
