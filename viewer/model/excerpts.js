// What is shown of a text that contains what is searched for, and prose as it reads. Pure. Fetched
// with the search, and with slides.

import { plainMaths } from "viewer/model/maths.js";

/** Letters before it, and after it. */
const CONTEXT = 48;

/** Maths in a text, which neither begins nor ends with a space. */
const MATHS = /(?<!\\)\$\$?(?=\S)((?:[^$\\]|\\[^])*?[^\s\\])\$\$?(?!\d)/g;

/** Prose as it reads, on one line: no marks of Markdown, no addresses. @param {string} text */
export function plainProse(text) {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^(?:#+|[-*>]) /gm, "")
    .replace(/<[^<>]+>|\[!\w+\]/g, "")
    .replace(MATHS, (_, tex) => plainMaths(tex))
    .replace(/[`*]+/g, "")
    .replace(/\s+/g, " ");
}

/** What is found between what stands around it: some whole words.
 * @param {string} text @param {string} wanted */
export function around(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted);
  const end = at + wanted.length;
  const before = text.slice(Math.max(0, at - CONTEXT), at);
  const after = text.slice(end, end + CONTEXT);
  return {
    before: at > CONTEXT ? `…${before.replace(/^\S*\s+(?=\S|$)/, "")}` : before,
    match: text.slice(at, end),
    after: text.length > end + CONTEXT ? `${after.replace(/(^|\S)\s+\S*$/, "$1")}…` : after,
  };
}
