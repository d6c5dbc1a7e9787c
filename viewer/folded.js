// A call inside an expression: a line that opens to the call's own body.

import { useLayoutEffect, useState } from "preact/hooks";
import { html } from "viewer/html.js";
import { functionOf } from "viewer/model.js";
import { holds, wholeScope } from "viewer/reading.js";
import { Activation } from "viewer/section.js";
import { current, focus } from "viewer/store.js";

/** @param {{activation: number, depth: number}} properties */
export function Folded({ activation, depth }) {
  const { model } = current();
  const target = focus.value;
  const holdsTarget = target.step >= 0 && holds(model, wholeScope(model, activation), target.step);
  const [open, setOpen] = useState(holdsTarget);
  useLayoutEffect(() => {
    if (holdsTarget) setOpen(true);
  }, [target]);
  const func = functionOf(model, activation);
  return html`<details class="folded" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>stepped into <code>${func.name}</code>${func.title && html` <span class="folded-title">${func.title}</span>`}</summary>
    ${open && html`<div class="folded-body" id=${`activation-${activation}`}><${Activation} activation=${activation} depth=${depth + 1} /></div>`}
  </details>`;
}
