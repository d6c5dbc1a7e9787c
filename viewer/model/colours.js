// The colours of Python whose tokens no document has: between fences in a text, and of files in
// which nothing ran. Pure.

import { TOKEN_KINDS } from "viewer/model/contract.js";

const WORDS = new Set([
  ..."False None True and as assert async await break case class continue def del elif".split(" "),
  ..."else except finally for from global if import in is lambda match nonlocal not".split(" "),
  ..."or pass raise return try while with yield".split(" "),
]);
const LONG_STRING = /"""[^]*?(?:"""|$)|'{3}[^]*?(?:'{3}|$)/;
const STRING = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/;
const TOKEN = new RegExp(
  [
    /(?<comment>#[^\n]*)/.source,
    `(?<string>(?:\\b[rbfuRBFU]{1,2})?(?:${LONG_STRING.source}|${STRING.source}))`,
    /(?<number>\b\d[\w.]*)/.source,
    /(?<word>[\p{ID_Start}_][\p{ID_Continue}]*)/u.source,
  ].join("|"),
  "gu",
);

/**
 * Pieces of Python with the kind that each is shown as.
 * @param {string} code
 * @returns {[text: string, kind: string][]}
 */
export function piecesOf(code) {
  /** @type {[string, string][]} */
  const pieces = [];
  let end = 0;
  let last = "";
  for (const match of code.matchAll(TOKEN)) {
    const { comment, string, number, word } = /** @type {any} */ (match.groups);
    const named = last === "def" || last === "class" ? "definition" : "";
    const kind =
      (comment && "comment") ||
      (string && "string") ||
      (number && "number") ||
      (WORDS.has(word) ? "keyword" : named);
    if (word) last = word;
    if (!kind) continue;
    pieces.push([code.slice(end, match.index), ""], [match[0], kind]);
    end = match.index + match[0].length;
  }
  return [...pieces, /** @type {[string, string]} */ ([code.slice(end), ""])].filter(
    ([text]) => text,
  );
}

/** The directives in a comment, to its end. */
const DIRECTIVE = /#\s*@\w[^]*/;

/** @type {WeakMap<SourceFile, SourceFile>} */
const known = new WeakMap();

/** A file with its tokens, if need be those that are found here. @param {SourceFile} file */
export function withTokens(file) {
  if (file.tokens.length) return file;
  const found = known.get(file) ?? { ...file, tokens: tokensOf(file.source) };
  known.set(file, found);
  return found;
}

/** Line, column, length and kind of each token, as in a document. @param {string} source */
function tokensOf(source) {
  let [line, column] = [1, 0];
  return piecesOf(source.replace(/\r\n?/g, "\n"))
    .flatMap(([text, kind]) => (kind === "comment" ? directiveApart(text) : [[text, kind]]))
    .flatMap(([text, kind]) =>
      text.split("\n").flatMap((part, index) => {
        if (index) [line, column] = [line + 1, 0];
        column += part.length;
        return part && kind
          ? [line, column - part.length, part.length, TOKEN_KINDS.indexOf(kind)]
          : [];
      }),
    );
}

/** @param {string} comment @returns {[text: string, kind: string][]} */
function directiveApart(comment) {
  const at = comment.search(DIRECTIVE);
  if (at < 0) return [[comment, "comment"]];
  return [
    [comment.slice(0, at), "comment"],
    [comment.slice(at), "directive"],
  ];
}
