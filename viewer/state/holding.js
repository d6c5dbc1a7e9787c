// Keeps a place of the article where it is on the screen while the page is laid out around it.

/** Milliseconds for which a place is held once all around it is laid out. */
const HOLD = 1500;

/** What the reader does to take the page over. */
const TAKEN_OVER = ["wheel", "keydown", "pointerdown", "touchstart"];

/** Ends what holds the place. */
let held = new AbortController();
held.abort();

/** Whether what is to be held was laid out since. */
let isFound = true;

/** Whether it was not: a key that is pressed before does not take the page over. */
export function isSeeking() {
  return isHolding() && !isFound;
}

/** Whether scrolling is not the reader's now. */
export function isHolding() {
  return !held.signal.aborted;
}

/** Whether the article, or a part of it, is still to be fetched or laid out. */
function isComing() {
  const article = document.getElementById("article");
  if (!article) return false;
  return !article.querySelector(".section") || article.querySelector(".waiting") !== null;
}

/** Hold nothing any more. */
export function letGo() {
  held.abort();
}

/**
 * Scroll so that an element stands where it is wanted, also where the article ends too soon.
 * @param {Element} element
 * @param {number} offset pixels by which it stands too low
 */
function scrollInto(element, offset) {
  const left = document.documentElement.scrollHeight - innerHeight - scrollY;
  const article = /** @type {HTMLElement | null} */ (element.closest("#article"));
  if (article && offset > left) {
    const padding = parseFloat(getComputedStyle(article).paddingBottom);
    article.style.paddingBottom = `${Math.ceil(padding + offset - left)}px`;
  }
  scrollBy({ top: offset, behavior: "instant" });
}

/**
 * Keep an element where it is wanted until the page has settled, or the reader does something.
 * @param {() => {element: Element, top: number} | null} find the element that is wanted, which may
 *   be another as the article is laid out, and its place from the top of the window
 */
export function hold(find) {
  held.abort();
  const current = new AbortController();
  held = current;
  isFound = false;
  const stop = () => current.abort();
  const takeOver = () => isFound && stop();
  for (const event of TAKEN_OVER)
    addEventListener(event, takeOver, { signal: current.signal, passive: true });
  let end = 0;
  let before = { element: /** @type {Element | null} */ (null), scrolled: 0, place: 0 };
  const keep = () => {
    if (current.signal.aborted) return;
    if (!end || isComing()) end = performance.now() + HOLD;
    const found = performance.now() < end ? find() : null;
    if (!found) return end && performance.now() < end ? again() : stop();
    isFound = true;
    const { element, top } = found;
    const at = element.getBoundingClientRect().top;
    // What has moved on the screen but not within the page, somebody has scrolled.
    const isSame = element === before.element && Math.abs(at + scrollY - before.place) < 1;
    if (isSame && Math.abs(scrollY - before.scrolled) > 1) return stop();
    if (Math.abs(at - top) >= 1) scrollInto(element, at - top);
    const place = element.getBoundingClientRect().top + scrollY;
    before = { element, scrolled: scrollY, place };
    again();
  };
  const again = () => void requestAnimationFrame(keep);
  keep();
}
