// Where the article stands: the step at the top of the window, and bringing a step into view.

/** Height that the fixed bar covers, with some air. */
const COVERED = 72;

/**
 * The step of the first line on the screen; the preferred one if its line is on the screen too.
 * @param {number} preferred
 * @returns {number} -1 when no line is there
 */
export function firstVisibleStep(preferred) {
  const lines = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#article [data-step]")]);
  const visible = lines.filter((line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return bottom > COVERED && top < innerHeight;
  });
  const found = visible.find((line) => Number(line.dataset.step) === preferred) ?? visible[0];
  return found ? Number(found.dataset.step) : -1;
}

/** @param {string} selector @returns {boolean} whether it is there */
export function bringIntoView(selector) {
  const element = document.querySelector(selector);
  if (!element) return false;
  element.classList.add("aimed");
  element.addEventListener("animationend", () => element.classList.remove("aimed"), { once: true });
  const { top, bottom } = element.getBoundingClientRect();
  if (top < COVERED || bottom > innerHeight) scrollTo({ top: scrollY + top - innerHeight / 4, behavior: "instant" });
  return true;
}

/** Scroll one pane so that an element of it is well inside. @param {HTMLElement} pane @param {HTMLElement} element */
export function keepInside(pane, element) {
  const top = element.offsetTop;
  const margin = Math.min(120, pane.clientHeight / 4);
  if (top < pane.scrollTop + margin || top + element.offsetHeight > pane.scrollTop + pane.clientHeight - margin)
    pane.scrollTo({ top: top - pane.clientHeight / 3, behavior: "instant" });
}
