// Values in prose: `@{name}` shows what the name stood for once the statement below had run. Pure.

const MARK = /@\{([\p{ID_Start}_][\p{ID_Continue}.]*(?::[^{}\n]*)?)\}/gu;
const CODE = /^(```|~~~)[^]*?^\1|(`+)(?!`)[^]*?(?<!`)\2(?!`)/gm;
/** What stands for a value that there is not. */
const NOTHING = "…";

/**
 * A text with the values in it, as they were last read in a stretch of the run.
 * @param {Lecture} document
 * @param {{file: number, line: number, text: string}} block
 * @param {{from: number, to: number}} [scope] events; without one the whole run
 */
export function withValues(document, { file, line, text }, scope = { from: 0, to: Infinity }) {
  if (!text.includes("@{")) return text;
  const { quotes, names } = document;
  /** @type {Map<string, string>} */
  const known = new Map();
  quotes.at.forEach((at, row) => {
    const isHere = quotes.file[row] === file && quotes.line[row] === line;
    if (isHere && scope.from <= at && at <= scope.to)
      known.set(names[quotes.mark[row]], names[quotes.text[row]]);
  });
  const code = [...text.matchAll(CODE)].map(({ index, 0: all }) => [index, index + all.length]);
  return text.replace(MARK, (mark, inner, index) =>
    code.some(([first, end]) => first <= index && index < end)
      ? mark
      : escaped(known.get(inner) ?? NOTHING),
  );
}

/** Markdown that reads as this text. @param {string} text */
function escaped(text) {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&").replaceAll("\n", " ");
}
