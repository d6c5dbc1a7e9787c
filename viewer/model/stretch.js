// What a timeline reaches over, and what stands on it. Pure.

import { callStack } from "viewer/model/frames.js";
import { activationOf, functionOf, stepRange } from "viewer/model/run.js";
import { headingOf, sectionOfStep } from "viewer/model/sections.js";

/**
 * The steps that a timeline reaches over: of the run, or of the section or the call around a step.
 * Between sections it is the chapter: who steps on from one to the next keeps the scale.
 * A step whose calls have ended is reached with the last of these.
 * @param {Model} model
 * @param {Section[]} sections
 * @param {[step: number, reached: number]} stop
 * @param {"run" | "section" | "call"} reach
 * @param {Band[]} chapters
 * @returns {Span & {title: string, isChapter?: boolean}}
 */
export function stretchOf(model, sections, [step, reached], reach, chapters) {
  if (reach === "call") {
    const activation = activationOf(model, step);
    const [first, beyond] = stepRange(model, activation);
    return { first, beyond, title: functionOf(model, activation).name };
  }
  const whole = { first: 0, beyond: model.steps, title: "" };
  if (reach === "run") return whole;
  const section = sectionOfStep(sections, step);
  return section && section.depth > 0
    ? { first: section.first, beyond: section.beyond, title: nameOf(model, section) }
    : (chapterAround(chapters, reached) ?? whole);
}

/** @param {Band[]} chapters @param {number} step */
function chapterAround(chapters, step) {
  const around = chapters.findLast(({ first }) => first <= step);
  if (!around) return undefined;
  const { first, beyond, title } = around;
  return { first, beyond, title, isChapter: true };
}

/** @param {Model} model @param {Section} section */
function nameOf(model, { activation }) {
  return headingOf(functionOf(model, activation));
}

/**
 * The chapters or sections that stand on a stretch, one beside the other: the outermost of which
 * there is more than one.
 * @param {Model} model
 * @param {Section[]} sections
 * @param {Span} stretch
 * @param {Band[]} chapters
 * @returns {Band[]}
 */
export function bandsOf(model, sections, { first, beyond }, chapters) {
  const isWhole = first === 0 && beyond === model.steps;
  if (isWhole && chapters.length)
    return chapters.map(({ number, title, first, beyond }) => ({ number, title, first, beyond }));
  const inside = sections.filter(
    (section) => section.depth > 0 && first <= section.first && section.beyond <= beyond,
  );
  const around = inside.find((section) => section.first === first && section.beyond === beyond);
  const below = inside.filter((section) => section !== around);
  const depth = Math.min(...below.map((section) => section.depth));
  return below
    .filter((section) => section.depth === depth)
    .map((section) => ({
      number: 0,
      title: nameOf(model, section),
      first: section.first,
      beyond: section.beyond,
    }));
}

/**
 * How many calls are open along a stretch, above the fewest: at so many places, equally far apart.
 * @param {Model} model
 * @param {Span} stretch
 * @param {number} places at most
 * @returns {number[]}
 */
export function depthsOf(model, { first, beyond }, places) {
  const count = Math.min(places, beyond - first);
  const open = Array.from({ length: count }, (_, place) => {
    const at = first + Math.floor((place * (beyond - first)) / count);
    return callStack(model, at).length;
  });
  const fewest = Math.min(...open);
  return open.map((depth) => depth - fewest);
}
