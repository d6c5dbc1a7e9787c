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

/**
 * What each needs, without what it needs through another that it needs.
 * @param {number[][]} needs by chapter, the numbers of chapters before it
 * @returns {number[][]}
 */
export function withoutDetours(needs) {
  /** @type {Set<number>[]} by chapter, all that it needs */
  const all = [];
  return needs.map((own) => {
    const through = new Set(own.flatMap((number) => [...all[number - 1]]));
    all.push(new Set([...own, ...through]));
    return own.filter((number) => !through.has(number)).sort((one, other) => one - other);
  });
}

/** By chapter, those that need it. @param {number[][]} needs @returns {number[][]} */
export function usersOf(needs) {
  return needs.map((_, index) =>
    needs.flatMap((own, user) => (own.includes(index + 1) ? [user + 1] : [])),
  );
}

/**
 * All that one leads to, step by step.
 * @param {number[][]} next by chapter
 * @param {number} number
 * @returns {Set<number>} without itself
 */
export function reachable(next, number) {
  const found = new Set(next[number - 1]);
  for (const other of found) for (const more of next[other - 1]) found.add(more);
  return found;
}
