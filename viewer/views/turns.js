// The turns of a loop in which something is said, below each other.

import { stepsBefore } from "viewer/model/run.js";
import { joined } from "viewer/model/said.js";
import { onlySpeaks } from "viewer/model/spoken.js";
import { MOST_TURNS, saidWithin, toldBy } from "viewer/model/telling.js";
import { isSaidInTurns } from "viewer/model/turns.js";
import { html } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";
import { Pieces } from "viewer/views/said.js";

/** @param {LoopOnPage & {Turn: any}} properties Turn: shows one of them */
export function Turns(properties) {
  const { block, scope, turns, depth, Turn } = properties;
  const { model } = current();
  if (!isSaidInTurns(model, block, scope, turns)) return html`<${Turn} ...${properties} />`;
  const whole = { ...properties, choose: undefined };
  if (onlySpeaks(block)) {
    const [own, all] = [toldBy(model, block, scope, turns), saidWithin(model, scope, turns)];
    // What is called for the next item, such as a generator, may speak, too.
    const pieces = joined(all.flat().length > own.flat().length ? all : own);
    const body = html`<div class="said">
      <${Pieces} pieces=${pieces} heading=${depth === 0 ? 2 : 4} />
    </div>`;
    return html`<${Turn} ...${whole} chosen=${turns.count - 1} body=${body} />`;
  }
  if (turns.count > MOST_TURNS)
    return html`<${Turn} ...${properties} />
      <details class="folded">
        <summary>what all ${turns.count} turns say</summary>
        <${Pieces} pieces=${joined(saidWithin(model, scope, turns))} heading=${4} />
      </details>`;
  const end = turns.headers[turns.count]; // where there was no other item
  return [
    ...turns.headers
      .slice(0, turns.count)
      .map(
        (header, index) =>
          html`<${Turn} key=${header} ...${whole} chosen=${index} again=${index > 0} />`,
      ),
    ...(end === undefined ? [] : properties.below.saidOf(stepsBefore(model, end))),
  ];
}
