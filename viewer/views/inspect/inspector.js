// The inspector: a value as it was recorded, and how its variable went over the run. Fetched when
// it is first opened.

import { useMemo } from "preact/hooks";
import { foundRecord } from "viewer/model/records.js";
import { functionOf } from "viewer/model/run.js";
import { watchedAt } from "viewer/model/watching.js";
import { html } from "viewer/parts/html.js";
import { Tabs } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { ValueView } from "viewer/parts/value.js";
import { current, inspected, step } from "viewer/state/state.js";
import { History } from "viewer/views/inspect/history.js";
import { TensorView } from "viewer/views/inspect/tensor.js";

await styled("inspect.css");

/** What `inspected` names. */
export function Inspector() {
  const { model, document } = current();
  const opened = inspected.value;
  const watched = opened?.watched;
  const found = useMemo(
    () => (watched ? watchedAt(model, watched, step.value) : opened && foundRecord(model, opened)),
    [model, opened?.value, opened?.name, String(opened?.steps), watched && step.value],
  );
  if (!opened)
    return html`<p class="quiet">
      This line changes no variable and names none that has a value. A click on any other inspects
      it.
    </p>`;
  if (!found)
    return html`<p class="quiet">
      ${
        watched
          ? html`<code>${opened.name}</code> has no value at this step.`
          : "This value is not of the run that is shown."
      }
    </p>`;
  const { value } = found;
  const name = document.names[found.name] + found.path;
  const isTensor = value.shape !== undefined;
  const choose = (/** @type {any} */ view) => (inspected.value = { ...opened, view });
  const content =
    opened.view === "history"
      ? html`<${History} key=${`${found.activation} ${found.name}`} found=${found} />`
      : isTensor
        ? html`<${TensorView}
          key=${`${watched ? value.shape : found.row} ${found.path}`}
          value=${value}
          name=${name}
          found=${found}
        />`
        : html`<div class="whole-value">
          <${ValueView} value=${value} name=${name} />
        </div>`;
  return html`<div class="inspector">
    <h3>
      <code>${name}</code>${" "}
      <span class="quiet">in ${functionOf(model, found.activation).name}</span>
    </h3>
    <${Tabs}
      chosen=${opened.view}
      choose=${choose}
      tabs=${[
        ["value", isTensor ? (value.type === "ndarray" ? "Array" : "Tensor") : "Value"],
        ["history", "Over the run"],
      ]}
    >
      ${content}
    </${Tabs}>
  </div>`;
}
