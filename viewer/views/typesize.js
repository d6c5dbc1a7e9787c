// How large the type of a slide is: of one with code as large as that of any other, so that nothing
// changes from slide to slide; of words alone as large as it can be without more pages or words
// below the screen than at its usual size. Fetched when a presentation starts.

import { broughtTo } from "viewer/views/atoms.js";
import { forget, raise, settle } from "viewer/views/lone.js";
import { arrange, letterSize, pagesOf } from "viewer/views/paging.js";
import { brokenIn, fitAll, keepWhole } from "viewer/views/spread.js";

/** Sizes of type, in the usual one: few, so that slides look alike. */
const SCALES = [1, 1.2, 1.4];

/** Room below the pages, for the bar, and what margins may differ by; in the size of letters. */
const BELOW = 2.4;

const root = document.documentElement;

/** @param {number} letter */
const lastLine = (letter) => innerHeight - BELOW * letter;

/** Show the values of the page that is shown, as many as find room, and a question that stands
 * nearly alone larger. @param {HTMLElement} body @param {boolean} isWhole whether all of the page
 * is shown at once */
export function fitPage(body, isWhole) {
  settle(body);
  const last = lastLine(letterSize());
  fitAll(body, last);
  if (isWhole) raise(body, last);
}

/** How much larger than usual the type of the slide is that is shown. */
export function scaleNow() {
  return Number(root.style.getPropertyValue("--scale")) || 1;
}

/**
 * Show the first page of another slide.
 * @param {HTMLElement} body
 * @param {DOMRect} screen that it is shown on
 */
export function layOutFirst(body, screen) {
  const bottom = screen.bottom - BELOW * letterSize();
  arrange(pagesOf(body, bottom - body.getBoundingClientRect().top, [], []), 0, undefined);
  fitAll(body, bottom);
}

/** Back to the type of the page. */
export function resetSize() {
  root.style.removeProperty("--scale");
}

/**
 * @param {HTMLElement} body
 * @param {number} size which of the scales
 * @param {HTMLElement[][]} known pages whose cut is kept
 * @param {HTMLElement[]} late figures that are on none of them
 * @returns {{pages: HTMLElement[][], broken: number, cut: number}}
 */
function layOutAt(body, size, known, late) {
  root.style.setProperty("--scale", String(SCALES[size]));
  const letter = letterSize();
  const { top } = body.getBoundingClientRect();
  const room = Math.max(8 * letter, lastLine(letter) - top);
  const pages = pagesOf(body, room, known, late);
  return { pages, broken: brokenIn(body), cut: cutOf(pages, top, room) };
}

/**
 * How much of the first page lies below the screen: the title and its first words, which stay
 * together at any size of type.
 * @param {HTMLElement[][]} pages @param {number} top @param {number} room
 */
function cutOf(pages, top, room) {
  const bottom = pages[0]?.at(-1)?.getBoundingClientRect().bottom ?? top;
  return Math.max(0, Math.round(bottom - top - room));
}

/** Whether a slide shows code, or asks about it. A solution that nobody has opened does not count.
 * @param {HTMLElement} body */
function showsCode(body) {
  const found = [...body.querySelectorAll(".line, .question")];
  return found.some((line) => !line.closest("details:not([open])"));
}

/** The size of a slide's type. While it stays on the screen it only becomes smaller, unless the
 * screen becomes another one: nothing jumps when a round of a loop is chosen. With an answer, what
 * waited for it comes, and stands where there is room on the pages as they are, smaller if that
 * spares a page; a figure that waited above the question has a page of its own after the answer. */
export class TypeSize {
  constructor() {
    forget();
    this.most = SCALES.length - 1;
    this.screen = "";
    this.asked = this.questions = 0;
    /** @type {HTMLElement[][]} */
    this.pages = [];
    /** @type {HTMLElement[][]} */
    this.known = [];
    /** @type {{figure: HTMLElement, after: HTMLElement}[]} */
    this.late = [];
    /** What was answered on the page that is shown. @type {HTMLElement | undefined} */
    this.answer = undefined;
  }

  /**
   * @param {HTMLElement} body
   * @param {HTMLElement[][]} before the pages so far
   * @param {number} shown which of them
   * @returns {HTMLElement[][]} pages
   */
  layOut(body, before, shown) {
    settle(body);
    const screen = `${innerWidth} ${innerHeight}`;
    const questions = body.querySelectorAll(".question").length;
    const asked = body.querySelectorAll(".question, .veiled").length;
    if (screen !== this.screen) [this.most, this.known, this.late] = [SCALES.length - 1, [], []];
    else if (asked < this.asked) {
      this.known = this.pages;
      keepWhole(body);
    }
    if (this.known.length && questions < this.questions) this.take(body, before, shown);
    else if (this.answer && !before[shown]?.includes(this.answer)) this.answer = undefined;
    [this.screen, this.asked, this.questions] = [screen, asked, questions];
    this.pages = this.largest(body);
    return this.withLate();
  }

  /** Note what an answer brought. @param {HTMLElement} body @param {HTMLElement[][]} before
   * @param {number} shown */
  take(body, before, shown) {
    const { answer, figures } = broughtTo(body, before, shown);
    this.answer = answer;
    if (answer) this.late.push(...figures.map((figure) => ({ figure, after: answer })));
  }

  /** The pages, and what has one of its own. @returns {HTMLElement[][]} */
  withLate() {
    return this.pages.flatMap((page) => {
      const own = this.late.filter(({ after }) => page.includes(after));
      return [page, ...own.map(({ figure }) => [figure])];
    });
  }

  /** @param {HTMLElement} body @returns {HTMLElement[][]} pages */
  largest(body) {
    if (showsCode(body)) this.most = 0;
    const late = this.late.map(({ figure }) => figure);
    const usual = layOutAt(body, 0, this.known, late);
    const isMore = this.known.length > 0 && usual.pages.length > this.known.length;
    if (isMore) return layOutAt(body, this.most, this.known, late).pages;
    let [good, found, shown] = [0, usual.pages, 0];
    for (let [low, high] = [1, this.most]; low <= high;) {
      const middle = Math.ceil((low + high) / 2);
      const larger = layOutAt(body, middle, this.known, late);
      shown = middle;
      const fits =
        larger.pages.length <= usual.pages.length &&
        larger.broken <= usual.broken &&
        larger.cut <= usual.cut;
      if (fits) [good, found, low] = [middle, larger.pages, middle + 1];
      else high = middle - 1;
    }
    this.most = good;
    return shown === good ? found : layOutAt(body, good, this.known, late).pages;
  }
}
