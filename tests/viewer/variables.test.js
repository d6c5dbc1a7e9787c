// The state at a step, on short programs whose states were worked out by hand. A program is written
// as what happens: a statement runs, calls, writes to objects, and then names are read.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextChange, rowsOfCall } from "viewer/model/readings.js";
import { buildModel } from "viewer/model/replay.js";
import { valueText } from "viewer/model/values.js";
import { stateAt } from "viewer/model/variables.js";

/** @param {number} value */
const int = (value) => ({ type: "int", value });
/** @param {number} object @param {...any} items */
const list = (object, ...items) => ({ type: "list", object, length: items.length, items });
/** @param {number} object @param {number} storage @param {...number} elements */
const tensor = (object, storage, ...elements) => ({
  type: "Tensor",
  object,
  storage,
  dtype: "int64",
  shape: [elements.length],
  strides: [1],
  offset: 0,
  elements,
});
const GONE = null;

/**
 * @typedef {{run: string, writes?: boolean, binds?: string[], isUnread?: boolean,
 *   reads?: Record<string, any>, shows?: Record<string, any>, calls?: What[],
 *   takes?: Record<string, any>}} What
 *   run: the statement, by a name of its own; writes: it may write to objects; reads: what has
 *   another value once it has run, unless nothing is read then; shows: what `@inspect` reads;
 *   calls: what happens in a call that it makes, which takes arguments
 */

/** The lengths of runs, the first of what is not set. @param {boolean[]} bits */
function runLengths(bits) {
  const lengths = [0];
  bits.forEach((bit, at) => {
    if (bit === (at > 0 && bits[at - 1])) lengths[lengths.length - 1]++;
    else lengths.push(1);
  });
  return lengths;
}

/** Collects the lists of a document while a program happens. */
class Run {
  constructor() {
    /** @type {string[]} */
    this.names = [];
    /** @type {any[]} */
    this.values = [];
    /** @type {any[]} */
    this.statements = [];
    this.events = [-1];
    /** @type {any} */
    this.locals = { event: [], at: [], name: [], value: [] };
    /** @type {any} */
    this.inspections = { event: [], at: [], name: [], value: [] };
    /** @type {boolean[]} */
    this.readAt = [];
    /** @type {boolean[]} */
    this.writesAfter = [];
    /** @type {Map<string, number>} */
    this.lines = new Map();
  }

  /** @param {any[]} all @param {any} wanted */
  place(all, wanted) {
    const text = JSON.stringify(wanted);
    const found = all.findIndex((other) => JSON.stringify(other) === text);
    return found < 0 ? all.push(wanted) - 1 : found;
  }

  /** @param {any} into @param {Record<string, any> | undefined} read @param {number} event */
  note(into, read, event) {
    for (const [name, value] of Object.entries(read ?? {})) {
      into.event.push(event);
      into.at.push(this.events.length);
      into.name.push(this.place(this.names, name));
      into.value.push(value === GONE ? null : this.place(this.values, value));
    }
  }

  /** @param {What} what @param {number} func */
  statement({ run, binds = [] }, func) {
    const line = this.lines.get(run) ?? this.statements.length;
    if (line === this.statements.length) {
      const own = [...binds, ...run.split(" = ").slice(0, -1)];
      const bound = own.map((name) => this.place(this.names, name));
      this.statements.push([0, line + 1, line + 1, -1, "assign", func, bound]);
    }
    this.lines.set(run, line);
    return line;
  }

  /** @param {number} code @param {boolean} [writes] @returns {number} the event */
  happen(code, writes = false) {
    this.writesAfter[this.events.length] = writes;
    return this.events.push(code) - 1;
  }

  /** @param {What} what @param {number} [func] */
  perform(what, func = 0) {
    const event = this.happen(this.statement(what, func) + 1, what.writes);
    for (const [at, call] of (what.calls ? [what.calls] : []).entries()) {
      const entry = this.happen(-2);
      if (at === 0) this.note(this.locals, what.takes, entry);
      this.readAt[this.events.length] = true;
      call.forEach((inner) => this.perform(inner, 1));
      this.happen(0, what.writes);
    }
    if (!what.isUnread) this.readAt[this.events.length] = true;
    this.note(this.locals, what.reads, event);
    this.note(this.inspections, what.shows, event);
  }

