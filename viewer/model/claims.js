// What a claim measured. Pure.

import { isLiteral, isOnClock, valueText } from "viewer/model/values.js";

/** @param {Model} model @param {number} row @returns {Outcome} */
export function outcomeOf(model, row) {
  const { claims, assertions, values } = model.document;
  const assertion = assertions[model.assertionOf.get(claims.statement[row]) ?? -1];
  const operands = (assertion?.operands ?? []).flatMap((source, index) => {
    const value = claims.operands[row]?.[index] ?? null;
    if (value === null)
      return claims.held[row] === true || isLiteral(source)
        ? []
        : [{ source, text: "not evaluated" }];
    if (isOnClock(values[value])) return [];
    return isLiteral(source) ? [] : [{ source, text: valueText(values[value], 0, true) }];
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
