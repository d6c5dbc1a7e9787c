// What the search finds, in which order and where it leads, in `documents.small()`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { withEmpty } from "viewer/model/check.js";
import { buildModel } from "viewer/model/replay.js";
import { search } from "viewer/model/search.js";

const place = process.env.SMALL_LECTURE;
if (!place) throw new Error("run these tests through pytest: it writes the document they ask for");

const lecture = withEmpty(JSON.parse(readFileSync(place, "utf8")));
const model = buildModel(lecture);

/**
 * One test for each row: what is asked, and the answer.
 * @param {string} title
 * @param {[name: string, found: any, expected: any][]} rows
 */
function table(title, rows) {
  describe(title, () => {
    for (const [name, found, expected] of rows) test(name, () => assert.deepEqual(found, expected));
  });
}

/** The lecture with another text above its first statement. @param {string} text */
function described(text) {
  const files = lecture.files.map((/** @type {any} */ file, /** @type {number} */ index) => ({
    ...file,
    prose: index
      ? file.prose
      : file.prose.map((/** @type {any} */ block) => ({ ...block, text })).slice(0, 1),
  }));
  return buildModel({ ...lecture, files });
}

const kinds = (/** @type {string} */ query) => search(model, query).map((found) => found.kind);

/** The lecture with another title of each section. @param {string} title */
function titled(title) {
  const functions = lecture.functions.map((/** @type {any} */ func) => ({ ...func, title }));
  return buildModel({ ...lecture, functions });
}

const firstKind = (/** @type {Model} */ own, /** @type {string} */ query) =>
  search(own, query)[0]?.kind;

table("a dtype in a title goes by its short name", [
  ["bfloat16", firstKind(titled("bf16 has range"), "bfloat16"), "title"],
  ["with its module", firstKind(titled("It ends soon in fp16"), "torch.float16"), "title"],
  ["another one", firstKind(titled("bf16 has range"), "float16"), undefined],
  ["nothing else does", firstKind(titled("fp16 ends soon"), "floats16"), undefined],
]);

table("what is found", [
  ["found in prose", search(model, "moves").map(({ kind, step }) => [kind, step]), [["prose", 1]]],
  ["titles come first", kinds("view"), ["title", "prose"]],
  ["a title once, not in its docstring, its call and its definition", kinds("views"), ["title"]],
  ["a name on a line that says more", kinds("make"), ["code"]],
  ["one letter finds nothing", kinds("x"), []],
  [
    "maths as it reads",
    search(described("Takes $2^{10}\\times s_0$, $\\frac{a}{b}$ and \\$5."), "Takes")[0].after,
    " 2¹⁰×s₀, a/b and \\$5.",
  ],
  [
    "prose as it reads",
    search(described("The [*key\ncache*](#a) is `large`."), "key cache is large").length,
    1,
  ],
  [
    "with whole words around it",
    search(described(`${"quite ".repeat(20)}wanted${" indeed".repeat(20)}`), "wanted").map(
      ({ before, after }) => [before, after],
    )[0],
    [`…${"quite ".repeat(7)}`, `${" indeed".repeat(6)}…`],
  ],
]);

const LIBRARY = `import torch

WIDTH = 2


def used():
    return WIDTH


def double(
    n,
):
    return used() * n


class Rule:
    def double(self):
        return 0
`;

/** The lecture with a file that nothing ran in, and that it does not show. */
const withLibrary = buildModel({
  ...lecture,
  files: [
    ...lecture.files,
    { path: "demo/lib.py", source: LIBRARY, prose: [], tokens: [], hidden: [] },
  ],
});

/** @param {string} query */
const leads = (query) =>
  search(withLibrary, query).map(({ kind, step, at, definition }) =>
    definition
      ? ["definition", definition.kind, definition.line, definition.last, definition.at]
      : [kind, step, at?.line],
  );

table("where it leads", [
  ["to a line that ran", leads("m = n * 2"), [["code", 5, 27]]],
  ["to one in a loop", leads("total = i"), [["code", 8, 12]]],
  ["to one that did not run", leads("x = 0"), [["code", 3, 22]]],
  ["not beyond the function that it is in", leads("return m"), [["code", 6, 28]]],
  ["to a definition that is not shown", leads("def used"), [["definition", "def", 6, 7, 6]]],
  ["to a line within one", leads("used() *"), [["definition", "def", 10, 13, 13]]],
  ["to a method", leads("return 0"), [["definition", "def", 17, 18, 18]]],
  ["to a constant", leads("WIDTH = 2"), [["definition", "constant", 3, 3, 3]]],
  ["to a file, of what is in no definition", leads("torch"), [["definition", "file", 1, 18, 1]]],
  [
    "definitions of the name first, then what is shown, then what is not",
    leads("double"),
    [
      ["code", 5, 26],
      ["definition", "def", 10, 13, 10],
      ["definition", "def", 17, 18, 17],
      ["code", 4, 10],
    ],
  ],
]);

/** @param {string} title @param {Partial<Chapter>} [other] @returns {Chapter} */
const chapter = (title, other) => ({
  ...{ number: 1, label: 8, title, name: "", about: "", bridges: "", contents: 0, line: 9 },
  ...{ isHeading: false, part: "", first: 0, beyond: model.steps, sections: [] },
  ...other,
});

/** @param {string} query @param {Chapter[]} chapters */
const texts = (query, chapters) =>
  search(model, query, [], [], chapters).map(({ before, match, after }) => before + match + after);

table("chapters", [
  [
    "come first, with their numbers",
    texts("view", [chapter("Storage and views")]).slice(0, 2),
    ["8. Storage and views", "Views share storage"],
  ],
  ["are found by their titles", texts("view", [chapter("Storage")])[0], "Views share storage"],
  [
    "are not found once more as their headings",
    texts("view", [chapter("A view", { contents: 1, line: 19, isHeading: true })]),
    ["8. A view", "Views share storage"],
  ],
]);
