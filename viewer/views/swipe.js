// Fingers on slides: a swipe goes further or back, and so does a tap at an edge. Fetched when a
// presentation starts.

/** How far a finger moves at least, in pixels, and how much more to the side than up or down. */
const FAR = 40;
const SIDEWAYS = 1.5;

/** How far a finger moves at most in a tap, in pixels. */
const STILL = 8;

/** How wide an edge is, as a part of the screen. */
const EDGE = 0.15;

/** What a finger is for something else on. */
const OWN = "a, button, input, select, textarea, summary, label, .beside-line.is-cut";

/** Whether something here is moved to the side itself. @param {Element} element */
function isMovable(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement) {
    const isWide = at.scrollWidth > at.clientWidth + 1;
    if (at.matches("[type=range]")) return true;
    if (isWide && /auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
  }
  return false;
}

/**
 * Which way a finger leads.
 * @param {{clientX: number, clientY: number}} from
 * @param {{clientX: number, clientY: number}} to
 * @param {boolean} isOwn whether a tap there is for something else
 * @returns {1 | -1 | 0}
 */
function directionOf(from, to, isOwn) {
  const [across, down] = [to.clientX - from.clientX, to.clientY - from.clientY];
  const far = Math.abs(across);
  if (far >= FAR && far >= SIDEWAYS * Math.abs(down)) return across < 0 ? 1 : -1;
  if (isOwn || Math.hypot(across, down) > STILL) return 0;
  if (to.clientX > (1 - EDGE) * innerWidth) return 1;
  return to.clientX < EDGE * innerWidth ? -1 : 0;
}

/**
 * Attend to fingers on slides.
 * @param {(direction: 1 | -1) => void} go
 * @returns {() => void} ends it
 */
export function attendToFingers(go) {
  /** @type {Touch | null} */
  let begun = null;
  const begin = (/** @type {TouchEvent} */ { touches, target }) => {
    const isFree = touches.length === 1 && (visualViewport?.scale ?? 1) < 1.01;
    const isOfSlide = target instanceof Element && target.closest(".slide, .slide-blank");
    begun = isFree && isOfSlide && !isMovable(target) ? touches[0] : null;
  };
  const end = (/** @type {TouchEvent} */ event) => {
    const [touch] = event.changedTouches;
    if (!begun || !touch || !(event.target instanceof Element)) return;
    const direction = directionOf(begun, touch, event.target.closest(OWN) !== null);
    begun = null;
    if (!direction) return;
    event.preventDefault(); // no click follows
    go(direction);
  };
  addEventListener("touchstart", begin, { passive: true });
  addEventListener("touchend", end, { passive: false });
  return () => {
    removeEventListener("touchstart", begin);
    removeEventListener("touchend", end);
  };
}
