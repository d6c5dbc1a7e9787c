// Search across titles, prose, code, names and values. Pure. Fetched when somebody searches.

import { pageOfStep } from "viewer/model/book.js";
import { glossaryOf } from "viewer/model/glossary.js";
import { plainMaths } from "viewer/model/maths.js";
import { activationOf, entryOf, functionIndex, functionOf, stepsBefore } from "viewer/model/run.js";
import { headingOf, plainTitle } from "viewer/model/sections.js";
import { linesOf, pieces, withoutDirectives } from "viewer/model/source.js";
import { askedOf, claimTells, tells, valueTells } from "viewer/model/spoilers.js";
import { valueText } from "viewer/model/values.js";

const MAX_RESULTS = 60;
const CONTEXT = 48;

/** A product as people type it: `6ND`. */
export const PRODUCT = /^\d+[a-z]{1,4}$/i;

/** How many lines below prose its statement may stand. */
const BELOW = 12;

/**
 * The step of that number, and places whose text contains the query, titles first; each leads to
 * the first step there.
 * @param {Model} model
 * @param {string} query
 * @param {Section[]} [sections] all of them: the glossary is made from their text
 * @param {number[]} [pending] claims that ask the reader: what they ask for is not found
 * @param {Chapter[]} [book] names what stands between the calls of a table of contents
 * @returns {Result[]}
 */
export function search(model, query, sections = [], pending = [], book = []) {
  const wanted = query.trim().toLowerCase();
  const numbered = stepNumbered(model, wanted);
  if (wanted.length < 2) return numbered;
  const secrets = secretsOf(model, pending);
  const foundIn = finderOf(wanted);
  const titled = titles(model, foundIn);
  const names = new Set(titled.map(({ name }) => name));
  const inLines = lines(model, foundIn, names, secrets);
  return [
    ...numbered,
    ...terms(model, foundIn, wanted, sections),
    ...titled.map(({ result }) => result),
    ...(PRODUCT.test(wanted) ? inLines.toSorted(byStart) : inLines),
    ...values(model, foundIn, secrets),
  ]
    .slice(0, MAX_RESULTS)
    .map((result) => inChapter(model, book, result));
}

/** Of products: those that are whole come first, `6N` before `16N`.
 * @param {Result} one @param {Result} other */
function byStart(one, other) {
  const isCut = ({ before = "" }) => Number(/[\w.]$/.test(before));
  return isCut(one) - isCut(other);
}

/**
 * A result whose place is a table of contents without a title is in a chapter of it.
 * @param {Model} model
 * @param {Chapter[]} book
 * @param {Result} result
 * @returns {Result}
 */
function inChapter(model, book, result) {
  const activation = activationOf(model, result.step);
  const isContents = book.some(({ contents }) => contents === activation);
  if (!result.place || !isContents || functionOf(model, activation).title) return result;
  const chapter = book[pageOfStep(book, result.step) - 1];
  return chapter ? { ...result, place: chapter.title } : result;
}

/**
 * What claims ask for, and where they stand.
 * @param {Model} model
 * @param {number[]} pending rows of the claims
 * @returns {Secret[]}
 */
function secretsOf(model, pending) {
  const { claims, statements } = model.document;
  return pending.flatMap((row) => {
    const asked = askedOf(model, row);
    const [file, first, last, , , func] = statements[claims.statement[row]];
    if (!asked) return [];
    return [{ asked, file, first, last, func, told: linesThatTell(model, asked, func) }];
  });
}

/**
 * The lines of the same function whose claims of lists have the answer.
 * @param {Model} model
 * @param {Asked} asked
 * @param {number} wanted the function
 */
function linesThatTell({ document: { claims, statements, values } }, asked, wanted) {
  const tell = claims.statement.filter((statement, row) => {
    if (statements[statement][5] !== wanted) return false;
    const sides = (claims.operands[row] ?? []).flatMap((value) => values[value ?? -1] ?? []);
    return claimTells(sides, asked);
  });
  return new Set(tell.flatMap((statement) => linesBetween(statements[statement])));
}

