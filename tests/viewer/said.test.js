// What steps said, as one text.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { joined } from "viewer/model/said.js";

/** @param {string} markdown @param {string} [type] */
const said = (markdown, type = "text") => ({ type, markdown });

/** @type {[name: string, steps: Value[][], text: string][]} */
const TEXTS = [
  ["one statement, one line", [[said("one "), said("two")]], "one two"],
  ["another statement, a paragraph", [[said("one")], [said("two")]], "one\n\ntwo"],
  ["the end of a with", [[said("one"), said("two", "paragraph")]], "one\n\ntwo"],
  ["the end of a with, with items", [[said("- one"), said("- two", "paragraph")]], "- one\n- two"],
  ["a line that waits for its end", [[said("one: ")], [said("two")]], "one: two"],
  ["a rule", [[said("one"), said("<hr>", "hr"), said("two")]], "one\n\n<hr>\n\ntwo"],
  ["a note", [[said("one")], [said("two", "note")]], "one\n\n*two*"],
  ["a note of the same statement", [[said("one"), said("two", "note")]], "one\n\n*two*"],
];

describe("texts that follow each other", () => {
  for (const [name, steps, text] of TEXTS)
    test(name, () => assert.deepEqual(joined(steps), [{ text }]));
});
