// What opens and closes beside and over the page, and the change between Read and Step.

import { goTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import {
  claimsOf,
  definitions,
  dialog,
  docked,
  hasOutline,
  mode,
  outlineShown,
  presenting,
  query,
  step,
} from "viewer/state/state.js";

/** How often the reader asked to close something. */
let closings = 0;

/** The panel over the page, or else the one beside it. */
export function closePanel() {
  closings++;
  if (dialog.value) dialog.value = "";
  else if (definitions.value.length) definitions.value = [];
  else docked.value = "";
}

/**
 * What opens something; nothing if the reader asks to close it before it is there.
 * @template Open
 * @param {() => Promise<Open>} load
 * @returns {Promise<Open | null>}
 */
export async function unlessClosed(load) {
  const before = closings;
  const open = await load();
  return closings === before ? open : null;
}

/** Show the same place the other way. */
export function switchMode() {
  if (presenting.value) {
    presenting.value = false;
    return goTo(step.value, { jump: true, to: "step" });
  }
  if (mode.value === "step") return goTo(step.value, { jump: true, to: "read" });
  goTo(stepOfReader(), { jump: true, to: "step" });
}

/**
 * The outline is a panel beside a wide page, and a dialog over a narrow one or over a presentation.
 */
export function toggleOutline() {
  if (presenting.value || matchMedia("(max-width: 60rem)").matches) toggleDialog("outline");
  else outlineShown.value = !hasOutline();
}

/** Those of the chapter that is read. */
export function toggleClaims() {
  claimsOf.value = "";
  toggleDialog("claims");
}

/** @param {PanelName} name */
export function toggleDialog(name) {
  dialog.value = dialog.value === name ? "" : name;
}

/** Open the search, which begins empty, or close it. */
export function toggleSearch() {
  query.value = "";
  toggleDialog("search");
}
