// Light, dark or what the system says; remembered where the browser allows it.

import { signal } from "@preact/signals";

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @type {Theme[]} */
const THEMES = ["auto", "light", "dark"];
const KEY = "lecture-theme";

/** @type {import("@preact/signals").Signal<Theme>} */
export const theme = signal("auto");
/** Counts changes of the colours that are on the screen; charts draw again. */
export const colours = signal(0);

/** Take up the remembered theme and follow the system. */
export function startTheme() {
  try {
    apply(THEMES.find((name) => name === localStorage.getItem(KEY)) ?? "auto");
  } catch {
    apply("auto");
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours.value++);
}

/** Go to the next theme. */
export function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  apply(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage may be forbidden; the theme then lasts as long as the page.
  }
}

/** @param {Theme} name */
function apply(name) {
  theme.value = name;
  document.documentElement.dataset.theme = name;
  colours.value++;
}

/** The colour that a custom property has now, as `rgb(...)`. @param {string} property @returns {string} */
export function colourOf(property) {
  const probe = document.createElement("span");
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
