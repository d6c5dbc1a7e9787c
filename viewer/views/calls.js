// Calls within an expression: what ran in them, each behind a disclosure. Fetched when one is
// opened.

import { useLayoutEffect, useState } from "preact/hooks";
import { counted } from "viewer/model/format.js";
import { holds } from "viewer/model/loops.js";
import { functionIndex, functionOf, stepRange, wholeScope } from "viewer/model/run.js";
import { plainTitle, speaks } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { current, focus, printing } from "viewer/state/state.js";

/**
 * again: the call before was of the same function; alone: there is no other, so it is what was
 * asked for; unfold: draws what ran
 * @param {{activation: number, depth: number, again: boolean, alone: boolean, unfold: Unfold}}
 *   properties
 */
function Folded({ activation, depth, again, alone, unfold }) {
  const { model } = current();
  const target = focus.value;
  const holdsTarget = target.step >= 0 && holds(model, wholeScope(model, activation), target.step);
  // What a call says is part of the article.
  const [open, setOpen] = useState(
    alone || holdsTarget || speaks(model, ...stepRange(model, activation)),
  );
  useLayoutEffect(() => {
    if (holdsTarget) setOpen(true);
  }, [target]);
  const func = functionOf(model, activation);
  return html`<details
    class="folded"
    open=${open}
    onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}
  >
    <summary>
      ${
        again
          ? html`again<span class="visually-hidden"> stepped into ${func.name}</span>`
          : html`stepped into <code>${func.name}</code>${" "}
              ${func.title && html`<span class="folded-title">${plainTitle(func.title)}</span>`}`
      }
    </summary>
    ${
      (open || printing.value) &&
      html`<div class="folded-body" id=${`activation-${activation}`}>
        ${unfold(activation, depth + 1)}
      </div>`
    }
  </details>`;
}

const CALLS_AT_ONCE = 3;

/** @param {{calls: number[], depth: number, unfold: Unfold}} properties */
export function Calls({ calls, depth, unfold }) {
  const { model } = current();
  const target = focus.value;
  const isBeyond = calls
    .slice(CALLS_AT_ONCE)
    .some((call) => target.step >= 0 && holds(model, wholeScope(model, call), target.step));
  const [all, setAll] = useState(isBeyond);
  useLayoutEffect(() => {
    if (isBeyond) setAll(true);
  }, [target]);
  const shown = all ? calls : calls.slice(0, CALLS_AT_ONCE);
  const funcs = shown.map((activation) => functionIndex(model, activation));
  return html`<div class="calls">
    ${shown.map(
      (activation, index) =>
        html`<${Folded}
          key=${activation}
          activation=${activation}
          depth=${depth}
          again=${index > 0 && funcs[index] === funcs[index - 1]}
          alone=${calls.length === 1}
          unfold=${unfold}
        />`,
    )}
    ${
      shown.length < calls.length &&
      html`<button class="quiet-link" onClick=${() => setAll(true)}>
        and ${counted(calls.length - shown.length, "more call")}
      </button>`
    }
  </div>`;
}
