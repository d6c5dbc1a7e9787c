// Gives what stands on a slide the room that is free: code is broken only where the slide ends,
// values stand beside it where they find room, and else below their line; words have the width of
// the slide where nothing stands beside them. Asks the laid out page where everything is.

import { fit, fitAgain, restore } from "viewer/parts/margin.js";

/** What may differ without being seen, in pixels. */
const SLACK = 4;

/** Between code and the values beside it, in the size of letters. */
const GAP = 1.2;

/** What becomes as wide as a slide: words, questions, and what is folded. */
const WORDS = ".prose > *, .question, .veiled, .answered, .folded-body > .line";

/** How little room values are given before they are cut, in the size of letters. */
const NARROWEST = 12;

/** Between code and the mark of its claim. */
const MARK = 0.7;

/** Where the letters of code end, and the mark behind them. */
const DRAWN = ".line .source-line, .line > .held-mark";

/** What a slide is given is taken from it before it is laid out anew. @param {HTMLElement} root */
export function gather(root) {
  for (const piece of root.querySelectorAll(".wide, .below, .opened"))
    piece.classList.remove("wide", "below", "opened");
  /** @type {NodeListOf<HTMLElement>} */
  const placed = root.querySelectorAll(".placed, .line > .held-mark");
  for (const place of placed) release(place);
}

/** @param {HTMLElement} place */
function release(place) {
  place.classList.remove("placed");
  place.style.left = place.style.width = place.style.marginTop = "";
  delete place.dataset.room;
}

/** Values that an audience has seen whole below their line. @type {WeakSet<Element>} */
const wholeBefore = new WeakSet();

/** What is whole now is not cut later. @param {HTMLElement} root */
export function keepWhole(root) {
  for (const place of root.querySelectorAll(".beside-line.below")) wholeBefore.add(place);
}

/** @param {HTMLElement} root @param {number} [end] where values have to end on the screen */
export function fitAll(root, end) {
  for (const section of root.querySelectorAll(".section")) fit(section, end);
}

/** @param {HTMLElement} root @param {number} letter the size of one, in pixels
 * @param {boolean} isKept whether values that are wider than their room are cut, not moved
 * @returns {Places} what stands beside code */
export function spread(root, letter, isKept) {
  const lines = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".line")]);
  const { left, right } = root.getBoundingClientRect();
  const starts = lines.map((line) => line.getBoundingClientRect().left - left);
  lines.forEach((line, index) => line.style.setProperty("--start", `${starts[index]}px`));
  for (const line of lines) line.classList.add("wide");
  for (const line of lines) moveMark(line, letter);
  const all = /** @type {HTMLElement[]} */ ([
    ...root.querySelectorAll(".beside-line, .row-line > .scrubber"),
  ]);
  const places = all
    .filter((place) => getComputedStyle(place).position === "absolute")
    .map((place) => ({ place, ...wholeSize(place) }));
  fitAll(root);
  putAll(places, { root, places, right, letter, isKept });
  widen([...root.querySelectorAll(WORDS)], places);
  return places;
}

/** Once more, when it is known what stands on other pages.
 * @param {HTMLElement[][]} pages @param {Places} places */
export function widenPages(pages, places) {
  for (const page of pages) {
    const own = places.filter(({ place }) => page.some((piece) => piece.contains(place)));
    widen(
      page.filter((piece) => piece.matches(WORDS)),
      own,
    );
  }
}

/** The mark of a claim stands where the code ends.
 * @param {HTMLElement} line @param {number} letter */
function moveMark(line, letter) {
  const mark = /** @type {HTMLElement | null} */ (line.querySelector(":scope > .held-mark"));
  const code = line.querySelector(".source-line");
  if (!mark || !code || getComputedStyle(mark).right === "0px") return;
  const end = code.getBoundingClientRect().right - line.getBoundingClientRect().left;
  mark.style.left = `${end + MARK * letter}px`;
}

/** Show values whole, in front of what stands around them. @param {HTMLElement} place */
export function openValues(place) {
  restore(place);
  place.classList.add("opened", "placed");
  const over = place.getBoundingClientRect().bottom - innerHeight + SLACK;
  if (over > 0) place.style.marginTop = `${-over}px`;
}

/** @param {HTMLElement} place */
export function closeValues(place) {
  place.classList.remove("opened");
  place.style.marginTop = "";
  const section = place.closest(".section");
  if (section) fitAgain(section);
}

/** How high values are, and how wide they have to be, that are not cut.
 * @param {HTMLElement} place */
function wholeSize(place) {
  if (place.matches(".beside-line")) restore(place);
  const column = place.getBoundingClientRect();
  // Words can break, a row of numbers cannot.
  const isRigid = place.matches(".scrubber") || place.querySelector(".slices") !== null;
  return { height: column.height, width: widthOf(place, isRigid ? Infinity : column.width) };
}

/**
 * With the size that they have whole.
 * @typedef {{place: HTMLElement, height: number, width: number}[]} Places
 */

/**
 * From where to where a place takes room: what was cut may show more where what is below it stands
 * on another page.
 * @param {HTMLElement} place
 * @param {number} height
 * @param {Places} places
 */