  /** @param {boolean} isOld without readings */
  document(isOld) {
    this.happen(0);
    const { names, values, statements, events, locals, inspections } = this;
    const bits = (/** @type {boolean[]} */ set, /** @type {number} */ length) =>
      isOld ? [] : runLengths(Array.from({ length }, (_, at) => set[at] ?? false));
    const func = { file: 0, line: 1, end_line: 99, title: "", marks: [], parameters: [] };
    return {
      files: [{ path: "main.py", source: "", prose: [], tokens: [], hidden: [] }],
      functions: ["main", "inner"].map((name) => ({ ...func, name, shared: ["shared"] })),
      ...{ names, values, statements, events, locals, inspections },
      readings: bits(this.readAt, events.length + 1),
      effects: bits(this.writesAfter, events.length),
      ...{ assertions: [], output: [], claims: { step: [], held: [], statement: [] } },
    };
  }
}

/** @param {What[]} program @param {boolean} [isOld] */
function modelOf(program, isOld = false) {
  const run = new Run();
  program.forEach((what) => run.perform(what));
  return buildModel(/** @type {any} */ (run.document(isOld)));
}

/**
 * All names of the innermost call after a step: text, `*` where it changed, `@n` as of step n.
 * @param {Model} model
 * @param {number} step
 * @param {number} [frame] from the innermost one
 */
function shown(model, step, frame = -1) {
  const { variables } = stateAt(model, step).frames.at(frame) ?? { variables: [] };
  return Object.fromEntries(
    variables.map(({ text, value, changed, since }) => [
      text,
      (value ? valueText(value) : "gone") + (changed ? "*" : "") + (since < 0 ? "" : `@${since}`),
    ]),
  );
}

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

const numbers = modelOf([
  { run: "a = 1", reads: { a: int(1) } },
  { run: "b = 2", reads: { b: int(2) } },
  { run: "print(a)", writes: true },
  { run: "a = 3", reads: { a: int(3) } },
  { run: "del b", reads: { b: GONE } },
  { run: "pass" },
]);
table("numbers", [
  ["the first", shown(numbers, 0), { a: "1*" }],
  ["stay", shown(numbers, 1), { a: "1", b: "2*" }],
  ["and cannot be written to", shown(numbers, 2), { a: "1", b: "2" }],
  ["a new one", shown(numbers, 3), { a: "3*", b: "2" }],
  ["one that is not bound any more", shown(numbers, 4), { a: "3", b: "gone*" }],
  ["stays gone", shown(numbers, 5), { a: "3", b: "gone" }],
]);

const unread = { isUnread: true };
const hot = modelOf([
  { run: "a = 1", reads: { a: int(1), b: int(1), shared: int(1), l: list(1) } },
  { run: "a = 2", ...unread },
  { run: "write()", writes: true, ...unread },
  { run: "pass", ...unread },
  { run: "read", reads: { a: int(2) } },
]);
table("statements after which nothing is read", [
  [
    "what they bind is as of the reading",
    shown(hot, 1),
    { a: "1@0", b: "1", shared: "1", l: "[]" },
  ],
  [
    "what they may write to, and what others may bind",
    shown(hot, 2),
    { a: "1@0", b: "1", shared: "1@0", l: "[]@0" },
  ],
  ["and so on", shown(hot, 3), { a: "1@0", b: "1", shared: "1@0", l: "[]@0" }],
  ["until they are read", shown(hot, 4), { a: "2*", b: "1", shared: "1", l: "[]" }],
]);

const lists = modelOf([
  { run: "a = [1]", reads: { a: list(1, int(1)) } },
  { run: "b = a", reads: { b: list(1, int(1)) } },
  { run: "c = [a]", reads: { c: list(2, list(1, int(1))) } },
  {
    run: "b.append(2)",
    writes: true,
    reads: {
      a: list(1, int(1), int(2)),
      b: list(1, int(1), int(2)),
      c: list(2, { type: "list", object: 1, cut: true }),
    },
  },
  { run: "unknown()", writes: true, ...unread },
  { run: "pass" },
]);
table("a list that has several names", [
  ["before", shown(lists, 2), { a: "[1]", b: "[1]", c: "[[1]]*" }],
  ["changed by one of them", shown(lists, 3), { a: "[1, 2]*", b: "[1, 2]*", c: "[[1, 2]]*" }],
  [
    "after what may have written to it",
    shown(lists, 4),
    { a: "[1, 2]@3", b: "[1, 2]@3", c: "[[1, 2]]@3" },
  ],
  ["read again, and equal", shown(lists, 5), { a: "[1, 2]", b: "[1, 2]", c: "[[1, 2]]" }],
]);

