// Questions that tests in Python ask of the viewer's pure modules, to compare the answers with what
// they know from elsewhere: from torch, from a replay of their own, from the lecture's table of
// facts. A question is a line of JSON, `[name, [argument, ...]]`; so is its answer.

import { createInterface } from "node:readline";
import { ACCELERATORS } from "viewer/model/accelerators.js";
import { bookOf, totalOf } from "viewer/model/book.js";
import { environmentAt } from "viewer/model/changes.js";
import { checked, DocumentError, withEmpty } from "viewer/model/check.js";
import { definitionsIn, paragraphsOf, standsAlone, withTable } from "viewer/model/glossary.js";
import { claimGroups } from "viewer/model/groups.js";
import { detailOf, differencesOf, pairsOf } from "viewer/model/compare.js";
import { costMeter, costText } from "viewer/model/costs.js";
import { planeOf, summaryOf } from "viewer/model/elements.js";
import { columnsOf, momentsOf } from "viewer/model/memory.js";
import { chainAt, resolve } from "viewer/model/names.js";
import { upgraded } from "viewer/model/older.js";
import { bookOfPath, onPath } from "viewer/model/path.js";
import { aliasesOf, foundRecord, historyOf } from "viewer/model/records.js";
import { buildModel } from "viewer/model/replay.js";
import { measuredPoints, reachedBy, timedPoints } from "viewer/model/roofline.js";
import { callStack } from "viewer/model/frames.js";
import { activationOf, endOf, eventOf, functionOf, statementOf } from "viewer/model/run.js";
import { claimsWithin, sectionsOf } from "viewer/model/sections.js";
import { slidesOf } from "viewer/model/slides.js";
import { stopAfter, stopBefore } from "viewer/model/stepping.js";
import { cellOf, cellsRead, layoutOf, readersOf, storageWords } from "viewer/model/storage.js";
import { tally } from "viewer/model/tally.js";
import { stateAt } from "viewer/model/variables.js";

/** @param {number} length @param {(index: number) => any} make */
const list = (length, make) => Array.from({ length }, (_, index) => make(index));

/**
 * What is asked for; arguments and answers are JSON.
 * @type {Record<string, (...all: any[]) => any>}
 */
