// A file that the reader chose or dropped on the page. Fetched with the page that offers it.

import { latest } from "viewer/state/fetching.js";
import { hasTool } from "viewer/state/library.js";
import { fail, open } from "viewer/state/opening.js";

/**
 * Show a file of the reader's: a document, or a trace of another tool.
 * @param {File} file
 */
export async function openFile(file) {
  const text = await file.text();
  let found = parsed(text);
  if (found?.format === undefined && Array.isArray(found?.steps)) {
    if (!hasTool) return fail(`Another tool wrote it: ${howToImport(file.name)}`);
    const answer = await fetch("translate", { method: "POST", body: text, headers: AS_JSON });
    found = await answer.json().catch(() => null);
    if (found?.problem) return fail(found.problem);
  }
  found = await latest(found);
  open(file.name.replace(/\.json$/i, "").replace(/[^\p{ID_Continue}.-]/gu, "-"), found);
}

const AS_JSON = { "Content-Type": "application/json" };

/** @param {string} name of a file */
function howToImport(name) {
  return `run lecture-trace --import ${name} --serve, which shows it.`;
}

/** @param {string} text @returns {any} undefined where it is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
