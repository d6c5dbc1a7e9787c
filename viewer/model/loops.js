// Which part of a run stands beside the body of a function: its statements, and the turns of its
// loops. Pure.

import { elseOf, isWithin } from "viewer/model/blocks.js";
import { shortened } from "viewer/model/format.js";
import { activationOf, endOf, eventOf, stepsBefore, visitSteps } from "viewer/model/run.js";
import { lowerBound, rows } from "viewer/model/sorted.js";
import { valueText } from "viewer/model/values.js";

/**
 * The last step of each statement that ran in a scope.
 * @param {Model} model
 * @param {Scope} scope
 * @returns {Map<number, number>}
 */
export function lastSteps(model, scope) {
  /** @type {Map<number, number>} */
  const found = new Map();
  visitSteps(model, scope, (event, statement) => found.set(statement, event));
  for (const [statement, event] of found) found.set(statement, stepsBefore(model, event));
  return found;
}

/**
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} step
 * @returns {boolean} whether it, or a call in it, runs then
 */
export function holds(model, scope, step) {
  const event = eventOf(model, step);
  return scope.from <= event && event < scope.to;
}

/**
 * The turns that a loop took in a scope; the header's last evaluation is no turn when nothing
 * followed it.
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} statement
 * @returns {Turns} headers: the events of the loop's first line; end: the first event after it
 */
export function turnsOf(model, scope, statement) {
  /** @type {number[]} */
  const headers = [];
  visitSteps(model, scope, (event, ran) => {
    if (ran === statement) headers.push(event);
  });
  if (!headers.length) return { headers, count: 0, end: 0 };
  const { from, to } = turnOf(model, scope, statement, headers, headers.length - 1).scope;
  return {
    headers,
    count: from < to ? headers.length : headers.length - 1,
    end: Math.max(from, to),
  };
}

/**
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} statement
 * @param {number[]} headers
 * @param {number} index
 * @returns {Turn}
 */
export function turnOf(model, { activation, to: end }, statement, headers, index) {
  const header = stepsBefore(model, headers[index]);
  const from = endOf(model, header);
  if (index + 1 < headers.length)
    return { header, scope: { activation, from, to: headers[index + 1] } };
  const { document } = model;
  const after = elseOf(document, statement);
  let to = end;
  visitSteps(model, { activation, from, to: end }, (event, ran) => {
    const isInside = isWithin(document.statements, ran, statement);
    if (event < to && !(isInside && document.statements[ran][1] < after)) to = event;
  });
  return { header, scope: { activation, from, to } };
}

/**
 * The turn that holds a step, or -1.
 * @param {Model} model
 * @param {Turns} turns
 * @param {number} step
 */
export function turnAt(model, { headers, count, end }, step) {
  const event = step < 0 ? end : eventOf(model, step);
  return event < end ? Math.min(lowerBound(headers, event + 1), count) - 1 : -1;
}

/** How long the values of a turn may be, in letters. */
const MAX_BOUND = 60;

/**
 * What a loop binds in a turn: `row = 1`; empty where it binds nothing, or nobody looked.
 * @param {Model} model
 * @param {number} statement of the loop
 * @param {number} header the step that began the turn
 * @returns {string}
 */
export function boundText(model, statement, header) {
  const { statements, names, values, inspections, locals } = model.document;
  const event = eventOf(model, header);
  const inspected = rows(model.inspected, event);
  const callAt = (/** @type {number} */ at) => activationOf(model, stepsBefore(model, at));
  const valueOf = (/** @type {number} */ name) => {
    const shown = inspected.find((row) => inspections.name[row] === name);
    if (shown !== undefined) return inspections.value[shown];
    // What is bound to the value that it had is not recorded anew.
    for (let row = lowerBound(locals.at, endOf(model, header) + 1) - 1; row >= 0; row--)
      if (locals.name[row] === name && callAt(locals.event[row]) === callAt(event))
        return locals.value[row];
    return null;
  };
  const texts = statements[statement][6].flatMap((name) => {
    const value = valueOf(name);
    return value === null ? [] : [`${names[name]} = ${valueText(values[value])}`];
  });
  return shortened(texts.join(", "), MAX_BOUND);
}
