// The table of keys.

import { keyName } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { COMMANDS } from "viewer/state/commands.js";
import { mode } from "viewer/state/state.js";

/** The table of keys. */
export function Help() {
  const rows = (/** @type {Command["where"]} */ where) =>
    COMMANDS.filter((command) => command.where === where).map(
      ({ keys, title }) =>
        html`<tr>
          <td>
            ${keys.map((key) => html`<kbd>${keyName(key)}</kbd>`)}
          </td>
          <td>${title}</td>
        </tr>`,
    );
  return html`<div class="key-tables">
    <table class="keys">
      <caption>Everywhere</caption>
      <tbody>${rows("any")}</tbody>
    </table>
    <table class="keys">
      <caption>In Read</caption>
      <tbody>${rows("read")}</tbody>
    </table>
    <table class=${`keys ${mode.value === "read" ? "dimmed" : ""}`}>
      <caption>In Step</caption>
      <tbody>${rows("step")}</tbody>
    </table>
    <table class="keys">
      <caption>While presenting</caption>
      <tbody>${rows("present")}</tbody>
    </table>
    </div>
    <p class="quiet">In Step, a click on a line number runs to that line.</p>
  `;
}
