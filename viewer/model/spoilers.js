// Prose, pictures and values that say what a claim asks for. Pure.

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
 * What a claim asks for.
 * @param {Model} model
 * @param {number} row of the claims
 * @returns {Asked | null} null where it says nothing of what it measured
 */
export function askedOf({ document, assertionOf }, row) {
  const { claims, assertions, values } = document;
  const assertion = assertions[assertionOf.get(claims.statement[row]) ?? -1];
  if (!assertion) return null;
  const at = assertion.operands.findIndex((source) => !isLiteral(source));
  const measured = values[claims.operands[row]?.[at] ?? -1];
  return { operands: assertion.operands, source: assertion.operands[at] ?? "", measured };
}

/** The items of a shape or a list as text, or null. @param {Value} value */
export function itemsOf({ items, type, text = "" }) {
  if (items) return items.map((item) => valueText(item));
  return type === "Size" ? (text.match(/\d+/g) ?? []) : null;
}

/** A text that stands for itself in an expression. @param {string} text */
function plainly(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A number in digits or as a word, and no part of another one. @param {string} number */
function numberSaid(number) {
  const digits = number.replace(/[\s\u202f\u00a0_]/g, "").replace(/\.0+$/, "");
  const said = [digits, ...(WORDS[Number(digits)] ?? [])].map(plainly);
  return `(?<![\\w.]|e-)(?:${said.join("|")})(?:\\.0+)?(?![\\w]|\\.\\d)`;
}

/** All of a tuple, in brackets, or as the sizes of a shape, as 2×3. @param {string[]} items */
function itemsSaid(items) {
  const plain = items.map((item) => plainly(item.replace(/\s/g, "")));
  const sizes = `(?<![\\w.×])${plain.join("\\s*×\\s*")}(?![\\w×])`;
  const tuple = `[(\\[]\\s*${plain.join("\\s*,\\s*")}\\s*,?\\s*[)\\]]`;
  return items.length === 1 ? tuple : `${tuple}|${sizes}`;
}

/** What says the answer to a claim, as expressions. @param {Asked} asked @returns {string[]} */
function answersOf({ operands, measured }) {
  const items = measured && itemsOf(measured);
  if (items) return items.length ? [itemsSaid(items)] : [];
  if (measured?.type === "dtype")
    return [`\\b${plainly((measured.text ?? "").replace("torch.", ""))}\\b`];
  const shown = operands.filter((source) => isLiteral(source) && /^-?[\d_.]+$/.test(source));
  if (typeof measured?.value === "number") shown.push(valueText(measured, 0, true));
  return shown.map(numberSaid);
}

/**
 * Whether a text gives the answer away: the number that was measured or one that the claim shows,
 * in digits or as a word; all numbers of a tuple; the name of a dtype.
 * @param {string} text
 * @param {Asked} asked
 */
export function tells(text, asked) {
  const plain = text.replace(/(?<=\d)[\s,\u202f\u00a0_](?=\d{3}\b)/g, "");
  return answersOf(asked).some((said) => new RegExp(said, "i").test(plain));
}

/**
 * What can be read in a picture, a line for each text in it; a digit that stands alone is one of
 * many cells or marks of an axis.
 * @param {Value} value
 * @returns {string}
 */
export function wordsOf({ svg, vega, html, markdown }) {
  const marked = svg ?? html ?? "";
  const drawn = marked.replace(/<(style|script)\b.*?<\/\1>/gs, "").replace(/<[^<>]*>/g, "\n");
  return [...drawn.split("\n"), markdown ?? "", ...textsIn(vega)]
    .filter((text) => !/^\s*\d?\s*$/.test(text))
    .join("\n");
}

/** All texts and numbers of a chart but for its size. @param {any} part @returns {string[]} */
function textsIn(part) {
  if (typeof part === "string" || typeof part === "number") return [String(part)];
  if (part === null || typeof part !== "object") return [];
  return Object.entries(part).flatMap(([name, inner]) =>
    ["$schema", "width", "height", "config"].includes(name) ? [] : textsIn(inner),
  );
}

/**
 * The numbers that answer a claim. A digit alone gives nothing away: it stands for much else.
 * @param {Asked} asked
 */
function numbersAsked({ operands, measured }) {
  const literals = operands.filter((source) => /^-?[\d_.]+$/.test(source));
  const said = literals.map((source) => Number(source.replaceAll("_", "")));
  if (typeof measured?.value === "number") said.push(measured.value);
  return said.filter((number) => Math.abs(number) >= 10 || !Number.isInteger(number));
}

/**
 * Whether a picture gives the answer away: in words, or as a number from which the claim rounds.
 * @param {Value} picture
 * @param {Asked} asked
 */
export function pictureTells(picture, asked) {
  if (tells(wordsOf(picture), asked)) return true;
  if (!/\bround\(/.test(asked.source)) return false;
  const drawn = textsIn(picture.vega).map(Number);
  return numbersAsked(asked).some((answer) => {
    const decimals = (String(answer).split(".")[1] ?? "").length;
    return drawn.some((number) => Number(number.toFixed(decimals)) === answer);
  });
}

/** The numbers in a container or an object. @param {Value} value @returns {number[]} */
function numbersIn({ items = [], entries = [], fields = {} }) {
  return [...items, ...entries.map(([, item]) => item), ...Object.values(fields)].flatMap((item) =>
    typeof item.value === "number" ? [item.value] : numbersIn(item),
  );
}

/**
 * Whether another claim gives the answer away: a list that it compares has it.
 * @param {Value[]} sides
 * @param {Asked} asked
 */
export function claimTells(sides, asked) {
  const answers = numbersAsked(asked);
  return sides.flatMap(numbersIn).some((number) => answers.includes(number));
}

/**
 * Whether a question rounds one name and computes with nothing but numbers besides.
 * @param {string} question
 * @param {string} name
 */
function isRounded(question, name) {
  /** @type {string[]} */
  const words = question.match(/(?<![\w.])[\p{L}_][\w.]*/gu) ?? [];
  return words.includes("round") && words.every((word) => word === "round" || word === name);
}

/**
 * Whether a value beside a line gives the answer away: the question names it, and its text says the
 * answer. Of a tensor the text is its dtype and shape: its elements are what one reckons with.
 * @param {Named} shown
 * @param {Asked} asked
 */
export function valueTells({ name, value }, asked) {
  const question = asked.operands.filter((source) => !isLiteral(source)).join(" ");
  if (!new RegExp(`(?<![\\w.])${plainly(name)}(?!\\w)`).test(question)) return false;
  // What is asked is this number, rounded or in another unit.
  if (typeof value.value === "number" && isRounded(question, name)) return true;
  const text = value.shape?.length
    ? `${value.dtype} [${value.shape.join(", ")}]`
    : valueText(value, 0, true);
  return tells(text, asked);
}
