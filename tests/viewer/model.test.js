// The pure modules, on a document whose answers were worked out by hand: `documents.small()`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { bodyOf } from "viewer/model/blocks.js";
import { environmentAt } from "viewer/model/changes.js";
import { costDetails, costMeter, costText } from "viewer/model/costs.js";
import { lastSteps, turnAt, turnOf, turnsOf } from "viewer/model/loops.js";
import { narrate } from "viewer/model/narration.js";
import { withEmpty } from "viewer/model/check.js";
import { placeOfStep, readHash, shortPaths, stepOfPlace, writeHash } from "viewer/model/places.js";
import { nextChange } from "viewer/model/readings.js";
import { sameStep } from "viewer/model/recordings.js";
import { buildModel } from "viewer/model/replay.js";
import { callStack } from "viewer/model/frames.js";
import {
  activationOf,
  callerOf,
  callsBy,
  clamp,
  endOf,
  entryOf,
  eventOf,
  leaveOf,
  statementOf,
  stepAfter,
  stepRange,
  stepsBefore,
  wholeScope,
} from "viewer/model/run.js";
import { firstRuns } from "viewer/model/shown.js";
import {
  callsOf,
  chaptersOf,
  claimsWithin,
  isBareCall,
  sectionsOf,
} from "viewer/model/sections.js";
import { pieces, withoutDirectives } from "viewer/model/source.js";
import { backOver, out, runToLine, stopAfter } from "viewer/model/stepping.js";
import { takeTimes } from "viewer/model/times.js";

const place = process.env.SMALL_LECTURE;
if (!place) throw new Error("run these tests through pytest: it writes the document they ask for");

/** A fresh copy. @returns {any} */
const small = () => withEmpty(JSON.parse(readFileSync(place, "utf8")));
const lecture = small();
const model = buildModel(lecture);

/** @template T @param {(model: Model, step: number) => T} read */
const steps = (read) => Array.from({ length: model.steps }, (_, step) => read(model, step));
/** @template T @param {(model: Model, activation: number) => T} read */
const calls = (read) => Array.from({ length: model.activations }, (_, call) => read(model, call));

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

table("a replay", [
  ["events of steps", steps(eventOf), [1, 3, 4, 5, 7, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20]],
  ["ends of steps", steps(endOf), [7, 4, 5, 6, 12, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21]],
  ["their calls", steps(activationOf), [0, 1, 1, 1, 0, 2, 2, ...Array(9).fill(0)]],
  ["callers", calls(callerOf), [-1, 0, 4]],
  ["entries", calls(entryOf), [0, 2, 8]],
  ["ends of calls", calls(leaveOf), [21, 6, 11]],
  [
    "steps of a statement",
    steps((run, step) => (statementOf(run, step) === 2 ? step : 0)).filter(Boolean),
    [7, 9, 11, 13],
  ],
  ["steps after", steps(stepAfter), [4, 2, 3, 4, 7, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]],
  [
    "steps before events",
    Array.from({ length: 9 }, (_, event) => stepsBefore(model, event)),
    [0, 0, 1, 1, 2, 3, 4, 4, 5],
  ],
  ["calls of a step", callsBy(model, 4), [2]],
  ["a step without calls", callsBy(model, 5), []],
  ["first runs", [...firstRuns(model)], [0, 4, 7, 8, 14, 15, 1, 2, -1, 3, 5, 6]],
  ["steps of a call", stepRange(model, 1), [1, 4]],
]);

const nameOf = (/** @type {string} */ text) => lecture.names.indexOf(text);

