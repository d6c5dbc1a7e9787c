// The values of one call that are known at the current step.

import { CommandButton } from "viewer/buttons.js";
import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { functionOf } from "viewer/model.js";
import { environmentAt } from "viewer/navigate.js";
import { chosenName, current, step } from "viewer/store.js";
import { ValueView } from "viewer/value.js";

/**
 * @typedef {{name: number, text: string, value: import("viewer/schema.js").Value, count: number, changed: boolean}} Variable
 */

/** @param {number} activation @returns {Variable[]} */
function variablesOf(activation) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  const known = environmentAt(model, activation, model.stepEnd[step.value]);
  return [...known].map(([name, { row, count }]) => ({
    name,
    text: names[name],
    value: values[inspections.value[row] ?? 0],
    count,
    changed: inspections.event[row] === model.stepEvent[step.value],
  }));
}

/** @param {{activation: number}} properties */
export function Variables({ activation }) {
  const { model } = current();
  const variables = variablesOf(activation);
  return html`<section class="variables" aria-label="variables">
    <h2>in <code>${functionOf(model, activation).name}</code>${chosenName.value >= 0 && html`<span class="changes"><${CommandButton} id="previousChange" /><${CommandButton} id="nextChange" /></span>`}</h2>
    ${!variables.length && html`<p class="quiet">No value of this call is shown yet.</p>`}
    ${variables.map((variable) => html`<${Row} key=${variable.name} variable=${variable} shares=${sharing(variables, variable)} />`)}
  </section>`;
}

/** @param {Variable[]} variables @param {Variable} variable @returns {string[]} */
function sharing(variables, variable) {
  const { storage } = variable.value;
  return storage === undefined ? [] : variables.filter((other) => other !== variable && other.value.storage === storage).map((other) => other.text);
}

/** @param {{variable: Variable, shares: string[]}} properties */
function Row({ variable, shares }) {
  const { name, text, value, count, changed } = variable;
  const chosen = chosenName.value === name;
  const choose = () => (chosenName.value = chosen ? -1 : name);
  return html`<div class=${["variable", changed && "changed", chosen && "chosen"].filter(Boolean).join(" ")}>
    <button class="variable-name" aria-pressed=${chosen} title="Choose this variable: [ and ] go to its changes" onClick=${choose}><code>${text}</code>
      ${changed && html`<span class="mark" title="Changed by this statement">●<span class="visually-hidden"> changed</span></span>`}
      ${count > 1 && html`<span class="count" title=${`recorded ${counted(count, "time")} so far`}>×${count}</span>`}</button>
    <${ValueView} value=${value} shares=${shares} name=${text} />
  </div>`;
}
