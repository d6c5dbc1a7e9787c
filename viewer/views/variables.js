// The open calls, the innermost first, each with its variables: as a table of names and glances, or
// as a graph of the objects that they stand for.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { restOf } from "viewer/model/elements.js";
import { counted, integer } from "viewer/model/format.js";
import { functionOf, statementOf } from "viewer/model/run.js";
import { plainTitle } from "viewer/model/sections.js";
import { isPicture, valueText } from "viewer/model/values.js";
import { OUTERMOST } from "viewer/model/variables.js";
import { CommandButton } from "viewer/parts/buttons.js";
import { breakable, html, later, memo } from "viewer/parts/html.js";
import { inspect } from "viewer/parts/inspect.js";
import { ValueView } from "viewer/parts/value.js";
import { goTo } from "viewer/state/address.js";
import "viewer/views/cells.js";
import {
  chosenFrame,
  chosenName,
  current,
  docked,
  pinned,
  step,
  variablesAs,
  variablesShown,
} from "viewer/state/state.js";

const Graph = later(async () => (await import("viewer/views/graph.js")).Graph);

/** Letters of a name that stand in a table; what is longer ends in dots. */
const MAX_NAME = 24;

/** Names listed of those that share something; the graph shows all of them. */
const MAX_SHARERS = 4;

/** Letters of a glance that stand in a table; the inspector has the rest. */
const LONG = 240;

/** Which calls the reader opened (true) or closed. @type {Signal<Map<number, boolean>>} */
const folds = signal(new Map());

/** @param {{state: ProgramState, shown: number}} properties shown: the call whose line is marked */
export function Variables({ state, shown }) {
  const { frames, leftOut } = state;
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(
    () => (list.current ? seeChanges(list.current) : undefined),
    [step.value, docked.value],
  );
  const isGraph = variablesAs.value === "graph";
  const sharers = sharersIn(frames);
  const { model } = current();
  const funcs = frames.map(({ activation }) => functionOf(model, activation));
  const isShared = (/** @type {OpenFrame} */ { activation }) => {
    const { name, file } = functionOf(model, activation);
    return funcs.some((other) => other.name === name && other.file !== file);
  };
  const wordsOf = (/** @type {number} */ activation, /** @type {Variable} */ variable) =>
    words(variable, alsoOf(sharers, activation, variable));
  return html`<section class="variables" aria-label="variables">
    <h2>
      <span class="variables-title">Variables</span>
      <${Tools}
        isGraph=${isGraph}
        isChosen=${chosenName.value >= 0}
        isPinned=${pinned.value === step.value}
        isOther=${pinned.value >= 0}
      />
    </h2>
    <div class="variables-list">
      <div class="apart" ref=${list}>
        ${
          isGraph && variablesShown.value
            ? html`<${Graph} state=${state} shown=${shown} wordsOf=${wordsOf} />`
            : frames.toReversed().flatMap((frame, depth) => [
                leftOut > 0 &&
                  depth === frames.length - OUTERMOST &&
                  html`<p key="more" class="more">${counted(leftOut, "more call")} between</p>`,
                html`<${Frame}
                  key=${frame.activation}
                  frame=${frame}
                  sharers=${sharers}
                  isShared=${isShared(frame)}
                  isInnermost=${depth === 0}
                  isShown=${frame.activation === shown}
                />`,
              ])
        }
      </div>
    </div>
  </section>`;
}

/** In pixels, above and below what is brought into sight. */
const AROUND = 8;

/** Where the list is longer than its place, what the step changed is in sight; also when a picture
 * has been drawn. @param {HTMLElement} list */
function seeChanges(list) {
  const changed = [...list.querySelectorAll(".variable.changed")];
  if (!changed.length) return undefined;
  scrollTo(list, changed);
  const growing = new ResizeObserver(() => scrollTo(list, changed));
  for (const row of changed) growing.observe(row);
  return () => growing.disconnect();
}

/** @param {HTMLElement} list @param {Element[]} changed */
function scrollTo(list, changed) {
  const { top, bottom } = list.getBoundingClientRect();
  const boxes = changed.map((row) => row.getBoundingClientRect());
  const room = bottom - top - 2 * AROUND;
  const last = boxes.findLast((box) => box.bottom - boxes[0].top <= room) ?? boxes[0];
  const above = boxes[0].top - AROUND - top;
  const below = last.bottom + AROUND - bottom;
  if (above < 0) list.scrollTop += above;
  else if (below > 0) list.scrollTop += Math.min(above, below);
}

/**
 * Buttons for how they are shown, for the chosen variable, and for two steps.
 * @type {View<{isGraph: boolean, isChosen: boolean, isPinned: boolean, isOther: boolean}>}
 */
