// What ended a run early, with the steps that led there. Fetched when there is such an end.

import { outcomeOf } from "viewer/model/claims.js";
import { nearestRun } from "viewer/model/frames.js";
import { rows } from "viewer/model/sorted.js";
import { html } from "viewer/parts/html.js";
import { Claim } from "viewer/parts/notes.js";
import { styled } from "viewer/parts/styles.js";
import { goTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";

await styled("later.css");

/** @type {Record<string, string>} */
const TITLES = {
  claim: "A claim of this lecture is false",
  exception: "This lecture raised an exception",
  exit: "This lecture ended itself",
  interrupt: "This run was interrupted",
  "step limit": "This run reached its step limit",
};

/** The alert. */
export function Failure() {
  const { document, model } = current();
  const { failure } = document;
  if (!failure) return null;
  const outcomes =
    failure.step >= 0
      ? rows(model.claimsOf, failure.step).filter((row) => document.claims.held[row] !== true)
      : [];
  return html`<section class="failure" role="alert">
    <h2>${TITLES[failure.kind] ?? "This run ended early"}</h2>
    <p>
      <code>${failure.type}</code>
      ${failure.message && `: ${failure.message}`}
    </p>
    ${outcomes.map((row) => html`<${Claim} outcome=${outcomeOf(model, row)} text />`)}
    <ol class="traceback">
      ${failure.traceback.map(
        ({ path, line, function: name }) =>
          html`<li>
            <${TracebackLine} path=${path} line=${line} name=${name} />
          </li>`,
      )}
    </ol>
    <p class="quiet">What is below ran before that.</p>
  </section>`;
}

/** @param {{path: string, line: number, name: string}} properties */
function TracebackLine({ path, line, name }) {
  const { document, model } = current();
  const text = `${path}:${line} in ${name}`;
  const file = document.files.findIndex((source) => source.path === path);
  const isThere = (/** @type {number} */ statement) => {
    const [owner, first, last] = document.statements[statement];
    return owner === file && first <= line && line <= last;
  };
  const failed = document.failure?.step ?? -1;
  const step = nearestRun(model, isThere, failed < 0 ? model.steps : failed + 1, -1);
  if (step < 0) return html`<span class="quiet">${text}</span>`;
  return html`<button
    class="quiet-link"
    title="Go to this step"
    onClick=${() => goTo(step, { jump: true, to: "step" })}
  >
    ${text}
  </button>`;
}
