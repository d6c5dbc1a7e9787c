// Buttons of commands, their icons, and the names of keys.

import { html, memo } from "viewer/parts/html.js";
import { command } from "viewer/state/commands.js";

/** @type {Record<string, string>} */
const PATHS = {
  first: "M5 4v12M15 5l-7 5 7 5z",
  last: "M15 4v12M5 5l7 5-7 5z",
  back: "M12.5 4.5 7 10l5.5 5.5",
  forward: "M7.5 4.5 13 10l-5.5 5.5",
  over: "M3 11a7 6 0 0 1 13 0M16.5 6v5h-5M10 14.8v.4",
  backOver: "M17 11a7 6 0 0 0-13 0M3.5 6v5h5M10 14.8v.4",
  out: "M10 13V4M6 7.5 10 3.5l4 4M5 16.5h10",
  play: "M6 4.5l9 5.5-9 5.5z",
  pause: "M7 4.5v11M13 4.5v11",
  outline: "M4 5.5h12M4 10h12M4 14.5h8",
  search: "M9 4a5 5 0 1 1 0 10A5 5 0 0 1 9 4zM12.7 12.7 16.5 16.5",
  costs: "M4 16V9M8 16V4M12 16v-5M16 16V7",
  menu: "M4 9h2v2H4zM9 9h2v2H9zM14 9h2v2h-2z",
  close: "M5 5l10 10M15 5 5 15",
  auto: "M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM10 3.5v13M10 7h5.6M10 10h6.4M10 13h5.6",
  light:
    "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.8v1.7M10 16.5v1.7M1.8 10h1.7M16.5 10h1.7M4.2 4.2l1.2 1.2M14.6 14.6l1.2 1.2M15.8 4.2l-1.2 1.2M5.4 14.6l-1.2 1.2",
  dark: "M16 12.2A6.5 6.5 0 0 1 7.8 4a6.5 6.5 0 1 0 8.2 8.2z",
};

/** @param {{name: string}} properties */
export function Icon({ name }) {
  const size = { viewBox: "0 0 20 20", width: 20, height: 20 };
  return html`<svg class="icon-drawing" ...${size} aria-hidden="true">
    <path d=${PATHS[name]} />
  </svg>`;
}

/** @type {Record<string, string>} */
const KEY_NAMES = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
  PageUp: "Page up",
  PageDown: "Page down",
  Escape: "Esc",
};

/** A key as the help and the tooltips write it. @param {string} key */
export function keyName(key) {
  const shift = key.startsWith("Shift+") && key.length > 6;
  const name = shift ? key.slice(6) : key;
  return `${shift ? "Shift " : ""}${KEY_NAMES[name] ?? name}`;
}

/** What a control of a command says of it. @param {Pick<Command, "title" | "keys">} command */
function hint({ title, keys }) {
  return `${title} (${keys.map(keyName).join(", ")})`;
}

/** @param {{id: string, children?: any, class?: string, pressed?: boolean}} properties */
export const CommandButton = memo(({ id, children, class: name = "", pressed }) => {
  const { keys, title, label, run } = command(id);
  const text = hint({ title, keys });
  return html`<button
    class=${`command ${name}`}
    data-command=${id}
    data-key=${keys.join(" ")}
    title=${text}
    aria-label=${title}
    aria-pressed=${pressed}
    onClick=${run}
  >
    ${children ?? (id in PATHS ? html`<${Icon} name=${id} />` : label)}
  </button>`;
});

/**
 * A switch: a few choices of which one holds. The key of its command goes on from one to the next.
 * @param {{
 *   id: string,
 *   name: string,
 *   choices: Record<string, string>,
 *   chosen: string,
 *   choose: (value: any) => void,
 *   class?: string,
 * }} properties name: what is chosen; choices: what each is called, by its value
 */
export function Switch({ id, name, choices, chosen, choose, class: style = "" }) {
  const { keys, title } = command(id);
  // Who points at a choice goes on reading: arrow keys are to move the page, not the switch.
  const point = (/** @type {MouseEvent} */ event, /** @type {string} */ value) => {
    if (/** @type {Element} */ (event.target).matches("input")) return;
    event.preventDefault();
    choose(value);
  };
  return html`<div
    class=${`command modes ${style}`}
    role="radiogroup"
    aria-label=${name}
    data-command=${id}
    data-key=${keys.join(" ")}
    title=${hint({ title, keys })}
  >
    ${Object.entries(choices).map(
      ([value, label]) =>
        html`<label key=${value} onClick=${(/** @type {any} */ event) => point(event, value)}>
          <input
            class="visually-hidden"
            type="radio"
            name=${id}
            checked=${value === chosen}
            onChange=${() => choose(value)}
          />
          <span class=${value === chosen ? "on" : ""}>${label}</span>
        </label>`,
    )}
  </div>`;
}