table("stepping", [
  ["over a call", stopAfter(model, { step: 0, isReturned: true }), { step: 4, isReturned: false }],
  [
    "over the last step of a call",
    stopAfter(model, { step: 3, isReturned: true }),
    { step: 0, isReturned: true },
  ],
  [
    "over what calls nothing",
    stopAfter(model, { step: 8, isReturned: true }),
    { step: 9, isReturned: false },
  ],
  ["over the end", stopAfter(model, { step: 15, isReturned: true }), null],
  ["back over steps", backOver(model, 7), 4],
  ["back over a call", backOver(model, 4), 0],
  ["back to the caller", backOver(model, 5), 4],
  ["back from the start", backOver(model, 0), 0],
  ["out of a call", out(model, 5), { step: 4, isReturned: true }],
  ["out of the outermost", out(model, 0), null],
  ["beyond the end", clamp(model, 99), 15],
  [
    "the calls that are open",
    callStack(model, 5),
    [
      { activation: 0, step: 4 },
      { activation: 2, step: 5 },
    ],
  ],
  ["one open call", callStack(model, 9), [{ activation: 0, step: 9 }]],
  ["to a line below", runToLine(model, 0, 12, 8), 10],
  ["to a line above", runToLine(model, 0, 9, 8), 0],
  ["to this line, for the last time", runToLine(model, 0, 9, 0), 0],
  ["to a line that did not run", runToLine(model, 0, 22, 8), -1],
  ["to the next change", nextChange(model, 0, nameOf("i"), 7, 1), 9],
  ["to the change before", nextChange(model, 0, nameOf("i"), 9, -1), 7],
  ["to no change", nextChange(model, 0, nameOf("y"), 4, 1), -1],
]);

/** What a call knows when a step is over. @param {number} activation @param {number} step */
function known(activation, step) {
  const found = environmentAt(model, activation, endOf(model, step));
  return Object.fromEntries(
    [...found].map(([name, { row, count }]) => [
      lecture.names[name],
      [lecture.inspections.value[row], count],
    ]),
  );
}

table("what is known", [
  ["at first nothing", known(0, 0), {}],
  ["once a call has returned", known(0, 4), { y: [6, 1] }],
  ["not while it runs", known(0, 5), {}],
  ["inside the call", known(2, 5), { n: [3, 1], m: [6, 1] }],
  ["in a loop", known(0, 11), { y: [6, 1], i: [2, 3], total: [2, 2] }],
]);

const OFF = { whole: false, short: false, present: 0 };
/** What an address without anything names. @type {State} */
const TOP = { doc: "", mode: "read", at: "", chapter: "", ...OFF };

table("places", [
  ["of a turn", placeOfStep(model, 9), "main.py:main:3.2"],
  ["in another function", placeOfStep(model, 3), "main.py:views:4.1"],
  ["its step", stepOfPlace(model, "main.py:main:3.2"), 9],
  ["a turn that is not there: the last", stepOfPlace(model, "main.py:main:3.99"), 13],
  ["a line that did not run: the one before", stepOfPlace(model, "main.py:views:3.1"), 2],
  ["a plain number", stepOfPlace(model, "7"), 7],
  ["a number beyond the end", stepOfPlace(model, "700"), 15],
  ["no such function", stepOfPlace(model, "main.py:nowhere:1.1"), -1],
  ["nonsense", stepOfPlace(model, "nonsense"), -1],
  ["a function", stepOfPlace(model, "double"), 5],
  ["the name of a function", readHash("#double"), { ...TOP, at: "double" }],
  ["letters of all kinds", readHash("#gr%C3%B6%C3%9Fe"), { ...TOP, at: "größe" }],
  [
    "a whole address",
    readHash("#doc=a.b&mode=step&at=main.py:f:1.2"),
    { ...TOP, doc: "a.b", mode: "step", at: "main.py:f:1.2" },
  ],
  ["no address", readHash(""), TOP],
  [
    "a chapter",
    readHash("#doc=a&chapter=bits-und-b%C3%A4ume"),
    { ...TOP, doc: "a", chapter: "bits-und-bäume" },
  ],
  ["all on one page", readHash("#doc=a&whole"), { ...TOP, doc: "a", whole: true }],
  [
    "a chapter of the short path",
    readHash("#doc=a&path=core&chapter=bits"),
    { ...TOP, doc: "a", chapter: "bits", short: true },
  ],
  ["slides", readHash("#doc=a&present").present, 1],
  ["a part of one", writeHash(readHash("#doc=a&present=3")), "#doc=a&present=3"],
  [
    "the short path is written",
    writeHash({ doc: "a", mode: "step", at: "f", short: true }),
    "#doc=a&mode=step&path=core&at=f",
  ],
  [
    "a chapter is written",
    writeHash({ doc: "a", mode: "read", at: "", chapter: "bits" }),
    "#doc=a&chapter=bits",
  ],
  [
    "so is the whole",
    writeHash({ doc: "a", mode: "read", at: "f", whole: true }),
    "#doc=a&whole&at=f",
  ],
  [
    "an address is written",
    writeHash({ doc: "a.b", mode: "step", at: "é/main.py:f:1.2" }),
    "#doc=a.b&mode=step&at=%C3%A9/main.py:f:1.2",
  ],
  ["a short one", writeHash({ doc: "a", mode: "read", at: "" }), "#doc=a"],
  ["shared folders go", shortPaths(["a/b/c.py", "a/d.py"]), ["b/c.py", "d.py"]],
]);

