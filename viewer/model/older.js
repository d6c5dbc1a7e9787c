// Documents of older versions, brought to the version that the viewer reads. Pure.

import { VERSION } from "viewer/model/contract.js";

/**
 * A document of version 1 with the fields of the latest. What is wrong with it is left for the
 * check to find.
 * @param {any} document
 */
export function upgraded(document) {
  return { ...withoutLocals(fromVersion1(document)), version: VERSION };
}

/** Before variables were recorded. @param {any} document */
function withoutLocals({ statements, functions, ...document }) {
  return {
    ...document,
    statements: Array.isArray(statements)
      ? statements.map((row) => (Array.isArray(row) ? [...row.slice(0, 6), []] : row))
      : statements,
    functions: Array.isArray(functions)
      ? functions.map((func) => func && { ...func, shared: [] })
      : functions,
    locals: { event: [], at: [], name: [], value: [] },
    readings: [],
    effects: [],
  };
}

/**
 * Version 1 names the operators that were not counted, and not where they ran; nor does it tell
 * what ran on device `meta`.
 * @param {any} document
 */
function fromVersion1({ functions, costs, ...document }) {
  return {
    ...document,
    functions: Array.isArray(functions) ? functions.map(withMarks) : functions,
    costs: Array.isArray(costs?.operator)
      ? {
          ...costs,
          uncounted: costs.operator.map(
            (/** @type {number} */ operator, /** @type {number} */ row) =>
              Object.hasOwn(document.uncounted ?? {}, document.names?.[operator])
                ? costs.calls?.[row]
                : 0,
          ),
          meta: costs.operator.map(() => 0),
        }
      : costs,
  };
}

/** @param {any} func */
function withMarks(func) {
  return func && { ...func, marks: String(func.labels ?? "").match(/[^\s,;]+/g) ?? [] };
}
