// The open calls and their objects as a drawing: each object once, an arrow for each reference.
// What one hears of it are the calls, with the same words as in the table. Fetched when it is first
// shown.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { integer } from "viewer/model/format.js";
import { graphOf } from "viewer/model/graph.js";
import { BETWEEN, CALL_WIDTH, HEAD, leftOf, placed, ROW, WIDTH } from "viewer/model/placement.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { chosenFrame, chosenName, current } from "viewer/state/state.js";

await styled("graph.css");

/** Where boxes stand, by document: they stay there for as long as the page. */
const places = new WeakMap();

/** @param {{state: ProgramState, shown: number, wordsOf: (activation: number,
 *   variable: Variable) => string}} properties shown: the call whose line is marked */
export function Graph({ state, shown, wordsOf }) {
  const { model } = current();
  const graph = useMemo(() => graphOf(model, state), [state]);
  const tops = useMemo(() => {
    const found = placed(graph, places.get(model) ?? new Map());
    places.set(model, found);
    return found;
  }, [graph]);
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => bringIn(scroller.current, ".graph-box.shown"), [graph.boxes.length, shown]);
  useLayoutEffect(() => {
    bringIn(scroller.current, ".graph-name.changed");
    bringIn(scroller.current, ".graph-box.of-change");
  }, [graph]);
  const all = graph.boxes.map(({ key }) => /** @type {Place} */ (tops.get(key)));
  const bottom = Math.max(0, ...all.map(({ top, height }) => top + height));
  const columns = Math.max(0, ...all.map(({ column }) => column));
  const extra = extraOf(useFree(scroller, columns), columns);
  const width = leftAt(columns, extra) + widthAt(columns, extra);
  const ofChange = changedIn(graph);
  const lit = litBy(graph, `call ${chosenFrame.value >= 0 ? chosenFrame.value : shown}`);
  return html`<div
    class="graph"
    ref=${scroller}
    tabindex="0"
    role="region"
    aria-label="graph of objects"
  >
    <div
      class="graph-page"
      style=${{ width: `${width}px`, height: `${bottom}px` }}
    >
      <${Arrows} ...${{ graph, tops, lit, width, height: bottom, extra }} />
      ${graph.boxes.map(
        (box) =>
          html`<${BoxView}
            key=${box.key}
            box=${box}
            place=${tops.get(box.key)}
            extra=${extra}
            isShown=${box.key === `call ${shown}`}
            isLit=${lit.has(box.key)}
            name=${ofChange.get(box.key)}
            wordsOf=${wordsOf}
          />`,
      )}
    </div>
    ${graph.leftOut > 0 && html`<p class="more">and ${integer(graph.leftOut)} more objects</p>`}
  </div>`;
}

/** In pixels, around what is brought into sight. */
const AROUND = 8;

/**
 * Scroll a box, and nothing around it, so that parts of it are in sight, the first at least; of
 * what is larger, the beginning.
 * @param {HTMLElement | null} box
 * @param {string} parts
 */
function bringIn(box, parts) {
  if (!box) return;
  const outer = box.getBoundingClientRect();
  const { paddingBottom, paddingRight } = getComputedStyle(box);
  const within = {
    bottom: outer.bottom - Math.max(AROUND, Number.parseFloat(paddingBottom)),
    right: outer.right - Math.max(AROUND, Number.parseFloat(paddingRight)),
  };
  for (const part of [...box.querySelectorAll(parts)].toReversed()) {
    const { top, bottom, left, right } = part.getBoundingClientRect();
    const [above, before] = [top - AROUND - outer.top, left - AROUND - outer.left];
    box.scrollTop += above < 0 ? above : Math.max(0, Math.min(above, bottom - within.bottom));
    box.scrollLeft += before < 0 ? before : Math.max(0, Math.min(before, right - within.right));
  }
}

/**
 * The keys of what a step changed, and of what names stand for since, with a name: that may be out
 * of sight.
 * @param {Graph} graph
 */
function changedIn({ boxes, arrows }) {
  const rows = new Map(boxes.map((box) => [box.key, box.rows]));
  const named = arrows.filter(({ changed }) => changed);
  return new Map([
    ...boxes.filter(({ changed }) => changed).map(({ key }) => /** @type {const} */ ([key, ""])),
    ...named.map(({ from, row, to }) => /** @type {const} */ ([to, rows.get(from)?.[row].label])),
  ]);
}

/** How much wider boxes of objects and of calls and the space after these become, in pixels, where
 * there is room (those of objects twice as much, where there is more), and how much narrower where
 * there is too little. */
const MOST = { objects: 28, calls: 120, between: 64 };
const LEAST = { objects: -24, calls: -32, between: -12 };

/** By how many pixels. @typedef {{calls: number, objects: number, between: number}} Extra */

