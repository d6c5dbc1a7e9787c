// What stands beside code, shown with lines of this run. Fetched when somebody comes near.

import { useMemo } from "preact/hooks";
import { stepAfter } from "viewer/model/run.js";
import { specimensOf } from "viewer/model/specimen.js";
import { html } from "viewer/parts/html.js";
import { Cost } from "viewer/parts/notes.js";
import { styled } from "viewer/parts/styles.js";
import { NamedValue } from "viewer/parts/value.js";
import { leaveTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";
import { toggleDialog } from "viewer/state/toggles.js";

await styled("specimen.css");

/** What each kind of mark says. */
const WORDS = {
  claim: "A tick: the line claims something, and this run found it true.",
  value:
    "A value, as it was after the line. A click on it shows it down to the bytes, " +
    "one on its name over the run.",
  cost: "What the line cost: computed, moved, and asked for.",
  question: "A question: say what comes out before you look.",
};

/** Lines with their marks, and a way to all marks; nothing where the run has none. */
export function Specimens() {
  const found = useSpecimens();
  if (!found.length) return null;
  return html`<section class="specimens" aria-label="what stands beside code">
    <h2>Beside the code</h2>
    <${SpecimenList} found=${found} />
    <button class="quiet-link" onClick=${() => toggleDialog("legend")}>
      All marks, and how costs are known (L)
    </button>
  </section>`;
}

/** @returns {Specimen[]} */
export function useSpecimens() {
  const { model, document } = current();
  return useMemo(() => specimensOf(model), [document]);
}

/** @param {{found: Specimen[]}} properties */
export function SpecimenList({ found }) {
  return html`<dl class="specimen-list">
    ${found.map(
      (specimen) =>
        html`<div class=${`specimen is-${specimen.kind}`}>
          <dt>
            <button
              title="Go to this line"
              onClick=${() => leaveTo(specimen.step)}
            >
              <code>${specimen.code}</code>
            </button>
          </dt>
          <dd>
            <${Mark} ...${specimen} />
            <p>${WORDS[specimen.kind]}</p>
          </dd>
        </div>`,
    )}
  </dl>`;
}

/** As it stands in the margin. @param {Specimen} properties */
function Mark({ kind, step, row = -1 }) {
  const { model, document } = current();
  if (kind === "claim") return html`<b class="specimen-mark held">✓</b>`;
  if (kind === "question") return html`<b class="specimen-mark">?</b>`;
  if (kind === "cost") return html`<${Cost} first=${step} beyond=${stepAfter(model, step)} />`;
  const { inspections, values, names } = document;
  const value = values[inspections.value[row] ?? 0];
  return html`<${NamedValue} name=${names[inspections.name[row]]} value=${value} />`;
}
