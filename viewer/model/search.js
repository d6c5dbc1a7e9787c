// Search across titles, prose, code, names and values. Pure. Fetched when somebody searches.

import { pageOfStep } from "viewer/model/book.js";
import { around, plainProse } from "viewer/model/excerpts.js";
import { glossaryOf } from "viewer/model/glossary.js";
import { lines, secretsOf } from "viewer/model/lines.js";
import { activationOf, entryOf, functionIndex, functionOf, stepsBefore } from "viewer/model/run.js";
import { plainTitle } from "viewer/model/sections.js";
import { firstCalls, placeOf } from "viewer/model/shown.js";
import { valueTells } from "viewer/model/spoilers.js";
import { valueText } from "viewer/model/values.js";

const MAX_RESULTS = 60;

/** A product as people type it: `6ND`. */
export const PRODUCT = /^\d+[a-z]{1,4}$/i;

/**
 * The step of that number, and places whose text contains the query: chapters, terms and titles
 * first, definitions that the article does not show last. Each leads to the first step there.
 * @param {Model} model
 * @param {string} query
 * @param {Section[]} [sections] all of them: the glossary is made from their text
 * @param {number[]} [pending] claims that ask the reader: what they ask for is not found
 * @param {Chapter[]} [chapters] all of them; they name what stands between the calls of a table of
 *   contents
 * @returns {Result[]}
 */
export function search(model, query, sections = [], pending = [], chapters = []) {
  const wanted = query.trim().toLowerCase();
  const numbered = stepNumbered(model, wanted);
  if (wanted.length < 2) return numbered;
  const secrets = secretsOf(model, pending);
  const foundIn = finderOf(wanted);
  const foundInTitle = finderOfTitles(wanted, foundIn);
  const titled = titles(model, foundInTitle);
  const named = chaptersNamed(chapters, foundInTitle);
  const known = {
    names: new Set(titled.map(({ name }) => name)),
    headings: new Set(named.flatMap(({ chapter }) => headingOf(model, chapter))),
  };
  const { near, far } = lines(model, foundIn, wanted, known, secrets);
  return [
    ...numbered,
    ...named,
    ...terms(model, foundInTitle, wanted, sections),
    ...titled.map(({ result }) => result),
    ...(PRODUCT.test(wanted) ? near.toSorted(byStart) : near),
    ...values(model, foundIn, secrets),
    ...far,
  ]
    .slice(0, MAX_RESULTS)
    .map((result) => inChapter(model, chapters, result));
}

/** Of products: those that are whole come first, `6N` before `16N`.
 * @param {Result} one @param {Result} other */
function byStart(one, other) {
  const isCut = ({ before = "" }) => Number(/[\w.]$/.test(before));
  return isCut(one) - isCut(other);
}

/**
 * A title is in its chapter, and so is a result whose place is a table of contents without a title.
 * @param {Model} model
 * @param {Chapter[]} chapters
 * @param {Result} result
 * @returns {Result}
 */
function inChapter(model, chapters, result) {
  if (result.definition || "chapter" in result) return result;
  const activation = activationOf(model, result.step);
  const isContents = chapters.some(({ contents }) => contents === activation);
  const isTitle = result.kind === "title" && !result.place;
  if (!isTitle && (!isContents || functionOf(model, activation).title)) return result;
  const chapter = chapters[pageOfStep(chapters, result.step) - 1];
  return chapter ? { ...result, place: chapter.title } : result;
}

/**
 * Chapters by their titles, with their numbers.
 * @param {Chapter[]} chapters
 * @param {Finder} foundIn
 * @returns {(Result & {chapter: Chapter})[]}
 */
function chaptersNamed(chapters, foundIn) {
  return chapters.flatMap((chapter) => {
    const found = foundIn(chapter.title);
    const { before, match, after } = around(chapter.title, found);
    const numbered = `${chapter.label}. ${before}`;
    const kind = /** @type {const} */ ("title");
    const result = {
      step: chapter.first,
      kind,
      before: numbered,
      match,
      after,
      place: "",
      chapter,
    };
    return found ? [result] : [];
  });
}

/** The heading in a table of contents that names a chapter, as `file:line`.
 * @param {Model} model @param {Chapter} chapter */
function headingOf(model, { contents, line, isHeading }) {
  return isHeading ? [`${functionOf(model, contents).file}:${line}`] : [];
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

/** A dtype as PyTorch writes it, such as `torch.bfloat16`. */
const DTYPE = /^(?:torch\.)?(b?)float(\d+)$/;

/**
 * Prose says bf16 and fp32 where code says `bfloat16` and `float32`.
 * @param {string} wanted
 * @param {Finder} foundIn
 * @returns {Finder}
 */
function finderOfTitles(wanted, foundIn) {
  const [isDtype, brain, bits] = DTYPE.exec(wanted) ?? [];
  const short = finderOf(`${brain ? "bf" : "fp"}${bits}`);
  return isDtype ? (text) => foundIn(text) || short(text) : foundIn;
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
