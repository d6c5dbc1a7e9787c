// What an article shows: source lines as pieces of highlighted text, the body of a function as blocks, and which part of
// a run stands beside them: statements, turns of loops, calls, sections. Pure.

import {
  activationOf,
  callerOf,
  callsBy,
  endOf,
  eventOf,
  functionIndex,
  functionOf,
  hasCalls,
  lowerBound,
  rows,
  statementOf,
  stepRange,
  stepsBefore,
  visitSteps,
  wholeScope,
} from "viewer/model.js";
import { TOKEN_KINDS } from "viewer/schema.js";

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
    .map((piece) =>
      piece.kind === "comment" ? { ...piece, text: piece.text.replace(/[#\s]+$/, "") } : piece,
    )
    .filter((piece) => piece.text);
  while (kept.length && !kept[kept.length - 1].text.trim()) kept.pop();
  return kept.map((piece, index) =>
    index + 1 < kept.length ? piece : { ...piece, text: piece.text.trimEnd() },
  );
}

/** @param {string} line */
function indentOf(line) {
  return line.search(/\S|$/);
}

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
  return { indent: shape.indent, docstring, blocks: blocksOf(shape, start, shape.end, -1) };
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
  const docstring = inside.find((block) => block.kind === "docstring");
  const start = docstring ? docstring.first_line : Math.min(end, ...owner.keys(), ...prose.keys());
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

/** Statements of the function that begin on these lines. @param {Shape} shape @param {number} first @param {number} last */
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

/** @param {Statement[]} statements @param {number} inner @param {number} outer */
export function isWithin(statements, inner, outer) {
  for (let at = inner; at >= 0; at = statements[at][3]) if (at === outer) return true;
  return false;
}

/**
 * Whether prose is of a branch that did not run: the next code at its indentation did not, or else the code before.
 * @param {ProseBlock} prose
 * @param {Block[]} blocks among which it is
 * @param {Map<number, number>} ran the statements that ran
 * @param {string[]} lines of the file
 */
export function isOfUnrunCode(prose, blocks, ran, lines) {
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

const MAX_SECTION_DEPTH = 5;

/** The last step of each statement that ran in a scope. @param {Model} model @param {Scope} scope @returns {Map<number, number>} */
export function lastSteps(model, scope) {
  /** @type {Map<number, number>} */
  const found = new Map();
  visitSteps(model, scope, (event, statement) => found.set(statement, event));
  for (const [statement, event] of found) found.set(statement, stepsBefore(model, event));
  return found;
}

/** @param {Model} model @param {Scope} scope @param {number} step @returns {boolean} whether it, or a call in it, runs then */
export function holds(model, scope, step) {
  const event = eventOf(model, step);
  return scope.from <= event && event < scope.to;
}

/**
 * The turns that a loop took in a scope; the header's last evaluation is no turn when nothing followed it.
 * @param {Model} model
 * @param {Scope} scope
 * @param {number} statement
 * @returns {Turns} headers: the events of the loop's first line; end: the first event after it
 */
export function turnsOf(model, scope, statement) {
  /** @type {number[]} */
  const headers = [];
  visitSteps(model, scope, (event, ran) => {
    if (ran === statement) headers.push(event);
  });
  if (!headers.length) return { headers, count: 0, end: 0 };
  const { from, to } = turnOf(model, scope, statement, headers, headers.length - 1).scope;
  return {
    headers,
    count: from < to ? headers.length : headers.length - 1,
    end: Math.max(from, to),
  };
}

/**
 * @param {Model} model @param {Scope} scope @param {number} statement @param {number[]} headers @param {number} index
 * @returns {Turn}
 */
export function turnOf(model, { activation, to: end }, statement, headers, index) {
  const header = stepsBefore(model, headers[index]);
  const from = endOf(model, header);
  if (index + 1 < headers.length)
    return { header, scope: { activation, from, to: headers[index + 1] } };
  let to = end;
  visitSteps(model, { activation, from, to: end }, (event, ran) => {
    if (event < to && !isWithin(model.document.statements, ran, statement)) to = event;
  });
  return { header, scope: { activation, from, to } };
}

/** The turn that holds a step, or -1. @param {Model} model @param {Turns} turns @param {number} step */
export function turnAt(model, { headers, count, end }, step) {
  const event = step < 0 ? end : eventOf(model, step);
  return event < end ? Math.min(lowerBound(headers, event + 1), count) - 1 : -1;
}

/** @type {WeakMap<Model, Map<number, string>>} */
const calledNames = new WeakMap();

/** The function whose call is the whole statement, or empty. @param {Model} model @param {number} statement */
function calledName(model, statement) {
  const names = calledNames.get(model) ?? new Map();
  calledNames.set(model, names);
  if (!names.has(statement)) {
    const [file, line, , , kind] = model.document.statements[statement];
    const text = linesOf(model.document.files[file])[line - 1] ?? "";
    const called = kind === "call" && /^\s*(?:await\s+)?([\w.]+)\s*\(/.exec(text);
    names.set(statement, called ? (called[1].split(".").at(-1) ?? "") : "");
  }
  return names.get(statement);
}

/**
 * The calls of a step: the one that unfolds as a section, if the statement is that call, and the others.
 * @param {Model} model
 * @param {number} step
 * @returns {{section: number, folded: number[]}}
 */
export function callsOf(model, step) {
  const calls = callsBy(model, step);
  const called = calls.length ? calledName(model, statementOf(model, step)) : "";
  const section = called ? (calls.findLast((call) => isCalled(model, call, called)) ?? -1) : -1;
  const recursive = section >= 0 && isNested(model, section);
  return recursive
    ? { section: -1, folded: calls }
    : { section, folded: calls.filter((call) => call !== section) };
}

/** @param {Model} model @param {number} call @param {string} name */
function isCalled(model, call, name) {
  return functionOf(model, call).name.split(".").includes(name);
}

/** Whether the same function is open already, or too many are. @param {Model} model @param {number} activation */
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

/** Whether a call statement passes nothing, as a table of contents does. @param {Model} model @param {number} statement */
export function isBareCall(model, statement) {
  const [file, line, last] = model.document.statements[statement];
  return (
    line === last &&
    /^\s*[\w.]+\(\)\s*(#.*)?$/.test(linesOf(model.document.files[file])[line - 1] ?? "")
  );
}

/**
 * The sections of a run in reading order, the outermost calls first. A line that calls often counts once.
 * @param {Model} model
 * @returns {Section[]}
 */
export function sectionsOf(model) {
  /** @type {Section[]} */
  const sections = [];
  for (let root = 0; root < model.activations; root++) {
    if (callerOf(model, root) >= 0) continue;
    addSections(model, sections, root, 0, -1);
    nameChapters(model, sections, root);
  }
  return sections;
}

/** Headings among the calls of a table of contents. @param {Model} model @param {Section[]} sections @param {number} root */
function nameChapters(model, sections, root) {
  const { file, line, end_line: end } = functionOf(model, root);
  const { files, statements } = model.document;
  for (const { first_line: at, text } of files[file].prose) {
    const heading = /^#{1,6}\s+(.+)/.exec(text);
    if (!heading || at < line || at > end) continue;
    const lineOf = (/** @type {Section} */ section) =>
      statements[statementOf(model, callerOf(model, section.activation))][1];
    const first = sections.find((section) => section.parent === root && lineOf(section) > at);
    if (first) first.chapter = heading[1].trim();
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
    if (!hasCalls(model, event) || seen.has(statement) || !calledName(model, statement)) return;
    const { section } = callsOf(model, stepsBefore(model, event));
    if (section < 0 || !functionOf(model, section).title) return;
    seen.add(statement);
    addSections(model, sections, section, depth + 1, activation);
  });
}

/** The title of the lecture: that of the function that was run, or else of its module. @param {Model} model */
export function titleOf(model) {
  const title = model.activations ? functionOf(model, 0).title : "";
  return (title || model.document.title).replace(/[`*]+/g, "").replace(/\.$/, "");
}

/** The section that shows a step: the innermost one around it. @param {Section[]} sections @param {number} step */
export function sectionOfStep(sections, step) {
  return sections.findLast(({ first, beyond }) => first <= step && step < beyond);
}

/** @param {Model} model @param {Pick<Section, "first" | "beyond">} section @returns {{claims: number, failed: number}} claims inside a call */
export function claimsWithin(model, { first, beyond }) {
  const { held, statement } = model.document.claims;
  const found = rows(model.claimsOf, first, beyond);
  return {
    claims: new Set(found.map((row) => statement[row])).size,
    failed: found.filter((row) => held[row] !== true).length,
  };
}
