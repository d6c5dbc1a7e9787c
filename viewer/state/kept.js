// What the browser keeps of the reader's choices. It is there before anything is painted, so it
// imports nothing.

const PREFIX = "lecture-";

/** @param {string} choice such as `theme` @returns {string | null} what was chosen last, if any */
export function kept(choice) {
  try {
    return localStorage.getItem(PREFIX + choice);
  } catch {
    return null; // storage may be forbidden
  }
}

/** @param {string} choice @param {string} chosen */
export function keep(choice, chosen) {
  try {
    localStorage.setItem(PREFIX + choice, chosen);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}
