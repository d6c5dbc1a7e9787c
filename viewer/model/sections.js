// Calls that unfold as sections of the article, and their titles. Pure.

import {
  activationOf,
  callerOf,
  callsBy,
  functionIndex,
  functionOf,
  hasCalls,
  statementOf,
  stepRange,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model/run.js";
import { lowerBound, rows } from "viewer/model/sorted.js";
import { directivesOn, linesOf } from "viewer/model/source.js";

const MAX_SECTION_DEPTH = 5;

/** The longest call that is shown below the title of its section, in characters. */
const MAX_CALL_LENGTH = 60;

/** A call, or a loop of events that runs one: `asyncio.run(many())`. */
const CALL =
  /^\s*(?:await\s+|\w+\.run\(\s*(?=[\p{ID_Continue}.]+\s*\())?([\p{ID_Continue}.]+)\s*\(/u;

/** @type {WeakMap<Model, Map<number, string>>} */
const calledNames = new WeakMap();
/** @type {WeakMap<Model, boolean>} */
const asked = new WeakMap();

/**
 * The function whose call is the whole statement, or empty.
 * @param {Model} model
 * @param {number} statement
 */
function calledName(model, statement) {
  const names = calledNames.get(model) ?? new Map();
  calledNames.set(model, names);
  if (!names.has(statement)) {
    const [file, line, , , kind] = model.document.statements[statement];
    const text = linesOf(model.document.files[file])[line - 1] ?? "";
    const called = kind === "call" && CALL.exec(text);
    names.set(statement, called ? (called[1].split(".").at(-1) ?? "") : "");
  }
  return names.get(statement);
}

/**
 * The calls of a step: the one that unfolds as a section, if the statement is that call, and the
 * others.
 * @param {Model} model
 * @param {number} step
 * @returns {{section: number, folded: number[]}}
 */
export function callsOf(model, step) {
  const calls = callsBy(model, step);
  const section = calls.length ? unfoldedOf(model, calls, statementOf(model, step)) : -1;
  const recursive = section >= 0 && isNested(model, section);
  return recursive
    ? { section: -1, folded: calls }
    : { section, folded: calls.filter((call) => call !== section) };
}

/**
 * The call that unfolds as a section, or -1: the one that is marked, or the one that is the whole
 * statement.
 * @param {Model} model
 * @param {number[]} calls
 * @param {number} statement
 */
function unfoldedOf(model, calls, statement) {
  if (isMarked(model, statement, "fold")) return -1;
  const says = (/** @type {number} */ call, /** @type {string} */ mark) =>
    functionOf(model, call).marks.includes(mark);
  const unfoldable = calls.filter((call) => !says(call, "fold"));
  if (isMarked(model, statement, "section")) return unfoldable.at(-1) ?? -1;
  const called = calledName(model, statement);
  return (
    unfoldable.findLast(
      (call) => says(call, "section") || (called && isCalled(model, call, called)),
    ) ?? -1
  );
}

/** Whether a call may be a section. @param {Model} model @param {number} statement */
function mayUnfold(model, statement) {
  const { functions } = model.document;
  if (!asked.has(model))
    asked.set(
      model,
      functions.some(({ marks }) => marks.includes("section")),
    );
  return asked.get(model) || calledName(model, statement) || isMarked(model, statement, "section");
}

/**
 * Whether a statement has a directive.
 * @param {Model} model
 * @param {number} statement
 * @param {string} directive
 */
export function isMarked({ document }, statement, directive) {
  const [file, first, last] = document.statements[statement];
  for (let line = first; line <= last; line++)
    if (directivesOn(document.files[file], line).includes(directive)) return true;
  return false;
}

/** @param {Model} model @param {number} call @param {string} name */
function isCalled(model, call, name) {
  return functionOf(model, call).name.split(".").includes(name);
}

/**
 * Whether the same function is open already, or too many are.
 * @param {Model} model
 * @param {number} activation
 */
function isNested(model, activation) {
  let depth = 0;
  const func = functionIndex(model, activation);
  for (let step = callerOf(model, activation); step >= 0; depth++) {
    const caller = activationOf(model, step);
    if (functionIndex(model, caller) === func) return true;
    step = callerOf(model, caller);
  }
  return depth > MAX_SECTION_DEPTH;
}

/**
 * Whether a call statement passes nothing, as a table of contents does.
 * @param {Model} model
 * @param {number} statement
 */
export function isBareCall(model, statement) {
  const [file, line, last] = model.document.statements[statement];
  return (
    line === last &&
    /^\s*[\p{ID_Continue}.]+\(\)\s*(#.*)?$/u.test(
      linesOf(model.document.files[file])[line - 1] ?? "",
    )
  );
}

/**
 * The call that a section is, as it is written: what passes something, is short and the whole of
 * its statement, or else empty.
 * @param {Model} model
 * @param {number} activation
 */
export function writtenCall(model, activation) {
  const caller = callerOf(model, activation);
  const statement = caller >= 0 ? statementOf(model, caller) : -1;
  if (statement < 0 || !calledName(model, statement)) return "";
  const [file, first, last] = model.document.statements[statement];
  const line = linesOf(model.document.files[file])[first - 1];
  const text = line.replace(/\s+#.*$/, "").trim();
  const isShort = first === last && text.length <= MAX_CALL_LENGTH;
  return isShort && !isBareCall(model, statement) ? text : "";
}

/**
 * Whether any of these steps said something by calling.
 * @param {Model} model
 * @param {number} first
 * @param {number} beyond
 */
export function speaks({ document: { said } }, first, beyond) {
  return lowerBound(said.step, first) < lowerBound(said.step, beyond);
}

/**
 * The sections of a run in reading order, the outermost calls first. A line that calls often counts
 * once.
 * @param {Model} model
 * @returns {Section[]}
 */
export function sectionsOf(model) {
  /** @type {Section[]} */
  const sections = [];
  for (let root = 0; root < model.activations; root++) {
    if (callerOf(model, root) >= 0) continue;
    addSections(model, sections, root, 0, -1);
  }
  for (const { activation, depth } of sections)
    if (depth === 0) nameChapters(model, sections, activation);
  if (!sections.some(({ chapter }) => chapter)) nameFiles(model, sections);
  return sections;
}

/**
 * Without headings, files are chapters: each begins where the next section is of another file.
 * @param {Model} model
 * @param {Section[]} sections
 */
function nameFiles(model, sections) {
  const { files } = model.document;
  const outer = sections.filter(({ depth }) => depth === 1);
  const fileOf = (/** @type {Section | undefined} */ section) =>
    section ? functionOf(model, section.activation).file : -1;
  const firsts = outer.filter((section, index) => fileOf(section) !== fileOf(outer[index - 1]));
  if (new Set(firsts.map(fileOf)).size < 2) return;
  for (const first of firsts) {
    const { path, prose } = files[fileOf(first)];
    const about = prose[0]?.kind === "docstring" && prose[0].first_line === 1 ? prose[0].text : "";
    const name = path.split("/").at(-1)?.replace(/\.py$/, "").replaceAll("_", " ") ?? path;
    first.chapter = plainTitle(about.split("\n")[0]) || name;
  }
}

/** Headings in the prose of a function, with what follows them.
 * @param {Model} model @param {number} activation */
export function headingsIn(model, activation) {
  const { file, line, end_line: end } = functionOf(model, activation);
  return model.document.files[file].prose.flatMap(({ first_line: at, kind, text }) => {
    const isInside = line <= at && at <= end && kind !== "note";
    const heading = isInside && /^#{1,6}\s+(.+)/.exec(text);
    const about = text.replace(/^[^\n]*\n?/, "").trim();
    return heading ? [{ at, title: plainTitle(heading[1].trim()), about }] : [];
  });
}

/**
 * Whether a call is a part of the table of contents: it passes nothing, and the function has
 * headings but no title. It is read as if its lines stood where it is called.
 * @param {Model} model
 * @param {number} activation
 */
export function isPart(model, activation) {
  const isCall = isBareCall(model, statementOf(model, callerOf(model, activation)));
  const { title } = functionOf(model, activation);
  return isCall && !title && headingsIn(model, activation).length > 0;
}

/**
 * Headings among the calls of a table of contents.
 * @param {Model} model
 * @param {Section[]} sections
 * @param {number} contents an activation
 */
function nameChapters(model, sections, contents) {
  const { statements } = model.document;
  const lineOf = (/** @type {Section} */ section) =>
    statements[statementOf(model, callerOf(model, section.activation))][1];
  for (const { at, title } of headingsIn(model, contents)) {
    const first = sections.find((section) => section.parent === contents && lineOf(section) > at);
    if (first) first.chapter = title;
  }
}

/**
 * @param {Model} model
 * @param {Section[]} sections
 * @param {number} activation
 * @param {number} depth
 * @param {number} parent
 */
function addSections(model, sections, activation, depth, parent) {
  const [first, beyond] = stepRange(model, activation);
  sections.push({ activation, depth, order: sections.length, parent, chapter: "", first, beyond });
  const seen = new Set();
  visitSteps(model, wholeScope(model, activation), (event, statement) => {
    if (!hasCalls(model, event) || seen.has(statement) || !mayUnfold(model, statement)) return;
    const { section } = callsOf(model, stepsBefore(model, event));
    if (section < 0) return;
    const isOfContents = depth === 0 && isPart(model, section);
    if (!isOfContents && !functionOf(model, section).title) return;
    seen.add(statement);
    addSections(model, sections, section, isOfContents ? 0 : depth + 1, activation);
  });
}

/**
 * The title of the lecture: that of the function that was run, or else of its module.
 * @param {Model} model
 */
export function titleOf(model) {
  const title = model.activations ? functionOf(model, 0).title : "";
  return plainTitle(title || model.document.title);
}

/**
 * The section that shows a step: the innermost one around it.
 * @param {Section[]} sections
 * @param {number} step
 */
export function sectionOfStep(sections, step) {
  return sections.findLast(({ first, beyond }) => first <= step && step < beyond);
}

/**
 * The claims inside a call, or inside some steps without the sections that are left out.
 * @param {Model} model
 * @param {Span} span
 * @param {Set<number>} [leftOut] activations
 * @returns {Counts}
 */
export function claimsWithin(model, { first, beyond }, leftOut = new Set()) {
  const { held, statement, step } = model.document.claims;
  const within = rows(model.claimsOf, first, beyond);
  const found = within.filter((row) => !isWithin(model, step[row], leftOut));
  return {
    claims: new Set(found.map((row) => statement[row])).size,
    failed: found.filter((row) => held[row] !== true).length,
  };
}

/**
 * Whether a step ran in one of some calls, or in what they call.
 * @param {Model} model
 * @param {number} step
 * @param {Set<number>} calls activations
 */
export function isWithin(model, step, calls) {
  for (let at = calls.size ? step : -1; at >= 0;) {
    const activation = activationOf(model, at);
    if (calls.has(activation)) return true;
    at = callerOf(model, activation);
  }
  return false;
}

/** Whether a `def` line has a mark. @param {LectureFunction} func @param {string} mark */
export function hasMark({ marks }, mark) {
  return marks.includes(mark) || marks.includes(`@${mark}`); // as older documents write it
}

/** A title is plain text: Markdown's marks around code and emphasis go. @param {string} title */
export function plainTitle(title) {
  return title.replace(/[`*]+/g, "").replace(/\.$/, "");
}

/** What a call is named on the page. @param {LectureFunction} func */
export function headingOf({ title, name }) {
  return title ? plainTitle(title) : name;
}

/**
 * The sections below the outermost ones, by the headings of the table of contents.
 * @param {Section[]} sections
 * @returns {{title: string, sections: Section[]}[]} one without a title where there are no headings
 */
export function chaptersOf(sections) {
  /** @type {{title: string, sections: Section[]}[]} */
  const chapters = [];
  for (const section of sections) {
    if (section.depth === 0) continue;
    if (section.chapter || !chapters.length)
      chapters.push({ title: section.chapter, sections: [] });
    chapters[chapters.length - 1].sections.push(section);
  }
  return chapters;
}
