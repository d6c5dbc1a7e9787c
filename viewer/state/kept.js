// What the browser keeps of the reader's choices. It is there before anything is painted, so it
// imports nothing.

const THEME = "lecture-theme";

/** @returns {string | null} the theme that was chosen last, if any */
export function keptTheme() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null; // storage may be forbidden
  }
}

/** @param {Theme} theme */
export function keepTheme(theme) {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // Storage may be forbidden; the theme then lasts as long as the page.
  }
}
