// A loop shows one turn at a time; a slider on its first line chooses which.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Blocks, asideOf, restOf } from "viewer/blocks.js";
import { Code } from "viewer/code.js";
import { html } from "viewer/html.js";
import { callsOf, holds, iterations, stepsIn } from "viewer/reading.js";
import { current, focus } from "viewer/store.js";

/** @typedef {import("viewer/reading.js").Scope} Scope */

/** @param {{block: import("viewer/source.js").LoopBlock, scope: Scope, indent: number, depth: number}} properties */
export function Loop({ block, scope, indent, depth }) {
  const { model, document } = current();
  const turns = useMemo(() => iterations(model, scope, block.statement), [model, scope.activation, scope.from, scope.to]);
  const target = focus.value;
  const aimed = target.step < 0 ? -1 : turns.findIndex((turn) => turn.header === target.step || holds(model, turn.scope, target.step));
  const [chosen, choose] = useState(aimed >= 0 ? aimed : turns.length - 1);
  useLayoutEffect(() => {
    if (aimed >= 0) choose(aimed);
  }, [target]);
  const turn = turns[Math.min(chosen, turns.length - 1)];
  const header = turn?.header ?? stepsIn(model, scope, block.statement).at(-1) ?? -1;
  const [file, first, last] = document.statements[block.statement];
  const aside = header >= 0 ? asideOf(header, false) : [];
  const inner = turn?.scope ?? { ...scope, to: scope.from };
  return html`<div class=${`loop ${header < 0 ? "unrun" : ""}`} data-first=${block.first}>
    <div class="row">
      <div class="row-line"><div class="line" data-step=${header >= 0 ? header : null}><span class="line-number">${block.first}</span><pre><${Code} file=${document.files[file]} first=${first} last=${last} indent=${indent} /></pre></div>
        ${turns.length > 1 && html`<${Scrubber} chosen=${chosen} count=${turns.length} choose=${choose} line=${block.first} />`}</div>
      ${aside.length > 0 && html`<div class="row-aside">${aside}</div>`}
      ${header >= 0 && html`<div class="row-rest">${restOf(header, callsOf(model, header).folded, depth)}</div>`}
    </div>
    <${Blocks} key=${chosen} blocks=${block.body} scope=${inner} indent=${indent} depth=${depth} />
  </div>`;
}

/** @param {{chosen: number, count: number, choose: (turn: number) => void, line: number}} properties */
function Scrubber({ chosen, count, choose, line }) {
  const to = (/** @type {number} */ turn) => choose(Math.max(0, Math.min(count - 1, turn)));
  return html`<div class="scrubber" role="group" aria-label=${`turns of the loop on line ${line}`}>
    <button title="Previous turn" disabled=${chosen === 0} onClick=${() => to(chosen - 1)}>‹</button>
    <input type="range" min="1" max=${count} value=${chosen + 1} aria-label="turn" onInput=${(/** @type {any} */ event) => to(Number(event.target.value) - 1)} />
    <button title="Next turn" disabled=${chosen === count - 1} onClick=${() => to(chosen + 1)}>›</button>
    <span class="scrubber-count">${chosen + 1} of ${count}</span>
  </div>`;
}
