// What a claim measured. Pure.

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
