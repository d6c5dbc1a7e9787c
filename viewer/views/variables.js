// The variables of a call at a step.

import { environmentAt } from "viewer/model/changes.js";
import { integer } from "viewer/model/format.js";
import { endOf, eventOf, functionOf } from "viewer/model/run.js";
import { CommandButton } from "viewer/parts/buttons.js";
import { html, memo } from "viewer/parts/html.js";
import { inspect } from "viewer/parts/inspect.js";
import { ValueView } from "viewer/parts/value.js";
import { chosenName, current, pinned, step } from "viewer/state/state.js";

/** @param {number} activation @returns {Variable[]} */
function variablesOf(activation) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  const event = eventOf(model, step.value);
  const known = environmentAt(model, activation, endOf(model, step.value));
  return [...known].map(([name, { row, count }]) => ({
    name,
    text: names[name],
    value: values[inspections.value[row] ?? 0],
    count,
    changed: inspections.event[row] === event,
  }));
}

/** @param {{activation: number}} properties */
export function Variables({ activation }) {
  const { model } = current();
  const variables = variablesOf(activation);
  return html`<section class="variables" aria-label="variables">
    <h2>
      in <code>${functionOf(model, activation).name}</code>
      <${Changes}
        isChosen=${chosenName.value >= 0}
        isPinned=${pinned.value === step.value}
        isOther=${pinned.value >= 0}
      />
    </h2>
    ${!variables.length && html`<p class="quiet">No value of this call is shown yet.</p>`}
    ${variables.map(
      (variable) =>
        html`<${Row}
          key=${variable.name}
          ...${variable}
          shares=${sharing(variables, variable)}
          chosen=${chosenName.value === variable.name}
        />`,
    )}
  </section>`;
}

/**
 * Buttons for the chosen variable and for two steps.
 * @type {View<{isChosen: boolean, isPinned: boolean, isOther: boolean}>}
 */
const Changes = memo(({ isChosen, isPinned, isOther }) => {
  const ofVariable = isChosen ? ["previousChange", "nextChange", "inspect", "history"] : [];
  return html`<span class="changes">
    ${ofVariable.map((id) => html`<${CommandButton} id=${id} />`)}
    <${CommandButton} id="pin" pressed=${isPinned} />
    <${CommandButton} id="compare" class=${isOther ? "held" : ""} />
  </span>`;
});

/** @param {Variable[]} variables @param {Variable} variable */
function sharing(variables, variable) {
  const { storage } = variable.value;
  return storage === undefined
    ? ""
    : variables
        .filter((other) => other !== variable && other.value.storage === storage)
        .map((other) => other.text)
        .join(", ");
}

/** @type {View<Variable & {shares: string, chosen: boolean}>} */
const Row = memo(({ name, text, value, count, changed, shares, chosen }) => {
  const choose = () => (chosenName.value = chosen ? -1 : name);
  return html`<div
    class=${["variable", changed && "changed", chosen && "chosen"].filter(Boolean).join(" ")}
  >
    <div class="variable-name">
      <button
        aria-pressed=${chosen}
        title="Choose this variable: [ and ] go to its changes"
        onClick=${choose}
      >
        <code>${text}</code>
        ${
          changed &&
          html`<span class="mark" title="Changed by this statement">
            ●<span class="visually-hidden"> changed</span>
          </span>`
        }
      </button>
      <button
        class="type"
        title="Its values over the run"
        onClick=${(/** @type {Event} */ event) => inspect(event, value, text, "history")}
      >
        ${!value.shape?.length && value.type}
        ${count > 1 || value.shape?.length ? ` ×${integer(count)}` : ""}
      </button>
    </div>
    <${ValueView} value=${value} shares=${shares} name=${text} />
  </div>`;
});