const scope = wholeScope(model, 0);
const turns = turnsOf(model, scope, 2);
const turn = (/** @type {number} */ index) => turnOf(model, scope, 2, turns.headers, index);

table("loops", [
  ["turns", turns, { headers: [12, 14, 16, 18], count: 3, end: 19 }],
  ["their first lines", [0, 1, 2].map((index) => turn(index).header), [7, 9, 11]],
  [
    "their events",
    [0, 1, 2].map((index) => [turn(index).scope.from, turn(index).scope.to]),
    [
      [13, 14],
      [15, 16],
      [17, 18],
    ],
  ],
  [
    "the turn of a step",
    [6, 7, 8, 10, 12, 13, 14].map((step) => turnAt(model, turns, step)),
    [-1, 0, 0, 1, 2, 2, -1],
  ],
  [
    "last steps",
    [...lastSteps(model, scope)].slice(0, 4),
    [
      [0, 0],
      [1, 4],
      [2, 13],
      [3, 12],
    ],
  ],
  ["last steps of a turn", [...lastSteps(model, { ...scope, from: 15, to: 16 })], [[3, 10]]],
]);

const sections = sectionsOf(model);
const text = (/** @type {Piece[]} */ line) => line.map((piece) => piece.text).join("");

table("the article", [
  ["a call that is a section", callsOf(model, 0), { section: 1, folded: [] }],
  ["a call that is none", callsOf(model, 4), { section: -1, folded: [2] }],
  [
    "sections",
    sections.map(({ activation, depth }) => [activation, depth]),
    [
      [0, 0],
      [1, 1],
    ],
  ],
  ["no headings, one chapter", chaptersOf(sections), [{ title: "", sections: [sections[1]] }]],
  ["claims inside", claimsWithin(model, sections[1]), { claims: 1, failed: 0 }],
  ["a bare call", isBareCall(model, 0), true],
  ["a call that passes something", isBareCall(model, 5), false],
  [
    "blocks",
    bodyOf(lecture, 0).blocks.map((block) =>
      block.kind === "prose" ? block.kind : [block.kind, block.first, block.last],
    ),
    [
      ["code", 9, 9],
      ["code", 10, 10],
      ["loop", 11, 12],
      ["code", 13, 13],
      ["code", 14, 14],
    ],
  ],
  ["the docstring", bodyOf(lecture, 0).docstring, "Prose with $x^2$ and **bold**."],
  [
    "prose",
    bodyOf(lecture, 1).blocks[0],
    { kind: "prose", line: 19, text: "A view moves no data." },
  ],
  [
    "a line without directives",
    text(withoutDirectives(pieces(lecture.files[0], 11, 4))),
    "for i in range(3):",
  ],
  ["a directive", pieces(lecture.files[0], 11).at(-1)?.kind, "directive"],
]);

// The docstring of `main` becomes that of a function inside it.
const nested = structuredClone(lecture);
Object.assign(nested.files[0].prose[1], { first_line: 12, last_line: 12 });