function reachOf(place, height, places) {
  const { top, bottom } = place.getBoundingClientRect();
  const { room } = place.dataset;
  if (room) return { top, bottom: top + Math.min(height, Number(room)) };
  if (!place.classList.contains("is-cut")) return { top, bottom };
  const below = places
    .filter(({ place: other }) => !other.classList.contains("below"))
    .map(({ place: other }) => other.getBoundingClientRect().top)
    .filter((other) => other > top + SLACK);
  return { top, bottom: Math.min(top + height, ...below) };
}

/** @param {{top: number, bottom: number}} one @param {{top: number, bottom: number}} other */
function areBeside(one, other) {
  return one.top < other.bottom - SLACK && other.top < one.bottom - SLACK;
}

/** How wide a place has to be. @param {HTMLElement} place @param {number} most */
function widthOf(place, most) {
  place.style.width = "max-content";
  const { width } = place.getBoundingClientRect();
  place.style.width = "";
  return Math.min(width + 1, most);
}

/**
 * What goes below its line frees room beside it, which values above then take: so all that still
 * stand beside code are put once more, until none goes below.
 * @param {Places} all @param {Parameters<typeof put>[2]} slide
 */
function putAll(all, slide) {
  let left = all;
  for (let before = -1; left.length !== before;) {
    before = left.length;
    for (const { place } of left) release(place);
    for (const { place, ...size } of left) put(place, size, slide);
    fitAll(slide.root);
    left = left.filter(({ place }) => !place.classList.contains("below"));
  }
}

/**
 * Put values, or the slider of a loop, where the lines beside them end, or below their own.
 * @param {HTMLElement} place
 * @param {{height: number, width: number}} size
 * @param {{root: HTMLElement, places: Places, right: number, letter: number,
 *   isKept: boolean}} slide
 */
function put(place, { height, width }, slide) {
  const { root, places, right, letter, isKept } = slide;
  const isSlider = place.matches(".scrubber");
  const row = /** @type {HTMLElement} */ (place.closest(".row-line"));
  const isPassed = isSlider && row.querySelector(".beside-line:not(.below)") !== null;
  if (isPassed || (isKept && wholeBefore.has(place))) return place.classList.add("below");
  const reach = reachOf(place, height, places);
  const drawn = [...root.querySelectorAll(DRAWN)].map((code) => code.getBoundingClientRect());
  const boxes = drawn.filter((box) => areBeside(reach, box));
  const column = place.getBoundingClientRect();
  const origin = /** @type {HTMLElement} */ (place.offsetParent ?? row).getBoundingClientRect();
  const usual = row.getBoundingClientRect().right + (isSlider ? 0.5 : 2.5) * letter;
  const from = Math.max(usual, ...boxes.map((box) => box.right + GAP * letter));
  if (from + width > right) {
    // What is said of a value may break, before the value is cut.
    const isRoomy = isKept && !isSlider && right - from >= NARROWEST * letter;
    const grown = { top: reach.top, bottom: reach.top + heightAt(place, right - from) };
    const isFree = drawn.every((box) => box.right <= from || !areBeside(grown, box));
    if (isRoomy && isFree) return stand(place, from - origin.left, right - from);
    const tooLong = boxes.filter((box) => box.right + GAP * letter + width > right);
    const room = Math.min(...tooLong.map(({ top }) => top)) - reach.top;
    if (!isKept || isSlider || room < 2 * SLACK || room >= height)
      return place.classList.add("below");
    place.dataset.room = String(room);
    return put(place, { height: room, width }, slide);
  }
  stand(place, from - origin.left, Math.min(Math.max(width, column.width), right - from));
}

/** @param {HTMLElement} place @param {number} left @param {number} width */
function stand(place, left, width) {
  place.classList.add("placed");
  [place.style.left, place.style.width] = [`${left}px`, `${width}px`];
}

/** How high a place is in so little room; where something sticks out, no height is enough.
 * @param {HTMLElement} place @param {number} width */
function heightAt(place, width) {
  if (width <= 0) return Infinity;
  place.style.width = `${width}px`;
  const { scrollWidth, clientWidth, scrollHeight } = place;
  place.style.width = "";
  return scrollWidth > clientWidth ? Infinity : scrollHeight;
}

/**
 * Let words that have nothing beside them use that room. They become lower, not higher, so nothing
 * comes to stand beside them by that.
 * @param {Element[]} all
 * @param {Places} places
 */
function widen(all, places) {
  const taken = places
    .filter(({ place }) => !place.classList.contains("below"))
    .map(({ place, height }) => reachOf(place, height, places));
  const free = all.filter((words) => {
    const box = words.getBoundingClientRect();
    return !taken.some((reach) => areBeside(reach, box));
  });
  for (const words of free) words.classList.add("wide");
}

/** How many lines of code are broken. @param {HTMLElement} root @returns {number} */
export function brokenIn(root) {
  const shown = [...root.querySelectorAll(".line .source-line")].filter(
    (line) => !line.closest("details:not([open])"),
  );
  return shown.filter((line) => {
    const height = Number.parseFloat(getComputedStyle(line).lineHeight);
    return line.getBoundingClientRect().height > 1.5 * height;
  }).length;
}
