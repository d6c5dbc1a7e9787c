// The colours of code between fences in a text.

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
function piecesOf(code) {
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

/** @param {Element} place code as plain text */
export function colour(place) {
  place.replaceChildren(
    ...piecesOf(place.textContent ?? "").map(([text, kind]) => {
      const piece = document.createElement("span");
      piece.textContent = text;
      if (kind) piece.className = `token-${kind}`;
      return kind ? piece : text;
    }),
  );
}