/** @param {any[]} statement @returns {number[]} its lines */
function linesBetween([, first, last]) {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** What the section of a step is called. @param {Model} model @param {number} step */
function placeOf(model, step) {
  return headingOf(functionOf(model, activationOf(model, step)));
}

/**
 * The step of this number, counted from 1 as the timeline does.
 * @param {Model} model
 * @param {string} wanted
 * @returns {Result[]}
 */
function stepNumbered(model, wanted) {
  const step = /^\d+$/.test(wanted) ? Number(wanted) - 1 : -1;
  if (step < 0 || step >= model.steps) return [];
  return [
    {
      step,
      kind: "title",
      before: "step ",
      match: wanted,
      after: "",
      place: placeOf(model, step),
    },
  ];
}

/**
 * Terms with the sentence that defines each.
 * @param {Model} model
 * @param {Finder} foundIn
 * @param {string} wanted
 * @param {Section[]} sections
 * @returns {Result[]}
 */
function terms(model, foundIn, wanted, sections) {
  return glossaryOf(model, sections).flatMap(({ term, text, step, title, row }) => {
    const found = foundIn(term) || (`${term.toLowerCase()}s` === wanted ? term : "");
    const kind = /** @type {const} */ ("term");
    const shown = around(`${term}: ${plainProse(text)}`, found);
    return found ? [{ step, row, kind, ...shown, place: title }] : [];
  });
}

/** @param {Model} model @param {Finder} foundIn @returns {{name: string, result: Result}[]} */
function titles(model, foundIn) {
  const { functions } = model.document;
  const first = firstCalls(model);
  return functions.flatMap((func, index) => {
    const title = func.title && plainTitle(func.title);
    const text = foundIn(title) ? title : [title, ...func.marks].filter(Boolean).join(" · ");
    const activation = first.get(index);
    const found = foundIn(text);
    if (activation === undefined || !found) return [];
    const step = stepsBefore(model, entryOf(model, activation));
    const kind = /** @type {const} */ ("title");
    return [{ name: func.name, result: { step, kind, ...around(text, found), place: "" } }];
  });
}

/** Function -> its first activation. @param {Model} model */
function firstCalls(model) {
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let activation = model.activations - 1; activation >= 0; activation--)
    found.set(functionIndex(model, activation), activation);
  return found;
}

/** A definition, or a call that is the whole line and passes nothing. */
const NAMED = /^(?:async )?def (\w+)|^(?:\w+\.)*(\w+)\(\)/;

/** Prose without the title of a function, which is found by itself.
 * @param {SourceFile["prose"][number]} prose */
function withoutTitle({ kind, first_line: line, text }) {
  return kind === "docstring" && line > 1 ? text.replace(/^[^\n]*\n?/, "") : text;
}

/**
 * @param {Model} model
 * @param {Finder} foundIn
 * @param {Set<string>} titled functions whose titles were found: their names on a line are no more
 * @param {Secret[]} secrets
 * @returns {Result[]}
 */
function lines(model, foundIn, titled, secrets) {
  const firstRuns = firstRunByLine(model);
  return model.document.files.flatMap((file, index) => {
    const own = secrets.filter((secret) => secret.file === index);
    const veiled = new Set(own.flatMap((secret) => proseThatTells(file, secret)));
    const prose = file.prose
      .filter((block) => block.kind !== "note" && !veiled.has(block))
      .map((block) => ({
        line: block.last_line,
        text: plainProse(withoutTitle(block)),
        kind: /** @type {const} */ ("prose"),
      }));
    const isProse = (/** @type {number} */ line) =>
      file.prose.some((block) => block.first_line <= line && line <= block.last_line);
    const code = linesOf(file).map((text, at) => ({
      line: at + 1,
      text: codeAsked(
        codeOf(file, text, at + 1)
          .trim()
          .replace(/\s+/g, " "),
        at + 1,
        own,
      ),
      kind: /** @type {const} */ ("code"),
    }));
    const isTitled = (/** @type {string} */ text) => {
      const [, defined, called] = NAMED.exec(text) ?? [];
      return titled.has(defined ?? called);
    };
    return [...prose, ...code.filter(({ line, text }) => !isProse(line) && !isTitled(text))]
      .map((one) => ({ ...one, found: foundIn(one.text) }))
      .filter(({ found }) => found)
      .map(({ line, text, kind, found }) => ({
        step: stepNear(firstRuns[index], line),
        kind,
        ...around(text, found),
      }))
      .filter(({ step }) => step >= 0)
      .map((result) => ({
        ...result,
        place: placeOf(model, result.step),
      }));
  });
}

/**
 * What of a text is found, in small letters, or nothing.
 * @typedef {(text: string) => string} Finder
 */

/**
 * A product is found however it is written, as `6·N·D` and `6 * N * D`; words also as one word,
 * `flash attention` in `FlashAttention`.
 * @param {string} wanted in small letters
 * @returns {Finder}
 */
