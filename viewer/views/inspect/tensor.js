// A tensor: what it is, its elements as colours, what they are together, where they lie, and who
// else looks there.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { environmentAt } from "viewer/model/changes.js";
import {
  elementAt,
  folded,
  haveEqualElements,
  planeOf,
  product,
  recordedAlong,
  scaleOf,
  summaryOf,
} from "viewer/model/elements.js";
import { bytes, counted, element, integer, number, shape } from "viewer/model/format.js";
import { aliasesOf } from "viewer/model/records.js";
import { callStack, endOf } from "viewer/model/run.js";
import {
  cellOf,
  layoutOf,
  readersOf,
  storageWords,
  sumText,
  windowOf,
} from "viewer/model/storage.js";
import { cellText, sharedDecimals } from "viewer/model/values.js";
import { heat, HeatMap, Legend, walk } from "viewer/parts/heat.js";
import { html } from "viewer/parts/html.js";
import { Jump, keepInside } from "viewer/parts/panel.js";
import { current, inspected } from "viewer/state/state.js";

const ON_A_LINE = 16;

/** Storages of so many cells are drawn whole, of larger ones a part. */
const WHOLE = 192;
const PART = 64;

/** @param {{value: Value, name: string, found: Found}} properties */
export function TensorView({ value, name, found }) {
  const { model } = current();
  const layout = useMemo(() => layoutOf(value), [value]);
  const aliases = useMemo(
    () => (value.storage !== undefined ? aliasesOf(model, value.storage, found.step) : []),
    [value, found],
  );
  const [picked, pick] = useState(() => recordedAlong(value).map((along) => along[0] ?? 0));
  const words = [
    ...storageWords(value, name, found.activation, aliases),
    ...equalWords(value, name, found),
  ];
  return html`
    <${Facts} value=${value} />
    ${words.map((sentence) => html`<p class="words">${sentence}</p>`)}
    ${value.text !== undefined && html`<p class="words">${value.text}</p>`}
    ${
      (value.elements?.length ?? 0) > 0 &&
      html`<${Elements}
        value=${value}
        name=${name}
        picked=${picked}
        pick=${pick}
        layout=${layout}
        recorded=${found.recorded < found.step ? found.recorded : -1}
      />`
    }
    <${Together} value=${value} />
    ${
      layout &&
      layout.cells > 0 &&
      product(layout.sizes) > 0 &&
      html`<${Place} value=${value} name=${name} layout=${layout} picked=${picked} pick=${pick} />`
    }
    ${
      aliases.length > 0 &&
      html`<${Aliases} aliases=${aliases} storage=${value.storage ?? 0} found=${found} />`
    }
  `;
}

/** @param {{value: Value}} properties */
function Facts({ value }) {
  const {
    shape: sizes = [],
    dtype = value.type,
    device,
    contiguous,
    strides,
    offset,
    requires_grad: grad,
    bytes: size,
    storage_bytes: held,
  } = value;
  /** @type {[string, any][]} */
  const facts = [
    ["elements", integer(product(sizes))],
    ["size", size === undefined ? undefined : bytes(size)],
    ["device", device],
    ["strides", strides && `(${strides.join(", ")})`],
    ["offset", offset === undefined ? undefined : integer(offset)],
    ["order", contiguous === undefined ? undefined : contiguous ? "contiguous" : "not contiguous"],
    ["storage", held === undefined ? undefined : `#${value.storage}, ${bytes(held)}`],
    ["requires grad", grad === undefined ? undefined : grad ? "yes" : "no"],
  ];
  return html`
    <p class="headline">
      <span class="shape">${shape(sizes)}</span> <span class="dtype">${dtype}</span>
    </p>
    <dl class="inspect-facts">
      ${facts
        .filter(([, fact]) => fact !== undefined)
        .map(
          ([term, fact]) =>
            html`<div>
              <dt>${term}</dt>
              <dd>${fact}</dd>
            </div>`,
        )}
    </dl>
  `;
}

/**
 * Names that hold the same elements elsewhere.
 * @param {Value} value
 * @param {string} name
 * @param {Found} found
 */
