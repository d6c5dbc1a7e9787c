// The words of a lecture, made from its text: a term in italics is defined by the sentence that it
// stands in, a letter by a table whose first column is so called. Pure. Fetched with its panel, or
// when somebody searches.

import { entryOf, functionIndex, functionOf, stepsBefore } from "viewer/model/run.js";
import { headingOf } from "viewer/model/sections.js";

const ITALIC = /(?<![*\w\\])\*(?![\s*])([^*]+?)(?<!\s)\*(?![*\w])/g;
const NOT_TEXT = /`[^`]*`|\$[^$]*\$|\]\([^)]*\)/g;
const SENTENCE_END = /(?<=[.?!][)"”]?)\s+(?=[A-Z*$`("“])/;
const TABLE_OF_LETTERS = /^\|\s*(?:letter|term)\s*\|/i;

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
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  for (const { sentences, title, step } of places)
    for (const text of sentences)
      for (const term of termsIn(text))
        if (!entries.has(term.toLowerCase()))
          entries.set(term.toLowerCase(), entryOfTerm({ term, text, title, step }, places));
  const { compare } = new Intl.Collator("en", { sensitivity: "base" });
  const sorted = [...entries.values()].sort((one, other) => compare(one.term, other.term));
  return [...lettersOf(model), ...sorted];
}

/**
 * An entry that looks for its uses when it is asked: all of them take as long as ten key presses,
 * and most readers only point at a term.
 * @param {Pick<Entry, "term" | "text" | "title" | "step">} definition
 * @param {ReturnType<typeof placeOf>[]} places
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
 * The prose of a section, by sentences, and where it is.
 * @param {Model} model
 * @param {Section} section
 */
function placeOf(model, { activation, first }) {
  const func = functionOf(model, activation);
  const own = model.document.files[func.file].prose.filter(
    ({ kind, first_line: at }) =>
      func.line < at && at <= func.end_line && kind !== "bridge" && kind !== "note",
  );
  const paragraphs = own.flatMap(({ text }) =>
    text.split(/\n\s*\n|\n(?=[-*] |\d+\. )/).map((part) => part.replace(/\s*\n\s*/g, " ")),
  );
  const plain = paragraphs.join(" ").replace(/[*`]/g, "").toLowerCase();
  const sentences = paragraphs.flatMap((paragraph) => paragraph.split(SENTENCE_END));
  return { sentences, plain, title: headingOf(func), step: first };
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
 * @param {Pick<Entry, "term" | "step">} entry
 * @param {ReturnType<typeof placeOf>[]} places
 */
function usesOf({ term, step }, places) {
  const escaped = term.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const word = new RegExp(`(?<![\\p{L}\\d])${escaped}s?(?![\\p{L}\\d])`, "u");
  return places
    .filter((place) => place.step !== step && word.test(place.plain))
    .map(({ title, step: at }) => ({ title, step: at }));
}

/**
 * The rows of tables whose first column is called letter, or term, where they were shown first.
 * @param {Model} model
 * @returns {Entry[]}
 */
function lettersOf(model) {
  const { inspections, values } = model.document;
  const row = inspections.value.findIndex(
    (value) => value !== null && TABLE_OF_LETTERS.test(values[value].markdown ?? ""),
  );
  if (row < 0) return [];
  const event = inspections.event[row];
  const step = stepsBefore(model, event);
  const title = titleAt(model, event);
  const lines = (values[inspections.value[row] ?? 0].markdown ?? "").split("\n").slice(2);
  return lines.map((line) => {
    const [term, ...meaning] = line.replace(/^\||\|$/g, "").split("|");
    const text = meaning.join("|").trim();
    return { term: term.replace(/[*$`\s]/g, ""), text, title, step, isLetter: true, uses: [] };
  });
}

/** The title of the call that an event belongs to. @param {Model} model @param {number} event */
function titleAt(model, event) {
  let found = 0;
  for (let activation = 0; activation < model.activations; activation++)
    if (entryOf(model, activation) <= event) found = activation;
  return headingOf(model.document.functions[functionIndex(model, found)]);
}
