// Documents made smaller by `trace/serve/packing.py`, as they were. Pure.

/**
 * What lists begin with says how they were packed: integers as differences, tables and objects as
 * columns.
 * @param {any} value
 * @returns {any}
 */
function unpacked(value) {
  if (value === null || typeof value !== "object") return value;
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpacked(item)]));
  const [mark, ...items] = value;
  if (mark === true) {
    const columns = items.map(unpacked);
    return columns[0].map((/** @type {any} */ _, /** @type {number} */ row) =>
      columns.map((column) => column[row]),
    );
  }
  if (mark === false) {
    const columns = Object.entries(unpacked(items[0]));
    return columns[0][1].map((/** @type {any} */ _, /** @type {number} */ row) =>
      Object.fromEntries(columns.map(([key, column]) => [key, column[row]])),
    );
  }
  if (mark === null) return items.map(unpacked);
  if (typeof mark !== "number") return value.map(unpacked);
  if (mark) for (let at = mark; at < items.length; at++) items[at] += items[at - mark];
  return items;
}

/**
 * Put prose back that was left out since its lines say it.
 * @param {{source: string, prose: any[]}} file
 */
function restoreProse({ source, prose: blocks }) {
  const lines = source.split("\n").map((line) => line.replace(/^[ \t]*(?:#+ ?)?|[ \t]+$/g, ""));
  for (const prose of blocks)
    prose.text ??= lines
      .slice(prose.first_line - 1, prose.last_line)
      .join("\n")
      .replace(/^(?:[rR]?""")?[ \n]*|[ \n]*(?:""")?$/g, "");
}

/** A document that was packed. @param {any} packed @returns {any} */
export function restored(packed) {
  const lecture = unpacked(packed);
  lecture.files.forEach(restoreProse);
  return lecture;
}

/**
 * A document of which the text came first, with what came later.
 * @param {any} text
 * @param {any} packed the other part
 */
export function completed(text, packed) {
  const { files, ...later } = unpacked(packed);
  const sources = new Map(files);
  return {
    ...text,
    ...later,
    files: text.files.map(
      (/** @type {any} */ file, /** @type {number} */ index) => sources.get(index) ?? file,
    ),
  };
}
