// What a chapter builds on: the chapters before it to which its sections link. Pure.

import { functionOf } from "viewer/model/run.js";

const LINK = /\]\(#([\p{ID_Continue}.]+)\)/gu;

/** @type {WeakMap<Chapter[], number[][]>} */
const known = new WeakMap();

/**
 * By chapter, the numbers of the chapters before it that it links to, most often linked ones first.
 * @param {Model} model
 * @param {Chapter[]} book
 * @returns {number[][]}
 */
export function needsOf(model, book) {
  const found = known.get(book) ?? needs(model, book);
  known.set(book, found);
  return found;
}

/** @param {Model} model @param {Chapter[]} book */
function needs(model, book) {
  const chapters = new Map(
    book.flatMap(({ number, sections }) =>
      sections.map(({ activation }) => [functionOf(model, activation).name, number]),
    ),
  );
  return book.map(({ number, sections }) => {
    /** @type {Map<number, number>} */
    const links = new Map();
    for (const { activation } of sections)
      for (const name of linksIn(model, activation)) {
        const target = chapters.get(name) ?? number;
        if (target < number) links.set(target, (links.get(target) ?? 0) + 1);
      }
    return [...links].sort(([, one], [, other]) => other - one).map(([target]) => target);
  });
}

/** What the prose of a call links to. @param {Model} model @param {number} activation */
function linksIn(model, activation) {
  const { file, line, end_line: end } = functionOf(model, activation);
  return model.document.files[file].prose
    .filter(({ first_line: at }) => line < at && at <= end)
    .flatMap(({ text }) => [...text.matchAll(LINK)].map(([, name]) => name));
}
