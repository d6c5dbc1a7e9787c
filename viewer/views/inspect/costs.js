// The costs of the run in one panel: a table, a roofline, and memory over time. Fetched when it is
// opened.

import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { KINDS } from "viewer/model/costs.js";
import { counted } from "viewer/model/format.js";
import { momentsOf } from "viewer/model/memory.js";
import { activationOf, functionOf, statementOf } from "viewer/model/run.js";
import { chaptersOf, sectionOfStep } from "viewer/model/sections.js";
import { tally, uncountedIn } from "viewer/model/tally.js";
import { html } from "viewer/parts/html.js";
import { nextTab, titleOfSection } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { current } from "viewer/state/state.js";
import { MemoryChart } from "viewer/views/inspect/memory.js";
import { Roofline } from "viewer/views/inspect/roofline.js";
import { Table } from "viewer/views/inspect/table.js";

await styled("costs.css");

const VIEWS = {
  table: { title: "Table", shown: Table },
  roofline: { title: "Roofline", shown: Rates },
  memory: { title: "Memory", shown: Memory },
};
const VIEW_NAMES = /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(VIEWS));

/** What the reader chose last, for as long as the page is open. */
const view = signal(/** @type {keyof typeof VIEWS} */ ("table"));

/** Order of the section, or -1 for the whole run. */
const scope = signal(-1);

/** Whether what would be spent on device `meta` is shown, in place of what was. */
const onMeta = signal(false);

/** What these were chosen in. @type {Lecture | null} */
let chosenIn = null;

/** The panel. */
export function Costs() {
  const { document, model, sections } = current();
  const at = useMemo(stepOfReader, [document]);
  if (chosenIn !== document) [scope.value, onMeta.value] = [-1, false];
  chosenIn = document;
  const section = sections[scope.value];
  const span = section
    ? { first: section.first, beyond: section.beyond }
    : { first: 0, beyond: model.steps };
  if (!document.costs) return html`<p>This run was recorded without costs, or used no tensors.</p>`;
  return html`
    <div class="inspect-choices">
      <div class="inspect-tabs" role="tablist" aria-label="costs" onKeyDown=${turnTab}>
        ${VIEW_NAMES.map((id) => html`<${Tab} key=${id} id=${id} />`)}
      </div>
      <${Scope} at=${at} />
      <${OrOnMeta} />
    </div>
    <${Uncounted} span=${section ? span : null} />
    <div
      id="costs-view"
      class=${onMeta.value ? "on-meta" : ""}
      role="tabpanel"
      aria-labelledby=${`costs-${view.value}`}
    >
      <${VIEWS[view.value].shown} span=${span} at=${at} onMeta=${onMeta.value} />
      <${MemoryOnMeta} />
    </div>
    <${Legend} />
  `;
}

/** @param {{id: keyof typeof VIEWS}} properties */
function Tab({ id }) {
  const { title } = VIEWS[id];
  return html`<button
    id=${`costs-${id}`}
    role="tab"
    title=${title}
    aria-selected=${view.value === id}
    aria-controls="costs-view"
    tabindex=${view.value === id ? 0 : -1}
    onClick=${() => (view.value = id)}
  >
    ${title}
  </button>`;
}

/** Arrow keys go from one view to the next. @param {KeyboardEvent} event */
function turnTab(event) {
  const next = nextTab(event, VIEW_NAMES, view.value);
  if (!next) return;
  view.value = next;
  document.getElementById(`costs-${next}`)?.focus();
}

/** Which part of the run is looked at. @param {{at: number}} properties the step of the reader */
function Scope({ at }) {
  const { sections } = current();
  const around = sectionOfStep(sections, at);
  const choose = (/** @type {any} */ event) => (scope.value = Number(event.target.value));
  const option = (/** @type {Section} */ found) =>
    html`<option value=${found.order} selected=${found.order === scope.value}>
      ${titleOfSection(found)}
    </option>`;
  return html`<label>
    of${" "}
    <select aria-label="part of the run" value=${scope.value} onChange=${choose}>
      <option value="-1">the whole run</option>
      ${
        around &&
        around.depth > 0 &&
        html`<option value=${around.order}>this section: ${titleOfSection(around)}</option>`
      }
      ${chaptersOf(sections).map(({ title, sections: own }) =>
        title ? html`<optgroup label=${title}>${own.map(option)}</optgroup>` : own.map(option),
      )}
    </select>
  </label>`;
}

