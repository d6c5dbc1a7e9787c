// The same step in two recordings of one lecture. Pure.

import { placeOfStep, shortPaths, stepOfPlace } from "viewer/model/places.js";
import { linesOf } from "viewer/model/source.js";

/**
 * The step of the same statement in another recording: of the same text in the same function if it
 * is still there.
 * @param {Model} old
 * @param {Model} model
 * @param {number} wanted
 * @returns {number} -1 when there is none
 */
export function sameStep(old, model, wanted) {
  const match = wanted < 0 ? null : /^(.+:[^:]+):(\d+)\.(\d+)$/.exec(placeOfStep(old, wanted));
  if (!match) return -1;
  const [, func, ordinal, occurrence] = match;
  const before = textsOf(old, func);
  const text = before[Number(ordinal) - 1];
  const rank = before.slice(0, Number(ordinal) - 1).filter((other) => other === text).length;
  const found = textsOf(model, func).flatMap((other, index) => (other === text ? [index + 1] : []));
  return stepOfPlace(
    model,
    `${func}:${found[Math.min(rank, found.length - 1)] ?? ordinal}.${occurrence}`,
  );
}

/**
 * The texts of the statements of a function, in their order.
 * @param {Model} model
 * @param {string} name as `file:function`
 */
function textsOf({ document: { files, functions, statements } }, name) {
  const paths = shortPaths(files.map(({ path }) => path));
  const func = functions.findIndex(
    (candidate) => `${paths[candidate.file]}:${candidate.name}` === name,
  );
  return statements
    .filter(([, , , , , owner]) => owner === func)
    .map(([file, first, last]) =>
      linesOf(files[file])
        .slice(first - 1, last)
        .map((line) => line.trim())
        .join("\n"),
    );
}