/** @param {number} free pixels @param {number} columns of objects @returns {Extra} */
function extraOf(free, columns) {
  if (free < 0) {
    const least = LEAST.calls + columns * (LEAST.objects + LEAST.between);
    const part = Math.min(1, free / least);
    const { objects, calls, between } = LEAST;
    return { objects: part * objects, calls: part * calls, between: part * between };
  }
  const objects = columns ? Math.min(MOST.objects, Math.floor(free / columns)) : 0;
  const calls = Math.min(MOST.calls, free - columns * objects);
  const rest = free - columns * objects - calls;
  const wider = columns ? Math.min(MOST.objects, Math.floor(rest / 2 / columns)) : 0;
  const between = Math.min(MOST.between, rest - columns * wider);
  return { objects: objects + wider, calls, between };
}

/** @param {number} column @param {Extra} extra */
function leftAt(column, { calls, objects, between }) {
  if (!column) return 0;
  // Space that is free is for the arrows of names alone, which are many; what is not is of each.
  const spaces = between > 0 ? 1 : column;
  return leftOf(column) + calls + (column - 1) * objects + spaces * between;
}

/** @param {number} column @param {Extra} extra */
function widthAt(column, { calls, objects }) {
  return column ? WIDTH + objects : CALL_WIDTH + calls;
}

/**
 * The room beside the graph that is free for wider boxes, or what it lacks. While the panel is as
 * wide as it was it only becomes less, so that no step moves what is there.
 * @param {{current: HTMLElement | null}} scroller
 * @param {number} columns
 */
function useFree(scroller, columns) {
  const [free, setFree] = useState(0);
  const known = useRef({ width: 0, free: Infinity });
  useLayoutEffect(() => {
    const place = scroller.current;
    if (!place) return undefined;
    const measure = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(place);
      const padding = Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
      const width = place.clientWidth - padding;
      const before = width === known.current.width ? known.current.free : Infinity;
      const now = Math.min(before, width - leftOf(columns + 1) + BETWEEN);
      known.current = { width, free: now };
      setFree(now);
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(place);
    return () => watcher.disconnect();
  }, [columns]);
  return free;
}

/**
 * What the chosen variable leads to.
 * @param {Graph} graph
 * @param {string} call
 * @returns {Set<string>}
 */
function litBy({ boxes, arrows }, call) {
  const rows = boxes.find(({ key }) => key === call)?.rows ?? [];
  const chosen = rows.find(({ variable }) => variable?.name === chosenName.value);
  const found = new Set(chosen?.target ? [chosen.target] : []);
  for (const key of found) for (const { from, to } of arrows) if (from === key) found.add(to);
  return found;
}

/**
 * @param {{graph: Graph, tops: Map<string, Place>, lit: Set<string>, height: number,
 *   width: number, extra: Extra}} properties
 */
function Arrows({ graph: { boxes, arrows }, tops, lit, width, height, extra }) {
  const shared = new Set(boxes.filter(({ count }) => count > 1).map(({ key }) => key));
  const rowsOf = new Map(boxes.map(({ key, rows }) => [key, rows.length]));
  const drawn = [...arrows].sort((one, other) => Number(one.changed) - Number(other.changed));
  return html`<svg class="graph-arrows" width=${width} height=${height} aria-hidden="true">
    <defs>
      <marker id="arrowhead" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10"
        markerUnits="userSpaceOnUse" orient="auto">
        <path d="M0 0 8 4 0 8z" />
      </marker>
    </defs>
    ${drawn.map(({ from, row, to, isBack, changed }) => {
      const [one, other] = [tops.get(from), tops.get(to)];
      const kind = isBack ? "back" : shared.has(to) ? "to-shared" : "";
      const name = [kind, lit.has(to) && "lit", changed && "of-change"];
      return (
        one &&
        other &&
        html`<path
          key=${`${from} ${row}`}
          class=${name.filter(Boolean).join(" ")}
          d=${arrowPath(one, row, other, extra, row / Number(rowsOf.get(from)))}
          marker-end="url(#arrowhead)"
        />`
      );
    })}
  </svg>`;
}

/**
 * From a row to the head of a box: straight on to a column on the right, round the right side to
 * one that is not.
 * @param {Place} from
 * @param {number} row
 * @param {Place} to
 * @param {Extra} extra
 * @param {number} share of the rows that are above it: arrows of lower ones turn earlier, so that
 *   they lie beside each other
 */
