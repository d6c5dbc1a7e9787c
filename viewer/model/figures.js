// Figures: pictures that the article shows, with numbers in the order of its text. Pure.

import { pageOfStep } from "viewer/model/book.js";
import { activationOf, statementOf, stepsBefore } from "viewer/model/run.js";
import { isFigure } from "viewer/model/values.js";

/** How a figure of the prose begins that has a number already. */
const NUMBERED = /<figcaption>\s*\*\*Figure \d/;

/** @type {WeakMap<Section[], Map<string, number>>} */
const known = new WeakMap();

/** A line draws one figure of a name, however often a loop comes by. */
const keyOf = (
  /** @type {Model} */ model,
  /** @type {number} */ step,
  /** @type {string} */ name,
) => `${activationOf(model, step)} ${statementOf(model, step)} ${name}`;

/**
 * Pictures of all sections, counted anew in each chapter. What runs within an expression is no part
 * of the text, and has none.
 * @param {Model} model
 * @param {Section[]} all
 * @param {Chapter[]} chapters
 */
function counted(model, all, chapters) {
  const { inspections, values, names, files } = model.document;
  const shown = new Set(all.map(({ activation }) => activation));
  /** @type {Map<string, number>} */
  const numbers = new Map();
  if (files.some(({ prose }) => prose.some(({ text }) => NUMBERED.test(text)))) return numbers;
  /** @type {Map<number, number>} */
  const counts = new Map();
  inspections.value.forEach((value, row) => {
    if (value === null || !isFigure(values[value])) return;
    const step = stepsBefore(model, inspections.event[row]);
    const key = keyOf(model, step, names[inspections.name[row]]);
    if (numbers.has(key) || !shown.has(activationOf(model, step))) return;
    const page = pageOfStep(chapters, step);
    counts.set(page, (counts.get(page) ?? 0) + 1);
    numbers.set(key, counts.get(page) ?? 0);
  });
  return numbers;
}

/**
 * What a picture is called: `Figure 7.3` in chapter 7, `Figure 3` where there are no chapters, or
 * empty where it has no number.
 * @param {{model: Model, all: Section[], chapters: Chapter[]}} lecture all of it, shown or not
 * @param {number} step
 * @param {string} name of the value
 */
export function figureName({ model, all, chapters }, step, name) {
  const numbers = known.get(all) ?? counted(model, all, chapters);
  known.set(all, numbers);
  const number = numbers.get(keyOf(model, step, name));
  if (!number) return "";
  const chapter = pageOfStep(chapters, step);
  return `Figure ${chapter ? `${chapter}.` : ""}${number}`;
}

/** @param {string} text of an SVG */
function plain(text) {
  const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => entities[/** @type {"lt"} */ (name)])
    .trim();
}

/**
 * What a picture says about itself, unless the drawing has it, too.
 * @param {Value} value
 * @returns {string}
 */
export function captionOf({ vega, svg = "" }) {
  if (vega) return titleOf(vega.title ?? "");
  const title = plain(/<svg[^>]*>\s*<title>([^<]*)<\/title>/.exec(svg)?.[1] ?? "");
  const drawn = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
  return plain(drawn.join(" ")).includes(title) ? "" : title;
}

/** @param {any} title of a chart, of one line or several, and what stands below it */
function titleOf(title) {
  const { text, subtitle } = typeof title === "string" ? { text: title, subtitle: "" } : title;
  const lines = (/** @type {unknown} */ part) =>
    [part].flat().filter((line) => typeof line === "string");
  return [lines(text).join(" "), lines(subtitle).join(" ")].filter(Boolean).join(". ");
}
