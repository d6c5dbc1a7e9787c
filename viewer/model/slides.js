// The slides of a presentation: a section each, and headings of the table of contents. Pure.

import { bodyOf } from "viewer/model/blocks.js";
import { FRONT, pageOfStep } from "viewer/model/book.js";
import { notesIn, notesOf } from "viewer/model/speaking.js";
import { callerOf, functionIndex, functionOf, statementOf } from "viewer/model/run.js";
import { headingOf, titleOf } from "viewer/model/sections.js";

const HEADING = /^#{1,6}\s+(.+)/;

/** A paragraph that is for who reads alone: an audience skips nothing. */
const SKIPPED = /^skip (?:it|this) if\b/i;

/** @param {string} text Markdown */
function forAudience(text) {
  const paragraphs = text.split(/\n[^\S\n]*\n/);
  return paragraphs.filter((paragraph) => !SKIPPED.test(paragraph.trim())).join("\n\n");
}

/**
 * @param {Model} model
 * @param {Section[]} sections
 * @param {boolean} [isPath] whether it is the short path, where bridges stand for what is left out
 * @param {Chapter[]} [book] names chapters whose heading stands above what is left out
 * @returns {Slide[]}
 */
export function slidesOf(model, sections, isPath = false, book = []) {
  const chapterOf = (/** @type {Slide} */ { section, step, chapter }) =>
    section && section.depth > 0 ? (book[pageOfStep(book, step) - 1]?.title ?? chapter) : chapter;
  return sections
    .filter(({ parent }) => parent < 0)
    .flatMap((root) => [
      {
        ...{ section: root, chapter: "", text: "", step: root.first, title: titleOf(model) },
        ...{ notes: notesBefore(model, root), lines: 0 },
      },
      ...slidesWithin(model, sections, root, "", isPath),
    ])
    .map((slide) => ({ ...slide, chapter: chapterOf(slide) }));
}

/**
 * The slides of what a table of contents calls, or a part of one.
 * @param {Model} model
 * @param {Section[]} sections
 * @param {Section} contents
 * @param {string} chapter the one that goes on there
 * @param {boolean} isPath
 * @returns {Slide[]}
 */
function slidesWithin(model, sections, contents, chapter, isPath) {
  /** @type {Slide[]} */
  const slides = [];
  let line = 0;
  for (const section of sections.filter(({ parent }) => parent === contents.activation)) {
    const called = callLine(model, section);
    const texts = proseBetween(model, contents, line, called, isPath);
    const heading = texts.findLast((text) => HEADING.test(text));
    const isOfContents = section.depth === 0;
    const isAlone = Boolean(heading || (isOfContents && texts.length));
    const notes = notesIn(model, contents.activation, line, called);
    if (heading) chapter = HEADING.exec(heading)?.[1].trim() ?? "";
    if (isAlone)
      slides.push({
        section: null,
        chapter,
        text: texts.slice(heading ? texts.indexOf(heading) : 0).join("\n\n"),
        step: section.first,
        title: chapter,
        notes,
        lines: 0,
      });
    if (isOfContents) slides.push(...slidesWithin(model, sections, section, chapter, isPath));
    else {
      const slide = slideOf(model, section, chapter, heading ? "" : texts.join("\n\n"));
      slides.push(isAlone ? slide : { ...slide, notes: [...notes, ...slide.notes] });
    }
    line = called;
  }
  return slides;
}

/**
 * @param {Model} model
 * @param {Section} section
 * @param {string} chapter
 * @param {string} text
 * @returns {Slide}
 */
function slideOf(model, section, chapter, text) {
  const func = functionOf(model, section.activation);
  return {
    ...{ section, chapter, text, step: section.first, title: headingOf(func) },
    ...{ notes: notesOf(model, section), lines: func.end_line - func.line },
  };
}

/**
 * Notes of the outermost call before its first statement.
 * @param {Model} model
 * @param {Section} root
 */