const calls = modelOf([
  { run: "a = [1]", reads: { a: list(1, int(1)) } },
  {
    run: "n = f(a)",
    writes: true,
    takes: { it: list(1, int(1)) },
    calls: [
      { run: "n = 5", reads: { n: int(5) } },
      { run: "it.append(n)", writes: true, reads: { it: list(1, int(1), int(5)) } },
      { run: "return n", reads: { return: int(5) } },
    ],
    reads: { a: list(1, int(1), int(5)), n: int(5) },
  },
  { run: "n = g()", calls: [{ run: "pass" }] },
]);
table("a call", [
  ["what is known when it is over", shown(calls, 1), { a: "[1, 5]*", n: "5*" }],
  ["its arguments are new at first", shown(calls, 2), { it: "[1]*", n: "5*" }],
  ["the caller's list meanwhile", shown(calls, 2, 0), { a: "[1]" }],
  ["written to in the call", shown(calls, 3), { it: "[1, 5]*", n: "5" }],
  ["seen by the caller", shown(calls, 3, 0), { a: "[1, 5]*" }],
  ["what it returns", shown(calls, 4), { it: "[1, 5]", n: "5", return: "5*" }],
  ["is not the caller's", shown(calls, 4, 0), { a: "[1, 5]" }],
  ["what the caller binds next is as of before", shown(calls, 6, 0), { a: "[1, 5]", n: "5@1" }],
  ["two calls are open", stateAt(calls, 4).frames.map(({ step }) => step), [1, 4]],
]);

const between = modelOf([
  { run: "l = []", reads: { l: list(1) } },
  {
    run: "f(l.append(1))",
    writes: true,
    calls: [{ run: "inside" }],
    reads: { l: list(1, int(1)) },
  },
]);
table("a statement that calls may write before and after", [
  ["before", shown(between, 2, 0), { l: "[]@0" }],
  ["after", shown(between, 1), { l: "[1]*" }],
]);

const deep = Array.from({ length: 20 }, (_, at) => at);
/** @type {What} */
const recursion = deep.reduceRight(
  (/** @type {any} */ inner, at) => ({
    run: "f()",
    calls: [inner],
    reads: {},
    takes: { at: int(at) },
  }),
  { run: "end" },
);
const nested = modelOf([recursion]);
table("many open calls", [
  [
    "are told of at both ends",
    stateAt(nested, 20)
      .frames.map(({ step }) => step)
      .join(" "),
    "0 1 9 10 11 12 13 14 15 16 17 18 19 20",
  ],
]);

/** A list that holds itself. @type {any} */
const loop = list(1, { type: "list", object: 1, length: 1, cut: true });
const cycles = modelOf([{ run: "a.append(a)", writes: true, reads: { a: loop } }]);
table("a list that holds itself", [["ends", shown(cycles, 0), { a: "[[…]]*" }]]);

const large = { ...tensor(1, 1), shape: [20], cut: true, elements: undefined };
const whole = { ...tensor(1, 1, ...Array(20).keys()), statistics: {} };
const inspected = modelOf([
  { run: "x = arange(20)", writes: true, reads: { x: large }, shows: { x: whole } },
  { run: "pass" },
  { run: "x[17] = 0", writes: true },
  { run: "x", shows: { x: whole, "x.shape": list(9, int(20)) } },
  { run: "x = 0", reads: { x: int(0) } },
]);
table("what is also inspected", [
  ["is shown whole", stateAt(inspected, 1).frames[0].variables[0].value?.elements?.length, 20],
  ["and is true", shown(inspected, 1), { x: "int64 [20]" }],
  ["until something may have written to it", shown(inspected, 2), { x: "int64 [20]@0" }],
  ["inspected again", shown(inspected, 3), { x: "int64 [20]", "x.shape": "[20]*" }],
  [
    "the name of a part is bound with the whole",
    shown(inspected, 4),
    { x: "0*", "x.shape": "[20]@3" },
  ],
  [
    "what is glanced at and inspected at once counts once",
    rowsOfCall(inspected, 0).get(0)?.length,
    3,
  ],
]);

const only = modelOf(
  [{ run: "x = 1", shows: { x: int(1) } }, { run: "pass" }, { run: "x = 2", shows: { x: int(2) } }],
  true,
);
table("what is only inspected, in a document without readings", [
  ["is known when it is read", shown(only, 0), { x: "1*" }],
  ["and then as of that step", shown(only, 1), { x: "1@0" }],
  ["until it is read again", shown(only, 2), { x: "2*" }],
  ["changes are found", nextChange(only, 0, 0, 0, 1), 2],
  ["and those before", nextChange(only, 0, 0, 2, -1), 0],
  ["or none", nextChange(only, 0, 0, 2, 1), -1],
]);

const chain = modelOf([
  { run: "a", reads: { a: list(1, list(2, list(3, list(4, int(1))))) } },
  { run: "b", writes: true, reads: { b: list(4, int(7)) } },
]);
const { contentOf } = stateAt(chain, 1);
table("objects by themselves", [
  ["the latest reading of what is deep inside", valueText(contentOf(list(4)).value), "[7]"],
  ["which changed", contentOf(list(4)).changed, false],
  ["and is true", contentOf(list(4)).since, -1],
]);
