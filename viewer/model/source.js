// Source lines as pieces of highlighted text. Pure.

import { TOKEN_KINDS } from "viewer/model/contract.js";

/** @type {WeakMap<SourceFile, {lines: string[], tokens: Map<number, number[]>}>} */
const prepared = new WeakMap();

/**
 * Lines of a file (index 0 is line 1) and where the tokens of each line start.
 * @param {SourceFile} file
 */
export function prepare(file) {
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

/**
 * The names of the directives on a line.
 * @param {SourceFile} file
 * @param {number} line
 */
export function directivesOn(file, line) {
  const { lines, tokens } = prepare(file);
  if (!lines[line - 1]?.includes("@") || !tokens.has(line)) return [];
  return pieces(file, line)
    .filter(({ kind }) => kind === "directive")
    .flatMap(({ text }) => [...text.matchAll(/@(\w+)/g)].map(([, name]) => name));
}

/**
 * Leave out directives, the comments that they leave empty, and space at the end.
 * @param {Piece[]} line
 */
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
export function indentOf(line) {
  return line.search(/\S|$/);
}
