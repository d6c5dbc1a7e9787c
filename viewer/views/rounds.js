// Which round of a loop the program is in, and the ways to the rounds beside it.

import { integer } from "viewer/model/format.js";
import { roundAt, stepInRound } from "viewer/model/rounds.js";
import { html } from "viewer/parts/html.js";
import { goTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";

/** @param {{at: number}} properties at: the step whose line is marked */
export function Rounds({ at }) {
  const { model } = current();
  const round = roundAt(model, at);
  if (!round) return null;
  const { loop, turns, index, bound } = round;
  const way = (/** @type {1 | -1} */ direction, /** @type {string} */ title) => {
    const target = stepInRound(model, round, at, direction);
    return html`<button title=${title} disabled=${target < 0} onClick=${() => goTo(target)}>
      ${direction > 0 ? "›" : "‹"}
    </button>`;
  };
  const label = `rounds of the loop on line ${loop.first}`;
  return html`<span class="rounds" role="group" aria-label=${label}>
    ${way(-1, "This line in the round before")}
    <span title=${bound}>
      <i class="wide-only">round </i>${integer(index + 1)} of ${integer(turns.count)}
    </span>
    ${way(1, "This line in the next round")}
  </span>`;
}
