// Where an element of a tensor lies: the sum that leads to its cell, and the cells of the storage.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { elementAt, scaleOf } from "viewer/model/elements.js";
import { counted, element, exactly, integer } from "viewer/model/format.js";
import { cellOf, readersOf, sumText, windowOf } from "viewer/model/storage.js";
import { cellTexts } from "viewer/model/values.js";
import { heat, walk } from "viewer/parts/heat.js";
import { html } from "viewer/parts/html.js";
import { keepInside } from "viewer/parts/panel.js";

/**
 * @param {{value: Value, name: string, layout: Layout, picked: number[],
 *   pick: (index: number[]) => void}} properties
 */
export function Place({ value, name, layout, picked, pick }) {
  // A cell that is looked at counts until an element is picked.
  const [looked, look] = useState({ cell: -1, picked });
  const cell = looked.cell >= 0 && looked.picked === picked ? looked.cell : cellOf(layout, picked);
  const lookAt = (/** @type {number} */ at) => {
    const [first = picked] = readersOf(layout, at).indices;
    look({ cell: at, picked: first });
    pick(first);
  };
  return html`<section class="inspect-part" aria-labelledby="place-title">
    <h4 id="place-title">Where it lies in ${layout.known ? "storage" : "memory"}</h4>
    ${
      layout.sizes.length > 0 &&
      html`<${Index} value=${value} sizes=${layout.sizes} picked=${picked} pick=${pick} />`
    }
    <${Sum} name=${name} layout=${layout} picked=${picked} cell=${cell} />
    <${Strip} value=${value} name=${name} layout=${layout} cell=${cell} lookAt=${lookAt} />
    ${
      !layout.known &&
      html`<p class="quiet">
        The run did not record the memory here, only distances: cells are counted from the first one
        that it reads.
      </p>`
    }
    ${
      layout.known &&
      !layout.isWhole &&
      html`<p class="quiet">
        The size of the storage was not recorded here: its cells are shown up to the last one
        that${" "}${name} reads.
      </p>`
    }
  </section>`;
}

/**
 * The index of an element, to be changed, and the element.
 * @param {{value: Value, sizes: number[], picked: number[], pick: (index: number[]) => void}}
 *   properties
 */
function Index({ value, sizes, picked, pick }) {
  const here = elementAt(value, picked);
  const set = (/** @type {number} */ axis, /** @type {string} */ typed) => {
    const index = Math.floor(Number(typed) || 0);
    pick(picked.with(axis, Math.max(0, Math.min(sizes[axis] - 1, index))));
  };
  return html`<div class="index-inputs">
    element${" "}
    ${sizes.map(
      (size, axis) =>
        html`<input
          type="number"
          min="0"
          max=${size - 1}
          value=${picked[axis]}
          aria-label=${`index on axis ${axis}, of ${size}`}
          onInput=${(/** @type {any} */ event) => set(axis, event.target.value)}
        />`,
    )}
    ${
      here !== undefined &&
      html`<span>
        ${" "}= <code>${typeof here === "number" ? exactly(here) : element(here)}</code>
      </span>`
    }
  </div>`;
}

/**
 * The sum that leads to a cell, and who else reads it.
 * @param {{name: string, layout: Layout, picked: number[], cell: number}} properties
 */
function Sum({ name, layout, picked, cell }) {
  const readers = readersOf(layout, cell);
  const terms = layout.sizes.length > 0 ? "offset + index · stride:" : "offset:";
  const byte = layout.known ? `, byte ${integer(cell * layout.itemBytes)}` : "";
  return html`<p class="sum" aria-live="polite">
    ${
      readers.count
        ? html`
          <span class="quiet">${terms}</span> <code>${sumText(layout, picked)}</code>, so cell${" "}
          ${integer(cell)}${byte}.
        `
        : `Cell ${integer(cell)} is not read by ${name}.`
    }
    ${readers.count > 1 && ` ${readersText(cell, readers)}`}
  </p>`;
}

/**
 * @param {number} cell
 * @param {Readers} readers
 */
function readersText(cell, { count, isAll, indices }) {
  const named = indices.map((index) => `[${index.join(", ")}]`).join(", ");
  const holds = `holds ${isAll ? "" : "at least "}${counted(count, "element")}`;
  return `Cell ${integer(cell)} ${holds}: ${named}${count > indices.length ? ", …" : ""}.`;
}

/**
 * @param {string} name
 * @param {number} cell
 * @param {Readers} readers
 */
function description(name, cell, { count, indices }) {
  if (!count) return `cell ${cell}: not read by ${name}`;
  const named = indices.slice(0, 3).map((index) => `${name}[${index.join(", ")}]`);
  return `cell ${cell}: ${named.join(", ")}${count > 3 ? ` and ${count - 3} more` : ""}`;
}

