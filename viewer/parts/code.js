// Lines of a program, highlighted.

import { pieces, withoutDirectives } from "viewer/model/source.js";
import { html } from "viewer/parts/html.js";

const CONTINUATION = 2;

/** So many letters in one have no room in one line of a phone. */
const LONG = 24;

/** Whether such a run may be broken before a piece: behind a bracket, before an attribute.
 * @param {Piece[]} line @param {number} index */
function isBreak(line, index) {
  const texts = line.map(({ text }) => text);
  const [run] = /\S*\0\S*/.exec(texts.toSpliced(index, 0, "\0").join("")) ?? [""];
  return run.length > LONG && /[([{]\0[^)\]}]|[\w)\]]\0\./.test(run);
}

/** @param {Piece[]} line */
function spans(line) {
  return line.map((piece, index) => {
    const { text, kind } = piece;
    const shown = kind ? html`<span class=${`token-${kind}`}>${text}</span>` : text;
    return isBreak(line, index) ? html`<wbr />${shown}` : shown;
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
