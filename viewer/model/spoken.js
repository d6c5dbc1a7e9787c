// Statements that do nothing but to say something, as those of lectures of other tools that call.
// Pure, and all that every document needs of it.

/**
 * Whether a statement does nothing but say something.
 * @param {Prose | undefined} block
 * @returns {boolean}
 */
export function isSpoken(block) {
  return block?.kind === "call";
}

/**
 * The last line of statements that follow each other and only say something.
 * @param {Shape} shape
 * @param {number} line
 * @param {number} last
 */
export function endOfSpoken({ prose, lines }, line, last) {
  let end = line;
  for (let at = line; at <= last; at++) {
    const block = prose.get(at);
    if (block && isSpoken(block)) at = end = block.last_line;
    else if (lines[at - 1]?.trim()) break;
  }
  return end;
}

/** Whether a loop does nothing but to say something. @param {LoopBlock} block */
export function onlySpeaks({ body }) {
  return body.length > 0 && body.every(isText);
}

/** @param {Block} block */
function isText(block) {
  return block.kind === "prose" || (block.kind === "code" && block.spoken === true);
}