function equalWords(value, name, found) {
  if (value.storage === undefined) return [];
  const { model, document } = current();
  const { names, values, inspections } = document;
  const end = endOf(model, found.step);
  const known = callStack(model, found.step).flatMap(({ activation }) => [
    ...environmentAt(model, activation, end),
  ]);
  const equal = known.flatMap(([other, { row }]) => {
    const candidate = values[inspections.value[row] ?? -1];
    const isElsewhere =
      candidate?.storage !== undefined &&
      candidate.storage !== value.storage &&
      names[other] !== name;
    return isElsewhere && haveEqualElements(candidate, value) ? [names[other]] : [];
  });
  return [...new Set(equal)].map(
    (other) => `${other} holds equal elements in another storage: they share no memory.`,
  );
}

/**
 * @param {{value: Value, name: string, picked: number[], pick: (index: number[]) => void, layout:
 *   Layout | null, recorded: number}} properties recorded: the step, if it was an earlier one
 */
function Elements({ value, name, picked, pick, layout, recorded }) {
  const sizes = value.shape ?? [];
  const last = sizes.length - 1;
  const [[rows, columns], turn] = useState([last - 1, last]);
  const [at, move] = useState(/** @type {number[]} */ (sizes.map(() => 0)));
  const along = recordedAlong(value);
  const plane = planeOf(value, rows, columns, at);
  const shown =
    rows < 0 && plane.columns.length > ON_A_LINE && !value.shown ? folded(plane, ON_A_LINE) : plane;
  const cells = value.elements ?? [];
  const scale = scaleOf(cells);
  const alike = useMemo(
    () => (layout ? readersOf(layout, cellOf(layout, picked)).indices.map(String) : []),
    [layout, picked],
  );
  const leading = sizes.map((_, axis) => axis).filter((axis) => axis !== rows && axis !== columns);
  const title = (/** @type {number[]} */ index, /** @type {Cell} */ cell) =>
    `${name}[${index.join(", ")}] is ${cell}${layout ? `, cell ${cellOf(layout, index)}` : ""}`;
  const show = (/** @type {number} */ axis, /** @type {number} */ place) => {
    move(at.with(axis, place));
    pick(picked.with(axis, along[axis][place]));
  };
  const turnTo = (/** @type {number} */ row, /** @type {number} */ column) => {
    turn([row, column]);
    pick(
      along.map((indices, axis) => indices[axis === row || axis === column ? 0 : at[axis]] ?? 0),
    );
  };
  return html`<section class="inspect-part" aria-labelledby="elements-title">
    <h4 id="elements-title">Elements</h4>
    ${
      sizes.length > 2 &&
      html`<div class="axes">
        <${Axis}
          label="rows"
          chosen=${rows}
          sizes=${sizes}
          choose=${(/** @type {number} */ axis) => turnTo(axis, axis === columns ? rows : columns)}
        />
        <${Axis}
          label="columns"
          chosen=${columns}
          sizes=${sizes}
          choose=${(/** @type {number} */ axis) => turnTo(axis === rows ? columns : rows, axis)}
        />
        ${leading.map(
          (axis) =>
            html`<label class="slice-slider">
              axis ${axis}:${" "}
              <input
                type="range"
                min="0"
                max=${along[axis].length - 1}
                value=${at[axis]}
                disabled=${along[axis].length < 2}
                aria-label=${`index on axis ${axis}`}
                aria-valuetext=${`${along[axis][at[axis]]} of ${sizes[axis]}`}
                onInput=${(/** @type {any} */ event) => show(axis, Number(event.target.value))}
              />${" "}
              <output>${along[axis][at[axis]]}</output>
            </label>`,
        )}
        <p class="slice-name">
          <code>
            ${name}[
            ${sizes
              .map((_, axis) => (axis === rows || axis === columns ? ":" : along[axis][at[axis]]))
              .join(", ")}
            ]
          </code>
        </p>
      </div>`
    }
    <${HeatMap}
      plane=${shown}
      scale=${scale}
      picked=${String(picked)}
      alike=${alike}
      pick=${pick}
      label=${`elements of ${name}`}
      title=${title}
    />
    <${Legend} cells=${cells} scale=${scale} />
    ${
      recorded >= 0 &&
      html`<p class="quiet">
        As they were when <${Jump} step=${recorded} /> recorded them.
      </p>`
    }
    ${
      value.shown &&
      html`<p class="quiet">
        Of ${integer(product(sizes))} elements ${integer(cells.length)} are recorded: the
        first and last of each axis. Dotted lines stand where others are left out.
      </p>`
    }
  </section>`;
}

