// What else the page can do, each with its key. Fetched when it is opened.

import { html, keyName } from "viewer/html.js";
import { COMMANDS } from "viewer/keys.js";
import { dialog } from "viewer/store.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
.menu { list-style: none; margin: 0; padding: 0; }
.menu button { display: flex; align-items: center; gap: 0.75rem; width: 100%; padding: 0.55rem 0.4rem; border-radius: var(--radius); }
.menu button:hover { background: var(--raised-more); }
.menu kbd { margin-left: auto; padding: 0.05rem 0.4rem; border: 1px solid var(--line-strong); border-bottom-width: 2px; border-radius: 4px; font-size: 0.75rem; background: var(--raised); }
.panel-menu { width: min(30rem, calc(100vw - 2rem)); }
`);

/** The menu; commands that stand in the table of keys with `menu`. */
export function Menu() {
  const run = (/** @type {Command} */ command) => {
    dialog.value = "";
    command.run();
  };
  return html`<ul class="menu">${COMMANDS.filter(({ menu }) => menu).map((command) => html`<li><button data-command=${command.id} data-key=${command.keys.join(" ")} title=${command.title} onClick=${() => run(command)}><span>${command.title}</span>${command.keys.slice(0, 1).map((key) => html`<kbd>${keyName(key)}</kbd>`)}</button></li>`)}</ul>`;
}
