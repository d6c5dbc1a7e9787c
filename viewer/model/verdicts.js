// How near an answer comes to what was measured. Pure. Fetched with the first answer.

import { number } from "viewer/model/format.js";
import { itemsOf } from "viewer/model/spoilers.js";
import { reckon } from "viewer/model/reckoning.js";
import { valueText } from "viewer/model/values.js";

/** An answer within this share is right, whatever digits are shown. */
const CLOSE = 0.005;

/** Up to this factor an answer is near. */
const NEAR = 1.5;

/**
 * How near an answer is.
 * @param {Question} question
 * @param {string} answer
 * @returns {Verdict | null} null where the answer cannot be read
 */
export function verdictOf({ value, choices, digits, unit }, answer) {
  const text = answer.trim();
  if (!text) return null;
  if (typeof value.value === "number")
    return judged(value.value, reckon(text, unit === "bytes"), digits);
  const items = itemsOf(value);
  if (items) {
    const said = text
      .replace(/[[\]()]|torch\.Size/g, "")
      .split(/[,\s×x]+/)
      .filter(Boolean);
    if (items.every(isNumber) && !said.every(isNumber)) return null;
    const [own, other] = [items.map(plain), said.map(plain)];
    return { ...exact(other.join() === own.join()), hint: hintOf(own, other) };
  }
  if (choices.length && value.type === "dtype")
    return exact((value.text ?? "").replace("torch.", "") === text);
  return exact(plain(valueText(value, 0, true)) === plain(text));
}

/** What several numbers have right. @param {string[]} are @param {string[]} said */
function hintOf(are, said) {
  if (are.length !== said.length) return `they are not ${said.length}`;
  if ([...are].sort().join() === [...said].sort().join())
    return "the numbers are right, but not their order";
  return `${said.filter((text, at) => text === are[at]).length} of ${are.length} are right`;
}

/** @param {string} text */
const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text.replaceAll("_", "")));

/** @param {string} text without quotes, spaces and commas */
function plain(text) {
  return text.replace(/['"\s,]/g, "");
}

/** @param {boolean} isRight @returns {Verdict} */
function exact(isRight) {
  return isRight
    ? { grade: "right", text: "right" }
    : { grade: "off", text: "something else came out", hint: "something else came out" };
}

/**
 * @param {number} is
 * @param {number | null} said
 * @param {number} digits
 * @returns {Verdict | null}
 */
function judged(is, said, digits) {
  if (said === null) return null;
  if (said === is || Math.abs(said - is) <= Math.max(CLOSE, digits) * Math.abs(is) * (1 + 1e-9))
    return { grade: "right", text: said === is ? "exactly" : "right, within the digits shown" };
  const factor = said / is;
  const hint = `it is too ${said > is ? "much" : "little"}`;
  if (!(factor > 0) || !Number.isFinite(factor))
    return { grade: "off", text: `off by ${number(Math.abs(said - is))}`, hint };
  const distance = factor > 1 ? factor : 1 / factor;
  const text = `${rounded(distance)} times too ${factor > 1 ? "much" : "little"}`;
  return distance <= NEAR
    ? { grade: "near", text: `near: ${text}` }
    : { grade: "off", text: `off: ${text}`, hint };
}

/** @param {number} distance */
function rounded(distance) {
  return distance < 10 ? distance.toPrecision(3) : number(Number(distance.toPrecision(2)));
}
