// The elements of a tensor lead where its name does: into the inspector. Fetched with the card, and
// so maybe after the first press.

import { presenting } from "viewer/state/state.js";

/** @param {Event} event */
function lead({ target }) {
  if (presenting.value || !(target instanceof Element) || !target.closest(".grid")) return;
  const tensor = target.closest(".tensor");
  /** @type {HTMLElement | null | undefined} */ (tensor?.querySelector(".inspect"))?.click();
}

const beginning = performance.now();
addEventListener("click", lead);

/** What the reader pressed before this was there. @param {Event} event */
export function leadLate(event) {
  if (event.type === "click" && event.timeStamp < beginning) lead(event);
}
