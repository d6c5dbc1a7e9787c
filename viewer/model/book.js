// A lecture as a book: a front page, and chapters after the headings of its table of contents, or
// after its files. Pure.

import { bodyOf } from "viewer/model/blocks.js";
import {
  callerOf,
  functionIndex,
  functionOf,
  statementOf,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";
import { chaptersOf, hasMark, headingsIn } from "viewer/model/sections.js";
import { lowerBoundBy } from "viewer/model/sorted.js";
import { linesOf } from "viewer/model/source.js";

/** Pages that are no chapter: everything in one, and the one before the first chapter. */
export const WHOLE = -1;
export const FRONT = 0;

/** What one reads in a minute: words, and lines of code at four seconds each. */
const WORDS = 180;
const LINES_OF_CODE = 15;

/**
 * The chapters in reading order; none where the lecture is one page.
 * @param {Model} model
 * @param {Section[]} sections
 * @returns {Chapter[]}
 */
export function bookOf(model, sections) {
  if (sections.filter(({ parent }) => parent < 0).length !== 1) return [];
  const found = chaptersOf(sections).filter(({ title }) => title);
  if (found.length < 2) return [];
  /** @type {Set<string>} */
  const names = new Set();
  const chapters = found.map(({ title, sections: own }, index) => {
    const contents = own[0].parent;
    const called = callLine(model, own[0]);
    const heading = headingsIn(model, contents).findLast(({ at }) => at < called);
    const isHeading = heading?.title === title;
    const line = isHeading ? heading.at : called;
    const isFirst = index === 0 || found[index - 1].sections[0].parent !== contents;
    const caller = callerOf(model, contents);
    return {
      number: index + 1,
      label: index + 1,
      title,
      name: uniqueName(title, names),
      about: isHeading ? heading.about : "",
      bridges: "",
      contents,
      line,
      isHeading,
      part: partTitle(model, contents),
      first: isFirst && caller >= 0 ? caller : firstStepFrom(model, contents, line),
      sections: own,
    };
  });
  return chapters.map((chapter, index) => ({
    ...chapter,
    beyond: chapters[index + 1]?.first ?? model.steps,
  }));
}

/** @param {string} title @param {Set<string>} taken @returns {string} as an address spells it */
function uniqueName(title, taken) {
  const plain = title.toLowerCase().replace(/[^\p{ID_Continue}]+/gu, "-");
  const name = plain.replace(/^-|-$/g, "") || "chapter";
  let free = name;
  for (let copy = 2; taken.has(free); copy++) free = `${name}-${copy}`;
  taken.add(free);
  return free;
}

/** The line that calls a section. @param {Model} model @param {Section} section */
function callLine(model, { activation }) {
  return model.document.statements[statementOf(model, callerOf(model, activation))][1];
}

/**
 * What the file of a part of the table of contents says about itself.
 * @param {Model} model
 * @param {number} contents
 */
function partTitle(model, contents) {
  if (callerOf(model, contents) < 0) return "";
  const [first] = model.document.files[functionOf(model, contents).file].prose;
  return first?.kind === "docstring" && first.first_line === 1 ? first.text.split("\n")[0] : "";
}

/**
 * The first step of a call's own on a line or below it.
 * @param {Model} model
 * @param {number} activation
 * @param {number} line
 */
function firstStepFrom(model, activation, line) {
  let found = -1;
  visitSteps(model, wholeScope(model, activation), (event, statement) => {
    if (found < 0 && model.document.statements[statement][1] >= line) found = event;
  });
  return stepsBefore(model, Math.max(0, found));
}

/** The page that shows a step. @param {Chapter[]} book @param {number} step */
export function pageOfStep(book, step) {
  return lowerBoundBy(book, ({ first }) => first, step + 1);
}

/**
 * Where chapters begin in the functions of a table of contents: on the line of a heading, or of
 * a call. A call may hold several.
 * @param {Model} model
 * @param {Chapter[]} book
 * @param {Section[]} sections
 * @param {number} contents an activation
 * @returns {Start[]}
 */
function startsIn(model, book, sections, contents) {
  const own = book
    .filter((chapter) => chapter.contents === contents)
    .map(({ line, number, isHeading }) => ({ line, from: number, to: number, isHeading }));
  const parts = sections
    .filter(({ depth, parent }) => depth === 0 && parent === contents)
    .flatMap((part) => {
      const inside = book.filter(({ first }) => part.first - 1 <= first && first < part.beyond);
      const [from, to] = [inside[0]?.number, inside.at(-1)?.number];
      const line = callLine(model, part);
      return from && to ? [{ line, from, to, isHeading: false }] : [];
    });
  return [...own, ...parts].sort((one, other) => one.line - other.line);
}

/**
 * What of a table of contents stands on a page. The heading of a chapter is left to the page.
 * @param {Model} model
 * @param {Chapter[]} book
 * @param {Section[]} sections
 * @param {number} contents an activation
 * @param {number} page
 * @param {boolean} [isShort] whether chapters are left out, with their headings
 * @returns {Block[]}
 */
export function blocksOnPage(model, book, sections, contents, page, isShort = false) {
  const { blocks } = bodyOf(model.document, functionIndex(model, contents));
  if (!book.length) return blocks;
  const starts = startsIn(model, book, sections, contents);
  const before = callerOf(model, contents) < 0 ? FRONT : (starts[0]?.from ?? FRONT);
  return blocks.flatMap((block, index) => {
    const [line] = reach(block);
    const start = startAt(starts, block) ?? startAt(starts, callAfter(blocks, index));
    const last = starts.findLast((candidate) => candidate.line <= line)?.to ?? before;
    const isTitle = start?.isHeading && start.line === line;
    if (isShort && !start && block.kind === "prose" && /^#/.test(block.text)) return [];
    if (page === WHOLE) return start ? numbered(book[start.from - 1], block, start) : [block];
    const isShown = !start
      ? last === page
      : block.kind === "prose"
        ? start.from === page
        : start.from <= page && page <= start.to;
    return isShown && !isTitle ? [block] : [];
  });
}

/** @param {Block} block @returns {[first: number, last: number]} its lines */
function reach(block) {
  return block.kind === "prose" ? [block.line, block.line] : [block.first, block.last];
}

/** @param {Start[]} starts @param {Block | undefined} block */
function startAt(starts, block) {
  if (!block) return undefined;
  const [first, last] = reach(block);
  return starts.find(
    ({ line, isHeading }) =>
      isHeading === (block.kind === "prose") && first <= line && line <= last,
  );
}

/** The call that prose stands right before. @param {Block[]} blocks @param {number} index */
function callAfter(blocks, index) {
  if (blocks[index].kind !== "prose") return undefined;
  return blocks.slice(index).find(({ kind }) => kind !== "prose");
}

/**
 * Where all is one page: the heading with its number, or one before a file's first call.
 * @param {Chapter} chapter
 * @param {Block} block
 * @param {Start} start
 * @returns {Block[]}
 */
function numbered({ label, title, contents, line, isHeading }, block, start) {
  if (block.kind === "prose")
    return [{ ...block, text: block.text.replace(/^(#+\s+)/, `$1${label}. `) }];
  const isOwn = !isHeading && start.line === line && contents >= 0;
  return isOwn ? [{ kind: "prose", line, text: `## ${label}. ${title}` }, block] : [block];
}

/**
 * How long one reads, about, and how much there is to do.
 * @param {Model} model
 * @param {Chapter} chapter
 * @returns {{minutes: number, exercises: number}}
 */
export function amountOf(model, chapter) {
  const { minutes, exercises } = exactAmountOf(model, chapter);
  return { minutes: Math.max(1, Math.round(minutes)), exercises };
}

/** What stands at its head is not counted: it is read to decide whether to read the chapter.
 * @param {Model} model @param {Chapter} chapter */
function exactAmountOf(model, { bridges, sections }) {
  const functions = new Set(sections.map(({ activation }) => functionOf(model, activation)));
  let [words, lines] = [wordsIn(bridges), 0];
  for (const { file: index, line, end_line: end } of functions) {
    const file = model.document.files[index];
    const prose = file.prose.filter((block) => line < block.first_line && block.last_line <= end);
    const isProse = (/** @type {number} */ at) =>
      prose.some((block) => block.first_line <= at && at <= block.last_line);
    const read = prose.filter(({ kind }) => kind !== "note");
    words += read.reduce((sum, { text }) => sum + wordsIn(text), 0);
    lines += linesOf(file)
      .slice(line, end)
      .filter((text, index) => text.trim() && !isProse(line + 1 + index)).length;
  }
  const exercises = [...functions].filter((func) => hasMark(func, "exercise"));
  return { minutes: words / WORDS + lines / LINES_OF_CODE, exercises: exercises.length };
}

/** Minutes above which one tells fives apart. */
const COARSE = 30;

/** The same of several chapters together. @param {Model} model @param {Chapter[]} book */
export function totalOf(model, book) {
  const amounts = book.map((chapter) => exactAmountOf(model, chapter));
  const sum = (/** @type {"minutes" | "exercises"} */ what) =>
    amounts.reduce((total, amount) => total + amount[what], 0);
  const unit = sum("minutes") > COARSE ? 5 : 1;
  const minutes = Math.max(1, Math.round(sum("minutes") / unit)) * unit;
  return { minutes, exercises: sum("exercises") };
}

/** @param {string} text */
function wordsIn(text) {
  return text.split(/\s+/).filter(Boolean).length;
}
