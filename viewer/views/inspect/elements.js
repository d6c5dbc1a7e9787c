// The recorded elements of a tensor as a heat map: two axes of it at a time.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { folded, planeOf, product, recordedAlong, scaleOf } from "viewer/model/elements.js";
import { integer } from "viewer/model/format.js";
import { cellOf, readersOf } from "viewer/model/storage.js";
import { HeatMap, Legend } from "viewer/parts/heat.js";
import { html } from "viewer/parts/html.js";
import { AxisSlider, Jump } from "viewer/parts/panel.js";

/** How many elements of one axis stand on a line where there is room, in pixels, and elsewhere. */
const [ON_A_LINE, OF_FEW] = [16, 8];
const ROOM = 640;
/** Where there is less, cells are narrow. */
const TIGHT = 440;

/** The width of a place. @param {{current: HTMLElement | null}} place */
function useWidth(place) {
  const [width, see] = useState(Infinity);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (place.current);
    const measure = () => see(element.clientWidth);
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return width;
}

/**
 * @param {{value: Value, name: string, picked: number[], pick: (index: number[]) => void,
 *   layout: Layout | null, recorded: number}} properties
 *   recorded: the step, if it was an earlier one
 */
export function Elements({ value, name, picked, pick, layout, recorded }) {
  const sizes = value.shape ?? [];
  const last = sizes.length - 1;
  const [turned, turn] = useState([last - 1, last]);
  const [at, move] = useState(/** @type {number[]} */ (sizes.map(() => 0)));
  const [rows, columns] = turned;
  const plane = planeOf(value, rows, columns, at);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const width = useWidth(place);
  const most = width < ROOM ? OF_FEW : ON_A_LINE;
  const isLong = rows < 0 && plane.columns.length > most && !value.shown;
  const cells = value.elements ?? [];
  const scale = scaleOf(cells);
  const alike = useMemo(
    () => (layout ? readersOf(layout, cellOf(layout, picked)).indices.map(String) : []),
    [layout, picked],
  );
  const title = (/** @type {number[]} */ index, /** @type {Cell} */ cell) =>
    `${name}[${index.join(", ")}] is ${cell}${layout ? `, cell ${cellOf(layout, index)}` : ""}`;
  return html`<section class="inspect-part elements" ref=${place} aria-labelledby="elements-title">
    <h4 id="elements-title">Elements</h4>
    ${
      sizes.length > 2 &&
      html`<${Axes} ...${{ value, name, rows, columns, at, picked, turn, move, pick }} />`
    }
    <${HeatMap}
      plane=${isLong ? folded(plane, most) : plane}
      scale=${scale}
      picked=${String(picked)}
      alike=${alike}
      pick=${pick}
      label=${`elements of ${name}`}
      title=${title}
      isTight=${width < TIGHT}
    />
    <${Legend} cells=${cells} scale=${scale} />
    ${
      recorded >= 0 &&
      html`<p class="quiet">As they were when <${Jump} step=${recorded} /> recorded them.</p>`
    }
    ${
      value.shown &&
      html`<p class="quiet">
        Of ${integer(product(sizes))} elements ${integer(cells.length)} are recorded: the first and
        last of each axis. Dotted lines stand where others are left out.
      </p>`
    }
  </section>`;
}

/**
 * Which two axes are shown, and where on the others.
 * @param {{value: Value, name: string, rows: number, columns: number, at: number[],
 *   picked: number[], turn: (axes: number[]) => void, move: (at: number[]) => void,
 *   pick: (index: number[]) => void}} properties
 */
function Axes({ value, name, rows, columns, at, picked, turn, move, pick }) {
  const sizes = value.shape ?? [];
  const along = recordedAlong(value);
  const isShown = (/** @type {number} */ axis) => axis === rows || axis === columns;
  const slice = sizes.map((_, axis) => (isShown(axis) ? ":" : along[axis][at[axis]])).join(", ");
  const turnTo = (/** @type {number} */ row, /** @type {number} */ column) => {
    turn([row, column]);
    pick(
      along.map((indices, axis) => indices[axis === row || axis === column ? 0 : at[axis]] ?? 0),
    );
  };
  const show = (/** @type {number} */ axis, /** @type {number} */ place) => {
    move(at.with(axis, place));
    pick(picked.with(axis, along[axis][place]));
  };
  return html`<div class="axes">
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
    ${sizes.map(
      (size, axis) =>
        !isShown(axis) &&
        html`<${AxisSlider}
          axis=${axis}
          count=${along[axis].length}
          at=${at[axis]}
          shown=${along[axis][at[axis]]}
          label=${`index on axis ${axis}`}
          text=${`${along[axis][at[axis]]} of ${size}`}
          move=${(/** @type {number} */ place) => show(axis, place)}
        />`,
    )}
    <p class="slice-name"><code>${`${name}[${slice}]`}</code></p>
  </div>`;
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
