// The reader's colours, and what they are on the screen.

import { signal } from "@preact/signals";
import { keep } from "viewer/state/kept.js";

/** @type {Signal<Theme>} */
export const theme = signal(/** @type {any} */ (document.documentElement.dataset.theme));

/** Counts changes of the colours that are on the screen; charts draw again. */
export const colours = signal(0);

/** Go to the next theme. */
export function nextTheme() {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto";
  document.documentElement.dataset.theme = theme.value;
  colours.value++;
  keep("theme", theme.value);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours.value++);

/**
 * What a colour of the style sheet is now, as `rgb(...)`.
 * @param {string} colour such as `var(--text)`
 */
export function colourOf(colour) {
  const probe = document.createElement("span");
  probe.style.color = colour;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
