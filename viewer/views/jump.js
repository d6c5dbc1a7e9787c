// The way to a slide by its number: digits, then Enter. Fetched when a presentation starts.

import { signal } from "@preact/signals";
import { html } from "viewer/parts/html.js";
import { command } from "viewer/state/commands.js";
import { slides } from "viewer/state/slides.js";
import { dialog } from "viewer/state/state.js";

/** The digits that are typed; null where none are asked for. */
export const typed = signal(/** @type {string | null} */ (null));

/**
 * Take a key, if it is of a number.
 * @param {KeyboardEvent} event
 * @param {(slide: number) => void} show
 */
export function onNumber(event, show) {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  const isField = target instanceof HTMLElement && /INPUT|TEXTAREA|SELECT/.test(target.nodeName);
  // A clicker goes on from a field, too; Escape leaves it.
  if (isField && (/^Page/.test(key) || (key === "Escape" && !dialog.value))) {
    target.blur();
    if (key === "Escape") event.stopImmediatePropagation();
    else command(key === "PageDown" ? "slideForward" : "slideBack").run();
    return event.preventDefault();
  }
  if (ctrlKey || metaKey || altKey || dialog.value || isField) return;
  const number = typed.value;
  if (/^\d$/.test(key)) typed.value = ((number ?? "") + key).slice(0, 5);
  else if (number === null) return;
  else if (key === "Backspace") typed.value = number.slice(0, -1);
  else {
    typed.value = null;
    if (key === "Enter" && number) show(Number(number) - 1);
    else if (key !== "Enter" && key !== "Escape") return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** What is typed, and where it leads. */
export function Jump() {
  if (typed.value === null) return null;
  const all = slides();
  const aim = all[Number(typed.value) - 1];
  return html`<p class="slide-jump" role="status">
    Slide <b>${typed.value || "…"}</b> of ${all.length}${aim && `: ${aim.title}`}
    <kbd>Enter</kbd>
  </p>`;
}
