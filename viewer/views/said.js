// What statements of a lecture of another tool said, in place of their code.

import { joined, saidBy } from "viewer/model/said.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { ValueView } from "viewer/parts/value.js";
import { current } from "viewer/state/state.js";

/**
 * @param {{steps: number[], title: string, heading: number}} properties steps: that said it; title:
 *   of the section, which is not said once more
 */
export function Said({ steps, title, heading }) {
  const { document } = current();
  const pieces = joined(steps.map((step) => saidBy(document, step)));
  const begin = pieces[0]?.text?.match(/^#{1,6} +([^\n]+)\n*/);
  if (begin && begin[1].trim() === title) pieces[0].text = pieces[0].text?.slice(begin[0].length);
  return html`<div class="said" data-step=${steps.at(-1)} data-steps=${steps.join(" ")}>
    <${Pieces} pieces=${pieces} heading=${heading} />
  </div>`;
}

/** @param {{pieces: {text?: string, value?: Value}[], heading: number}} properties */
export function Pieces({ pieces, heading }) {
  return pieces.map(({ text, value }) =>
    value
      ? html`<${ValueView} value=${value} name="" />`
      : text && html`<${Prose} text=${text} heading=${heading} />`,
  );
}