/**
 * What the sums lack, always in sight.
 * @param {{span: Span | null}} properties a part of the run
 */
function Uncounted({ span }) {
  const { document } = current();
  const missing = useMemo(() => uncountedIn(document, span), [document, span?.first, span?.beyond]);
  if (!missing.length)
    return html`<p class="quiet">Every operator of this ${span ? "part" : "run"} is counted.</p>`;
  return html`<p class="quiet inspect-uncounted">
    Not counted:${" "}
    ${missing.map(
      ([name, count], index) =>
        html`
          ${index > 0 && ", "}
          <code>${name}</code> (${counted(count, "time")})
        `,
    )}
    . For what these did there is no formula, so sums marked with + are too small.
  </p>`;
}

/** Whether anything was computed on paper: on the device that has sizes and no memory. */
function usesMeta() {
  return current().document.costs?.meta.includes(1);
}

/** The choice between what happened and what would have. */
function OrOnMeta() {
  if (!usesMeta()) return null;
  const choose = (/** @type {any} */ event) => (onMeta.value = event.target.value === "meta");
  return html`<label>
    that${" "}
    <select
      aria-label="what happened or what would"
      title="Nothing is computed on the device meta, and no memory is held: it is counted apart"
      value=${onMeta.value ? "meta" : "ran"}
      onChange=${choose}
    >
      <option value="ran">happened</option>
      <option value="meta">would cost, on meta</option>
    </select>
  </label>`;
}

/** Why a chart of memory lacks some tensors. */
function MemoryOnMeta() {
  return usesMeta() && view.value === "memory"
    ? html`<p class="quiet">
      Tensors on the device <code>meta</code> have sizes and no memory: they are not in this
      chart.
    </p>`
    : null;
}

/** What is known, and how. */
function Legend() {
  return html`<details class="quiet costs-legend">
    <summary>What these numbers are</summary>
    <dl>
      ${KINDS.map(
        ([kind, what, how]) =>
          html`
            <dt>${kind}</dt>
            <dd>${what}: ${how}</dd>
          `,
      )}
      <dt class="on-meta">would cost</dt>
      <dd>on the device <code>meta</code>: nothing happened, and no sum above contains it</dd>
    </dl>
  </details>`;
}

/** @param {{span: Span, onMeta: boolean}} properties onMeta: what would be spent there */
function Rates({ span, onMeta: imagined }) {
  const { document, model, sections } = current();
  const entries = useMemo(
    () => tally({ model, sections }, "operator", span, false, imagined),
    [document, span.first, span.beyond, imagined],
  );
  return html`<${Roofline} entries=${entries} names=${document.names} jump=${leaveTo} />`;
}

/** @param {{span: Span, at: number}} properties */
function Memory({ span, at }) {
  const { document, model, sections } = current();
  const moments = useMemo(() => momentsOf(model), [document]);
  if (!moments.length) return html`<p>No tensor memory was recorded.</p>`;
  const place = (/** @type {number} */ target) => {
    const section = sectionOfStep(sections, target);
    const func = functionOf(model, activationOf(model, target)).name;
    const line = document.statements[statementOf(model, target)][1];
    const within = section && section.depth > 0 ? `, in “${titleOfSection(section)}”` : "";
    return `line ${line} of ${func}${within}`;
  };
  return html`<${MemoryChart}
    key=${`${span.first} ${span.beyond}`}
    model=${model}
    moments=${moments}
    span=${span}
    here=${at}
    place=${place}
    jump=${leaveTo}
  />`;
}
