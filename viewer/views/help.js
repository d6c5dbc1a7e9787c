// The table of keys.

import { keyName } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { COMMANDS } from "viewer/state/commands.js";
import { mode, presenting } from "viewer/state/state.js";

/** @type {[Command["where"], string][]} */
const GROUPS = [
  ["any", "Everywhere"],
  ["read", "In Read"],
  ["step", "In Step"],
  ["present", "While presenting"],
];

/** @param {{where: Command["where"], title: string}} properties */
function Keys({ where, title }) {
  const own = COMMANDS.filter((command) => command.where === where);
  return html`<table class="keys">
    <caption>${title}</caption>
    <tbody>
      ${own.map(
        ({ keys, title: told }) =>
          html`<tr>
            <td>
              ${keys.map((key) => html`<kbd>${keyName(key)}</kbd>`)}
            </td>
            <td>${told}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** The tables of keys, first those of what the reader is doing. */
export function Help() {
  const here = presenting.value ? "present" : mode.value;
  const groups = [
    ...GROUPS.filter(([where]) => where === here),
    ...GROUPS.filter(([where]) => where !== here),
  ];
  return html`<div class="key-tables">
      ${groups.map(([where, title]) => html`<${Keys} ...${{ where, title }} />`)}
    </div>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>
  `;
}
