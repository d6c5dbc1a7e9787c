// Lines of a program, highlighted.

import { pieces, withoutDirectives } from "viewer/model/source.js";
import { html } from "viewer/parts/html.js";

const CONTINUATION = 2;

/** Letters in one that a phone has no room for in one line. */
const LONG = /\S{24}/;

/** Whether such a run may be broken between two pieces: behind a bracket, before an attribute.
 * @param {Piece | undefined} before @param {Piece} after */
function isBreak(before, after) {
  if (!before) return false;
  if (after.text === ".") return /[\w)\]]$/.test(before.text);
  return /[([{]$/.test(before.text) && !/^[)\]}]/.test(after.text);
}

/** @param {Piece[]} line */
function spans(line) {
  const isLong = LONG.test(line.map(({ text }) => text).join(""));
  return line.map((piece, index) => {
    const { text, kind } = piece;
    const shown = kind ? html`<span class=${`token-${kind}`}>${text}</span>` : text;
    return isLong && isBreak(line[index - 1], piece) ? html`<wbr />${shown}` : shown;
  });
}

/**
 * A line that continues, where it must wrap, a little to the right of its own indentation.
 * @param {Piece[]} line
 * @param {any} [end] what stands at its end
 */
export function hanging(line, end) {
  const indent = `${(line[0]?.text.search(/\S|$/) ?? 0) + CONTINUATION}ch`;
  return html`<span class="source-line" style=${{ paddingLeft: indent, textIndent: `-${indent}` }}>
    ${spans(line)}
    ${end}
    ${"\n"}
  </span>`;
}

/**
 * Lines of an article, without directives and without those that are hidden.
 * @param {{file: SourceFile, first: number, last: number, indent: number, into?: any}} properties
 *   into: what stands at the end of the last line
 */
export function Code({ file, first, last, indent, into }) {
  const isHidden = (/** @type {number} */ line) =>
    line > first && file.hidden.some(([from, to]) => from <= line && line <= to);
  const lines = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    .filter((line) => !isHidden(line))
    .map((line) => withoutDirectives(pieces(file, line, indent)));
  return html`<code class="source">
    ${lines.map((line, index) => hanging(line, index === lines.length - 1 && into))}
  </code>`;
}
