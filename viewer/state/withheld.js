// What gives an answer away waits until the reader has given one, or asks to see it. The rules
// of it come where a lecture asks something.

import { signal } from "@preact/signals";
import { asks } from "viewer/state/answers.js";

/** Until they are there nothing is shown. */
const waiting = () => "rules";
const NOT_YET = { keyOfProse: waiting, keyOfValue: waiting, keyOfClaim: waiting, reveal() {} };

/** @type {Signal<any>} */
const rules = signal(NOT_YET);

/** Fetch them. */
export async function fetchRules() {
  rules.value = await import("viewer/state/spoiling.js");
}

/** Whether something is asked, and they are not there yet. */
export function lacksRules() {
  return asks.value && rules.value === NOT_YET;
}

/**
 * Whether prose gives away what a claim in the code right below it asks for.
 * @param {ProseBlock} prose
 * @param {Block[]} blocks among which it is
 * @param {Map<number, number>} ran the last step of each statement that ran
 * @returns {string} empty, or by which it is revealed
 */
export function proseWithheld(prose, blocks, ran) {
  const { keyOfProse } = rules.value;
  return asks.value ? keyOfProse(prose, blocks, ran) : "";
}

/**
 * Whether a picture or a value that a step shows gives away what its section asks for.
 * @param {number} step
 * @param {Named} shown
 * @returns {string} empty, or by which it is revealed
 */
export function valueWithheld(step, shown) {
  const { keyOfValue } = rules.value;
  return asks.value ? keyOfValue(step, shown) : "";
}

/**
 * Whether a claim that is not asked gives away what its section asks for.
 * @param {number} row of the claims
 * @returns {string} empty, or by which it is revealed
 */
export function claimWithheld(row) {
  const { keyOfClaim } = rules.value;
  return asks.value ? keyOfClaim(row) : "";
}

/** @param {string} what its key */
export function reveal(what) {
  const { reveal: show } = rules.value;
  show(what);
}
