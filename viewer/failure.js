// What ended a run early, with the steps that led there. Fetched when there is such an end.

import { html } from "viewer/html.js";
import { nearestRun, rows } from "viewer/model.js";
import { current, goTo } from "viewer/store.js";
import { Claim, outcomeOf } from "viewer/read.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
.failure { max-width: 68rem; margin: 1.5rem 1.5rem 0; padding: 1rem 1.25rem; background: var(--wrong-soft); border-left: 4px solid var(--wrong); border-radius: var(--radius); }
.facts .failure { margin: 0.75rem 0; }
.facts .failure .claim, .facts .failure p.quiet { display: none; }
.failure h2, .facts .failure h2 { display: block; min-height: 0; margin: 0 0 0.25rem; font-size: 1.05rem; font-weight: 600; color: var(--wrong); }
.failure p { margin: 0.25rem 0; overflow-wrap: anywhere; }
.traceback { margin: 0.5rem 0 0.25rem; padding-left: 1.2rem; font-size: 0.875rem; }
`);

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
    <p><code>${failure.type}</code>${failure.message && `: ${failure.message}`}</p>
    ${outcomes.map((row) => html`<${Claim} outcome=${outcomeOf(model, row)} text />`)}
    <ol class="traceback">${failure.traceback.map(({ path, line, function: name }) => html`<li><${TracebackLine} path=${path} line=${line} name=${name} /></li>`)}</ol>
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
  return html`<button class="quiet-link" title="Go to this step" onClick=${() => goTo(step, { jump: true, to: "step" })}>${text}</button>`;
}
