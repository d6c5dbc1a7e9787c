// The document, as `trace/schema.py` describes it (meanings and units stand there), and its reader.

/**
 * @typedef {{first_line: number, last_line: number, kind: 'docstring' | 'comment', text: string}} Prose
 * @typedef {{path: string, source: string, prose: Prose[], tokens: number[], hidden: number[][]}} SourceFile
 * @typedef {{file: number, name: string, line: number, end_line: number, title: string, labels: string, parameters: string[]}} LectureFunction
 * @typedef {[file: number, first: number, last: number, enclosing: number, kind: string, func: number]} Statement
 * @typedef {{type: string, value?: boolean | number | string | null, text?: string, length?: number,
 *   cut?: boolean, items?: Value[], entries?: [Value, Value][], fields?: Record<string, Value>,
 *   error?: string} & TensorParts & PictureParts} Value
 * @typedef {{dtype?: string, shape?: number[], strides?: number[], offset?: number, device?: string,
 *   contiguous?: boolean, requires_grad?: boolean, bytes?: number, storage?: number,
 *   storage_bytes?: number, shown?: number[][], elements?: (number | boolean | string)[],
 *   statistics?: Record<string, number | string>,
 *   histogram?: {low: number, high: number, counts: number[]}}} TensorParts
 * @typedef {{svg?: string, markdown?: string, png?: string, vega?: Record<string, unknown>}} PictureParts
 * @typedef {{event: number[], at: number[], name: number[], value: (number | null)[]}} Inspections
 * @typedef {{statement: number, text: string, operands: string[]}} Assertion
 * @typedef {{statement: number[], step: number[], at: number[], held: (boolean | null)[], operands: (number | null)[][]}} Claims
 * @typedef {{step: number, at: number, stream: 'stdout' | 'stderr', text: string}} Output
 * @typedef {{step: number[], operator: number[], calls: number[], matmul_flops: number[],
 *   other_flops: (number | null)[], read_bytes: (number | null)[], written_bytes: (number | null)[],
 *   allocated_bytes: number[], freed_bytes: number[]}} Costs
 * @typedef {{kind: string, type: string, message: string, step: number, at: number,
 *   traceback: {path: string, line: number, function: string}[]}} Failure
 * @typedef {{format: string, version: number, module: string, title: string,
 *   environment: Record<string, string | number>, files: SourceFile[], statements: Statement[],
 *   functions: LectureFunction[], events: number[], names: string[], values: Value[],
 *   inspections: Inspections, assertions: Assertion[], claims: Claims, output: Output[],
 *   costs: Costs | null, uncounted: Record<string, number>, topics: Record<string, string>,
 *   assets: Record<string, {mime: string, base64: string}>, warnings: string[],
 *   failure: Failure | null}} Document
 */

export const FORMAT = "lecture-trace";
export const VERSION = 1;
/** Ten million steps take 20 MB; far beyond, a browser would run out of memory without a word. */
const MAX_SIZE = 128e6;
const RERUN = "Record it again: python -m trace lecture.main";

/** Index of each kind in `SourceFile.tokens`; also the CSS class `token-KIND`. */
export const TOKEN_KINDS = [
  ..."keyword string number comment directive definition builtin operator decorator".split(" "),
];

const LISTS = ["files", "statements", "functions", "events", "names", "values", "assertions", "output", "warnings"];
const TABLES = ["environment", "uncounted", "topics", "assets"];
/** @type {Record<string, string[]>} */
const COLUMNS = {
  inspections: ["event", "at", "name", "value"],
  claims: ["statement", "step", "at", "held", "operands"],
  costs: ["step", "operator", "calls", "matmul_flops", "other_flops", "read_bytes", "written_bytes", "allocated_bytes", "freed_bytes"],
};
/** Columns whose numbers point into another list of the document. @type {[string, string, string][]} */
const REFERENCES = [
  ["inspections", "event", "events"],
  ["inspections", "name", "names"],
  ["inspections", "value", "values"],
  ["claims", "statement", "statements"],
  ["costs", "operator", "names"],
];

/** Says in one sentence why a document cannot be shown. */
export class DocumentError extends Error {}

/**
 * Read a document, or throw a `DocumentError` with a sentence for the page.
 * @param {string} text
 * @returns {Document}
 */
export function load(text) {
  checkSize(text.length);
  const document = parse(text);
  if (!document || typeof document !== "object" || document.format !== FORMAT)
    throw new DocumentError(`This file is not a recorded lecture: its format is not “${FORMAT}”.`);
  if (document.version !== VERSION)
    throw new DocumentError(
      `This document has version ${JSON.stringify(document.version)}, and this viewer reads version ${VERSION}. ${RERUN}`,
    );
  checkLists(document);
  checkColumns(document);
  checkRows(document);
  return document;
}

/** Throw when a document is too large to be shown. @param {number} size of its text */
export function checkSize(size) {
  if (size > MAX_SIZE)
    throw new DocumentError(`This document has ${Math.round(size / 1e6)} MB, and this viewer shows at most ${MAX_SIZE / 1e6}. Record fewer steps: python -m trace lecture.main --max-steps 1000000`);
}

/** @param {string} text @returns {any} */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError(`This document is not complete JSON; it may have been cut off. ${RERUN}`);
  }
}

/** @param {any} document */
function checkLists(document) {
  for (const name of LISTS)
    if (!Array.isArray(document[name])) throw new DocumentError(`This document lacks the list “${name}”. ${RERUN}`);
  for (const name of TABLES)
    if (!document[name] || typeof document[name] !== "object")
      throw new DocumentError(`This document lacks the table “${name}”. ${RERUN}`);
}

/** @param {any} document */
function checkColumns(document) {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    if (table === "costs" && document.costs === null) continue;
    const rows = document[table]?.[columns[0]]?.length;
    for (const column of columns)
      if (!Array.isArray(document[table]?.[column]) || document[table][column].length !== rows)
        throw new DocumentError(`This document lacks the column “${table}.${column}”, or a part of it. ${RERUN}`);
  }
}

/** @param {any} document */
function checkRows(document) {
  for (const [table, column, target] of REFERENCES)
    if (!inRange(document[table]?.[column] ?? [], document[target].length))
      throw new DocumentError(`“${table}.${column}” points outside “${target}”. ${RERUN}`);
  if (!document.events.every(Number.isInteger)) throw new DocumentError(`The list “events” holds something else than numbers. ${RERUN}`);
  const files = document.files.length;
  const functions = document.functions.length;
  const sound =
    document.files.every(isFile) &&
    inRange(document.functions.map((/** @type {any} */ row) => row?.file), files) &&
    inRange(document.statements.map((/** @type {any} */ row) => row?.[0]), files) &&
    inRange(document.statements.map((/** @type {any} */ row) => row?.[5]), functions);
  if (!sound) throw new DocumentError(`The files, functions and statements of this document do not fit together. ${RERUN}`);
}

/** @param {any} file @returns {boolean} */
function isFile(file) {
  const lists = [file?.prose, file?.tokens, file?.hidden];
  return typeof file?.path === "string" && typeof file.source === "string" && lists.every(Array.isArray);
}

/** @param {any[]} indices @param {number} length @returns {boolean} */
function inRange(indices, length) {
  return indices.every((index) => index === null || (Number.isInteger(index) && index >= 0 && index < length));
}