/**
 * @param {{label: string, chosen: number, sizes: number[], choose: (axis: number) => void}}
 *   properties
 */
function Axis({ label, chosen, sizes, choose }) {
  return html`<label>
    ${label}:${" "}
    <select onChange=${(/** @type {any} */ event) => choose(Number(event.target.value))}>
      ${sizes.map(
        (size, axis) =>
          html`<option value=${axis} selected=${axis === chosen}>
            axis ${axis} (${size})
          </option>`,
      )}
    </select>
  </label>`;
}

/** @param {{value: Value}} properties */
function Together({ value }) {
  const summary = useMemo(() => summaryOf(value), [value]);
  if (!summary || summary.of < 2) return null;
  const source = summary.recorded
    ? `Recorded by the run, from all ${integer(summary.of)} elements`
    : `Computed here from all ${integer(summary.of)} elements`;
  const missing = summary.statistics.some(
    ([name, amount]) => ["nan", "inf"].includes(name) && amount > 0,
  );
  const finite = summary.statistics.some(([name]) => name === "mean");
  return html`<section class="inspect-part" aria-labelledby="together-title">
    <h4 id="together-title">All together</h4>
    <div class="together">
      ${
        summary.histogram &&
        summary.histogram.high > summary.histogram.low &&
        html`<${Histogram} histogram=${summary.histogram} />`
      }
      <dl class="inspect-facts">
        ${summary.statistics
          .filter(([name, amount]) => amount !== 0 || !["nan", "inf"].includes(name))
          .map(
            ([name, amount]) =>
              html`<div>
                <dt>${name}</dt>
                <dd>${number(Number(amount.toPrecision(6)))}</dd>
              </div>`,
          )}
      </dl>
    </div>
    <p class="quiet">
      ${source}
      ${
        missing
          ? finite
            ? "; range, mean, deviation and histogram are of the finite ones"
            : "; none is finite"
          : ""
      }
      .
    </p>
  </section>`;
}

/**
 * @param {{value: Value, name: string, layout: Layout, picked: number[], pick: (index: number[]) =>
 *   void}} properties
 */
function Place({ value, name, layout, picked, pick }) {
  // A cell that is looked at counts until an element is picked.
  const [looked, look] = useState({ cell: -1, picked });
  const cell = looked.cell >= 0 && looked.picked === picked ? looked.cell : cellOf(layout, picked);
  const readers = readersOf(layout, cell);
  const lookAt = (/** @type {number} */ at) => {
    const [first = picked] = readersOf(layout, at).indices;
    look({ cell: at, picked: first });
    pick(first);
  };
  const here = elementAt(value, picked);
  return html`<section class="inspect-part" aria-labelledby="place-title">
    <h4 id="place-title">Where it lies in ${layout.known ? "storage" : "memory"}</h4>
    ${
      layout.sizes.length > 0 &&
      html`<div class="index-inputs">
        element${" "}
        ${layout.sizes.map(
          (size, axis) =>
            html`<input
              type="number"
              min="0"
              max=${size - 1}
              value=${picked[axis]}
              aria-label=${`index on axis ${axis}, of ${size}`}
              onInput=${(/** @type {any} */ event) =>
                pick(
                  picked.with(
                    axis,
                    Math.max(0, Math.min(size - 1, Math.floor(Number(event.target.value) || 0))),
                  ),
                )}
            />`,
        )}
        ${
          here !== undefined &&
          html`<span>
            ${" "}
            = <code>${typeof here === "number" ? String(here) : element(here)}</code>
          </span>`
        }
      </div>`
    }
    <p class="sum" aria-live="polite">
      ${
        readers.count
          ? html`
            <span class="quiet">offset${layout.sizes.length > 0 && " + index · stride"}:</span>${" "}
            <code>${sumText(layout, picked)}</code>, so cell ${integer(cell)}
            ${layout.known ? `, byte ${integer(cell * layout.itemBytes)}` : ""}.
          `
          : `Cell ${integer(cell)} is not read by ${name}.`
      }
      ${
        readers.count > 1
          ? ` Cell ${integer(cell)} holds ${readers.isAll ? "" : "at least "}${counted(readers.count, "element")}: ${readers.indices.map((index) => `[${index.join(", ")}]`).join(", ")}${readers.count > readers.indices.length ? ", …" : ""}.`
          : ""
      }
    </p>
    <${Strip} value=${value} name=${name} layout=${layout} cell=${cell} lookAt=${lookAt} />
    ${
      !layout.known &&
      html`<p class="quiet">
        The run did not record the memory of this array, only its distances: cells are
        counted from the first one that it reads.
      </p>`
    }
  </section>`;
}

