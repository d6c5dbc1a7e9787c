// Checks that a document is what `contract.js` says before anything else reads it. Pure.

import {
  COLUMNS,
  FORMAT,
  LISTS,
  NULLABLE,
  REFERENCES,
  ROWS,
  TABLES,
  VERSION,
} from "viewer/model/contract.js";

const RERUN = "Record it again.";

/** Says in one sentence why a document cannot be shown. */
export class DocumentError extends Error {}

/**
 * Check a document, or throw a `DocumentError` with a sentence for the page.
 * @param {any} document as parsed, or undefined where that failed
 * @returns {Lecture}
 */
export function checked(document) {
  if (document === undefined)
    throw new DocumentError(
      `This document is not complete JSON; it may have been cut off. ${RERUN}`,
    );
  if (!document || typeof document !== "object" || document.format !== FORMAT)
    throw new DocumentError(`This file is not a recorded lecture: its format is not “${FORMAT}”.`);
  if (document.version !== VERSION)
    throw new DocumentError(
      `This document has version ${JSON.stringify(document.version)}, ` +
        `and this viewer reads the versions 1 and ${VERSION}. ${RERUN}`,
    );
  const latest = withEmpty(document);
  checkLists(latest);
  checkColumns(latest);
  checkRows(latest);
  return latest;
}

/** A document with the fields that are left out where nothing is in them.
 * @param {any} document */
export function withEmpty(document) {
  const { said = { step: [], at: [], value: [] }, quotes = NO_QUOTES, data = {} } = document;
  return { ...document, said, quotes, data };
}

const NO_QUOTES = { at: [], file: [], line: [], mark: [], text: [] };

/** @param {any} document */
function checkLists(document) {
  for (const name of LISTS)
    if (!Array.isArray(document[name]))
      throw new DocumentError(`This document lacks the list “${name}”. ${RERUN}`);
  for (const name of TABLES)
    if (!isNull(document, name) && !(document[name] && typeof document[name] === "object"))
      throw new DocumentError(`This document lacks the table “${name}”. ${RERUN}`);
}

/** Whether a field is null that may be. @param {any} document @param {string} name */
function isNull(document, name) {
  return document[name] === null && NULLABLE.includes(name);
}

/** @param {any} document */
function checkColumns(document) {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    if (isNull(document, table)) continue;
    const rows = document[table]?.[columns[0]]?.length;
    for (const column of columns)
      if (!Array.isArray(document[table]?.[column]) || document[table][column].length !== rows)
        throw new DocumentError(
          `This document lacks the column “${table}.${column}”, or a part of it. ${RERUN}`,
        );
  }
}

/** @param {any} document */
function checkRows(document) {
  for (const [table, column, target, lowest] of REFERENCES)
    if (!isNull(document, table))
      for (const index of numbersOf(document, table, column))
        if (index !== null && !isIndex(index, lowest, document[target].length))
          throw new DocumentError(`“${table}.${column}” points outside “${target}”. ${RERUN}`);
  if (!document.files.every(isFile))
    throw new DocumentError(`The files of this document are not complete. ${RERUN}`);
  document.events = packed(document.events);
}

/**
 * What stands in a column of a table, be it stored by columns or by rows.
 * @param {any} document
 * @param {string} table
 * @param {string} column
 * @returns {any[]}
 */
function numbersOf(document, table, column) {
  if (COLUMNS[table]) return document[table][column].flat();
  const key = ROWS[table] ? ROWS[table].indexOf(column) : column;
  return document[table].flatMap((/** @type {any} */ row) => row?.[key]);
}

/** @param {any} index @param {number} lowest @param {number} length */
function isIndex(index, lowest, length) {
  return Number.isInteger(index) && index >= lowest && index < length;
}

/** The events in as few bytes as they need: most of a long run. @param {any[]} events */
function packed(events) {
  let [lowest, highest] = [0, 0];
  for (const code of events) {
    if (!Number.isInteger(code))
      throw new DocumentError(`The list “events” holds something else than numbers. ${RERUN}`);
    if (code < lowest) lowest = code;
    if (code > highest) highest = code;
  }
  const reach = Math.max(-lowest, highest + 1);
  return reach <= 2 ** 7
    ? Int8Array.from(events)
    : reach <= 2 ** 15
      ? Int16Array.from(events)
      : Int32Array.from(events);
}

/** @param {any} file */
function isFile(file) {
  const lists = [file?.prose, file?.tokens, file?.hidden];
  return (
    typeof file?.path === "string" && typeof file.source === "string" && lists.every(Array.isArray)
  );
}
