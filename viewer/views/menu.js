// What else the page can do, each with its key. Fetched when it is opened.

import { keyName } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { COMMANDS } from "viewer/state/commands.js";
import { density, dialog } from "viewer/state/state.js";
import { theme } from "viewer/state/theme.js";

/** What is chosen of the ways that take turns. @type {Record<string, Signal<string>>} */
const CHOSEN = { density, theme };

/** What commands are called here; their titles say the rest. @type {Record<string, string>} */
const NAMES = {
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

/** The menu; commands that stand in the table of keys with `menu`. */
export function Menu() {
  const run = (/** @type {Command} */ command) => {
    dialog.value = "";
    command.run();
  };
  return html`<ul class="menu">
    ${COMMANDS.filter(({ menu }) => menu).map(
      (command) =>
        html`<li>
          <button
            data-command=${command.id}
            data-key=${command.keys.join(" ")}
            title=${command.title}
            onClick=${() => run(command)}
          >
            <span>${NAMES[command.id] ?? command.title}</span>
            ${CHOSEN[command.id] && html`<em class="quiet">${CHOSEN[command.id].value}</em>`}
            ${command.keys.slice(0, 1).map((key) => html`<kbd>${keyName(key)}</kbd>`)}
          </button>
        </li>`,
    )}
  </ul>`;
}
