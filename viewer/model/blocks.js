// The body of a function as prose, code and loops. Pure.

import { indentOf, linesOf, prepare } from "viewer/model/source.js";
import { endOfSpoken, isSpoken } from "viewer/model/spoken.js";

/** @type {WeakMap<LectureFunction, BodyBlocks>} */
const bodies = new WeakMap();

/**
 * The body of a function as prose, code and loops, in the order of its lines.
 * @param {Lecture} document
 * @param {number} func index of the function
 * @returns {BodyBlocks}
 */
export function bodyOf(document, func) {
  const known = bodies.get(document.functions[func]);
  const body = known ?? layOut(document, func);
  if (!known) bodies.set(document.functions[func], body);
  return body;
}

/** @param {Lecture} document @param {number} func @returns {BodyBlocks} */
function layOut(document, func) {
  const shape = shapeOf(document, func);
  const doc = shape.prose.get(shape.start);
  const docstring = doc?.kind === "docstring" ? doc.text.replace(/^[^\n]*\n?/, "").trim() : "";
  const start = doc?.kind === "docstring" ? doc.last_line + 1 : shape.start;
  const blocks = blocksOf(shape, start, shape.end, -1);
  return { indent: shape.indent, line: shape.start, docstring, blocks };
}

/** @param {Lecture} document @param {number} func @returns {Shape} */
function shapeOf(document, func) {
  const { file: index, line, end_line: end } = document.functions[func];
  const file = document.files[index];
  const { lines } = prepare(file);
  /** @type {Map<number, number>} */
  const owner = new Map();
  document.statements.forEach(([, first, last, , , owned], statement) => {
    if (owned === func)
      for (let at = first; at <= last; at++) if (!owner.has(at)) owner.set(at, statement);
  });
  const inside = file.prose.filter((block) => block.first_line > line && block.last_line <= end);
  const prose = new Map(inside.map((block) => [block.first_line, block]));
  // That of a function inside stands behind a statement of this one: its `def`, at the latest.
  const before = Math.min(end, ...owner.keys());
  const docstring = inside.find(
    (block) => block.kind === "docstring" && block.first_line <= before,
  );
  const start = docstring ? docstring.first_line : Math.min(before, ...prose.keys());
  const isHidden = (/** @type {number} */ at) =>
    file.hidden.some(([first, last]) => first <= at && at <= last);
  return {
    document,
    func,
    lines,
    start,
    end,
    indent: indentOf(lines[start - 1] ?? ""),
    prose,
    owner,
    isHidden,
  };
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
    if (shape.isHidden(line)) {
      noteBelow(shape, blocks.at(-1), line);
      continue;
    }
    if (prose?.kind === "note") line = prose.last_line;
    else if (isSpoken(prose)) {
      const end = endOfSpoken(shape, line, last);
      blocks.push({
        kind: "code",
        first: line,
        last: end,
        statements: startingOn(shape, line, end),
        spoken: true,
      });
      line = end;
    } else if (prose) {
      const isBridge = prose.kind === "bridge";
      blocks.push({ kind: "prose", line, text: prose.text, ...(isBridge && { isBridge }) });
      line = prose.last_line;
    } else if (statement >= 0 && statement !== loop && isLoop(shape.document, statement)) {
      const block = loopBlock(shape, statement, last);
      blocks.push(block);
      line = block.last;
    } else if (statement >= 0 || shape.lines[line - 1]?.trim()) {
      const end = statement >= 0 ? Math.min(last, shape.document.statements[statement][2]) : line;
      blocks.push({
        kind: "code",
        first: line,
        last: end,
        statements: startingOn(shape, line, end),
      });
      line = end;
    }
  }
  return blocks;
}

/** Note which statement stands below prose although it is not shown.
 * @param {Shape} shape @param {Block | undefined} block @param {number} line */