/**
 * The cells of the storage, or those around the chosen one.
 * @param {{value: Value, name: string, layout: Layout, cell: number, lookAt: (cell: number) =>
 *   void}} properties
 */
function Strip({ value, name, layout, cell, lookAt }) {
  const size = layout.cells > WHOLE ? PART : layout.cells;
  const [start, begin] = useState(() => windowOf(layout.cells, cell, size).first);
  const first =
    start <= cell && cell < start + size ? start : windowOf(layout.cells, cell, size).first;
  const beyond = first + size;
  useLayoutEffect(() => begin(first), [first]);
  const scale = useMemo(() => scaleOf(value.elements ?? []), [value]);
  const decimals = sharedDecimals(value.elements ?? [], 2);
  const cells = Array.from({ length: beyond - first }, (_, at) => first + at);
  const readers = useMemo(() => cells.map((at) => readersOf(layout, at)), [layout, first]);
  const contents = readers.map(({ count, indices }) =>
    count ? elementAt(value, indices[0]) : undefined,
  );
  const longest = Math.max(
    ...contents.map((content) => (content === undefined ? 1 : cellText(content, decimals).length)),
  );
  const describe = (/** @type {number} */ at, /** @type {Readers} */ { count, indices }) =>
    `cell ${at}: ${
      count
        ? `${indices
            .slice(0, 3)
            .map((index) => `${name}[${index.join(", ")}]`)
            .join(", ")}${count > 3 ? ` and ${count - 3} more` : ""}`
        : `not read by ${name}`
    }`;
  const move = (/** @type {any} */ event) => {
    begin(Number(event.target.value));
    lookAt(Number(event.target.value));
  };
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const walksOn = useRef(false);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const next = cell + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0);
    walksOn.current = (next < first || next >= beyond) && next >= 0 && next < layout.cells;
    if (walksOn.current) lookAt(next);
    walk(event);
  };
  useLayoutEffect(() => {
    const box = place.current;
    const chosen = /** @type {HTMLElement | null | undefined} */ (box?.querySelector(".picked"));
    if (!box || !chosen) return;
    if (walksOn.current) chosen.focus({ preventScroll: true });
    walksOn.current = false;
    keepInside(box, chosen);
  }, [cell, first]);
  return html`
    ${
      layout.cells > WHOLE &&
      html`<label class="strip-slider">
        cells ${integer(first)} to ${integer(beyond - 1)} of ${integer(layout.cells)}${" "}
        <input
          type="range"
          min="0"
          max=${layout.cells - size}
          step="1"
          value=${first}
          aria-label="first cell that is drawn"
          onInput=${move}
        />
      </label>`
    }
    <div
      class="strip"
      ref=${place}
      style=${{ "--longest": longest }}
      role="group"
      aria-label=${`storage cells ${first} to ${beyond - 1}`}
      onKeyDown=${onKey}
    >
      ${cells.map((at, index) => {
        const found = readers[index];
        const content = contents[index];
        const { name: kind, style } =
          content === undefined
            ? { name: found.count ? "unknown" : "unread", style: {} }
            : heat(content, scale);
        const isPicked = at === cell;
        return html`<button
          key=${at}
          data-cell
          class=${`strip-cell ${kind} ${isPicked ? "picked" : ""}`}
          style=${style}
          tabindex=${isPicked ? 0 : -1}
          aria-pressed=${isPicked}
          aria-label=${describe(at, found)}
          title=${describe(at, found)}
          onFocus=${() => at !== cell && lookAt(at)}
          onClick=${() => lookAt(at)}
        >
          <span class="strip-number">${at}</span>
          <span>
            ${content === undefined ? (found.count ? "…" : "") : cellText(content, decimals)}
          </span>
        </button>`;
      })}
    </div>
  `;
}