const Tools = memo(({ isGraph, isChosen, isPinned, isOther }) => {
  return html`<span class="changes">
    ${isChosen && html`<${OfVariable} />`}
    <${CommandButton} id="pin" pressed=${isPinned} />
    <${CommandButton} id="compare" class=${isOther ? "held" : ""} />
    <${CommandButton} id="graph" pressed=${isGraph} />
  </span>`;
});

/** Buttons for the chosen variable. */
function OfVariable() {
  return html`
    <${CommandButton} id="previousChange">‹<span class="wide-only"> change</span></${CommandButton}>
    <${CommandButton} id="nextChange"><span class="wide-only">change </span>›</${CommandButton}>
    ${["inspect", "history"].map((id) => html`<${CommandButton} id=${id} />`)}
  `;
}

/**
 * The names that stand for each object, and that view each storage; what is returned has no name.
 * @param {OpenFrame[]} frames
 * @returns {Map<string, Sharer[]>}
 */
function sharersIn(frames) {
  /** @type {Map<string, Sharer[]>} */
  const found = new Map();
  const note = (/** @type {string} */ key, /** @type {Sharer} */ sharer) =>
    found.get(key)?.push(sharer) ?? found.set(key, [sharer]);
  for (const { activation, variables } of frames)
    for (const { name, text, object, value, isReturn } of variables) {
      if (isReturn) continue;
      if (object !== undefined) note(`object ${object}`, { activation, name, text });
      if (value?.storage !== undefined)
        note(`storage ${value.storage}`, { activation, name, text });
    }
  return found;
}

/**
 * Other names of the same object, and of the same storage; those of other calls first, with the
 * name of their function.
 * @param {Map<string, Sharer[]>} sharers
 * @param {number} activation
 * @param {Variable} variable
 * @returns {{also: string, shares: string}}
 */
function alsoOf(sharers, activation, { name, object, value }) {
  const { model } = current();
  const others = (/** @type {string} */ key) =>
    (sharers.get(key) ?? []).filter(
      (other) => other.activation !== activation || other.name !== name,
    );
  const text = (/** @type {Sharer[]} */ found) => {
    const more = found.length - MAX_SHARERS;
    const isOwn = (/** @type {Sharer} */ other) => other.activation === activation;
    const sorted = [...found.filter((other) => !isOwn(other)), ...found.filter(isOwn)];
    const named = sorted.slice(0, more > 1 ? MAX_SHARERS : undefined).map((other, index, all) => {
      const isLast = all[index + 1]?.activation !== other.activation;
      const { name } = functionOf(model, other.activation);
      return isOwn(other) || !isLast ? other.text : `${other.text} of ${name}`;
    });
    return named.join(", ") + (more > 1 ? ` and ${more} more` : "");
  };
  const same = others(`object ${object}`);
  const isSame = (/** @type {Sharer} */ other) =>
    same.some((one) => one.activation === other.activation && one.name === other.name);
  const views = others(`storage ${value?.storage}`).filter((other) => !isSame(other));
  return { also: text(same), shares: text(views) };
}

/**
 * What a row says, for those who hear it.
 * @param {Variable} variable
 * @param {{also: string, shares: string}} sharing
 */