function notesBefore(model, root) {
  const { file, line, end_line: end } = functionOf(model, root.activation);
  const called = model.document.statements
    .filter(([owner, first]) => owner === file && line < first && first <= end)
    .map(([, first]) => first);
  return notesIn(model, root.activation, line, Math.min(end, ...called));
}

/** The line that calls a section. @param {Model} model @param {Section} section */
function callLine(model, section) {
  const caller = callerOf(model, section.activation);
  return caller < 0 ? 0 : model.document.statements[statementOf(model, caller)][1];
}

/**
 * Prose that stands right before a line of the table of contents, and the heading above that.
 * @param {Model} model
 * @param {Section} root
 * @param {number} after
 * @param {number} before
 * @param {boolean} isPath
 */
function proseBetween(model, root, after, before, isPath) {
  const { blocks } = bodyOf(model.document, functionIndex(model, root.activation));
  const between = blocks.filter(
    (block) =>
      (block.kind === "prose" ? block.line : block.first) > after &&
      (block.kind === "prose" ? block.line : block.first) < before,
  );
  const called = between.findLastIndex(({ kind }) => kind !== "prose");
  const isHeading = (/** @type {Block} */ block) =>
    block.kind === "prose" && HEADING.test(block.text);
  // The heading of a chapter stands above what the short path leaves out of it.
  const heading = between.findLastIndex(isHeading);
  const above = heading >= 0 && heading < called ? [between[heading]] : [];
  return [...above, ...between.slice(called + 1)]
    .flatMap((block) =>
      block.kind === "prose" && (isPath || !block.isBridge) ? [forAudience(block.text)] : [],
    )
    .filter(Boolean);
}

/**
 * Which slide of its chapter one is; nothing before the first chapter.
 * @param {Chapter[]} book
 * @param {Slide[]} slides
 * @param {number} index
 * @returns {string}
 */
export function placeInChapter(book, slides, index) {
  const numberOf = (/** @type {Slide} */ { section, step }) =>
    section?.depth === 0 ? FRONT : pageOfStep(book, step);
  const number = numberOf(slides[index]);
  const own = slides.filter((slide) => numberOf(slide) === number);
  const label = book[number - 1]?.label;
  return number > FRONT ? `${label}: ${own.indexOf(slides[index]) + 1} / ${own.length}` : "";
}

/** How much a slide of a heading alone weighs, in lines of source. */
const HEADING_LINES = 3;

/** How long a slide takes, in lines of source. @param {Slide} slide */
function weightOf({ section, lines }) {
  return section && section.depth > 0 ? lines : HEADING_LINES;
}

/**
 * Which share of a presentation is passed, by the lines of source that its slides show.
 * @param {Slide[]} slides
 * @param {number} from the slide with which it began
 * @param {number} shown
 * @param {number} within which share of the slide that is shown is passed
 * @returns {number} from 0 to 1; 0 before the beginning
 */
export function passedOf(slides, from, shown, within) {
  const sum = (/** @type {Slide[]} */ some) => some.reduce((all, one) => all + weightOf(one), 0);
  const all = sum(slides.slice(from));
  const passed = sum(slides.slice(from, shown)) + (within || 0) * weightOf(slides[shown]);
  return shown < from || !all ? 0 : passed / all;
}

/**
 * Everything of the outermost call that is on no slide of its own.
 * @param {Model} model
 * @param {Section[]} sections
 * @param {Section} root
 */
export function restOfRoot(model, sections, root) {
  const calls = sections
    .filter(({ parent }) => parent === root.activation)
    .map((section) => callLine(model, section));
  const { blocks } = bodyOf(model.document, functionIndex(model, root.activation));
  const isCall = (/** @type {Block} */ block) =>
    block.kind !== "prose" && calls.some((line) => block.first <= line && line <= block.last);
  return blocks.filter((block, index) => {
    if (block.kind !== "prose") return !isCall(block);
    const next = blocks.slice(index).find(({ kind }) => kind !== "prose");
    return !next || !isCall(next);
  });
}
