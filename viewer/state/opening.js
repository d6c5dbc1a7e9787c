// A document that came: checked, computed from once, shown; or a sentence in its place.

import { batch } from "@preact/signals";
import { checked, DocumentError } from "viewer/model/check.js";
import { costMeter } from "viewer/model/costs.js";
import { buildModel } from "viewer/model/replay.js";
import { sectionsOf } from "viewer/model/sections.js";
import { goToHash, isShortWanted } from "viewer/state/address.js";
import { MAX_SIZE } from "viewer/state/fetching.js";
import { shownOf } from "viewer/state/path.js";
import {
  current,
  definitions,
  docked,
  laidOut,
  loaded,
  pinned,
  problem,
} from "viewer/state/state.js";

/**
 * What was measured has come for the document that is shown: nothing else of the page changes.
 * @param {Lecture} document all of it
 * @param {Times | null} times
 */
export function complete(document, times) {
  const before = current();
  const model = { ...before.model, document, changes: new Map() };
  loaded.value = { ...before, document, model, times, cost: costMeter(document.costs) };
}

/**
 * @param {string} name of the document
 * @param {any} parsed undefined where it is no JSON
 * @param {Times | null} [times]
 */
export function open(name, parsed, times = null) {
  try {
    const document = checked(parsed);
    const model = buildModel(document);
    const shown = shownOf(model, sectionsOf(model), isShortWanted());
    batch(() => {
      laidOut.value = new Set();
      pinned.value = -1;
      docked.value = "";
      definitions.value = [];
      loaded.value = {
        name,
        times,
        document,
        model,
        cost: costMeter(document.costs),
        ...shown,
      };
      problem.value = "";
      goToHash();
    });
  } catch (error) {
    if (!(error instanceof DocumentError)) console.warn(error);
    fail(
      error instanceof DocumentError
        ? error.message
        : "This document cannot be shown; record it again.",
    );
  }
}

/** @param {string} sentence */
export function fail(sentence) {
  batch(() => {
    loaded.value = null;
    problem.value = sentence;
  });
}

/** Throw when a document is too large to be shown. @param {number} size of its text */
export function checkSize(size) {
  if (size > MAX_SIZE)
    throw new DocumentError(
      `This document has ${Math.round(size / 1e6)} MB, and this viewer shows at most ` +
        `${MAX_SIZE / 1e6}. Record fewer steps, with --max-steps 1000000.`,
    );
}