table("a docstring inside a function", [
  ["is not its own", bodyOf(nested, 0).docstring, ""],
  ["and nothing before it is lost", bodyOf(nested, 0).blocks[0].kind, "code"],
]);

const cost = costMeter(lecture.costs);
const notAll = costMeter({ ...lecture.costs, uncounted: [1, 2] });
const onMeta = costMeter({ ...lecture.costs, meta: [1, 0] });

table("costs", [
  ["of a call", costText(cost(4, 7)), "2.1 MFLOP · ≥ 72 B moved · ≤ 29\u202f000 FLOP/B"],
  ["of a step", costText(cost(1, 2)), "6 FLOP · ≥ 48 B moved · ≤ 0.13 FLOP/B · 4 KiB allocated"],
  ["nothing that happened on meta", costText(onMeta(1, 2)), ""],
  [
    "what would have, on meta",
    costText(onMeta(0, 9).onMeta),
    "6 FLOP · ≥ 48 B moved · ≤ 0.13 FLOP/B · 4 KiB allocated",
  ],
  ["the rest", costText(onMeta(0, 9)), costText(cost(4, 7))],
  ["without a formula for all", costText(notAll(1, 2)), "6 FLOP · 4 KiB allocated"],
  [
    "calls that are not counted",
    costDetails(notAll(4, 7)).split(", ").at(-1),
    "2 calls not counted (see the end of the page)",
  ],
  ["none recorded", costText(costMeter(null)(0, 9)), ""],
]);

table("words", [
  ["a change is told", narrate(model, 4), "line 10: y = double(3); y is 6"],
  ["a claim is told", narrate(model, 14), "line 13: assert y == 6; claim held"],
]);

test("generators suspend and resume", () => {
  // main (activation 0) takes two items from a generator (1) that is entered once.
  const run = buildModel({
    ...small(),
    events: Int8Array.from([-1, 3, -3, 11, 0, 4, 3, -(3 + 2), 12, 0, 0]),
    inspections: { event: [], at: [], name: [], value: [] },
    claims: { statement: [], step: [], at: [], held: [], operands: [] },
  });
  const each = (/** @type {(run: Model, step: number) => any} */ read) =>
    Array.from({ length: run.steps }, (_, step) => read(run, step));
  assert.deepEqual(each(activationOf), [0, 1, 0, 0, 1]);
  assert.deepEqual(each(endOf), [5, 4, 6, 10, 9]);
  const reached = (/** @type {number} */ step) => callStack(run, step).map((frame) => frame.step);
  assert.deepEqual(reached(1), [0, 1]);
  assert.deepEqual(reached(4), [3, 4]);
});

test("a million events are fine", () => {
  const events = new Int8Array(1_000_001);
  events.forEach((_, event) => (events[event] = event === 0 ? -1 : event % 2 ? 3 : 4));
  const none = { event: [], at: [], name: [], value: [] };
  const run = buildModel({ ...small(), events, inspections: none });
  assert.equal(run.steps, 1_000_000);
  const over = stopAfter(run, { step: 500, isReturned: true });
  assert.deepEqual(over, { step: 501, isReturned: false });
});

test("the step of a line survives lines above it", () => {
  const changed = small();
  changed.files[0].source = changed.files[0].source.replace("def main():", "\ndef main():");
  for (const statement of changed.statements) {
    statement[1]++;
    statement[2]++;
  }
  const other = buildModel(changed);
  assert.deepEqual(
    steps((run, step) => sameStep(run, other, step)),
    steps((_, step) => step),
  );
  assert.equal(sameStep(model, other, -1), -1);
});

test("times of other sources are not taken", async () => {
  const seconds = Array(model.steps).fill(0.5);
  const sidecar = { format: "lecture-trace-times", version: 1, seconds, sources: {} };
  assert.equal(await takeTimes(small(), sidecar), null);
  assert.equal(await takeTimes(small(), { ...sidecar, version: 2 }), null);
  assert.equal(await takeTimes(small(), null), null);
});
