// Classes, imports and functions that no call shows, where the article first uses them. Pure.

import { functionIndex, hasCalls, stepsBefore, visitSteps, wholeScope } from "viewer/model/run.js";
import { callsOf, sectionsOf, writtenCall } from "viewer/model/sections.js";
import { linesOf } from "viewer/model/source.js";
import { isSpoken } from "viewer/model/spoken.js";

const BEGIN = /^(class|(?:async\s+)?def|import|from)\s+([\p{ID_Continue}.]+)/u;
const WORD = /[\p{ID_Start}_][\p{ID_Continue}]*/gu;

/** @type {WeakMap<SourceFile, Definition[]>} */
const found = new WeakMap();
/** @type {WeakMap<Model, Map<string, Definition[]>>} */
const placed = new WeakMap();

/**
 * The definitions of a module, in its order; imports that follow each other are one.
 * @param {SourceFile} file
 * @returns {Definition[]}
 */
export function definitionsOf(file) {
  const known = found.get(file);
  if (known) return known;
  const lines = linesOf(file);
  /** @type {Definition[]} */
  const definitions = [];
  for (let at = 0; at < lines.length; at++) {
    let head = at;
    while (lines[head]?.startsWith("@")) head++;
    const match = BEGIN.exec(lines[head] ?? "");
    if (!match) continue;
    const last = endOf(lines, head);
    add(definitions, file, { match, first: at + 1, last: last + 1, lines });
    at = last;
  }
  found.set(file, definitions);
  return definitions;
}

/**
 * The last line of what begins on a line: indented ones, and one that closes brackets.
 * @param {string[]} lines
 * @param {number} head
 */
function endOf(lines, head) {
  let last = head;
  for (let at = head + 1; at < lines.length && /^(?:\s|[)\]}]|$)/.test(lines[at]); at++)
    if (lines[at].trim()) last = at;
  return last;
}

/**
 * @param {Definition[]} definitions
 * @param {SourceFile} file
 * @param {{match: RegExpExecArray, first: number, last: number, lines: string[]}} found
 */
function add(definitions, file, { match: [, word, name], first, last, lines }) {
  if (!/^(?:import|from)$/.test(word)) {
    definitions.push({
      kind: word === "class" ? "class" : "def",
      file,
      first,
      last,
      names: [name],
    });
    return;
  }
  const names = namesIn(lines.slice(first - 1, last).join(" "));
  const before = definitions.at(-1);
  if (
    before?.kind === "imports" &&
    !lines
      .slice(before.last, first - 1)
      .join("")
      .trim()
  )
    Object.assign(before, { last, names: [...before.names, ...names] });
  else definitions.push({ kind: "imports", file, first, last, names });
}

/** The names that an import binds. @param {string} text */
function namesIn(text) {
  const bound = text.replace(/^from\s+\S+\s+import|^import|#.*$|[()\\]/g, " ").split(",");
  return bound.flatMap((part) => {
    const [first, as, other] = part.trim().split(/\s+/);
    return as === "as" ? [other] : first ? [first.split(".")[0]] : [];
  });
}

/**
 * What to show above a statement of a section: what it is the first to use.
 * @param {Model} model
 * @param {number} activation
 * @param {number[]} statements
 * @returns {Definition[]}
 */
export function firstUsedBy(model, activation, statements) {
  const known = placesOf(model);
  return statements.flatMap((statement) => known.get(`${activation}:${statement}`) ?? []);
}

/** @param {Model} model */
function placesOf(model) {
  const known = placed.get(model) ?? place(model);
  placed.set(model, known);
  return known;
}

/**
 * All of them, each with the statement of a call that it stands above.
 * @param {Model} model
 * @returns {{definition: Definition, activation: number, statement: number}[]}
 */
export function definitionsShown(model) {
  return [...placesOf(model)].flatMap(([place, definitions]) => {
    const [activation, statement] = place.split(":").map(Number);
    return definitions.map((definition) => ({ definition, activation, statement }));
  });
}

/** Whether a step is a call that stands below the title of its section and nowhere else.
 * @param {Model} model @param {number} event */
function isTitled(model, event) {
  if (!hasCalls(model, event)) return false;
  const { section } = callsOf(model, stepsBefore(model, event));
  return section >= 0 && writtenCall(model, section) !== "";
}

/** The statement that holds it and all around it: definitions do not cut a loop open.
 * @param {Statement[]} statements @param {number} statement */
function outermostOf(statements, statement) {
  let [at, outer] = [statement, statements[statement][3]];
  while (outer >= 0 && statements[outer][5] === statements[at][5])
    [at, outer] = [outer, statements[outer][3]];
  return at;
}

/** @param {Model} model */
function place(model) {
  const { document } = model;
  const wanted = wantedNames(model);
  const spoken = document.files.map(
    ({ prose }) => new Set(prose.filter(isSpoken).map(({ first_line: line }) => line)),
  );
  /** @type {Map<string, Definition[]>} */
  const places = new Map();
  /** @type {Set<number>} */
  const seen = new Set();
  /** @type {Set<Definition>} */
  const shown = new Set();
  for (const { activation } of sectionsOf(model))
    visitSteps(model, wholeScope(model, activation), (event, statement) => {
      if (seen.has(statement)) return;
      seen.add(statement);
      const [file, first, last] = document.statements[statement];
      if (spoken[file].has(first) || isTitled(model, event)) return;
      const text = linesOf(document.files[file])
        .slice(first - 1, last)
        .join("\n");
      const used = [...text.matchAll(WORD)].flatMap(([name]) => wanted[file].get(name) ?? []);
      const fresh = [...new Set(used)].filter((definition) => !shown.has(definition));
      for (const definition of fresh) shown.add(definition);
      const place = `${activation}:${outermostOf(document.statements, statement)}`;
      if (fresh.length) places.set(place, [...(places.get(place) ?? []), ...fresh]);
    });
  return places;
}

/**
 * For each file the names that stand for a definition: its own, and classes that it imports from
 * another file of the lecture.
 * @param {Model} model
 * @returns {Map<string, Definition[]>[]}
 */
function wantedNames(model) {
  const { files, functions } = model.document;
  /** @type {Set<string>} */
  const ran = new Set();
  for (let activation = 0; activation < model.activations; activation++) {
    const { file, name } = functions[functionIndex(model, activation)];
    ran.add(`${file}:${name}`);
  }
  const classes = new Map(
    files.flatMap((file) =>
      definitionsOf(file)
        .filter(({ kind }) => kind === "class")
        .map((definition) => [definition.names[0], definition]),
    ),
  );
  return files.map((file, index) => {
    /** @type {Map<string, Definition[]>} */
    const names = new Map();
    for (const definition of definitionsOf(file))
      for (const name of definition.names) {
        if (definition.kind === "def" && ran.has(`${index}:${name}`)) continue;
        const imported = definition.kind === "imports" && classes.get(name);
        names.set(name, imported ? [definition, imported] : [definition]);
      }
    return names;
  });
}
