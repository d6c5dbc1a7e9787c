// Documents made smaller by `trace/serve/packing.py`, as they were. Pure.

/**
 * What lists begin with says how they were packed: integers as differences, tables and objects as
 * columns. Lists and objects are changed in place.
 * @param {any} value
 * @returns {any}
 */
function unpacked(value) {
  if (value === null || typeof value !== "object") return value;
  if (!Array.isArray(value)) return eachUnpacked(value, Object.keys(value));
  const mark = value[0];
  if (typeof mark === "string" || typeof mark === "object" || !value.length)
    return eachUnpacked(mark === null ? value.slice(1) : value);
  if (mark === true) return rowsOf(value.slice(1), () => []);
  if (mark === false) return rowsOf(value[1], () => ({}));
  const items = value.slice(1);
  if (mark) for (let at = mark; at < items.length; at++) items[at] += items[at - mark];
  return items;
}

/** @param {any} value @param {Iterable<any>} [keys] */
function eachUnpacked(value, keys = value.keys()) {
  for (const key of keys) if (typeof value[key] === "object") value[key] = unpacked(value[key]);
  return value;
}

/**
 * Rows of which these are the columns.
 * @param {any} columns a list of them, or an object
 * @param {() => any} make an empty row
 */
function rowsOf(columns, make) {
  /** @type {any[] | undefined} */
  let rows;
  for (const key of Array.isArray(columns) ? columns.keys() : Object.keys(columns)) {
    const column = unpacked(columns[key]);
    rows ??= Array.from(column, make);
    for (let row = 0; row < column.length; row++) rows[row][key] = column[row];
  }
  return rows;
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