function words({ text, value, changed, since, isReturn }, { also, shares }) {
  return [
    `${text}${changed ? " changed" : ""}${isReturn ? " returned" : ""}`,
    value ? glanceText(value) : "no longer bound",
    also && `also ${also}`,
    shares && `shares storage with ${shares}`,
    since >= 0 && `as of step ${integer(since + 1)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/**
 * An open call, with the line that it has reached.
 * @param {{frame: OpenFrame, sharers: Map<string, Sharer[]>, isShared: boolean,
 *   isInnermost: boolean, isShown: boolean}} properties
 */
function Frame({ frame, sharers, isShared, isInnermost, isShown }) {
  const { activation, step: at, variables } = frame;
  const isOpen = variablesShown.value && (folds.value.get(activation) ?? (isInnermost || isShown));
  return html`<section class=${isShown ? "open-call shown" : "open-call"}>
    <${FrameHead}
      activation=${activation}
      at=${at}
      count=${variables.length}
      isShared=${isShared}
      isShown=${isShown}
      isOpen=${isOpen}
    />
    ${
      isOpen &&
      (variables.length
        ? html`<div style=${{ "--names": longestName(variables) }}>
          ${variables.map(
            (variable) =>
              html`<${Row}
                key=${variable.name}
                ...${variable}
                activation=${activation}
                ...${alsoOf(sharers, activation, variable)}
                chosen=${chosenName.value === variable.name && isShown}
              />`,
          )}
        </div>`
        : html`<p class="quiet">No variable has a value yet.</p>`)
    }
  </section>`;
}

/** Letters of the longest name, as far as names are lined up. @param {Variable[]} variables */
function longestName(variables) {
  return Math.min(MAX_NAME, Math.max(...variables.map(({ text }) => text.length)));
}

/**
 * @type {View<{activation: number, at: number, count: number, isShared: boolean, isShown: boolean,
 *   isOpen: boolean}>} isShared: a function of another file that is open has its name
 */
const FrameHead = memo(({ activation, at, count, isShared, isShown, isOpen }) => {
  const { model, document } = current();
  const { name, title, file } = functionOf(model, activation);
  const line = document.statements[statementOf(model, at)][1];
  const held = count ? counted(count, "variable") : "no variables";
  const look = () => {
    folds.value = new Map(folds.value).set(activation, !(isOpen && isShown));
    chosenFrame.value = activation;
  };
  return html`<h3>
    <button
      class=${isShown ? "frame shown" : "frame"}
      aria-current=${isShown}
      aria-expanded=${isOpen}
      title=${title ? `${name}: ${plainTitle(title)}` : `Look at this call of ${name}`}
      onClick=${look}
    >
      <code>${name}</code>
      ${isShared && html`<span class="frame-line">, ${document.files[file].path},</span>`}
      <span class=${isShared ? "frame-count" : "frame-line"}>
        ${!isShared && ", "}line ${line}${!isOpen && ":"}
      </span>
      ${!isOpen && html`<span class="frame-count">${held}</span>`}
    </button>
  </h3>`;
});

/**
 * @type {View<Variable & {activation: number, also: string, shares: string, chosen: boolean}>}
 */
const Row = memo((variable) => {
  const { activation, name, text, value, count, changed, since, chosen } = variable;
  const choose = () => {
    chosenFrame.value = activation;
    chosenName.value = chosen ? -1 : name;
  };
  const look = changed && "changed";
  const state = value ? since >= 0 && "past" : "gone";
  return html`<div
    class=${["variable", look, state, chosen && "chosen"].filter(Boolean).join(" ")}
    data-variable=${`${activation} ${name}`}
  >
    <div class="variable-name">
      <button
        aria-pressed=${chosen}
        title=${`${text}: choose this variable; [ and ] go to its changes`}
        onClick=${choose}
      >
        <code>${text}</code>
        <span class="mark" title="Changed by this statement">
          ●<span class="visually-hidden"> changed</span>
        </span>
      </button>
    </div>
    <${Content} ...${variable} />
    ${
      value &&
      html`<button
        class="type"
        title=${`Recorded ${counted(count, "time")}: its values over the run`}
        onClick=${(/** @type {Event} */ event) => inspect(event, value, text, "history")}
      >
        ${wordsOf(variable)}
      </button>`
    }
    ${since >= 0 && html`<${AsOf} since=${since} />`}
  </div>`;
});

/** The type, where the value does not tell, and how often it was recorded. @param {Variable} of */
function wordsOf({ value, count, isReturn }) {
  const often = count > 1 && `seen\u00a0${integer(count)}\u00a0times`;
  const isTold = often && value?.shape?.length; // by dtype and shape
  return [isReturn ? "returned" : !isTold && value?.type, often].filter(Boolean).join(", ");
}

/** @param {{since: number}} properties */
function AsOf({ since }) {
  return html`<button
    class="as-of"
    title="It may be another by now: something ran since that may have changed it, and it was not
      read again. Go to that step"
    onClick=${() => goTo(since)}
  >
    as of step ${integer(since + 1)}
  </button>`;
}

/** @param {Variable & {also: string, shares: string}} properties */
function Content({ text, value, also, shares }) {
  const [isWhole, setWhole] = useState(false);
  if (!value) return html`<div class="variable-value quiet">no longer bound</div>`;
  const isShort = !value.shape && !isPicture(value) && !isLong(value);
  const rest = isWhole ? "" : restOf(value);
  return html`<div class=${rest ? "variable-value first" : "variable-value"}>
    ${
      isShort
        ? html`<span class="value">
          <code class=${`is-${value.type}`}>${glanceText(value)}</code>
        </span>`
        : html`<${ValueView} value=${value} shares=${shares} name=${text} />`
    }
    ${
      rest &&
      html`<button class="quiet-link" title="Show all of them" onClick=${() => setWhole(true)}>
        and ${rest}
      </button>`
    }
    ${
      also &&
      html`<span class="badge shares" title="These names stand for one object">
        also ${breakable(also)}
      </span>`
    }
  </div>`;
}

/** @param {Value} value */
function glanceText(value) {
  const text = valueText(value);
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}

/** Whether a text has lines of its own. @param {Value} value */
function isLong({ value }) {
  return typeof value === "string" && value.includes("\n");
}
