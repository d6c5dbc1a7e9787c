// The rules of what gives an answer away, for `withheld.js`: by which key it is revealed.

import { signal } from "@preact/signals";
import { activationOf } from "viewer/model/run.js";
import { rows } from "viewer/model/sorted.js";
import { askedOf, claimTells, pictureTells, tells, valueTells } from "viewer/model/spoilers.js";
import { isPicture } from "viewer/model/values.js";
import { isAsked, isPending } from "viewer/state/answers.js";
import { current } from "viewer/state/state.js";

/** What the reader asked to see all the same. @type {Signal<Set<string>>} */
const revealed = signal(new Set());

/** @param {string} what its key */
export function reveal(what) {
  revealed.value = new Set(revealed.value).add(what);
}

/**
 * Whether a claim that is not answered yet is given away.
 * @param {number} row of the claims
 * @param {(asked: Asked) => boolean} isTold
 */
function spoils(row, isTold) {
  const asked = isPending(row) ? askedOf(current().model, row) : null;
  return asked !== null && isTold(asked);
}

/** @param {ProseBlock} prose */
const placeOf = ({ line, text }) => `${line} ${text}`;

/**
 * Whether prose gives away what a claim in the code right below it asks for.
 * @param {ProseBlock} prose
 * @param {Block[]} blocks among which it is
 * @param {Map<number, number>} ran the last step of each statement that ran
 * @returns {string} empty, or by which it is revealed
 */
export function keyOfProse(prose, blocks, ran) {
  const key = placeOf(prose);
  const below = blocks.slice(blocks.indexOf(prose) + 1);
  const end = below.findIndex(({ kind }) => kind === "prose");
  const isTold = below
    .slice(0, end < 0 ? below.length : end)
    .flatMap((block) => (block.kind === "code" ? block.statements : []))
    .flatMap((statement) => ran.get(statement) ?? [])
    .flatMap((step) => rows(current().model.claimsOf, step))
    .some((row) => spoils(row, (asked) => tells(prose.text, asked)));
  return isTold && !revealed.value.has(key) ? key : "";
}

/**
 * Claims by the call in which they were made: of each statement the last.
 * @type {WeakMap<Model, Map<number, Map<number, number>>>}
 */
const known = new WeakMap();

/** @param {number} activation @returns {number[]} rows of the claims of one call */
function claimsIn(activation) {
  const { model, document } = current();
  const { step, statement } = document.claims;
  const found = known.get(model) ?? new Map();
  if (!found.size)
    for (const [row, own] of statement.entries()) {
      const call = activationOf(model, step[row]);
      if (!found.has(call)) found.set(call, new Map());
      found.get(call).set(own, row);
    }
  known.set(model, found);
  return [...(found.get(activation)?.values() ?? [])];
}

/**
 * Whether a picture or a value that a step shows gives away what its section asks for.
 * @param {number} step
 * @param {Named} shown
 * @returns {string} empty, or by which it is revealed
 */
export function keyOfValue(step, shown) {
  const key = `${step} ${shown.name}`;
  const isDrawn = isPicture(shown.value);
  const isTold = claimsIn(activationOf(current().model, step)).some((row) =>
    spoils(row, (asked) => (isDrawn ? pictureTells(shown.value, asked) : valueTells(shown, asked))),
  );
  return isTold && !revealed.value.has(key) ? key : "";
}

/**
 * Whether a claim that is not asked gives away what its section asks for.
 * @param {number} row of the claims
 * @returns {string} empty, or by which it is revealed
 */
export function keyOfClaim(row) {
  const { model, document } = current();
  const { claims, values } = document;
  const key = `claim ${claims.statement[row]}`;
  if (isAsked(row) || revealed.value.has(key)) return "";
  const sides = (claims.operands[row] ?? []).flatMap((value) => values[value ?? -1] ?? []);
  const isTold = claimsIn(activationOf(model, claims.step[row])).some((other) =>
    spoils(other, (asked) => claimTells(sides, asked)),
  );
  return isTold ? key : "";
}

/** The claims that ask and are not answered yet, each statement once. @returns {number[]} rows */
export function pendingClaims() {
  const { statement } = current().document.claims;
  const found = new Map(statement.map((own, row) => [own, row]));
  return [...found.values()].filter(isPending);
}
