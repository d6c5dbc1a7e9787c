// What a lecture of another tool said by calling: where it stands, and how its pieces are one text.
// Pure.

import { statementOf } from "viewer/model/run.js";
import { isSpoken } from "viewer/model/spoken.js";

/** @type {WeakMap<Lecture, Map<number, Value[]>>} */
const heard = new WeakMap();

/**
 * What a step said.
 * @param {Lecture} document
 * @param {number} step
 * @returns {Value[]}
 */
export function saidBy(document, step) {
  let known = heard.get(document);
  if (!known) {
    known = new Map();
    const { said, values } = document;
    for (const [row, at] of said.step.entries())
      known.set(at, [...(known.get(at) ?? []), values[said.value[row]]]);
    heard.set(document, known);
  }
  return known.get(step) ?? [];
}

const BLOCK = /^(#{1,6} |[-*+] |\d+[.)] |```|\$\$|>|\||<(img|p|hr)\b)/;
const ITEM = /^ *([-*+]|\d+[.)]) /;

/**
 * The pieces that steps said, those of text that follow each other as one: what one statement says
 * goes on in its line, items of a list follow each other, and all else is a paragraph of its own.
 * @param {Value[][]} steps
 * @returns {{text?: string, value?: Value}[]}
 */
export function joined(steps) {
  /** @type {{text?: string, value?: Value}[]} */
  const pieces = [];
  for (const values of steps)
    for (const [index, value] of values.entries()) {
      const last = pieces.at(-1);
      const text = textOf(value);
      if (text === undefined) pieces.push({ value });
      else if (last?.text === undefined) pieces.push({ text });
      else last.text += between(last.text, text, index > 0 && !APART.includes(value.type)) + text;
    }
  return pieces;
}

/** What goes on in no line, although its step said something before. */
const APART = ["note", "paragraph"];

/** @param {Value} value */
function textOf(value) {
  if (value.markdown === undefined) return undefined;
  if (value.type !== "note") return value.markdown;
  const paragraphs = value.markdown.trim().split(/\n[ \t]*\n/);
  return paragraphs.map((text) => (BLOCK.test(text) ? text : `*${text}*`)).join("\n\n");
}

/** @param {string} before @param {string} text @param {boolean} isSameStep */
function between(before, text, isSameStep) {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (ITEM.test(text) && /(^|\n) *([-*+]|\d+[.)]) [^\n]*(\n +[^\n]*)*$/.test(before)) return "\n";
  if (isSameStep && /^<img\b[^>]*>$/.test(text) && /<img\b[^>]*>$/.test(line)) return " ";
  if (BLOCK.test(text) || /^(```|#|\||<p|<hr)/.test(line)) return "\n\n";
  return isSameStep || / $/.test(before) ? "" : "\n\n";
}

/**
 * What the statement on these lines said when it ran last.
 * @param {Model} model
 * @param {SourceFile} file
 * @param {Prose} block
 */
export function spokenOn(model, file, block) {
  const { document } = model;
  const last = lastSpoken.get(document) ?? new Map();
  if (!last.size) {
    for (const step of document.said.step)
      if (step >= 0) {
        const [owner, first] = document.statements[statementOf(model, step)];
        last.set(`${owner}:${first}`, step);
      }
    lastSpoken.set(document, last);
  }
  const step = last.get(`${document.files.indexOf(file)}:${block.first_line}`);
  return step === undefined ? [] : joined([saidBy(document, step)]);
}

/** @type {WeakMap<Lecture, Map<string, number>>} */
const lastSpoken = new WeakMap();

/**
 * The nearest step, in a direction, that does more than say something; the step if none does.
 * @param {Model} model
 * @param {number} step
 * @param {1 | -1} direction
 */
export function pastSpoken(model, step, direction) {
  let at = step;
  while (at >= 0 && at < model.steps && onlySpeaks(model, at)) at += direction;
  return at >= 0 && at < model.steps ? at : step;
}

/** @param {Model} model @param {number} step */
function onlySpeaks(model, step) {
  const { document } = model;
  if (!document.said.step.length) return false;
  const [file, first] = document.statements[statementOf(model, step)];
  return document.files[file].prose.some((block) => isSpoken(block) && block.first_line === first);
}
