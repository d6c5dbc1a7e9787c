// Prose that says what a claim asks for. Pure.

import { isLiteral, valueText } from "viewer/model/values.js";

const WORDS = [
  ["zero", "nothing", "none", "no"],
  ["one"],
  ["two", "twice", "double", "doubles"],
  ["three", "thrice"],
  ["four"],
  ["five"],
  ["six"],
  ["seven"],
  ["eight"],
  ["nine"],
  ["ten"],
];

/**
 * Whether a text gives the answer away: the number that was measured or one that the claim shows,
 * in digits or as a word.
 * @param {string} text
 * @param {Lecture["assertions"][number]} assertion
 * @param {Value | undefined} measured
 */
export function tells(text, { operands }, measured) {
  const shown = operands.filter((source) => isLiteral(source) && /^-?[\d_.]+$/.test(source));
  const numbers = [...shown.map((source) => source.replaceAll("_", ""))];
  if (typeof measured?.value === "number") numbers.push(valueText(measured, 0, true));
  const plain = text.replace(/(?<=\d)[\s,\u202f\u00a0_](?=\d{3}\b)/g, "");
  return numbers.some((number) => {
    const digits = number.replace(/[\s\u202f\u00a0]/g, "").replace(/\.0+$/, "");
    const words = WORDS[Number(digits)] ?? [];
    const escaped = [digits, ...words].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const said = `(?<![\\w.])(?:${escaped.join("|")})(?:\\.0+)?(?![\\w]|\\.\\d)`;
    return new RegExp(said, "i").test(plain);
  });
}
