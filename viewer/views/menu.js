// What else the page can do, each with its key. Fetched when it is opened.

import { WHOLE } from "viewer/model/book.js";
import { keyName } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { COMMANDS } from "viewer/state/commands.js";
import {
  current,
  density,
  dialog,
  mode,
  page,
  presenting,
  proseShown,
  speed,
  variablesShown,
} from "viewer/state/state.js";
import { theme } from "viewer/state/theme.js";

const shown = (/** @type {boolean} */ isShown) => (isShown ? "shown" : "hidden");

/** What is chosen of the ways that take turns. @type {Record<string, () => string>} */
const CHOSEN = {
  speed: () => `${speed.value}×`,
  notes: () => shown(proseShown.value !== "none"),
  raw: () => (proseShown.value === "raw" ? "on" : "off"),
  variables: () => shown(variablesShown.value),
  density: () => density.value,
  whole: () => (page.value === WHOLE ? "all" : "one"),
  path: () => (current().leftOut.size > 0 ? "short" : "all"),
  theme: () => theme.value,
};

/** Where the bar of Step has no room for these, they stand here. */
const OF_BAR = ["speed", "notes", "raw", "variables"];

/** What commands are called here; their titles say the rest. @type {Record<string, string>} */
const NAMES = {
  speed: "Speed of playing",
  notes: "Prose",
  raw: "Prose as written",
  variables: "Variables",
  density: "Beside code",
  legend: "Beside code, explained",
  whole: "One chapter or all",
  path: "Short path or all",
  asking: "Claims to predict",
  glossary: "Glossary",
  progress: "Your answers",
  costs: "Costs",
  present: "Present as slides",
  print: "Print or save PDF",
  theme: "Light or dark",
  help: "Keys",
};

/** The commands that the menu has now: those that stand in the table of keys with `menu`. */
function commandsNow() {
  const isStepping = mode.value === "step" && !presenting.value;
  const isNarrow = matchMedia("(max-width: 60rem)").matches;
  const ofBar = COMMANDS.filter(({ id }) => isStepping && isNarrow && OF_BAR.includes(id));
  const own = (/** @type {Command} */ { where }) => where === "any" || where === mode.value;
  return [...ofBar, ...COMMANDS.filter((command) => command.menu && own(command))];
}

/** The menu. */
export function Menu() {
  const run = (/** @type {Command} */ command) => {
    dialog.value = "";
    command.run();
  };
  return html`<ul class="menu">
    ${commandsNow().map(
      (command) =>
        html`<li>
          <button
            data-command=${command.id}
            data-key=${command.keys.join(" ")}
            title=${command.title}
            onClick=${() => run(command)}
          >
            <span>${NAMES[command.id] ?? command.title}</span>
            ${CHOSEN[command.id] && html`<em class="quiet">${CHOSEN[command.id]()}</em>`}
            ${command.keys.slice(0, 1).map((key) => html`<kbd>${keyName(key)}</kbd>`)}
          </button>
        </li>`,
    )}
  </ul>`;
}
