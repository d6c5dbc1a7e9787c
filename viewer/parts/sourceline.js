// One line of a program, as Step and definitions show it.

import { pieces, withoutDirectives } from "viewer/model/source.js";
import { hanging } from "viewer/parts/code.js";
import { html } from "viewer/parts/html.js";

/** A comment of nothing but numbers of topics, such as `# M7.4 E35`: it is for authors. */
const NUMBERS = /^#(\s*[A-Z]{1,2}\d[\d.]*[a-z]?,?)+\s*$/;

/** @param {Piece[]} line */
function withoutNumbers(line) {
  const last = line[line.length - 1];
  if (last?.kind !== "comment" || !NUMBERS.test(last.text)) return line;
  const kept = line.slice(0, -1);
  return kept.map((piece, index) =>
    index + 1 < kept.length ? piece : { ...piece, text: piece.text.trimEnd() },
  );
}

/**
 * @param {SourceFile} file
 * @param {number} line
 * @param {boolean} isRaw as it is written, with directives and numbers of topics
 */
export function codeLine(file, line, isRaw) {
  const found = pieces(file, line);
  const shown = isRaw ? found : withoutNumbers(withoutDirectives(found));
  return html`<code class="source">${hanging(shown)}</code>`;
}