const TIMES = /** @type {const} */ ([
  ["now", "Now"],
  ["earlier", "Earlier in the run"],
  ["later", "Later in the run"],
]);

/** @param {{aliases: Alias[], storage: number, found: Found}} properties */
function Aliases({ aliases, storage, found }) {
  const own = aliases.find((alias) => alias.row === found.row && alias.value === found.value);
  const others = aliases.filter((alias) => alias !== own);
  const open = (/** @type {Alias} */ alias) =>
    (inspected.value = {
      value: alias.value,
      name: alias.name,
      steps: [alias.step],
      view: "value",
    });
  return html`<section class="inspect-part" aria-labelledby="aliases-title">
    <h4 id="aliases-title">Names that view storage #${storage}</h4>
    ${!others.length && html`<p class="quiet">No other name that the run shows views it.</p>`}
    ${TIMES.map(([when, title]) => {
      const shown = others.filter((alias) => alias.when === when);
      return (
        shown.length > 0 &&
        html`
          <h5>${title}</h5>
          <ul class="alias-list">
            ${shown.map(
              (alias) =>
                html`<li>
                  <button
                    class="alias-name"
                    title="Inspect this one"
                    onClick=${() => open(alias)}
                  >
                    <code>${alias.name}</code>
                  </button>
                  <span class="quiet"> in ${alias.func}</span>${" "}
                  <code class="alias-layout">
                    ${shape(alias.value.shape ?? [])}, strides (
                    ${alias.value.strides?.join(", ")}), offset${" "}
                    ${integer(alias.value.offset ?? 0)}
                  </code>
                  <${Jump} step=${alias.step} />
                  ${alias.count > 1 && html`<span class="quiet"> ×${integer(alias.count)}</span>`}
                </li>`,
            )}
          </ul>
        `
      );
    })}
  </section>`;
}

/** @param {{histogram: Bins}} properties */
export function Histogram({ histogram: { low, high, counts } }) {
  const most = Math.max(...counts, 1);
  const width = (high - low) / counts.length;
  const fullest = counts.indexOf(most);
  const from = (/** @type {number} */ bin) => number(Number((low + bin * width).toPrecision(4)));
  const text = `Histogram of ${counts.length} bins from ${number(low)} to ${number(high)}; most, ${integer(most)}, lie from ${from(fullest)} to ${from(fullest + 1)}.`;
  return html`<figure class="bins">
    <svg
      viewBox=${`0 0 ${counts.length * 10} 60`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${text}
    >
      ${counts.map(
        (count, bin) =>
          html`<rect
            x=${bin * 10 + 0.5}
            width="9"
            y=${60 - (count / most) * 60}
            height=${(count / most) * 60}
          >
            <title>
              ${integer(count)} from ${from(bin)} to ${from(bin + 1)}
            </title>
          </rect>`,
      )}
    </svg>
    <figcaption>
      <span>${number(low)}</span>
      <span>most in a bin: ${integer(most)}</span>
      <span>${number(high)}</span>
    </figcaption>
  </figure>`;
}
