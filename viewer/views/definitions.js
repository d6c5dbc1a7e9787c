// Definitions that stand outside of functions, folded, where the article first uses them.

import { Code } from "viewer/parts/code.js";
import { html, later } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";

/** How many lines are unfolded from the start: what is longer would hide what it is for. */
const SHORT = 24;

/** Code of a file in which nothing ran: its colours are found when it is shown. */
const Coloured = later(async () => {
  const { withTokens } = await import("viewer/model/colours.js");
  return (/** @type {any} */ { file, ...lines }) =>
    html`<${Code} ...${lines} file=${withTokens(file)} />`;
}, Code);

/** @param {SourceFile} file */
const codeOf = ({ tokens }) => (tokens.length ? Code : Coloured);

/** @param {{definitions: Definition[]}} properties */
export function Definitions({ definitions }) {
  return definitions.map(
    ({ kind, names, file, first, last }) =>
      html`<details class="folded definition" open=${kind !== "imports" && last - first < SHORT}>
        <summary>
          ${kind} ${kind !== "imports" && html`<code>${names[0]}</code>`}
        </summary>
        <div
          class="folded-body"
          data-definition=${`${current().document.files.indexOf(file)}:${first}`}
        >
          <pre
            class="line"
          ><${codeOf(file)} file=${file} first=${first} last=${last} indent=${0} /></pre>
        </div>
      </details>`,
  );
}

/** A line of code that its author folded away. @param {{line: any}} properties */
export function FoldedLine({ line }) {
  return html`<details class="folded">
    <summary>code</summary>
    <div class="folded-body">${line}</div>
  </details>`;
}
