// Highlighted source.

import { html } from "viewer/html.js";
import { pieces, withoutDirectives } from "viewer/source.js";

/** @typedef {import("viewer/schema.js").SourceFile} SourceFile */

const CONTINUATION = 4;

/** @param {import("viewer/source.js").Piece[]} line */
function spans(line) {
  return line.map(({ text, kind }) => (kind ? html`<span class=${`token-${kind}`}>${text}</span>` : text));
}

/** A line that continues, where it must wrap, a little to the right of its own indentation.
 * @param {{line: import("viewer/source.js").Piece[]}} properties */
function Hanging({ line }) {
  const indent = `${(line[0]?.text.search(/\S|$/) ?? 0) + CONTINUATION}ch`;
  return html`<span class="source-line" style=${{ paddingLeft: indent, textIndent: `-${indent}` }}>${spans(line)}${"\n"}</span>`;
}

/** Lines of an article, without directives. @param {{file: SourceFile, first: number, last: number, indent: number}} properties */
export function Code({ file, first, last, indent }) {
  const lines = Array.from({ length: last - first + 1 }, (_, index) => withoutDirectives(pieces(file, first + index, indent)));
  return html`<code class="source">${lines.map((line) => html`<${Hanging} line=${line} />`)}</code>`;
}

/** One line of a program. @param {{file: SourceFile, line: number}} properties */
export function CodeLine({ file, line }) {
  return html`<code class="source"><${Hanging} line=${pieces(file, line)} /></code>`;
}
