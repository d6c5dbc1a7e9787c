// Source lines as pieces of highlighted text, and the body of a function as blocks to read. Pure.

import { TOKEN_KINDS } from "viewer/schema.js";

/**
 * @typedef {import("viewer/schema.js").Document} Document
 * @typedef {import("viewer/schema.js").SourceFile} SourceFile
 * @typedef {{text: string, kind: string}} Piece
 *
 * @typedef {{kind: "prose", line: number, text: string}} ProseBlock
 * @typedef {{kind: "code", first: number, last: number, statements: number[]}} CodeBlock none on `else:`, ...
 * @typedef {{kind: "loop", first: number, last: number, statement: number, body: Block[]}} LoopBlock
 * @typedef {ProseBlock | CodeBlock | LoopBlock} Block
 * @typedef {{indent: number, docstring: string, blocks: Block[]}} Body
 */

/** @type {WeakMap<SourceFile, {lines: string[], tokens: Map<number, number[]>}>} */
const prepared = new WeakMap();

/** Lines of a file (index 0 is line 1) and where the tokens of each line start. @param {SourceFile} file */
function prepare(file) {
  let found = prepared.get(file);
  if (!found) {
    found = { lines: file.source.split(/\r\n|\r|\n/), tokens: new Map() };
    for (let at = 0; at + 3 < file.tokens.length; at += 4) {
      const ofLine = found.tokens.get(file.tokens[at]);
      if (ofLine) ofLine.push(at);
      else found.tokens.set(file.tokens[at], [at]);
    }
    prepared.set(file, found);
  }
  return found;
}

/** @param {SourceFile} file @returns {string[]} */
export function linesOf(file) {
  return prepare(file).lines;
}

/**
 * A line cut at its tokens.
 * @param {SourceFile} file
 * @param {number} line from 1
 * @param {number} [indent] columns to leave out on the left
 * @returns {Piece[]}
 */
export function pieces(file, line, indent = 0) {
  const { lines, tokens } = prepare(file);
  const text = lines[line - 1] ?? "";
  let column = Math.min(indent, text.search(/\S|$/));
  /** @type {Piece[]} */
  const found = [];
  for (const at of tokens.get(line) ?? []) {
    const [, start, length, kind] = file.tokens.slice(at, at + 4);
    if (start > column) found.push({ text: text.slice(column, start), kind: "" });
    found.push({ text: text.slice(start, start + length), kind: TOKEN_KINDS[kind] ?? "" });
    column = start + length;
  }
  if (column < text.length) found.push({ text: text.slice(column), kind: "" });
  return found;
}

