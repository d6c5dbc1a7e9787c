// Figures: pictures that the article shows, with numbers in the order of its text. Pure.

import { pageOfStep } from "viewer/model/book.js";
import { activationOf, statementOf, stepsBefore } from "viewer/model/run.js";
import { isFigure } from "viewer/model/values.js";

/** How a figure of the prose begins that has a number already. */
const NUMBERED = /<figcaption>\s*\*\*Figure \d/;

/**
 * @typedef {{number: number, chapter: number, caption: string}} Figure
 * @type {WeakMap<Section[], Map<string, Figure>>}
 */
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
  /** @type {Map<string, Figure>} */
  const figures = new Map();
  if (files.some(({ prose }) => prose.some(({ text }) => NUMBERED.test(text)))) return figures;
  /** @type {Map<number, number>} */
  const counts = new Map();
  inspections.value.forEach((value, row) => {
    if (value === null || !isFigure(values[value])) return;
    const step = stepsBefore(model, inspections.event[row]);
    const key = keyOf(model, step, names[inspections.name[row]]);
    if (figures.has(key) || !shown.has(activationOf(model, step))) return;
    const chapter = pageOfStep(chapters, step);
    const number = (counts.get(chapter) ?? 0) + 1;
    counts.set(chapter, number);
    figures.set(key, { number, chapter, caption: captionOf(values[value]) });
  });
  return figures;
}

/** @param {Lecture} lecture */
function figuresOf({ model, all, chapters }) {
  const figures = known.get(all) ?? counted(model, all, chapters);
  known.set(all, figures);
  return figures;
}

/**
 * All of it, shown or not.
 * @typedef {{model: Model, all: Section[], chapters: Chapter[]}} Lecture
 */

/**
 * What a picture is called: `Figure 7.3` in chapter 7, `Figure 3` where there are no chapters, or
 * empty where it has no number.
 * @param {Lecture} lecture
 * @param {number} step
 * @param {string} name of the value
 */
export function figureName(lecture, step, name) {
  const found = figuresOf(lecture).get(keyOf(lecture.model, step, name));
  if (!found) return "";
  return `Figure ${found.chapter ? `${found.chapter}.` : ""}${found.number}`;
}

/**
 * Whether another figure of the chapter has the same caption.
 * @param {Lecture} lecture
 * @param {number} step
 * @param {string} name of the value
 */
export function isSaidTwice(lecture, step, name) {
  const figures = figuresOf(lecture);
  const own = figures.get(keyOf(lecture.model, step, name));
  const alike = [...figures.values()].filter(
    ({ chapter, caption }) => chapter === own?.chapter && caption === own.caption,
  );
  return alike.length > 1;
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
