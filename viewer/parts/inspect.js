// Ways from a value to the inspector.

import { html } from "viewer/parts/html.js";
import { unlessClosed } from "viewer/state/toggles.js";

/**
 * Open the inspector.
 * @param {Event} event
 * @param {Value} value
 * @param {string} name
 * @param {"value" | "history"} [view]
 */
export async function inspect({ currentTarget: place }, value, name, view) {
  const open = await unlessClosed(async () => (await import("viewer/state/inspecting.js")).inspect);
  open?.(/** @type {Element} */ (place), value, name, view);
}

/**
 * A button that opens it.
 * @param {{value: Value, name: string, view?: "history", children: any}} properties
 */
export function Inspect({ value, name, view, children }) {
  return html`<button
    class=${view ? "value-name" : "inspect"}
    tabindex=${view && value.shape ? -1 : 0}
    title=${view ? "Its values over the run" : "Inspect this tensor"}
    onClick=${(/** @type {Event} */ event) => inspect(event, value, name, view)}
  >
    ${children}
  </button>`;
}
