// Buttons of the command table.

import { html } from "viewer/html.js";
import { Icon, hasIcon } from "viewer/icons.js";
import { command } from "viewer/keys.js";

/** @type {Record<string, string>} */
const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", " ": "Space", PageUp: "Page up", PageDown: "Page down", Escape: "Esc" };

/** A key as the help and the tooltips write it. @param {string} key */
export function keyName(key) {
  const shift = key.startsWith("Shift+") && key.length > 6;
  const name = shift ? key.slice(6) : key;
  return `${shift ? "Shift " : ""}${KEY_NAMES[name] ?? name}`;
}

/** @param {{id: string, children?: any, class?: string, pressed?: boolean}} properties */
export function CommandButton({ id, children, class: name = "", pressed }) {
  const { keys, title, label, run } = command(id);
  const text = `${title} (${keys.map(keyName).join(", ")})`;
  return html`<button class=${`command ${name}`} data-command=${id} data-key=${keys.join(" ")} title=${text} aria-label=${title} aria-pressed=${pressed} onClick=${run}>${children ?? (hasIcon(id) ? html`<${Icon} name=${id} />` : label)}</button>`;
}