function noteBelow({ owner, lines }, block, line) {
  const isBeside = block?.kind === "prose" && sameIndent(lines, block.line, line);
  if (isBeside && owner.has(line)) block.below ??= owner.get(line);
}

/** @param {string[]} lines @param {number} one @param {number} other */
function sameIndent(lines, one, other) {
  return indentOf(lines[one - 1]) === indentOf(lines[other - 1]);
}

/**
 * Statements of the function that begin on these lines.
 * @param {Shape} shape
 * @param {number} first
 * @param {number} last
 */
function startingOn({ document, func }, first, last) {
  return document.statements.flatMap(([, line, , , , owned], statement) =>
    owned === func && first <= line && line <= last ? [statement] : [],
  );
}

/** @param {Lecture} document @param {number} statement */
function isLoop(document, statement) {
  return ["for", "while"].includes(document.statements[statement][4]);
}

/** @param {Shape} shape @param {number} statement @param {number} limit @returns {LoopBlock} */
function loopBlock(shape, statement, limit) {
  const [, first, header] = shape.document.statements[statement];
  const last = Math.min(limit, extentOf(shape, statement));
  return {
    kind: "loop",
    first,
    last,
    statement,
    body: blocksOf(shape, header + 1, last, statement),
  };
}

/**
 * The last line that runs in the turns of a loop.
 * @param {Shape} shape
 * @param {number} statement
 */
function extentOf(shape, statement) {
  const { statements } = shape.document;
  const [, first, header] = statements[statement];
  const indent = indentOf(shape.lines[first - 1]);
  const end = Math.min(shape.end, elseOf(shape.document, statement) - 1);
  let last = header;
  for (let line = header + 1; line <= end; line++) {
    const blank = !shape.lines[line - 1]?.trim();
    if (isWithin(statements, shape.owner.get(line) ?? -1, statement)) last = line;
    else if (!blank && indentOf(shape.lines[line - 1]) > indent) last = line;
    else if (!blank) break;
  }
  return last;
}

/** The line of a loop's `else`, which runs after its turns, or Infinity.
 * @param {Lecture} document @param {number} statement */
export function elseOf({ files, statements }, statement) {
  const [file, first, header] = statements[statement];
  const lines = linesOf(files[file]);
  const indent = indentOf(lines[first - 1]);
  const next = lines.findIndex(
    (text, index) => index >= header && text.trim() && indentOf(text) <= indent,
  );
  return /^\s*else\s*:/.test(lines[next]) ? next + 1 : Infinity;
}

/** @param {Statement[]} statements @param {number} inner @param {number} outer */
export function isWithin(statements, inner, outer) {
  for (let at = inner; at >= 0; at = statements[at][3]) if (at === outer) return true;
  return false;
}

/**
 * Whether prose is of a branch that did not run: the next code at its indentation did not, or else
 * the code before.
 * @param {ProseBlock} prose
 * @param {Block[]} blocks among which it is
 * @param {Map<number, number>} ran the statements that ran
 * @param {string[]} lines of the file
 */
export function isOfUnrunCode(prose, blocks, ran, lines) {
  if (prose.below !== undefined) return !ran.has(prose.below);
  const at = blocks.indexOf(prose);
  const indent = indentOf(lines[prose.line - 1]);
  const statements = (/** @type {Block | undefined} */ block) =>
    block?.kind === "code" ? block.statements : block?.kind === "loop" ? [block.statement] : [];
  const isOfBranch = (/** @type {Block} */ block) => statements(block).length > 0;
  const isBeside = (/** @type {Block | undefined} */ block) =>
    block && block.kind !== "prose" && indentOf(lines[block.first - 1]) === indent;
  const [next, before] = [
    blocks.slice(at).find(isOfBranch),
    blocks.slice(0, at).findLast(isOfBranch),
  ];
  const code = [next, before].find(isBeside);
  return code !== undefined && !statements(code).some((statement) => ran.has(statement));
}
