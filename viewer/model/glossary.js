// The words of a lecture, made from its text: a term in italics is defined by the sentence that it
// stands in, a letter by a table whose first column is so called; a table of terms has the last
// word. Pure. Fetched with its panel, or
// when somebody searches.

import { entryOf, functionIndex, functionOf, stepsBefore } from "viewer/model/run.js";
import { headingOf } from "viewer/model/sections.js";

const ITALIC = /(?<![*\w\\])\*(?![\s*])([^*]+?)(?<!\s)\*(?![*\w])/g;
const NOT_TEXT = /`[^`]*`|\$[^$]*\$|\]\([^)]*\)/g;
const SENTENCE_END = /(?<=[.?!][)"”]?)\s+(?=[A-Z*$`("“])/;
const TABLE = /^\|\s*(letter|term)\s*\|/i;

/** @type {WeakMap<Lecture, Entry[]>} */
const known = new WeakMap();

/**
 * The entries, letters first, then by the alphabet.
 * @param {Model} model
 * @param {Section[]} sections all of them
 * @returns {Entry[]}
 */
export function glossaryOf(model, sections) {
  const found = known.get(model.document) ?? entriesOf(model, sections);
  known.set(model.document, found);
  return found;
}

/** @param {Model} model @param {Section[]} sections @returns {Entry[]} */
function entriesOf(model, sections) {
  const places = sections.map((section) => placeOf(model, section));
  const tables = tablesOf(model);
  const terms = withTable(definitionsIn(places), tables.term);
  const entries = terms.map((definition) => entryOfTerm(definition, places));
  const { compare } = new Intl.Collator("en", { sensitivity: "base" });
  entries.sort((one, other) => compare(one.term, other.term));
  const letters = tables.letter.map((letter) => ({ ...letter, isLetter: true, uses: [] }));
  return [...letters, ...entries];
}

/**
 * Definitions with the words of a table, each where the text has the term first.
 * @param {Meaning[]} definitions
 * @param {Meaning[]} table
 * @returns {Meaning[]}
 */
export function withTable(definitions, table) {
  const rest = new Map(table.map((row) => [row.term.toLowerCase(), row]));
  const found = definitions.map((definition) => {
    const key = definition.term.toLowerCase();
    const { term, text } = rest.get(key) ?? definition;
    rest.delete(key);
    return { ...definition, term, text };
  });
  return [...found, ...rest.values()];
}

/**
 * What the terms of some prose mean: of the sentences that have a term in italics, the first that
 * can be understood alone, or else the first one with the sentence before it. The plural of a term
 * is no other term.
 * @param {Pick<Sentences, "paragraphs" | "title" | "step">[]} places
 * @returns {Meaning[]}
 */
export function definitionsIn(places) {
  /** @type {Map<string, Meaning & {isAlone: boolean}>} */
  const found = new Map();
  for (const { paragraphs, title, step } of places)
    for (const sentences of paragraphs)
      sentences.forEach((sentence, index) => {
        const isAlone = standsAlone(sentence);
        const before = isAlone || !index ? [] : [sentences[index - 1]];
        const text = [...before, sentence].join(" ");
        for (const term of termsIn(sentence)) {
          const key = term.toLowerCase();
          const known = found.get(key);
          if (known?.isAlone || (known && !isAlone)) continue;
          found.set(key, { term: known?.term ?? term, text, title, step, isAlone });
        }
      });
  const isPlural = (/** @type {string} */ key) => key.endsWith("s") && found.has(key.slice(0, -1));
  return [...found].flatMap(([key, { isAlone: _, ...definition }]) =>
    isPlural(key) ? [] : [definition],
  );
}

/** How sentences begin that go on from the one before. */
const GOING_ON = new RegExp(
  `^[("“]*(?:${[
    "So|It|Its|This|That|These|Those|They|Their|There|Here|Then|But|And|Or|Now|Both|Such|Hence|Not",
    "For (?:that|this)|(?:At|In|With|Of) (?:it|this|that|these|those|the others)|What about",
    "The (?:other|others|rest|first|second|last|latter|former|same|answers?)|One is|Another is",
  ].join("|")})\\b`,
);

/** Whether a sentence says what it says without the one before it. @param {string} sentence */
export function standsAlone(sentence) {
  return !GOING_ON.test(sentence.replace(/[*[]/g, "")) && !/\?[)"”*]*$/.test(sentence);
}

/**
 * An entry that looks for its uses when it is asked: all of them take as long as ten key presses,
 * and most readers only point at a term.
 * @param {Meaning} definition
 * @param {Sentences[]} places
 * @returns {Entry}
 */
function entryOfTerm(definition, places) {
  /** @type {Entry["uses"] | undefined} */
  let found;
  return {
    ...definition,
    isLetter: false,
    get uses() {
      return (found ??= usesOf(definition, places));
    },
  };
}

/**
 * The prose of a section, by paragraphs and their sentences, and where it is.
 * @param {Model} model
 * @param {Section} section
 * @returns {Sentences}
 */
function placeOf(model, { activation, first }) {
  const func = functionOf(model, activation);
  const own = model.document.files[func.file].prose.filter(
    ({ kind, first_line: at }) =>
      func.line < at && at <= func.end_line && kind !== "bridge" && kind !== "note",
  );
  const paragraphs = own.flatMap(({ text }) => paragraphsOf(text));
  const plain = paragraphs.flat().join(" ").replace(/[*`]/g, "").toLowerCase();
  return { paragraphs, plain, title: headingOf(func), step: first };
}

/** Paragraphs, and items of lists, as their sentences. @param {string} text */
export function paragraphsOf(text) {
  return text
    .split(/\n\s*\n|\n(?=[-*] |\d+\. )/)
    .map((part) => part.replace(/\s*\n\s*/g, " ").split(SENTENCE_END));
}

/**
 * The terms that a sentence has in italics; plain words in other scripts of Markdown are none.
 * @param {string} sentence
 */
function termsIn(sentence) {
  const text = sentence.replace(NOT_TEXT, (code) => " ".repeat(code.length));
  return [...text.matchAll(ITALIC)]
    .map(([, term]) => named(term.replace(/[,.:;?!]+$/, "").replace(/\s+/g, " ")))
    .filter((term) => /\p{L}/u.test(term));
}

/** A term at the beginning of a sentence has a capital that is not its own. @param {string} term */
function named(term) {
  return /^[A-Z][a-z]+(?:[ -]|$)/.test(term) ? term[0].toLowerCase() + term.slice(1) : term;
}

/**
 * The sections that use a term, besides the one that defines it.
 * @param {Meaning} entry
 * @param {Sentences[]} places
 */
function usesOf({ term, step }, places) {
  const escaped = term.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const word = new RegExp(`(?<![\\p{L}\\d])${escaped}s?(?![\\p{L}\\d])`, "u");
  return places
    .filter((place) => place.step !== step && word.test(place.plain))
    .map(({ title, step: at }) => ({ title, step: at }));
}

/**
 * The rows of the tables of letters and of terms, each where it was shown first.
 * @param {Model} model
 * @returns {Record<"letter" | "term", Meaning[]>}
 */
function tablesOf(model) {
  const { inspections, values } = model.document;
  /** @type {Record<"letter" | "term", Meaning[]>} */
  const tables = { letter: [], term: [] };
  inspections.value.forEach((value, row) => {
    const markdown = value === null ? "" : (values[value].markdown ?? "");
    const kind = /** @type {"letter" | "term"} */ (TABLE.exec(markdown)?.[1].toLowerCase());
    if (!kind || tables[kind].length) return;
    const event = inspections.event[row];
    const place = { title: titleAt(model, event), step: stepsBefore(model, event) };
    tables[kind] = rowsOf(markdown).map((cells) => ({ ...cells, ...place, row: cells.term }));
  });
  return tables;
}

/** @param {string} table in Markdown */
function rowsOf(table) {
  return table
    .split("\n")
    .slice(2)
    .map((line) => {
      const [term, ...meaning] = line.replace(/^\||\|$/g, "").split("|");
      return { term: term.replace(/[*$`]/g, "").trim(), text: meaning.join("|").trim() };
    });
}

/** The title of the call that an event belongs to. @param {Model} model @param {number} event */
function titleAt(model, event) {
  let found = 0;
  for (let activation = 0; activation < model.activations; activation++)
    if (entryOf(model, activation) <= event) found = activation;
  return headingOf(model.document.functions[functionIndex(model, found)]);
}
