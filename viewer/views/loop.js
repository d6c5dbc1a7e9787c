// A loop of the article: the turn that is chosen below its first line, or all turns where it says
// something.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { isWithin } from "viewer/model/blocks.js";
import { boundText, lastSteps, turnAt, turnOf, turnsOf } from "viewer/model/loops.js";
import { callsOf, isMarked } from "viewer/model/sections.js";
import { onlySpeaks } from "viewer/model/spoken.js";
import { html, later } from "viewer/parts/html.js";
import { current, focus } from "viewer/state/state.js";
import { Evidence, inspectedAt, Line, Scrubber } from "viewer/views/line.js";

/** Only lectures of other tools need it. */
const Turns = later(
  async () => (await import("viewer/views/turns.js")).Turns,
  (properties) => html`<${Turn} ...${properties} />`,
);

/** @param {Omit<LoopOnPage, "turns">} properties */
export function Loop(properties) {
  const { block, scope } = properties;
  const { model, document } = current();
  const turns = useMemo(
    () => turnsOf(model, scope, block.statement),
    [model, scope.activation, scope.from, scope.to],
  );
  const [chosen, choose] = useRound(turns);
  const own = { ...properties, turns, chosen, choose };
  const maySpeak = document.said.step.length > 0 || isMarked(model, block.statement, "section");
  if (maySpeak || onlySpeaks(block)) return html`<${Turns} ...${own} Turn=${Turn} />`;
  return html`<${Turn} ...${own} />`;
}

/**
 * The round of a loop that is shown: the one that the reader went to, or else the one in which the
 * run failed, or the first.
 * @param {Turns} turns
 * @returns {[chosen: number, choose: (round: number) => void]}
 */
function useRound(turns) {
  const { model, document } = current();
  const target = focus.value;
  const aimed = turnAt(model, turns, target.step);
  const failed = turnAt(model, turns, document.failure?.step ?? -1);
  const [chosen, choose] = useState(Math.max(0, aimed >= 0 ? aimed : failed));
  useLayoutEffect(() => {
    if (aimed >= 0) choose(aimed);
  }, [target]);
  return [chosen, choose];
}

/**
 * A turn of a loop below the loop's first line.
 * @param {LoopOnPage & {
 *   chosen: number, choose?: (turn: number) => void, body?: any, again?: boolean
 * }} properties choose: where the reader may take another turn; body: in place of what ran; again:
 *   whether another turn stands above
 */
function Turn(properties) {
  const { block, scope, turns, indent, depth, chosen, choose, body, again, below } = properties;
  const { isLast } = properties;
  const { model, document } = current();
  const round = Math.max(0, Math.min(chosen, turns.count - 1));
  const turn = turns.headers.length
    ? turnOf(model, scope, block.statement, turns.headers, round)
    : null;
  const header = turn?.header ?? -1;
  const [file, first, last] = document.statements[block.statement];
  const onHeader = header < 0 ? [] : [header, ...(turn ? stepsOnLine(turn.scope, block) : [])];
  const inner = turn?.scope ?? { ...scope, to: scope.from };
  const line = {
    block: { first, last },
    file: document.files[file],
    indent,
    steps: onHeader,
    at: header,
    ran: header >= 0,
    calls: onHeader.flatMap((step) => callsOf(model, step).folded),
    depth,
    unfold: below.unfold,
  };
  const saidOf = (/** @type {number} */ step) => (body || step < 0 ? [] : below.saidOf(step));
  const said = onHeader.slice(1).flatMap(saidOf);
  const after = [...said, ...onHeader.flatMap(below.afterOf)];
  const isShown = !again || inspectedAt(header).length > 0;
  return html`<div class="loop" data-first=${block.first}>
    ${
      isShown &&
      html`<div class="row">
        <div class="row-line">
          <${Line} ...${line} />
          ${choose && html`<${Rounds} ...${properties} header=${header} />`}
        </div>
      </div>`
    }
    ${saidOf(header)}
    ${
      body ??
      html`<${below.Blocks}
        key=${chosen}
        blocks=${block.body}
        scope=${inner}
        indent=${indent}
        depth=${depth}
        ranOnly=${!choose}
        isLast=${isLast}
      />`
    }
    ${isShown && html`<${Evidence} lines=${[line]} />`}
    ${
      after.length > 0 &&
      html`<div class="row-after" data-steps=${onHeader.join(" ")}>${after}</div>`
    }
  </div>`;
}

/** Which round is shown, and the way to any other.
 * @param {any} properties of the turn; header: the step that began it */
function Rounds({ block, turns, chosen, choose, header }) {
  if (turns.count < 2) return null;
  const bound = boundText(current().model, block.statement, header);
  const { count } = turns;
  return html`<${Scrubber} ...${{ chosen, count, choose, bound }} line=${block.first} />`;
}

/** Steps of a turn that stand on the first line themselves: `for x in y: total += x`.
 * @param {Scope} scope @param {LoopBlock} block */
function stepsOnLine(scope, block) {
  const { model, document } = current();
  const { statements } = document;
  return [...lastSteps(model, scope)]
    .filter(
      ([statement]) =>
        statements[statement][1] <= statements[block.statement][2] &&
        isWithin(statements, statement, block.statement),
    )
    .map(([, step]) => step);
}