function arrowPath(from, row, to, extra, share) {
  const [x, y] = [
    leftAt(from.column, extra) + widthAt(from.column, extra) - 11,
    from.top + HEAD + (row + 0.5) * ROW,
  ];
  const end = to.top + HEAD / 2;
  if (to.column > from.column) {
    const left = leftAt(to.column, extra) - 2;
    const turn = x + (left - x) * (1 - 0.8 * share);
    const before = Math.min(turn, left - BETWEEN / 2);
    return `M${x} ${y}C${turn} ${y} ${before} ${end} ${left} ${end}`;
  }
  const right = leftAt(to.column, extra) + widthAt(to.column, extra) + 2;
  const bend = BETWEEN * 0.9;
  return `M${x} ${y}C${x + bend} ${y} ${right + bend} ${end} ${right} ${end}`;
}

/**
 * @param {{box: Box, place: Place, extra: Extra, isShown: boolean, isLit: boolean,
 *   name?: string, wordsOf: (activation: number, variable: Variable) => string}} properties
 *   name: of what the step changed
 */
function BoxView({ box, place, extra, isShown, isLit, name, wordsOf }) {
  const { kind, title, rows, note, changed, since, count, isCyclic, key } = box;
  const isCall = kind === "call";
  const classes = [
    ...["graph-box", `is-${kind}`, isShown && "shown", changed && "changed", since >= 0 && "past"],
    ...[count > 1 && "is-shared", isCyclic && "is-cyclic", isLit && "lit"],
    name !== undefined && "of-change",
  ];
  const style = {
    "--labels": Math.max(0, ...rows.map(({ label }) => label.length)),
    transform: `translate(${leftAt(place.column, extra)}px, ${place.top}px)`,
    width: `${widthAt(place.column, extra)}px`,
    height: `${place.height}px`,
  };
  const activation = Number(key.split(" ")[1]);
  return html`<section
    class=${classes.filter(Boolean).join(" ")}
    data-key=${key}
    style=${style}
    aria-hidden=${!isCall}
    role="group"
    aria-label=${isCall ? `call of ${title}` : null}
  >
    <div class="graph-title" title=${title}>
      ${
        isCall
          ? html`<button
            class=${isShown ? "frame shown" : "frame"}
            aria-current=${isShown}
            title=${`Look at this call of ${title}`}
            onClick=${() => (chosenFrame.value = activation)}
          >
            <code>${title}</code>
          </button>`
          : html`${name && html`<b>${name}</b>`}<code>${title}</code>`
      }
      ${changed && html`<span class="mark" title="Changed by this statement">●</span>`}
      ${isCyclic && html`<span class="badge cyclic" title="It leads back to itself">↻</span>`}
      ${
        count > 1 &&
        html`<span class="badge shares" title=${`${count} arrows lead here`}>×${count}</span>`
      }
    </div>
    ${rows.map((row) =>
      row.variable
        ? html`<${NameRow}
          key=${row.label}
          row=${row}
          activation=${activation}
          words=${wordsOf(activation, row.variable)}
        />`
        : html`<${PartRow} row=${row} />`,
    )}
    ${note && html`<div class="graph-row graph-note">${note}</div>`}
  </section>`;
}

/**
 * A name of an open call; its value stands here, or where its arrow leads.
 * @param {{row: GraphRow, activation: number, words: string}} properties
 */
function NameRow({ row: { label, text, target, variable }, activation, words }) {
  if (!variable) return null;
  const { name, changed, since, value } = variable;
  const isChosen = chosenName.value === name;
  const choose = () => {
    chosenFrame.value = activation;
    chosenName.value = isChosen ? -1 : name;
  };
  const look = [changed && "changed", since >= 0 && "past", !value && "gone", isChosen && "chosen"];
  return html`<div
    class=${["graph-row", "graph-name", ...look].filter(Boolean).join(" ")}
    data-variable=${`${activation} ${name}`}
  >
    <button aria-pressed=${isChosen} title=${words} onClick=${choose}>
      <span aria-hidden="true" class="graph-label">
        <code>${label}</code>${changed && html`<span class="mark">●</span>`}
      </span>
      <span aria-hidden="true" class="graph-text">
        ${since >= 0 && html`<span class="graph-since">@${integer(since + 1)}</span>`}
        ${target ? html`<span class="graph-dot"></span>` : value ? text : "gone"}
      </span>
      <span class="visually-hidden">${words}</span>
    </button>
  </div>`;
}

/** @param {{row: GraphRow}} properties */
function PartRow({ row: { label, text, target, parts } }) {
  return html`<div class="graph-row" title=${target ? "" : text}>
    ${label && html`<span class="graph-label"><code>${label}</code></span>`}
    ${
      parts
        ? html`<span class="graph-part">
          ${parts.map(([from, to]) => {
            const style = { left: `${100 * from}%`, width: `${100 * (to - from)}%` };
            return html`<span style=${style}></span>`;
          })}
        </span>`
        : html`<span class="graph-text">
          ${
            target
              ? html`${label ? "" : text}<span class="graph-dot"></span>`
              : html`<code>${text}</code>`
          }
        </span>`
    }
  </div>`;
}
