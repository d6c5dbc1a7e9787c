// How a variable went over the run: a chart of its numbers, and every record with a way to it.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, integer, number, shortened } from "viewer/model/format.js";
import { historyOf, pointAt, thinned, toldOnce } from "viewer/model/records.js";
import { functionOf } from "viewer/model/run.js";
import { isPicture, valueText } from "viewer/model/values.js";
import { html } from "viewer/parts/html.js";
import { Jump, keepInside } from "viewer/parts/panel.js";
import { ValueView } from "viewer/parts/value.js";
import { leaveTo } from "viewer/state/address.js";
import { current, inspected } from "viewer/state/state.js";

const AT_ONCE = 60;
const DRAWN_AT_ONCE = 12;
const LONG = 160;
const [WIDTH, HEIGHT, MARGIN] = [600, 150, 8];

/** @param {{found: Found}} properties */
export function History({ found }) {
  const { model, document } = current();
  const { activation, name: index } = found;
  const own = useMemo(() => historyOf(model, activation, index), [model, activation, index]);
  const every = useMemo(
    () => historyOf(model, activation, index, true),
    [model, activation, index],
  );
  const [everywhere, widen] = useState(own.length < 2 && every.length > own.length);
  const points = everywhere ? every : own;
  // What was chosen counts until the reader steps.
  const [{ at: chosen, step }, note] = useState({ at: -1, step: found.step });
  const choose = (/** @type {number} */ at) => note({ at, step: found.step });
  const isChosen = chosen >= 0 && chosen < points.length && step === found.step;
  const now = isChosen ? chosen : Math.max(0, pointAt(model, points, found.step));
  const show = (/** @type {boolean} */ wide) => {
    widen(wide);
    choose(-1);
  };
  const name = document.names[found.name];
  const changes = points.filter(({ changed }) => changed).length - 1;
  const alike = points.filter(
    (point, at) => at > 0 && point.changed && textOf(point) === textOf(points[at - 1]),
  ).length;
  return html`
    ${
      found.path &&
      html`<p class="quiet">These are the records of <code>${name}</code>, which holds it.</p>`
    }
    ${
      every.length > own.length &&
      html`<${Calls}
        func=${functionOf(model, found.activation).name}
        counts=${[own.length, every.length]}
        everywhere=${everywhere}
        show=${show}
      />`
    }
    <p class="quiet">
      Recorded ${counted(points.length, "time")},${" "}
      ${changes ? `with ${counted(changes, "change")}` : "without a change"}${
        alike > 0 && `, ${alike} of them to another object that reads the same`
      }.
    </p>
    ${
      points.filter(isCharted).length > 1 &&
      html`<${Chart} points=${points} now=${now} choose=${choose} />`
    }
    ${changes > 0 && html`<${Walk} points=${points} now=${now} choose=${choose} />`}
    <${Records} points=${points} now=${now} name=${name} />
  `;
}

/**
 * Whether only one call is looked at, or all of the function.
 * @param {{func: string, counts: [own: number, every: number], everywhere: boolean,
 *   show: (everywhere: boolean) => void}} properties
 */
function Calls({ func, counts: [own, every], everywhere, show }) {
  const choice = (/** @type {boolean} */ wide, /** @type {string} */ text) =>
    html`<label>
      <input
        type="radio"
        name="calls"
        checked=${everywhere === wide}
        onChange=${() => show(wide)}
      />${" "}
      ${text}
    </label>`;
  return html`<fieldset class="range-choice">
    <legend class="visually-hidden">which calls</legend>
    ${choice(false, `this call (${integer(own)})`)}
    ${choice(true, `all calls of ${func} (${integer(every)})`)}
  </fieldset>`;
}

/** @param {{points: Point[], now: number, choose: (at: number) => void}} properties */
function Walk({ points, now, choose }) {
  const { step } = points[now];
  const text = textOf(points[now]);
  return html`<div class="history-walk">
    <input
      type="range"
      min="0"
      max=${points.length - 1}
      value=${now}
      aria-label="record"
      aria-valuetext=${`${now + 1} of ${points.length}: ${text}`}
      onInput=${(/** @type {any} */ event) => choose(Number(event.target.value))}
    />
    <output>${integer(now + 1)} of ${integer(points.length)}: <code>${text}</code></output>${" "}
    <button class="jump" onClick=${() => leaveTo(step)}>go to step ${integer(step + 1)}</button>
  </div>`;
}

/** @param {Point} point */
function textOf({ value }) {
  return value ? shortened(valueText(value), LONG) : "cleared";
}

/** Whether a chart shows it. @param {Point} point */
function isCharted({ number: amount }) {
  return amount !== null && Number.isFinite(amount);
}

/**
 * Numbers by their order; what is not finite leaves a gap.
 * @param {{points: Point[], now: number, choose: (at: number) => void}} properties
 */
