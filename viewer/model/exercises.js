// Exercises: their questions, and a file of them to work on. Pure. Fetched with the first of them.

import { functionOf } from "viewer/model/run.js";
import { hasMark } from "viewer/model/sections.js";
import { indentOf, linesOf } from "viewer/model/source.js";

/** How a paragraph begins that helps. */
const HINT = /\n\s*\n\**hint[.:]?\**[.:]?\s+/i;

/**
 * What is asked, and what helps.
 * @param {string} text of a docstring
 * @returns {{question: string, hint: string}}
 */
export function split(text) {
  const [question, ...hints] = `\n\n${text}`.split(HINT);
  return { question: question.trim(), hint: hints.join("\n\n").trim() };
}

/**
 * The exercises of a chapter as a Python file: bodies are empty, their claims are the tests.
 * @param {Model} model
 * @param {Chapter} chapter
 * @returns {string}
 */
export function exerciseFile(model, chapter) {
  const { document } = model;
  const own = chapter.sections
    .map(({ activation }) => functionOf(model, activation))
    .filter((func) => hasMark(func, "exercise"));
  const files = new Set(own.map(({ file }) => file));
  const heads = [...files].map((file) => importsOf(document.files[file]));
  return [
    `"""Exercises of "${chapter.title}": write what is missing, then run pytest on this file."""\n`,
    ...heads,
    ...own.map((func) => emptied(document, func)),
  ].join("\n\n");
}

/**
 * What a file imports, and the name by which it is imported itself: solutions use both.
 * @param {SourceFile} file
 */
function importsOf(file) {
  const module = file.path.replace(/\.py$/, "").replaceAll("/", ".");
  const lines = linesOf(file);
  const kept = [];
  let depth = 0;
  for (const text of lines) {
    const begins = /^(?:import|from)\s/.test(text);
    if (!begins && depth === 0) continue;
    kept.push(text);
    depth += (text.match(/[([]/g) ?? []).length - (text.match(/[)\]]/g) ?? []).length;
  }
  return [...kept, `from ${module} import *  # what the chapter defines`].join("\n");
}

/**
 * A function whose code is gone, but for its docstring and its claims.
 * @param {Lecture} document
 * @param {LectureFunction} func
 */
function emptied(document, func) {
  const lines = linesOf(document.files[func.file]);
  const own = document.functions.indexOf(func);
  const claims = document.statements.filter(
    ([, , , enclosing, kind, owner]) => owner === own && kind === "assert" && enclosing < 0,
  );
  const docstring = document.files[func.file].prose.find(
    ({ kind, first_line: at }) => kind === "docstring" && func.line < at && at <= func.end_line,
  );
  const until =
    docstring && docstring.first_line <= func.line + 2 ? docstring.last_line : func.line;
  const indent = " ".repeat(indentOf(lines[until - 1]));
  const names = [...namesBound(document, own)].join(", ");
  return [
    `def test_${func.name.replace(/^exercise_/, "")}():`,
    ...lines.slice(func.line, until),
    `${indent}# Your code${names && `; the claims ask for some of: ${names}`}.`,
    "",
    ...claims.flatMap(([, first, last]) => lines.slice(first - 1, last)),
    "",
  ].join("\n");
}

/** Names that the claims of a function use and its code gives a value.
 * @param {Lecture} document @param {number} func @returns {Set<string>} */
function namesBound({ statements, names, assertions }, func) {
  const asked = assertions
    .filter(({ statement }) => statements[statement][5] === func)
    .flatMap(({ text }) => text.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu) ?? []);
  const bound = statements
    .filter(([, , , , , owner]) => owner === func)
    .flatMap(([, , , , , , binds]) => binds.map((name) => names[name]));
  return new Set(bound.filter((name) => asked.includes(name)));
}
