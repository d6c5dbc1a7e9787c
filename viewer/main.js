// Wiring: address -> document -> page; keys.

import { effect } from "@preact/signals";
import { render } from "preact";
import { titleOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { readAddress, rested } from "viewer/state/address.js";
import { command, COMMANDS, ofView } from "viewer/state/commands.js";
import { onKey } from "viewer/state/keyboard.js";
import { followScrolling } from "viewer/state/layout.js";
import { followAddress, start as openLibrary } from "viewer/state/library.js";
import { course, loaded, page } from "viewer/state/state.js";
import { fetchArticle } from "viewer/views/articles.js";
import { App } from "viewer/views/page.js";

/** Milliseconds after which panels are fetched, to open at once. */
const LATER = 2000;

/** What a reader points at is told, and what is copied is the code: fetched when there is one who
 * does something. @param {Event} event */
async function followReader(event) {
  // The server may have ended; what is there works on.
  fetchArticle().catch(() => {});
  import("viewer/views/names.js").catch(() => {});
  import("viewer/views/copier.js").catch(() => {});
  try {
    (await import("viewer/views/card.js")).attend(event);
  } catch {}
}

/** Start the page. */
async function start() {
  document.getElementById("not-served")?.remove();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
  addEventListener("keydown", onKey);
  addEventListener("hashchange", followAddress);
  followScrolling();
  const { at, chapter, whole, present } = readAddress();
  if (at || chapter || whole) fetchArticle().catch(() => {});
  // The first press may come as soon as there is something to press.
  addEventListener("click", followReader, { once: true, passive: true });
  await openLibrary();
  if (present) command("present").run?.();
  for (const event of ["pointermove", "wheel", "touchstart", "scroll", "keydown"])
    addEventListener(event, followReader, { once: true, passive: true });
  setTimeout(() => rested().then(() => import("viewer/views/panels.js")), LATER);
}

// What views do is no part of the table of commands: it stands below them.
command("present").run = async () => (await import("viewer/views/present.js")).start();
command("print").run = async () => (await import("viewer/views/print.js")).printPage();

command("nextLine").run = async () => (await import("viewer/views/card.js")).showNext(1);
command("previousLine").run = async () => (await import("viewer/views/card.js")).showNext(-1);

// Ways through a run come with Step; keys that are pressed before wait for them, in their order.
for (const { id } of COMMANDS.filter(({ where, run }) => where === "step" && run === ofView))
  command(id).run = async () => {
    await import("viewer/state/moves.js");
    command(id).run();
  };

effect(() => {
  const { title = "Executable lectures" } = course.value;
  const chapter = loaded.value?.book[page.value - 1]?.title;
  const name = loaded.value ? titleOf(loaded.value.model) : title;
  document.title = chapter ? `${chapter} · ${name}` : name;
});
start();