function Chart({ points, now, choose }) {
  const finite = points.filter(isCharted).map((point) => Number(point.number));
  const low = finite.reduce((least, amount) => Math.min(least, amount), Infinity);
  const high = finite.reduce((most, amount) => Math.max(most, amount), -Infinity);
  const x = (/** @type {number} */ at) =>
    MARGIN + (at / Math.max(1, points.length - 1)) * (WIDTH - 2 * MARGIN);
  const y = (/** @type {number} */ amount) =>
    high > low
      ? HEIGHT - MARGIN - ((amount - low) / (high - low)) * (HEIGHT - 2 * MARGIN)
      : HEIGHT / 2;
  const path = useMemo(() => linePath(points, x, y), [points]);
  const dot = (/** @type {number} */ at) => `M${x(at)} ${y(Number(points[at].number))}h0`;
  const onClick = (/** @type {MouseEvent} */ event) => {
    const { left, width } = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const share = (((event.clientX - left) / width) * WIDTH - MARGIN) / (WIDTH - 2 * MARGIN);
    choose(Math.max(0, Math.min(points.length - 1, Math.round(share * (points.length - 1)))));
  };
  const ends = `from ${number(finite[0])} at first to ${number(finite[finite.length - 1])} at last`;
  const limits = `the least is ${number(low)}, the largest ${number(high)}`;
  const text = `Chart of ${counted(finite.length, "number")}, ${ends}; ${limits}.`;
  return html`<figure class="history-chart">
    <span class="chart-end">${number(high)}</span>
    <svg
      viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${text}
      onClick=${onClick}
    >
      ${low < 0 && high > 0 && html`<line class="zero" x1="0" x2=${WIDTH} y1=${y(0)} y2=${y(0)} />`}
      <path d=${path} />
      <line class="now" x1=${x(now)} x2=${x(now)} y1="0" y2=${HEIGHT} />
      ${
        points.length <= AT_ONCE &&
        points.map((point, at) => isCharted(point) && html`<path class="dot" d=${dot(at)} />`)
      }
      ${isCharted(points[now]) && html`<path class="dot chosen" d=${dot(now)} />`}
    </svg>
    <span class="chart-end">${low < high && number(low)}</span>
  </figure>`;
}

/**
 * @param {Point[]} points
 * @param {(at: number) => number} x
 * @param {(amount: number) => number} y
 */
function linePath(points, x, y) {
  let pen = "M";
  return thinned(points, WIDTH)
    .map((at) => {
      if (!isCharted(points[at])) {
        pen = "M";
        return "";
      }
      const part = `${pen}${x(at).toFixed(1)} ${y(Number(points[at].number)).toFixed(1)}`;
      pen = "L";
      return part;
    })
    .join("");
}

/**
 * What was recorded, each value once for as long as it did not change.
 * @param {{points: Point[], now: number, name: string}} properties
 */
function Records({ points, now, name }) {
  const told = useMemo(() => toldOnce(points), [points]);
  const here = told.findLastIndex(({ first }) => first <= now);
  const areDrawn = points.some(({ value }) => value && isPicture(value));
  const atOnce = areDrawn ? DRAWN_AT_ONCE : AT_ONCE;
  const around = Math.max(0, Math.min(told.length - atOnce, here - atOnce / 2));
  const [first, start] = useState(around);
  const [beyond, end] = useState(around + atOnce);
  useLayoutEffect(() => {
    if (first <= here && here < beyond) return;
    start(around);
    end(around + atOnce);
  }, [here, points]);
  const shown = told.slice(first, beyond);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector(".here");
    if (list.current && chosen) keepInside(list.current, chosen);
  }, [here, points, first, beyond]);
  return html`
    ${
      first > 0 &&
      html`<button class="quiet-link" onClick=${() => start(Math.max(0, first - atOnce))}>
        show ${Math.min(first, atOnce)} before
      </button>`
    }
    <ol class=${areDrawn ? "history-list drawn" : "history-list"} ref=${list} start=${first + 1}>
      ${shown.map(
        (entry, place) =>
          html`<${Entry}
            key=${entry.point.row}
            entry=${entry}
            name=${name}
            isHere=${first + place === here}
          />`,
      )}
    </ol>
    ${
      beyond < told.length &&
      html`<button class="quiet-link" onClick=${() => end(beyond + atOnce)}>
        show ${Math.min(told.length - beyond, atOnce)} more
      </button>`
    }
  `;
}

/** @param {{entry: Told, name: string, isHere: boolean}} properties */
function Entry({ entry: { point, value, count, last }, name, isHere }) {
  const { step, changed } = point;
  const open = () =>
    value && (inspected.value = { value, name, steps: [step, last], view: "value" });
  return html`<li class=${isHere ? "here" : ""} aria-current=${isHere ? "true" : null}>
    <${Jump} step=${step} />${" "}
    ${
      value && isPicture(value)
        ? html`<${ValueView} value=${value} name=${name} />`
        : html`<code class=${changed ? "" : "unchanged"}>${textOf({ ...point, value })}</code>`
    }${" "}
    ${!changed && html`<span class="quiet">same${" "}</span>`}
    ${
      count > 1 &&
      html`<span class="quiet">
        · ${counted(count, "time")}, last at${" "}<${Jump} step=${last} />${" "}
      </span>`
    }
    ${value?.shape && html`<button class="jump" onClick=${open}>inspect</button>`}
  </li>`;
}