function finderOf(wanted) {
  const factors = PRODUCT.test(wanted) ? (wanted.match(/\d+|[a-z]/g) ?? []) : [];
  const product = new RegExp(
    `(?<![\\w.])${factors.join(String.raw`\s*(?:[·*×]|\\cdot)?\s*`)}(?!\\w)`,
  );
  const parts = wanted.split(/[\s_-]+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const joined = new RegExp(`(?<![\\p{L}\\d])${parts.join("[\\s_-]?")}`, "u");
  const other = factors.length ? product : parts.length > 1 && parts.every(Boolean) && joined;
  return (text) => {
    const lower = text.toLowerCase();
    return (other && other.exec(lower)?.[0]) || (lower.includes(wanted) ? wanted : "");
  };
}

/** A line as Read shows it. @param {SourceFile} file @param {string} text @param {number} line */
function codeOf(file, text, line) {
  if (!text.includes("@")) return text;
  return withoutDirectives(pieces(file, line))
    .map((piece) => piece.text)
    .join("");
}

/** A line of code, or what it asks.
 * @param {string} text @param {number} line @param {Secret[]} own */
function codeAsked(text, line, own) {
  const secret = own.find(({ first, last }) => first <= line && line <= last);
  if (!secret) return own.some(({ told }) => told.has(line)) ? "" : text;
  return line === secret.first ? `${secret.asked.source} = ?` : "";
}

/** The prose right above a question, if it answers it. @param {SourceFile} file
 * @param {Secret} secret */
function proseThatTells({ prose }, { asked, first }) {
  const above = prose.filter(({ last_line: last }) => last < first).at(-1);
  return above && tells(above.text, asked) ? [above] : [];
}

/** Maths in a text, which neither begins nor ends with a space. */
const MATHS = /(?<!\\)\$\$?(?=\S)((?:[^$\\]|\\[^])*?[^\s\\])\$\$?(?!\d)/g;

/** Prose as it reads, on one line: no marks of Markdown, no addresses. @param {string} text */
export function plainProse(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^(?:#+|[-*>]) /gm, "")
    .replace(/<[^<>]+>|\[!\w+\]/g, "")
    .replace(MATHS, (_, tex) => plainMaths(tex))
    .replace(/[`*]+/g, "")
    .replace(/\s+/g, " ");
}

/** Names and values that were shown, each pair once, where it was first so.
 * @param {Model} model @param {Finder} foundIn @param {Secret[]} secrets @returns {Result[]} */
function values(model, foundIn, secrets) {
  const { inspections, names, values: recorded } = model.document;
  const seen = new Set();
  /** @type {Result[]} */
  const found = [];
  for (let row = 0; row < inspections.at.length && found.length < MAX_RESULTS; row++) {
    const value = inspections.value[row];
    const key = `${inspections.name[row]}:${value}`;
    if (value === null || seen.has(key)) continue;
    seen.add(key);
    const text = `${names[inspections.name[row]]} = ${valueText(recorded[value])}`;
    const part = foundIn(text);
    if (!part) continue;
    const step = Math.min(stepsBefore(model, inspections.event[row]), model.steps - 1);
    if (step < 0) continue;
    const func = functionIndex(model, activationOf(model, step));
    const shown = { name: names[inspections.name[row]], value: recorded[value] };
    if (secrets.some((secret) => secret.func === func && valueTells(shown, secret.asked))) continue;
    found.push({
      step,
      kind: "value",
      ...around(text, part),
      place: placeOf(model, step),
    });
  }
  return found;
}

/**
 * For each file: line -> first step of the statement there.
 * @param {Model} model
 * @returns {Map<number, number>[]}
 */
function firstRunByLine(model) {
  /** @type {Map<number, number>[]} */
  const found = model.document.files.map(() => new Map());
  const steps = firstRuns(model);
  model.document.statements.forEach(([file, first, last], statement) => {
    const step = steps[statement];
    if (step < 0) return;
    for (let line = first; line <= last; line++)
      if (!found[file].has(line)) found[file].set(line, step);
  });
  return found;
}

/** The step of a line, or of the next line below that ran: prose stands above its statement.
 * @param {Map<number, number>} firstRuns @param {number} line */
function stepNear(firstRuns, line) {
  for (let at = line; at < line + BELOW; at++)
    if (firstRuns.has(at)) return firstRuns.get(at) ?? -1;
  return -1;
}

/** What is found between what stands around it: some whole words.
 * @param {string} text @param {string} wanted */
function around(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted);
  const end = at + wanted.length;
  const before = text.slice(Math.max(0, at - CONTEXT), at);
  const after = text.slice(end, end + CONTEXT);
  return {
    before: at > CONTEXT ? `…${before.replace(/^\S*\s+(?=\S|$)/, "")}` : before,
    match: text.slice(at, end),
    after: text.length > end + CONTEXT ? `${after.replace(/(^|\S)\s+\S*$/, "$1")}…` : after,
  };
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