/** Storages of so many cells are drawn whole, of larger ones a part. */
const WHOLE = 192;
const PART = 64;
/** Letters that a cell has room for. */
const LETTERS = 11;

/**
 * The cells of the storage, or those around the chosen one.
 * @param {{value: Value, name: string, layout: Layout, cell: number,
 *   lookAt: (cell: number) => void}} properties
 */
function Strip({ value, name, layout, cell, lookAt }) {
  const size = layout.cells > WHOLE ? PART : layout.cells;
  const [start, begin] = useState(() => windowOf(layout.cells, cell, size).first);
  const isInside = start <= cell && cell < start + size;
  const first = isInside ? start : windowOf(layout.cells, cell, size).first;
  useLayoutEffect(() => begin(first), [first]);
  const readers = useMemo(
    () => Array.from({ length: size }, (_, at) => readersOf(layout, first + at)),
    [layout, first],
  );
  const contents = useMemo(
    () => readers.map(({ count, indices }) => (count ? elementAt(value, indices[0]) : undefined)),
    [readers, value],
  );
  const texts = useMemo(() => textsOf(contents), [contents]);
  const scale = useMemo(() => scaleOf(value.elements ?? []), [value]);
  const { place, onKey } = useWalk(layout.cells, cell, first, first + size, lookAt);
  const moveTo = (/** @type {number} */ at) => {
    begin(at);
    lookAt(at);
  };
  return html`
    ${
      layout.cells > WHOLE &&
      html`<${StripSlider} first=${first} size=${size} cells=${layout.cells} moveTo=${moveTo} />`
    }
    <div
      class="strip"
      ref=${place}
      style=${{ "--longest": Math.max(...texts.map((text) => text?.length ?? 1)) }}
      role="group"
      aria-label=${`storage cells ${first} to ${first + size - 1}`}
      onKeyDown=${onKey}
    >
      ${readers.map(
        (found, at) =>
          html`<${StripCell}
            key=${first + at}
            cell=${first + at}
            title=${description(name, first + at, found)}
            isRead=${found.count > 0}
            content=${contents[at]}
            text=${texts[at]}
            scale=${scale}
            isPicked=${first + at === cell}
            lookAt=${lookAt}
          />`,
      )}
    </div>
  `;
}

/**
 * What is in cells as texts; nothing where that is not known.
 * @param {(Cell | undefined)[]} contents
 */
function textsOf(contents) {
  const texts = cellTexts(
    contents.filter((content) => content !== undefined),
    2,
    LETTERS,
  );
  return contents.map((content) => (content === undefined ? undefined : texts.shift()));
}

/**
 * Arrow keys go from cell to cell, also beyond those that are drawn.
 * @param {number} cells how many there are
 * @param {number} cell
 * @param {number} first of those that are drawn
 * @param {number} beyond
 * @param {(cell: number) => void} lookAt
 */
function useWalk(cells, cell, first, beyond, lookAt) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const walksOn = useRef(false);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const next = cell + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0);
    walksOn.current = (next < first || next >= beyond) && next >= 0 && next < cells;
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
  return { place, onKey };
}

/**
 * @param {{first: number, size: number, cells: number, moveTo: (cell: number) => void}} properties
 */
function StripSlider({ first, size, cells, moveTo }) {
  return html`<label class="strip-slider">
    cells ${integer(first)} to ${integer(first + size - 1)} of ${integer(cells)}${" "}
    <input
      type="range"
      min="0"
      max=${cells - size}
      step="1"
      value=${first}
      aria-label="first cell that is drawn"
      onInput=${(/** @type {any} */ event) => moveTo(Number(event.target.value))}
    />
  </label>`;
}

/**
 * @param {{cell: number, title: string, isRead: boolean, content: Cell | undefined,
 *   text: string | undefined, scale: number, isPicked: boolean, lookAt: (cell: number) => void}}
 *   properties
 */
function StripCell({ cell, title, isRead, content, text, scale, isPicked, lookAt }) {
  const unknown = { name: isRead ? "unknown" : "unread", style: {} };
  const { name: kind, style } = content === undefined ? unknown : heat(content, scale);
  return html`<button
    data-cell
    class=${`strip-cell ${kind} ${isPicked ? "picked" : ""}`}
    style=${style}
    tabindex=${isPicked ? 0 : -1}
    aria-pressed=${isPicked}
    aria-label=${title}
    title=${title}
    onFocus=${() => !isPicked && lookAt(cell)}
    onClick=${() => lookAt(cell)}
  >
    <span class="strip-number">${cell}</span>
    <span>${text ?? (isRead ? "…" : "")}</span>
  </button>`;
}
