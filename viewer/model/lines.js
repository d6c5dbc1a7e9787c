// Lines of prose and code that contain what is searched for. Pure. Fetched with the search.

import { around, plainProse } from "viewer/model/excerpts.js";
import { definedOn } from "viewer/model/names.js";
import { shortPaths } from "viewer/model/places.js";
import { placeOf, shownAt } from "viewer/model/shown.js";
import { linesOf, pieces, withoutDirectives } from "viewer/model/source.js";
import { askedOf, claimTells, tells } from "viewer/model/spoilers.js";

/**
 * What claims ask for, and where they stand.
 * @param {Model} model
 * @param {number[]} pending rows of the claims
 * @returns {Secret[]}
 */
export function secretsOf(model, pending) {
  const { claims, statements } = model.document;
  return pending.flatMap((row) => {
    const asked = askedOf(model, row);
    const [file, first, last, , , func] = statements[claims.statement[row]];
    if (!asked) return [];
    return [{ asked, file, first, last, func, told: linesThatTell(model, asked, func) }];
  });
}

/**
 * The lines of the same function whose claims of lists have the answer.
 * @param {Model} model
 * @param {Asked} asked
 * @param {number} wanted the function
 */
function linesThatTell({ document: { claims, statements, values } }, asked, wanted) {
  const tell = claims.statement.filter((statement, row) => {
    if (statements[statement][5] !== wanted) return false;
    const sides = (claims.operands[row] ?? []).flatMap((value) => values[value ?? -1] ?? []);
    return claimTells(sides, asked);
  });
  return new Set(
    tell.flatMap((statement) => linesFrom(statements[statement][1], statements[statement][2])),
  );
}

/** @param {number} first @param {number} last @returns {number[]} */
function linesFrom(first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** A definition, or a call that is the whole line and passes nothing. */
const NAMED = /^(?:async )?def (\w+)|^(?:\w+\.)*(\w+)\(\)/;

/** Prose without the title of a function, which is found by itself.
 * @param {SourceFile["prose"][number]} prose */
function withoutTitle({ kind, first_line: line, text }) {
  return kind === "docstring" && line > 1 ? text.replace(/^[^\n]*\n?/, "") : text;
}

/**
 * Lines that are found, and those of definitions that the article does not show.
 * @param {Model} model
 * @param {Finder} foundIn
 * @param {string} wanted in small letters
 * @param {{names: Set<string>, headings: Set<string>}} titled functions whose titles were found:
 *   their names on a line are no more; and the headings that were, as `file:line`
 * @param {Secret[]} secrets
 * @returns {{near: Result[], far: Result[]}}
 */
export function lines(model, foundIn, wanted, titled, secrets) {
  const paths = shortPaths(model.document.files.map(({ path }) => path));
  const found = model.document.files.flatMap((file, index) => {
    const own = secrets.filter((secret) => secret.file === index);
    return [...proseOf(file, index, titled.headings, own), ...codeLinesOf(file, titled.names, own)]
      .map((one) => ({ ...one, found: foundIn(one.text) }))
      .filter((one) => one.found)
      .flatMap((one) => {
        const rank = one.kind === "code" ? rankOf(one.defines.toLowerCase(), wanted) : OTHER;
        const result = resultOf(model, index, paths[index], one);
        return result ? [{ rank, result }] : [];
      });
  });
  const isNear = (/** @type {Ranked} */ { rank, result }) => !result.definition || rank === EXACT;
  return {
    near: definitionsFirst(found.filter(isNear)),
    far: found.filter((one) => !isNear(one)).map(({ result }) => result),
  };
}

/** How well a line defines what is searched for: the name itself, one that begins with it, not. */
const [EXACT, BEGUN, OTHER] = [0, 1, 2];

/** @param {string} name that a line defines, or nothing @param {string} wanted */
function rankOf(name, wanted) {
  const asked = wanted.replace(/^(?:(?:async\s+)?def|class)\s+/, "").replace(/\W+$/, "");
  if (!name || !asked) return OTHER;
  return name === asked ? EXACT : name.startsWith(asked) ? BEGUN : OTHER;
}

/** @typedef {{rank: number, result: Result}} Ranked */

/** In the order of the files; but among code the definitions of a name come first.
 * @param {Ranked[]} found @returns {Result[]} */
function definitionsFirst(found) {
  const isCode = (/** @type {Ranked} */ { result }) => result.kind === "code";
  const code = found.filter(isCode).sort((one, other) => one.rank - other.rank);
  return found.map((one) => (isCode(one) ? (code.shift() ?? one) : one).result);
}

/**
 * A line that is found and where it leads, if it is shown.
 * @param {Model} model
 * @param {number} file
 * @param {string} path as a reader knows the file
 * @param {FoundLine} found
 * @returns {Result | null}
 */
function resultOf(model, file, path, { line, text, kind, found }) {
  const shown = shownAt(model, file, line, kind === "prose");
  if (!shown) return null;
  const { step, definition } = shown;
  const place = definition ? `${path}:${line}` : placeOf(model, step);
  const at = kind === "code" && !definition ? { file, line } : undefined;
  return { step, kind, ...around(text, found), place, at, definition };
}

/** Prose that may be found. @param {SourceFile} file @param {number} index
 * @param {Set<string>} headings @param {Secret[]} own of this file @returns {FoundLine[]} */
function proseOf(file, index, headings, own) {
  const veiled = new Set(own.flatMap((secret) => proseThatTells(file, secret)));
  return file.prose
    .filter((block) => block.kind !== "note" && !veiled.has(block))
    .filter((block) => !headings.has(`${index}:${block.first_line}`))
    .map((block) => ({
      line: block.last_line,
      text: plainProse(withoutTitle(block)),
      kind: "prose",
      defines: "",
      found: "",
    }));
}

/** Code that may be found. @param {SourceFile} file @param {Set<string>} titled
 * @param {Secret[]} own of this file @returns {FoundLine[]} */
function codeLinesOf(file, titled, own) {
  const ofProse = new Set(
    file.prose.flatMap(({ first_line: first, last_line: last }) => linesFrom(first, last)),
  );
  const isTitled = (/** @type {string} */ text) => {
    const [, defined, called] = NAMED.exec(text) ?? [];
    return titled.has(defined ?? called);
  };
  return linesOf(file).flatMap((raw, at) => {
    const line = at + 1;
    if (ofProse.has(line)) return [];
    const plain = codeOf(file, raw, line).trim().replace(/\s+/g, " ");
    const text = codeAsked(plain, line, own);
    return isTitled(text) ? [] : [{ line, text, kind: "code", defines: definedOn(raw), found: "" }];
  });
}

/** A line as Read shows it. @param {SourceFile} file @param {string} text @param {number} line */
function codeOf(file, text, line) {
  if (!text.includes("@")) return text;
  return withoutDirectives(pieces(file, line))
    .map((piece) => piece.text)
    .join("");
}

/** A line of code, or what it asks.
 * @param {string} text @param {number} line @param {Secret[]} own */
function codeAsked(text, line, own) {
  const secret = own.find(({ first, last }) => first <= line && line <= last);
  if (!secret) return own.some(({ told }) => told.has(line)) ? "" : text;
  return line === secret.first ? `${secret.asked.source} = ?` : "";
}

/** The prose right above a question, if it answers it. @param {SourceFile} file
 * @param {Secret} secret */
function proseThatTells({ prose }, { asked, first }) {
  const above = prose.filter(({ last_line: last }) => last < first).at(-1);
  return above && tells(above.text, asked) ? [above] : [];
}
