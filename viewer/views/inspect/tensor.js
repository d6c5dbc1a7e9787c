// A tensor: what it is, its elements as colours, what they are together, where they lie, and who
// else looks there.

import { useMemo, useState } from "preact/hooks";
import { drawnBars } from "viewer/model/bars.js";
import { haveEqualElements, product, recordedAlong, summaryOf } from "viewer/model/elements.js";
import { bytes, counted, integer, number, shape } from "viewer/model/format.js";
import { knownAt, readingsOf } from "viewer/model/readings.js";
import { aliasesOf } from "viewer/model/records.js";
import { callStack } from "viewer/model/frames.js";
import { endOf } from "viewer/model/run.js";
import {
  bytesOf,
  deviceOf,
  isContiguous,
  layoutOf,
  offsetOf,
  storageWords,
  stridesOf,
  tuple,
  wantsGradient,
  withStorageSize,
} from "viewer/model/storage.js";
import { html } from "viewer/parts/html.js";
import { Jump } from "viewer/parts/panel.js";
import { current, inspected } from "viewer/state/state.js";
import { Elements } from "viewer/views/inspect/elements.js";
import { Place } from "viewer/views/inspect/place.js";

/** Of so few elements each is told by itself before all are told together. */
const FEW = 64;

/** @param {{value: Value, name: string, found: Found}} properties */
export function TensorView({ value: seen, name, found }) {
  const { model } = current();
  const aliases = useMemo(
    () => (seen.storage !== undefined ? aliasesOf(model, seen.storage, found.step) : []),
    [seen, found],
  );
  const value = useMemo(() => withStorageSize(seen, aliases), [seen, aliases]);
  const layout = useMemo(() => layoutOf(value), [value]);
  const [picked, pick] = useState(() => recordedAlong(value).map((along) => along[0] ?? 0));
  const isWhole = value.bytes !== undefined || value.elements !== undefined;
  const words = isWhole
    ? [...storageWords(value, name, found.activation, aliases), ...equalWords(value, name, found)]
    : value.device === "meta"
      ? ["A tensor on the device meta has a shape but no elements: nothing is computed there."]
      : [notRecorded(value, name)];
  const isFew = product(value.shape ?? []) <= FEW;
  const hasPlace = layout && isWhole && layout.cells > 0 && product(layout.sizes) > 0;
  const place =
    hasPlace &&
    html`<${Place}
      key="place"
      ...${{ value, name, layout, picked, pick }}
    />`;
  const together = html`<${Together} key="together" value=${value} />`;
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
    ${isFew ? [place, together] : [together, place]}
    ${
      aliases.length > 0 &&
      html`<${Aliases} aliases=${aliases} storage=${value.storage ?? 0} found=${found} />`
    }
  `;
}

/**
 * What is said in place of elements, and why: of a variable that is not inspected a run keeps few,
 * and none that it had to fetch. How one records more is for authors alone, whose page follows the
 * lecture while it is written.
 * @param {Value} value
 * @param {string} name
 */
function notRecorded({ device }, name) {
  const isWatched = document.querySelector("script[data-recorded]");
  const reason = device
    ? `those of variables on ${device} are only where the lecture inspects them`
    : "those of variables are only where they are few";
  const how = isWatched ? `; a comment “@inspect ${name}” records them` : "";
  return `Its elements are not recorded here: ${reason}${how}.`;
}

/** @param {{value: Value}} properties */
function Facts({ value }) {
  const { shape: sizes = [], dtype = value.type, storage, storage_bytes: held } = value;
  const [strides, offset, size] = [stridesOf(value), offsetOf(value), bytesOf(value)];
  const [contiguous, grad] = [isContiguous(value), wantsGradient(value)];
  const room = held === undefined ? "" : `, ${bytes(held)}`;
  /** @type {[string, any][]} */
  const facts = [
    ["elements", integer(product(sizes))],
    ["size", size === undefined ? undefined : bytes(size)],
    ["device", deviceOf(value)],
    ["strides", strides && tuple(strides)],
    ["offset", offset === undefined ? undefined : integer(offset)],
    ["order", contiguous === undefined ? undefined : contiguous ? "contiguous" : "not contiguous"],
    ["storage", storage === undefined ? undefined : `#${storage}${room}`],
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
  const { names, values } = document;
  const recorded = readingsOf(model);
  const end = endOf(model, found.step);
  const known = callStack(model, found.step).flatMap(({ activation }) => [
    ...knownAt(model, activation, end),
  ]);
  const equal = known.flatMap(([other, row]) => {
    const candidate = values[recorded.value[row]];
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
    ${
      summary.truths
        ? html`<p class="truths">${summary.truths}</p>`
        : html`<${Spread} ...${summary} />`
    }
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

/** @param {Summary} properties */
function Spread({ statistics, histogram }) {
  return html`<div class="together">
    ${histogram && html`<${Histogram} histogram=${histogram} />`}
    <dl class="inspect-facts">
      ${statistics
        .filter(([name, amount]) => amount !== 0 || !["nan", "inf"].includes(name))
        .map(
          ([name, amount]) =>
            html`<div>
              <dt>${name}</dt>
              <dd>${number(Number(amount.toPrecision(6)))}</dd>
            </div>`,
        )}
    </dl>
  </div>`;
}

/**
 * A histogram in words: what a bar is, and the highest.
 * @param {Bars} histogram
 * @param {number} most
 */
function spreadWords({ low, high, bars, isOfValues }, most) {
  const range = `from ${number(low)} to ${number(high)}`;
  const first = bars.find(({ count }) => count === most) ?? bars[0];
  const all = `Histogram of ${bars.length} ${isOfValues ? "values" : "bins"} ${range}`;
  if (!isOfValues) return `${all}; most, ${integer(most)}, lie ${partOf(first)}.`;
  const isEven = bars.every(({ count }) => count === most);
  const times = counted(most, "time");
  const peak = isEven ? `each is there ${times}` : `${valueOf(first)} most often, ${times}`;
  return `${all}; ${peak}.`;
}

/** @param {Bar} bar */
function partOf({ from, to }) {
  return `from ${rounded(from)} to ${rounded(to)}`;
}

/** What a bar of a single value lies around. @param {Bar} bar */
function valueOf({ from, to }) {
  return rounded((from + to) / 2);
}

/** @param {number} amount */
function rounded(amount) {
  return number(Number(amount.toPrecision(4)));
}

/** @param {{histogram: Bars}} properties */
function Histogram({ histogram }) {
  const { low, high, bars, isOfValues } = histogram;
  const most = Math.max(...bars.map(({ count }) => count));
  const drawn = drawnBars(histogram);
  // The ends of the range stand below the middle of the bars that are of them.
  const inset = isOfValues ? `max(0px, ${50 * drawn[0].width}% - 0.3rem)` : 0;
  return html`<figure class="bins">
    <svg
      viewBox="0 0 1 1"
      preserveAspectRatio="none"
      role="img"
      aria-label=${spreadWords(histogram, most)}
    >
      ${drawn.map(
        ({ left, width, height }, index) =>
          html`<rect x=${left} width=${width} y=${1 - height} height=${height}>
            <title>
              ${integer(bars[index].count)}${" "}
              ${isOfValues ? `× ${valueOf(bars[index])}` : partOf(bars[index])}
            </title>
          </rect>`,
      )}
    </svg>
    <figcaption style=${{ paddingInline: inset }}>
      <span>${number(low)}</span>
      <span>highest bar: ${integer(most)}</span>
      <span>${number(high)}</span>
    </figcaption>
  </figure>`;
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
                    ${shape(alias.value.shape ?? [])}, strides
                    ${" "}${tuple(stridesOf(alias.value) ?? [])}, offset${" "}
                    ${integer(offsetOf(alias.value) ?? 0)}
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
