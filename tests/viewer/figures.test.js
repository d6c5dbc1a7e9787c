// Numbers and captions of figures, on a document whose pictures were put where they are by hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { captionOf, figureName, isSaidTwice } from "viewer/model/figures.js";
import { withEmpty } from "viewer/model/check.js";
import { buildModel } from "viewer/model/replay.js";
import { sectionsOf } from "viewer/model/sections.js";

const place = process.env.SMALL_LECTURE;
if (!place) throw new Error("run these tests through pytest: it writes the document they ask for");
const text = readFileSync(place, "utf8");

/** Events of `x` in views, `m` in double (which is no section), and `total` in three turns. */
const EVENTS = [3, 9, 13, 15, 17];
const NAMES = ["x", "m", "total", "total", "total"];

/** @param {any} document @param {any} picture */
function draw(document, picture) {
  document.values.push(picture);
  document.inspections = {
    event: EVENTS,
    at: EVENTS.map((event) => event + 1),
    name: NAMES.map((name) => document.names.indexOf(name)),
    value: EVENTS.map(() => document.values.length - 1),
  };
  return document;
}

/** What the pictures are called. @param {any} document @param {any[]} [chapters] */
function names(document, chapters = []) {
  const model = buildModel(withEmpty(document));
  const lecture = { model, all: sectionsOf(model), chapters };
  const asked = [
    [1, "x"],
    [5, "m"],
    [7, "total"],
    [8, "total"],
    [10, "total"],
    [12, "total"],
  ];
  return asked.map(([step, name]) => figureName(lecture, Number(step), String(name)));
}

const SVG = { type: "Figure", svg: "<svg><title>A row</title></svg>" };

describe("numbers", () => {
  test("in the order of the text; a loop draws one; what is no section has none", () =>
    assert.deepEqual(names(draw(JSON.parse(text), SVG)), [
      "Figure 1",
      "",
      "",
      "Figure 2",
      "Figure 2",
      "Figure 2",
    ]));
  test("anew in each chapter", () => {
    const book = [{ first: 0 }, { first: 7 }];
    assert.deepEqual(names(draw(JSON.parse(text), SVG), book), [
      "Figure 1.1",
      "",
      "",
      "Figure 2.1",
      "Figure 2.1",
      "Figure 2.1",
    ]);
  });
  test("none for text", () =>
    assert.deepEqual(
      new Set(names(draw(JSON.parse(text), { type: "T", markdown: "| a |" }))),
      new Set([""]),
    ));
  test("none where the prose has figures with numbers of its own", () => {
    const document = draw(JSON.parse(text), SVG);
    document.files[0].prose[3].text = "<figcaption>\n\n**Figure 1.** Steps\n\n</figcaption>";
    assert.deepEqual(new Set(names(document)), new Set([""]));
  });
});

/** @type {[string, any, string][]} */
const CAPTIONS = [
  ["a title", { svg: '<svg width="9"><title>B &amp; i &#8594; j</title></svg>' }, "B & i → j"],
  [
    "one that is drawn",
    { svg: "<svg><title>A &lt; b</title><text x='1'>A &lt; b</text></svg>" },
    "",
  ],
  ["none", { svg: "<svg></svg>" }, ""],
  ["a title of something within", { svg: "<svg><g><title>dot</title></g></svg>" }, ""],
  ["a chart", { vega: { title: "Losses" } }, "Losses"],
  [
    "of two lines",
    { vega: { title: { text: ["One", "two"], subtitle: "three" } } },
    "One two. three",
  ],
  ["a chart without", { vega: {} }, ""],
  ["one that is computed", { vega: { title: { text: { expr: "a" } } } }, ""],
  ["pixels", { png: "AA==" }, ""],
];

describe("captions", () => {
  for (const [name, value, expected] of CAPTIONS)
    test(name, () => assert.equal(captionOf({ type: "Picture", ...value }), expected));
});

describe("two figures with one caption", () => {
  const isTwice = (/** @type {any[]} */ chapters) => {
    const model = buildModel(withEmpty(draw(JSON.parse(text), SVG)));
    return isSaidTwice({ model, all: sectionsOf(model), chapters }, 1, "x");
  };
  test("of one chapter are alike", () => assert.ok(isTwice([])));
  test("of two chapters are not", () => assert.ok(!isTwice([{ first: 0 }, { first: 7 }])));
});
