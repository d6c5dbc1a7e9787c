// What stands beside code and what it means. Fetched when somebody asks.

import { KINDS } from "viewer/model/kinds.js";
import { html } from "viewer/parts/html.js";
import { SpecimenList, useSpecimens } from "viewer/views/specimen.js";

/** Marks and notes, each with what it says, and which kind of specimen says it as well. */
const MARKS = [
  [
    "✓",
    "A claim: this line asserts something, and the run that is shown here found it true.",
    "claim",
  ],
  ["✗", "A claim that was false in this run; both sides are shown."],
  [
    "x = float32 [2, 3]",
    "The value of a name after this line: its dtype and its shape. A click inspects it, down to " +
      "the bytes; a click on the name shows its values over the run.",
    "value",
  ],
  ["storage #85", "The memory behind a tensor, by a number. Tensors with one number share it."],
  ["shares storage with y", "Whoever writes into one of them changes the other."],
  ["0 1 2", "The elements of a tensor; the stronger the colour, the further from zero."],
  ["48 FLOP", "What the line computed: additions and multiplications, with its calls."],
  ["≥ 104 B moved", "Bytes read and written, at least: each element once in each operation."],
  ["≤ 0.46 FLOP/B", "Intensity, at most: what was computed for each byte that was moved."],
  ["32 B allocated", "Memory that the line asked for."],
  ["would cost", "On the device “meta” nothing is computed; this is what it would have cost."],
  ["‹ ─●─ › i = 1, round 2 of 16", "A loop: choose the round whose values are shown."],
  ["f(x) ↳", "A call that the run went into. Open it to read on there."],
  ["┊ dotted code", "Lines that did not run."],
];

/** The legend of the margin. */
export function Legend() {
  const found = useSpecimens();
  const isShown = (/** @type {string} */ wanted) => found.some(({ kind }) => kind === wanted);
  return html`
    <${SpecimenList} found=${found} />
    <dl class="meanings">
      ${MARKS.filter(([, , kind]) => !isShown(kind)).map(
        ([mark, meaning]) =>
          html`<div>
            <dt><code>${mark}</code></dt>
            <dd>${meaning}</dd>
          </div>`,
      )}
    </dl>
    <h3>How costs are known</h3>
    <dl class="meanings">
      ${KINDS.map(
        ([kind, what, how]) =>
          html`<div>
            <dt>${kind}</dt>
            <dd>${what}: ${how}</dd>
          </div>`,
      )}
    </dl>
  `;
}
