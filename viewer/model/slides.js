// The slides of a presentation: a section each, and headings of the table of contents. Pure.

import { bodyOf } from "viewer/model/blocks.js";
import { callerOf, functionIndex, functionOf, statementOf } from "viewer/model/run.js";
import { headingOf, titleOf } from "viewer/model/sections.js";

const HEADING = /^#{1,6}\s+(.+)/;

/** @param {Model} model @param {Section[]} sections @returns {Slide[]} */
export function slidesOf(model, sections) {
  return sections
    .filter(({ parent }) => parent < 0)
    .flatMap((root) => {
      const own = sections.filter(({ parent }) => parent === root.activation);
      /** @type {Slide[]} */
      const slides = [
        { section: root, chapter: "", text: "", step: root.first, title: titleOf(model) },
      ];
      let [chapter, line] = ["", 0];
      for (const section of own) {
        const called = callLine(model, section);
        const texts = proseBetween(model, root, line, called);
        const heading = texts.findLast((text) => HEADING.test(text));
        if (heading) {
          chapter = HEADING.exec(heading)?.[1].trim() ?? "";
          slides.push({
            section: null,
            chapter,
            text: texts.slice(texts.indexOf(heading)).join("\n\n"),
            step: section.first,
            title: chapter,
          });
        }
        const func = functionOf(model, section.activation);
        slides.push({
          section,
          chapter,
          text: heading ? "" : texts.join("\n\n"),
          step: section.first,
          title: headingOf(func),
        });
        line = called;
      }
      return slides;
    });
}

/** The line that calls a section. @param {Model} model @param {Section} section */
function callLine(model, section) {
  const caller = callerOf(model, section.activation);
  return caller < 0 ? 0 : model.document.statements[statementOf(model, caller)][1];
}

/**
 * Prose that stands right before a line of the table of contents.
 * @param {Model} model
 * @param {Section} root
 * @param {number} after
 * @param {number} before
 */
function proseBetween(model, root, after, before) {
  const { blocks } = bodyOf(model.document, functionIndex(model, root.activation));
  const between = blocks.filter(
    (block) =>
      (block.kind === "prose" ? block.line : block.first) > after &&
      (block.kind === "prose" ? block.line : block.first) < before,
  );
  return between
    .slice(between.findLastIndex(({ kind }) => kind !== "prose") + 1)
    .flatMap((block) => (block.kind === "prose" ? [block.text] : []));
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
