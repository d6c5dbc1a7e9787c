// Going to a step, and the address that follows.

import { batch } from "@preact/signals";
import { placeOfStep, readHash, stepOfPlace, writeHash } from "viewer/model/places.js";
import { clamp } from "viewer/model/stepping.js";
import {
  chosenFrame,
  current,
  dialog,
  focus,
  loaded,
  mode,
  notice,
  step,
} from "viewer/state/state.js";

const HASH_DELAY = 400;
const READING_DELAY = 500;
let hashTimer = 0;

/** The address as it was last read or written. */
let address = "";

/**
 * Go where the address says, or else to the failure or the start. A link to no function that there
 * is leads nowhere; what is not there is said.
 */
export function goToHash() {
  const { mode: wanted, at } = readHash(location.hash);
  const { model, document } = current();
  const named = at ? stepOfPlace(model, at) : -1;
  const isLink = /^#[^=]+$/.test(location.hash);
  notice.value = at && named < 0 ? `There is no “${at}” in this lecture.` : "";
  if (isLink && named < 0 && address) return put("replaceState", address);
  const failed = document.failure ? document.failure.step : -1;
  batch(() => {
    if (!isLink) mode.value = wanted;
    step.value = clamp(model, named >= 0 ? named : Math.max(failed, 0));
    chosenFrame.value = -1;
    focus.value = { step: named };
  });
  address = location.hash;
  if (isLink) writeAddress("replaceState");
}

/** When the reader last went to a step, and for how many milliseconds one then expects more. */
let moved = 0;
const REST = 500;

/** Settled while the reader rests. */
export async function rested() {
  while (performance.now() - moved < REST)
    await new Promise((resolve) => setTimeout(resolve, REST));
}

/**
 * Show a step. The address follows at once when the reader jumped, and a moment later while
 * stepping.
 * @param {number} target
 * @param {{jump?: boolean, to?: "read" | "step"}} [options]
 */
export function goTo(target, { jump = false, to = mode.value } = {}) {
  moved = performance.now();
  batch(() => {
    notice.value = "";
    step.value = clamp(current().model, target);
    chosenFrame.value = -1;
    mode.value = to;
    if (jump) focus.value = { step: step.value };
  });
  clearTimeout(hashTimer);
  if (jump) writeAddress("pushState");
  else hashTimer = setTimeout(() => writeAddress("replaceState"), HASH_DELAY);
}

/** Leave the panel for a step. @param {number} target */
export function leaveTo(target) {
  dialog.value = "";
  goTo(target, { jump: true });
}

/**
 * Let the address name what is being read, once the reader rests there.
 * @param {number} target a step
 */
export function noteReading(target) {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(
    () => loaded.value && mode.value === "read" && writeAddress("replaceState", target),
    READING_DELAY,
  );
}

/** @param {"pushState" | "replaceState"} write @param {number} [target] a step */
function writeAddress(write, target = step.value) {
  const { name, model } = current();
  put(write, writeHash({ doc: name, mode: mode.value, at: placeOfStep(model, target) }));
}

/** @param {"pushState" | "replaceState"} write @param {string} hash */
function put(write, hash) {
  address = hash;
  try {
    if (hash !== location.hash) history[write](null, "", hash);
  } catch {
    // A page opened as a file may not write its address; it works without.
  }
}
