// Functions of which an author records no steps, where they are called. Pure. Fetched with Step.

import { withTokens } from "viewer/model/colours.js";
import { definitionsOf } from "viewer/model/definitions.js";
import { directivesOn, linesOf } from "viewer/model/source.js";

const NAME = String.raw`[\p{ID_Start}_]\p{ID_Continue}*`;

/** A call by a name, or by that of a module and a name in it; no method of a value. */
const CALLED = new RegExp(
  String.raw`(?<![\p{ID_Continue}.])(?:(?<module>${NAME})\.)?(?<name>${NAME})\s*\(`,
  "gu",
);

/** The end of the line where a function's head ends. */
const END_OF_HEAD = /:\s*(?:#.*)?$/;

/** @type {WeakMap<SourceFile, Set<string>>} */
const known = new WeakMap();

/**
 * The functions that a statement calls and that are recorded as one step (`# @stepover`).
 * @param {Model} model
 * @param {number} statement
 * @returns {string[]}
 */
export function steppedOver({ document }, statement) {
  const { files, statements } = document;
  const [file, first, last] = statements[statement];
  const text = linesOf(files[file])
    .slice(first - 1, last)
    .join("\n");
  const marked = [...text.matchAll(CALLED)].flatMap(({ groups: { module = "", name } = {} }) => {
    const isMarked = filesOf(files, files[file], module, name).some((own) =>
      markedIn(own).has(name),
    );
    return isMarked ? [name] : [];
  });
  return [...new Set(marked)];
}

/**
 * The files in which a function may be defined: this one, or those from which it is imported.
 * @param {SourceFile[]} files
 * @param {SourceFile} own
 * @param {string} module as the call names it, or nothing
 * @param {string} name
 */
function filesOf(files, own, module, name) {
  const definitions = definitionsOf(own);
  const binds = (/** @type {boolean} */ isImport, /** @type {string} */ wanted) =>
    definitions.some(
      ({ kind, names }) => (kind === "imports") === isImport && names.includes(wanted),
    );
  if (!module && binds(false, name)) return [own];
  if (!binds(true, module || name)) return [];
  return module ? files.filter(({ path }) => path.endsWith(`${module}.py`)) : files;
}

/** The names of a file's functions that are marked so. @param {SourceFile} file */
function markedIn(file) {
  const found = known.get(file) ?? new Set(markedNames(withTokens(file)));
  known.set(file, found);
  return found;
}

/** @param {SourceFile} file */
function markedNames(file) {
  const lines = linesOf(file);
  return definitionsOf(file)
    .filter(({ kind }) => kind === "def")
    .filter(({ first, last }) => {
      for (let line = first; line <= last; line++) {
        if (directivesOn(file, line).includes("stepover")) return true;
        if (END_OF_HEAD.test(lines[line - 1])) return false;
      }
      return false;
    })
    .flatMap(({ names }) => names);
}
