// A line with calls in its expressions: a mark at its end opens what ran in them, below it.

import { useLayoutEffect, useState } from "preact/hooks";
import { holds } from "viewer/model/loops.js";
import { functionOf, stepRange, wholeScope } from "viewer/model/run.js";
import { headingOf, speaks } from "viewer/model/sections.js";
import { html, later } from "viewer/parts/html.js";
import { current, focus, printing } from "viewer/state/state.js";

/** Only where somebody opens them. */
export const Calls = later(async () => (await import("viewer/views/calls.js")).Calls);

/** How deep paper goes into calls, which may be recursive. */
const UNFOLDED = 7;

/**
 * unfold: draws what ran in a call; line: draws the line, with this mark at its end
 * @param {{calls: number[], depth: number, unfold: Unfold, line: (into: any) => any}} properties
 */
export function Caller({ calls, depth, unfold, line }) {
  const { model } = current();
  const target = focus.value;
  const isAimedAt =
    target.step >= 0 && calls.some((call) => holds(model, wholeScope(model, call), target.step));
  // What a call says is part of the article.
  const [open, setOpen] = useState(
    isAimedAt || calls.some((call) => speaks(model, ...stepRange(model, call))),
  );
  useLayoutEffect(() => {
    if (isAimedAt) setOpen(true);
  }, [target]);
  const isOpen = printing.value ? depth < UNFOLDED : open;
  const names = new Set(calls.map((call) => nameOf(call)));
  const told = `What ran in ${[...names].join("; ")}`;
  return html`
    ${line(
      html`<button
        class="into"
        aria-expanded=${isOpen}
        aria-label=${told}
        title=${told}
        onClick=${() => setOpen(!open)}
      />`,
    )}
    ${isOpen && html`<${Calls} ...${{ calls, depth, unfold }} />`}
  `;
}

/** @param {number} call */
function nameOf(call) {
  const func = functionOf(current().model, call);
  return func.title ? `${func.name}: ${headingOf(func)}` : func.name;
}
