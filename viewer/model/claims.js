// Claims by their statements, with what happened each time. Pure.

import { activationOf, functionOf } from "viewer/model/run.js";
import { headingOf } from "viewer/model/sections.js";
import { isLiteral, isOnClock, valueText } from "viewer/model/values.js";

/** An integer that is written by its bits. */
const BITS = /^0([bBxX])([\da-fA-F_]+)$/;

/**
 * An integer as the literal is written that it is compared with: by its bits, in the same groups.
 * @param {string} literal
 * @param {Value} value
 */
function inBaseOf(literal, value) {
  const [, letter, pattern] = BITS.exec(literal) ?? [];
  const number = value.type === "int" && typeof value.value === "number" ? value.value : -1;
  if (!pattern || number < 0) return undefined;
  const base = letter.toLowerCase() === "b" ? 2 : 16;
  const digits = number.toString(base).padStart(pattern.replaceAll("_", "").length, "0");
  let next = 0;
  const grouped = pattern.replace(/[^_]/g, () => digits[next++]);
  return `0${letter}${next === digits.length ? grouped : digits}`;
}

/** @param {Model} model @param {number} row @returns {Outcome} */
export function outcomeOf(model, row) {
  const { claims, assertions, values } = model.document;
  const assertion = assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const literal = assertion?.operands.find((source) => BITS.test(source)) ?? "";
  const operands = (assertion?.operands ?? []).flatMap((source, index) => {
    const value = claims.operands[row]?.[index] ?? null;
    if (value === null)
      return claims.held[row] === true || isLiteral(source)
        ? []
        : [{ source, text: "not evaluated" }];
    if (isOnClock(values[value])) return [];
    if (isLiteral(source)) return [];
    return [
      { source, text: inBaseOf(literal, values[value]) ?? valueText(values[value], 0, true) },
    ];
  });
  return {
    row,
    step: claims.step[row],
    held: claims.held[row],
    text: assertion?.text ?? "",
    operands,
    isOnClock: (claims.operands[row] ?? []).some(
      (value) => value !== null && isOnClock(values[value]),
    ),
  };
}

/**
 * Every claim once, the failed ones first; so are the times at which it was checked.
 * @param {Model} model
 * @param {{first: number, beyond: number}} [range] of steps, or the whole run
 * @returns {ClaimGroup[]}
 */
export function claimGroups(model, range) {
  const { claims } = model.document;
  /** @type {Map<number, number[]>} */
  const byStatement = new Map();
  claims.statement.forEach((statement, row) => {
    if (range && (claims.step[row] < range.first || claims.step[row] >= range.beyond)) return;
    if (!byStatement.get(statement)?.push(row)) byStatement.set(statement, [row]);
  });
  const failedFirst = (/** @type {boolean} */ one, /** @type {boolean} */ other) =>
    Number(other) - Number(one);
  const hasFailed = (/** @type {number} */ row) => claims.held[row] !== true;
  const groups = [...byStatement].map(([statement, found]) => {
    const rows = found.toSorted((one, other) => failedFirst(hasFailed(one), hasFailed(other)));
    const func = functionOf(model, activationOf(model, claims.step[rows[0]]));
    const place = headingOf(func);
    const { text, operands } = outcomeOf(model, rows[0]);
    const words = [text, place, func.name, ...operands.map((operand) => operand.text)]
      .join(" ")
      .toLowerCase();
    return { statement, text, failed: rows.filter(hasFailed).length, rows, place, words };
  });
  return groups.sort((one, other) => failedFirst(one.failed > 0, other.failed > 0));
}