/** Leave out directives, the comments that they leave empty, and space at the end. @param {Piece[]} line */
export function withoutDirectives(line) {
  if (!line.some((piece) => piece.kind === "directive")) return line;
  const kept = line
    .filter((piece) => piece.kind !== "directive")
    .map((piece) => (piece.kind === "comment" ? { ...piece, text: piece.text.replace(/[#\s]+$/, "") } : piece))
    .filter((piece) => piece.text);
  while (kept.length && !kept[kept.length - 1].text.trim()) kept.pop();
  return kept.map((piece, index) => (index + 1 < kept.length ? piece : { ...piece, text: piece.text.trimEnd() }));
}

/** @param {string} line @returns {number} */
function indentOf(line) {
  return line.search(/\S|$/);
}

/** @type {WeakMap<import("viewer/schema.js").LectureFunction, Body>} */
const bodies = new WeakMap();

/**
 * The body of a function as prose, code and loops, in the order of its lines.
 * @param {Document} document
 * @param {number} func index of the function
 * @returns {Body}
 */
export function bodyOf(document, func) {
  const known = bodies.get(document.functions[func]);
  const body = known ?? layOut(document, func);
  if (!known) bodies.set(document.functions[func], body);
  return body;
}

/** @param {Document} document @param {number} func @returns {Body} */
function layOut(document, func) {
  const shape = shapeOf(document, func);
  const doc = shape.prose.get(shape.start);
  const docstring = doc?.kind === "docstring" ? doc.text.replace(/^[^\n]*\n?/, "").trim() : "";
  const start = doc?.kind === "docstring" ? doc.last_line + 1 : shape.start;
  return { indent: shape.indent, docstring, blocks: blocksOf(shape, start, shape.end, -1) };
}

/**
 * @typedef {object} Shape what is needed to lay out one function
 * @property {Document} document
 * @property {number} func
 * @property {string[]} lines
 * @property {number} start first line of the body
 * @property {number} end
 * @property {number} indent
 * @property {Map<number, import("viewer/schema.js").Prose>} prose by first line
 * @property {Map<number, number>} owner line -> first statement on it
 * @property {(line: number) => boolean} isHidden
 *
 * @param {Document} document @param {number} func @returns {Shape}
 */
function shapeOf(document, func) {
  const { file: index, line, end_line: end } = document.functions[func];
  const file = document.files[index];
  const { lines } = prepare(file);
  /** @type {Map<number, number>} */
  const owner = new Map();
  document.statements.forEach(([, first, last, , , owned], statement) => {
    if (owned === func) for (let at = first; at <= last; at++) if (!owner.has(at)) owner.set(at, statement);
  });
  const inside = file.prose.filter((block) => block.first_line > line && block.last_line <= end);
  const prose = new Map(inside.map((block) => [block.first_line, block]));
  const docstring = inside.find((block) => block.kind === "docstring");
  const start = docstring ? docstring.first_line : Math.min(end, ...owner.keys(), ...prose.keys());
  const isHidden = (/** @type {number} */ at) => file.hidden.some(([first, last]) => first <= at && at <= last);
  return { document, func, lines, start, end, indent: indentOf(lines[start - 1] ?? ""), prose, owner, isHidden };
}

/**
 * @param {Shape} shape
 * @param {number} first
 * @param {number} last
 * @param {number} loop the loop whose body this is, or -1
 * @returns {Block[]}
 */
function blocksOf(shape, first, last, loop) {
  /** @type {Block[]} */
  const blocks = [];
  for (let line = first; line <= last; line++) {
    const prose = shape.prose.get(line);
    const statement = shape.owner.get(line) ?? -1;
    if (shape.isHidden(line)) continue;
    if (prose) {
      blocks.push({ kind: "prose", line, text: prose.text });
      line = prose.last_line;
    } else if (statement >= 0 && statement !== loop && isLoop(shape.document, statement)) {
      const block = loopBlock(shape, statement, last);
      blocks.push(block);
      line = block.last;
    } else if (statement >= 0 || shape.lines[line - 1]?.trim()) {
      const end = statement >= 0 ? Math.min(last, shape.document.statements[statement][2]) : line;
      blocks.push({ kind: "code", first: line, last: end, statements: startingOn(shape, line, end) });
      line = end;
    }
  }
  return blocks;
}

/** Statements of the function that begin on these lines. @param {Shape} shape @param {number} first @param {number} last */
function startingOn({ document, func }, first, last) {
  return document.statements.flatMap(([, line, , , , owned], statement) =>
    owned === func && first <= line && line <= last ? [statement] : [],
  );
}

/** @param {Document} document @param {number} statement */
function isLoop(document, statement) {
  return ["for", "while"].includes(document.statements[statement][4]);
}

/** @param {Shape} shape @param {number} statement @param {number} limit @returns {LoopBlock} */
function loopBlock(shape, statement, limit) {
  const [, first, header] = shape.document.statements[statement];
  const last = Math.min(limit, extentOf(shape, statement));
  return { kind: "loop", first, last, statement, body: blocksOf(shape, header + 1, last, statement) };
}

/** The last line that belongs to a compound statement. @param {Shape} shape @param {number} statement */
function extentOf(shape, statement) {
  const { statements } = shape.document;
  const [, first, header] = statements[statement];
  const indent = indentOf(shape.lines[first - 1]);
  let last = header;
  for (let line = header + 1; line <= shape.end; line++) {
    const blank = !shape.lines[line - 1]?.trim();
    if (isWithin(statements, shape.owner.get(line) ?? -1, statement)) last = line;
    else if (!blank && indentOf(shape.lines[line - 1]) > indent) last = line;
    else if (!blank && !/^\s*else\s*:/.test(shape.lines[line - 1])) break;
  }
  return last;
}

/** @param {import("viewer/schema.js").Statement[]} statements @param {number} inner @param {number} outer */
export function isWithin(statements, inner, outer) {
  for (let at = inner; at >= 0; at = statements[at][3]) if (at === outer) return true;
  return false;
}
