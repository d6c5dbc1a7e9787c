// What a panel leads to in the article where that is not the line of a step: found once it is laid
// out. Fetched with the panels.

import { activationOf } from "viewer/model/run.js";
import { current } from "viewer/state/state.js";

/** Lines of a block that is marked as a whole. */
const SHORT = 4;

/** The row of a table of words or letters. @param {string} term @returns {Find} */
export function rowOf(term) {
  const isOf = (/** @type {Element} */ cell) =>
    /^(letter|term)$/i.test(cell.closest("table")?.querySelector("th")?.textContent ?? "") &&
    (cell.querySelector("annotation") ?? cell).textContent?.trim() === term;
  return () => {
    const cells = [...document.querySelectorAll("#article td:first-child")];
    return cells.find(isOf)?.parentElement ?? null;
  };
}

/** The heading of a chapter where all are one page. @param {Chapter} chapter @returns {Find} */
export function headingOf({ label, title }) {
  return () => {
    const headings = [...document.querySelectorAll("#article :is(h2, h3)")];
    return headings.find((one) => one.textContent?.trim() === `${label}. ${title}`) ?? null;
  };
}

/**
 * A line of code, in what a step's call shows. What is folded is opened for it.
 * @param {number} step
 * @param {{file: number, line: number}} at
 * @returns {Find}
 */
export function lineOf(step, { file, line }) {
  return () => {
    const block = blockOf(step, file, line);
    if (!block) return null;
    const lines = block.querySelectorAll(".source-line");
    const isWhole = block.matches(".line[data-first]") && lines.length <= SHORT;
    return opened(isWhole ? block : lines[indexIn(block, file, line)]);
  };
}

/** The block of code that holds a line: that of the step, or else of its call.
 * @param {number} step @param {number} file @param {number} line */
function blockOf(step, file, line) {
  const own = document.getElementById(`activation-${activationOf(current().model, step)}`);
  const place = own ?? document.getElementById("article");
  const blocks = /** @type {HTMLElement[]} */ ([
    ...(place?.querySelectorAll(`.line[data-file="${file}"], [data-definition^="${file}:"]`) ?? []),
  ]).filter((block) => block.querySelectorAll(".source-line")[indexIn(block, file, line)]);
  const isOfStep = (/** @type {HTMLElement} */ { dataset: { step: at, steps = "" } }) =>
    [at, ...steps.split(" ")].includes(`${step}`);
  const isShared = (/** @type {HTMLElement} */ { dataset }) => dataset.definition !== undefined;
  return blocks.find(isOfStep) ?? (own ? blocks[0] : blocks.find(isShared));
}

/** Which of the lines that a block shows it is, or -1; hidden ones are not shown.
 * @param {HTMLElement} block @param {number} file @param {number} line */
function indexIn({ dataset }, file, line) {
  const first = Number(dataset.first ?? dataset.definition?.split(":")[1]);
  const { hidden } = current().document.files[file];
  let index = -1;
  for (let at = first; at <= line; at++)
    if (at === first || !hidden.some(([from, to]) => from <= at && at <= to)) index++;
  return index;
}

/** An element in what is folded, which is opened; but a solution stays as the reader has it.
 * @param {Element} element */
function opened(element) {
  const solution = element.closest(".solution:not([open])");
  if (solution) return solution.querySelector("summary");
  for (let at = element.closest("details"); at; at = at.parentElement?.closest("details") ?? null)
    at.open = true;
  return element;
}