const questions = {
  /** What each step is. */
  steps(document) {
    const model = buildModel(withEmpty(document));
    const { names, inspections } = document;
    return list(model.steps, (step) => ({
      event: eventOf(model, step),
      statement: statementOf(model, step),
      activation: activationOf(model, step),
      end: endOf(model, step),
      stack: callStack(model, step).map((frame) => frame.activation),
      known: Object.fromEntries(
        [...environmentAt(model, activationOf(model, step), endOf(model, step))].map(
          ([name, { row }]) => [names[name], inspections.value[row]],
        ),
      ),
    }));
  },

  /** Where one stops from the first step to the end, and on the way back. */
  stops(document) {
    const model = buildModel(withEmpty(document));
    /** @param {Stop} first @param {(model: Model, stop: Stop) => Stop | null} next */
    const walk = (first, next) => {
      const found = [];
      for (let stop = /** @type {Stop | null} */ (first); stop; stop = next(model, stop))
        found.push([stop.step, stop.isReturned]);
      return found;
    };
    const there = walk({ step: 0, isReturned: false }, stopAfter);
    const [step, isReturned] = /** @type {any[]} */ (there.at(-1));
    return { there, back: walk({ step, isReturned }, stopBefore) };
  },

  /** Sections in reading order, and the chapters they are in. */
  book(document) {
    const model = buildModel(checked(document));
    const sections = sectionsOf(model);
    return {
      sections: sections.map(({ activation, depth, parent }) => [activation, depth, parent]),
      chapters: bookOf(model, sections).map(({ number, title, name, about, sections: own }) => ({
        ...{ number, title, name, about },
        sections: own.map(({ activation }) => activation),
      })),
    };
  },

  /** What terms mean: of sections, each given as its title and its prose, and of a table. */
  definitions(sections, table) {
    const places = sections.map(
      (/** @type {any} */ [title, texts], /** @type {number} */ step) => ({
        ...{ title, step },
        paragraphs: texts.flatMap(paragraphsOf),
      }),
    );
    const rows = Object.entries(table).map(([term, text]) => ({ term, text, title: "", step: 0 }));
    return withTable(definitionsIn(places), rows).map((definition) => ({
      ...definition,
      isAlone: standsAlone(paragraphsOf(definition.text)[0][0]),
    }));
  },

  /** The short path: how long one reads, and claims and sections by the chapters that it keeps. */
  path(document) {
    const model = buildModel(checked(document));
    const all = sectionsOf(model);
    const { sections, leftOut } = onPath(model, all);
    const book = bookOfPath(model, sections, bookOf(model, all));
    return {
      minutes: totalOf(model, book).minutes,
      chapters: book.map((chapter) => ({
        label: chapter.label,
        claims: claimsWithin(model, chapter, leftOut).claims,
        sections: chapter.sections
          .filter(({ depth }) => depth === 1)
          .map(({ activation }) => functionOf(model, activation).name),
      })),
    };
  },

  /** Where a chain of names leads. */
  definition: (document, file, chain) => resolve(checked(document), file, chain),

  /** The chain of names at a column of a line. */
  chain: (text, column) => chainAt(text, column)?.chain ?? null,

  /** What Step shows of names at each step. */
  states(document) {
    const model = buildModel(checked(document));
    return list(model.steps, (step) => ({
      end: endOf(model, step),
      frames: stateAt(model, step).frames.map(({ activation, variables }) => ({
        activation,
        variables: variables.map(({ text, value, since, changed }) => ({
          ...{ text, value, since, changed },
        })),
      })),
    }));
  },

  /** Those of some texts that are taken for a document, or that break a check. */
  accepted(texts) {
    return texts.filter((/** @type {string} */ text) => {
      try {
        buildModel(checked(parsed(text)));
        return true;
      } catch (error) {
        return !(error instanceof DocumentError);
      }
    });
  },

  layout(value, indices) {
    const layout = layoutOf(value);
    if (!layout) return null;
    return {
      layout,
      cells: indices.map((/** @type {number[]} */ index) => cellOf(layout, index)),
      readers: list(layout.cells, (cell) => readersOf(layout, cell)),
      read: cellsRead(layout),
    };
  },

  /** The elements of planes: rows, columns, and where on the other axes. */
  planes(value, planes) {
    return planes.map((/** @type {[number, number, number[]]} */ [rows, columns, at]) =>
      planeOf(value, rows, columns, at).cells.map(({ index, cell }) => [index, cell]),
    );
  },

  summary: (value) => summaryOf(value),

  aliases(document, storage, step) {
    const found = aliasesOf(buildModel(withEmpty(document)), storage, step);
    return found.map((alias) => [alias.name, alias.step, alias.when]);
  },

  /** What is said of a value that is shown beside a step. */
  words(document, value, name, step) {
    const model = buildModel(withEmpty(document));
    const inner = value.path ? document.values[value.of].entries[0][1] : document.values[value.of];
    const found = foundRecord(model, { value: inner, name, steps: [step] });
    if (!found) return null;
    const aliases = aliasesOf(model, found.value.storage ?? -1, found.step);
    const shown = document.names[found.name] + found.path;
    return {
      name: shown,
      activation: found.activation,
      words: storageWords(found.value, shown, found.activation, aliases),
    };
  },

  /** What is said of a value by itself. */
  storageWords: (value, name, activation, aliases) =>
    storageWords(value, name, activation, aliases),

  /** Of each call, of each name: its records in the call, and in all calls of the function. */
  histories(document) {
    const model = buildModel(withEmpty(document));
    const history = (/** @type {[number, number, boolean]} */ ...of) =>
      historyOf(model, ...of).map(({ row, step, changed }) => [row, step, changed]);
    return list(model.activations, (activation) =>
      list(document.names.length, (name) =>
        [false, true].map((everywhere) => history(activation, name, everywhere)),
      ),
    );
  },

  /** For pairs of steps the calls that can be compared, and how their variables differ. */
  differences(document, pairs) {
    const model = buildModel(withEmpty(document));
    return pairs.map((/** @type {[number, number]} */ [before, after]) =>
      pairsOf(model, before, after).map((pair) => {
        const found = differencesOf(model, pair, before, after);
        return { ...pair, found: Object.fromEntries(found.map(({ name, kind }) => [name, kind])) };
      }),
    );
  },

  detail: (before, after) => detailOf(before, after),

  claimGroups(document, range) {
    const found = claimGroups(buildModel(withEmpty(document)), range);
    return found.map(({ statement, failed, rows }) => [statement, failed, rows]);
  },

  /** Each step takes one second. */
  tally(document, grouping, first, beyond, withCalls, withClaims) {
    const model = buildModel(checked(document));
    const seconds = (/** @type {number} */ from, /** @type {number} */ to) => to - from;
    const run = { model, sections: sectionsOf(model), seconds, withClaims };
    return tally(run, grouping, { first, beyond }, withCalls);
  },

  /** For each step with costs: its number, calls that were not counted, the text of the margin. */
  margins(document) {
    const { costs } = checked(document.version === 1 ? upgraded(document) : document);
    const cost = costMeter(costs);
    return [...new Set(costs?.step)].map((step) => {
      const sum = cost(step, step + 1);
      return [step, sum.uncounted, costText(sum)];
    });
  },

  /** The states of the memory, and columns of a part of the run. */
  memory(document, span, columns) {
    const moments = momentsOf(buildModel(checked(document)));
    const plain = (/** @type {MemoryState} */ { step, live, total }) => [step, live, total];
    return [moments.map(plain), columnsOf(moments, span, columns).map(plain)];
  },

  accelerators: () => ACCELERATORS,

  /** The best that lines reached, and lines with costs and seconds below it. */
  measured(document, seconds) {
    const model = buildModel(checked(document));
    const took = (/** @type {number} */ from, /** @type {number} */ to) =>
      seconds
        .slice(from, to)
        .reduce((/** @type {number} */ sum, /** @type {number} */ time) => sum + time, 0);
    const run = { model, sections: sectionsOf(model), seconds: took };
    const timed = timedPoints(tally(run, "line", { first: 0, beyond: model.steps }, false));
    const limits = reachedBy(timed);
    const labelOf = (/** @type {number} */ key) => ({ name: String(key), place: "" });
    return [limits, limits && measuredPoints(timed, labelOf, limits)];
  },

  /** How many sections are on slides of their own, how many there are, and headings alone. */
  slides(document) {
    const model = buildModel(checked(document));
    const sections = sectionsOf(model);
    const slides = slidesOf(model, sections);
    return [
      slides.filter(({ section }) => section?.depth === 1).length,
      sections.filter(({ depth }) => depth === 1).length,
      slides.filter(({ section }) => !section).map(({ title }) => title),
    ];
  },
};

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, given] = JSON.parse(line);
  let answer;
  try {
    answer = { found: questions[name](...given) ?? null };
  } catch (error) {
    answer = { error: error instanceof Error ? error.stack : String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
