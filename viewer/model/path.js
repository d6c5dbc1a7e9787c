// The short path: the sections whose author marked them with `@core`. Pure.

import { bookOf, pageOfStep } from "viewer/model/book.js";
import { functionOf } from "viewer/model/run.js";
import { hasMark } from "viewer/model/sections.js";

/** Whether the section itself is marked. @param {Model} model @param {Section} section */
function isCore(model, { activation }) {
  return hasMark(functionOf(model, activation), "core");
}

/**
 * How many sections of their own are on the short path: 0 where there is none, or nothing else.
 * @param {Model} model
 * @param {Section[]} sections all of them
 */
export function countOnPath(model, sections) {
  const outer = sections.filter(({ depth }) => depth === 1);
  const marked = outer.filter((section) => isCore(model, section)).length;
  return marked === outer.length ? 0 : marked;
}

/** Whether the run itself was of it. @param {Model} model @param {Section[]} sections */
export function isRunOfPath(model, sections) {
  const outer = sections.filter(({ depth }) => depth === 1);
  return outer.length > 0 && outer.every((section) => isCore(model, section));
}

/**
 * The sections on the short path with all that they call; each chapter begins with its first.
 * @param {Model} model
 * @param {Section[]} sections all of them
 * @returns {{sections: Section[], leftOut: Set<number>}} leftOut: activations of the others
 */
export function onPath(model, sections) {
  /** @type {Section[]} */
  const kept = [];
  const [inside, leftOut] = [new Set(), new Set()];
  let chapter = "";
  for (const section of sections) {
    chapter = section.chapter || chapter;
    const isOn = section.depth === 0 || inside.has(section.parent) || isCore(model, section);
    if (!isOn) {
      leftOut.add(section.activation);
      continue;
    }
    if (section.depth > 0) inside.add(section.activation);
    const opens = section.depth > 0 && chapter;
    kept.push({ ...section, chapter: opens ? chapter : "", order: kept.length });
    if (opens) chapter = "";
  }
  return { sections: kept, leftOut };
}

/**
 * Its chapters, known by the numbers and names that they have among all, with the bridges over what
 * is left out.
 * @param {Model} model
 * @param {Section[]} sections on the path
 * @param {Chapter[]} all chapters, shown or not
 * @returns {Chapter[]}
 */
export function bookOfPath(model, sections, all) {
  const book = bookOf(model, sections);
  return book.map((chapter, index) => {
    const { number: label, name, beyond } = all[pageOfStep(all, chapter.sections[0].first) - 1];
    return { ...chapter, label, name, beyond, bridges: bridgesOf(model, chapter, book[index + 1]) };
  });
}

/** @param {Model} model @param {Chapter} chapter @param {Chapter} [next] */
function bridgesOf(model, { contents, line }, next) {
  const { file, end_line: last } = functionOf(model, contents);
  const end = next?.contents === contents ? next.line : last + 1;
  return model.document.files[file].prose
    .filter(({ kind, first_line: at }) => kind === "bridge" && line <= at && at < end)
    .map(({ text }) => text)
    .join("\n");
}
