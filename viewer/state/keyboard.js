// Keys -> commands.

import { COMMANDS } from "viewer/state/commands.js";
import {
  definitions,
  dialog,
  docked,
  loaded,
  mode,
  playing,
  presenting,
  query,
} from "viewer/state/state.js";

/** @param {KeyboardEvent} event */
export function onKey(event) {
  const target = /** @type {Element} */ (event.target);
  if (event.altKey || event.isComposing || !loaded.value) return;
  if (target.matches("input:not([type=range], [type=radio]), textarea, select, [contenteditable]"))
    return;
  const pressesControl =
    [" ", "Enter"].includes(event.key) && target.closest("button, a, summary, input");
  const moves =
    (/^(Arrow|Page|Home|End)/.test(event.key) && target.matches("input[type=range]")) ||
    (event.key.startsWith("Arrow") && target.matches("input[type=radio]"));
  const scrolls =
    (/^Arrow(Up|Down)/.test(event.key) && target.closest(".beside")) ||
    (/^Arrow(Left|Right)/.test(event.key) && target.matches(".slice"));
  if (pressesControl || moves || scrolls) return;
  if (dialog.value === "search" && isSearched(event)) return event.preventDefault();
  const named = event.key.length > 1 || event.key === " ";
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const key = `${control}${event.shiftKey && named ? "Shift+" : ""}${event.key}`;
  const found = COMMANDS.find((command) => command.keys.includes(key) && isOpen(command));
  if (!found) return;
  const closes = found.id === "close";
  // A dialog that is there closes by itself, and gives the focus back.
  if (closes && document.querySelector("dialog[open]")) return;
  const isOpened = dialog.value || docked.value || definitions.value.length > 0;
  if (!closes || isOpened) event.preventDefault();
  if (found.id !== "play") playing.value = false;
  found.run();
}

/** Whether a key reaches a command; over the page that is what a dialog offers.
 * @param {Command} command */
function isOpen({ id, where, menu }) {
  const isOfDialog = id === "close" || id === "print" || id === dialog.value;
  if (dialog.value) return isOfDialog || (dialog.value === "menu" && menu === true);
  return where === "any" || where === (presenting.value ? "present" : mode.value);
}

/**
 * Whether a key is of the search, whose field is not there yet or has lost the focus to a result:
 * letters go to the field, and none is a command.
 * @param {KeyboardEvent} event
 */
function isSearched({ key, ctrlKey, metaKey }) {
  if (ctrlKey || metaKey || (key.length > 1 && key !== "Backspace" && key !== "Enter"))
    return false;
  if (key === "Backspace") query.value = query.value.slice(0, -1);
  if (key.length === 1) query.value += key;
  /** @type {HTMLElement | null} */ (document.querySelector(".search-field"))?.focus();
  return true;
}
