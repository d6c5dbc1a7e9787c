// What the reader answered, and of which claims one is asked. Kept in this browser, sent nowhere.

import { computed, signal } from "@preact/signals";
import { activationOf, functionOf } from "viewer/model/run.js";
import { keep, kept } from "viewer/state/kept.js";
import { current, loaded, printing } from "viewer/state/state.js";

/**
 * @type {Signal<Asking>}
 */
const asking = signal(chosenAsking(kept("asking")));

/** @param {string | null} name @returns {Asking} */
function chosenAsking(name) {
  return name === "all" || name === "none" ? name : "marked";
}

/** Whether anything is asked of the reader of this lecture. */
export const asks = computed(() => {
  const assertions = loaded.value?.document.assertions ?? [];
  return asking.value !== "none" && assertions.some((one) => one.predict || asking.value === "all");
});

/** The answers to each lecture that was looked at. @type {Signal<Record<string, Replies>>} */
const answers = signal({});

/** The answers of the reader by the key of the question. @returns {Replies} */
export function answersHere() {
  const { name } = current();
  return answers.value[name] ?? (answers.value[name] = read(name));
}

/** @param {string} name @returns {Replies} */
function read(name) {
  try {
    return JSON.parse(kept(`answers-${name}`) ?? "{}");
  } catch {
    return {}; // somebody else wrote it
  }
}

/** @param {string} key @param {Reply | null} answer null: it is taken back */
export function answer(key, answer) {
  const { name } = current();
  const { [key]: _, ...others } = answersHere();
  const own = answer ? { ...others, [key]: answer } : others;
  answers.value = { ...answers.value, [name]: own };
  keep(`answers-${name}`, JSON.stringify(own));
}

/** Forget all answers to this lecture. */
export function forget() {
  const { name } = current();
  answers.value = { ...answers.value, [name]: {} };
  keep(`answers-${name}`, "{}");
}

/** Ask about the marked claims, about all that have a number, or about none. */
export function changeAsking() {
  const next = /** @type {const} */ ({ marked: "all", all: "none", none: "marked" });
  asking.value = next[asking.value];
  keep("asking", asking.value);
}

/**
 * By which the answer to a claim is kept: it outlives changes elsewhere in the lecture.
 * @param {number} row of the claims
 */
export function keyOf(row) {
  const { model, document } = current();
  const { name } = functionOf(model, activationOf(model, document.claims.step[row]));
  return `${name}: ${assertionOf(row)?.text}`;
}

/** @param {number} row of the claims */
export function assertionOf(row) {
  const { model, document } = current();
  return document.assertions[model.assertionOf.get(document.claims.statement[row]) ?? -1];
}

/** Whether the reader is asked and has not answered yet. @param {number} row of the claims */
export function isPending(row) {
  return isAsked(row) && !answersHere()[keyOf(row)];
}

/**
 * Whether the reader is asked before a claim is shown, or was.
 * @param {number} row of the claims
 */
export function isAsked(row) {
  if (asking.value === "none" || printing.value || !loaded.value) return false;
  const { claims, values } = current().document;
  const assertion = assertionOf(row);
  if (!assertion || claims.held[row] !== true) return false;
  if (assertion.predict) return true;
  const [first] = (claims.operands[row] ?? []).filter((value) => value !== null);
  return (
    asking.value === "all" &&
    assertion.text.includes("==") &&
    typeof values[first ?? -1]?.value === "number"
  );
}
