// Words of a lecture that are near to one that it does not have. Pure. Fetched with the search.

import { glossaryOf } from "viewer/model/glossary.js";
import { PRODUCT, search } from "viewer/model/search.js";
import { plainTitle } from "viewer/model/sections.js";

const WORD = /[\p{L}_][\p{L}\p{N}_]{2,}/gu;

/** How many are suggested. */
const MOST = 3;

/** @type {WeakMap<Model, Map<string, number>>} */
const known = new WeakMap();

/**
 * How often each word stands in titles, prose, names and terms.
 * @param {Model} model
 * @param {Section[]} sections
 */
function wordsOf(model, sections) {
  const found = known.get(model) ?? new Map();
  if (!found.size) {
    const { files, functions, names } = model.document;
    const texts = [
      ...files.flatMap(({ prose }) => prose.map(({ text }) => text)),
      ...functions.map(({ title }) => plainTitle(title ?? "")),
      ...names,
      ...glossaryOf(model, sections).map(({ term }) => term),
    ];
    for (const text of texts)
      for (const [word] of text.toLowerCase().matchAll(WORD))
        found.set(word, (found.get(word) ?? 0) + 1);
    known.set(model, found);
  }
  return found;
}

/**
 * How many letters are to be added, left out, replaced or swapped with the next one.
 * @param {string} one
 * @param {string} other
 */
export function distance(one, other) {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1];
      row[to] = Math.min(
        rows[at - 1][to] + 1,
        row[to - 1] + 1,
        rows[at - 1][to - 1] + (isSame ? 0 : 1),
      );
      const isSwapped = at > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      if (isSwapped) row[to] = Math.min(row[to], rows[at - 2][to - 2] + 1);
    }
    rows.push(row);
  }
  return rows[one.length][other.length];
}

/** @param {Map<string, number>} words @param {string} wanted @returns {string[]} nearest first */
function nearest(words, wanted) {
  const reach = wanted.length < 5 ? 1 : 2;
  return [...words]
    .filter(([word]) => Math.abs(word.length - wanted.length) <= reach)
    .map(([word, count]) => ({ word, count, away: distance(word, wanted) }))
    .filter(({ away }) => away <= reach)
    .sort((one, other) => one.away - other.away || other.count - one.count)
    .slice(0, MOST)
    .map(({ word }) => word);
}

/**
 * What a reader may have meant who finds nothing; each of it can be found.
 * @param {Model} model
 * @param {string} query
 * @param {Section[]} sections all of them
 * @returns {string[]}
 */
export function nearTo(model, query, sections) {
  const words = wordsOf(model, sections);
  const asked = query.trim().toLowerCase();
  const wanted = asked.split(/\s+/);
  const found = wanted.map((word) => (words.has(word) ? [word] : nearest(words, word)));
  const meant = found.length === 1 ? found[0] : [found.map(([first]) => first).join(" ")];
  const known = found.every((near) => near.length) ? meant : [];
  const others = PRODUCT.test(asked) ? [query.trim().slice(0, -1)] : known;
  return [...new Set(others)]
    .filter((text) => text.toLowerCase() !== asked && search(model, text, sections).length)
    .slice(0, MOST);
}
