// Two steps side by side: a pinned one, A, and the current one, B. Fetched when it is first opened.

import { useMemo, useState } from "preact/hooks";
import { differencesOf, pairsOf } from "viewer/model/compare.js";
import { folded, planeOf, scaleOf } from "viewer/model/elements.js";
import { counted, integer, number, shortened } from "viewer/model/format.js";
import { functionOf, statementOf } from "viewer/model/run.js";
import { isPicture, valueText } from "viewer/model/values.js";
import { HeatMap, Legend } from "viewer/parts/heat.js";
import { html } from "viewer/parts/html.js";
import { AxisSlider, Jump } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { ValueView } from "viewer/parts/value.js";
import { leaveTo } from "viewer/state/address.js";
import { current, pinned, step } from "viewer/state/state.js";

await styled("inspect.css");

const ON_A_LINE = 16;
const LONG = 160;

/** The differences of the pinned and the current step. */
export function Compare() {
  const { model } = current();
  const isPinned = pinned.value >= 0 && pinned.value < model.steps;
  if (!isPinned)
    return html`
      <p>
        Pin a step as A, go to another one, and come back here: this panel then says what
        differs.
      </p>
      <p>
        <button class="plain-button" onClick=${() => (pinned.value = step.value)}>
          Pin step ${integer(step.value + 1)} as A
        </button>
      </p>
    `;
  return html`<${Differences}
    key=${`${pinned.value} ${step.value}`}
    before=${pinned.value}
    after=${step.value}
  />`;
}

/** @param {{before: number, after: number}} properties */
function Differences({ before, after }) {
  const { model } = current();
  const pairs = useMemo(() => pairsOf(model, before, after), [model, before, after]);
  const [chosen, choose] = useState(() =>
    Math.max(
      0,
      pairs.findIndex((option) => differencesOf(model, option, before, after).length),
    ),
  );
  const pair = pairs[chosen] ?? pairs[0];
  const found = useMemo(() => differencesOf(model, pair, before, after), [model, pair]);
  const same = found.filter(({ kind }) => kind === "same");
  const [again, kept] = [same.filter(({ known }) => known), same.filter(({ known }) => !known)];
  const differing = found.filter(({ kind }) => kind !== "same");
  return html`
    <${Moments} before=${before} after=${after} />
    ${pairs.length > 1 && html`<${PairChoice} pairs=${pairs} chosen=${chosen} choose=${choose} />`}
    <h3 class="pair-title">
      ${differing.length ? "Differences" : "No difference"} in ${pairText(pair)}
    </h3>
    ${!found.length && html`<p class="quiet">No value of this call is shown at either step.</p>`}
    <ul class="differences">
      ${differing.map(
        (difference) => html`<${Entry} key=${difference.name} difference=${difference} />`,
      )}
    </ul>
    ${again.length > 0 && html`<p class="quiet">Equal at both: ${listed(again)}.</p>`}
    ${
      kept.length > 0 &&
      html`<p class="quiet">
        Not recorded again between A and B, or not whole, so nothing is known of a change:${" "}
        ${listed(kept)}.
      </p>`
    }
  `;
}

/**
 * Which two steps they are, and ways to choose others.
 * @param {{before: number, after: number}} properties
 */
function Moments({ before, after }) {
  const swap = () => {
    pinned.value = after;
    leaveTo(before);
  };
  return html`
    <dl class="moments">
      <div>
        <dt>A</dt>
        <dd><${Jump} step=${before} place /> <span class="quiet">${placeText(before)}</span></dd>
      </div>
      <div>
        <dt>B</dt>
        <dd>
          <span>step ${integer(after + 1)}, the current one</span>${" "}
          <span class="quiet">${placeText(after)}</span>
        </dd>
      </div>
    </dl>
    <p class="compare-actions">
      <button class="plain-button" onClick=${() => (pinned.value = after)}>Pin B as A</button>${" "}
      <button class="plain-button" title="Go to A and pin this step" onClick=${swap}>Swap</button>
      ${" "}
      <button class="plain-button" onClick=${() => (pinned.value = -1)}>Unpin</button>
    </p>
  `;
}

/** @param {{pairs: Pair[], chosen: number, choose: (at: number) => void}} properties */
function PairChoice({ pairs, chosen, choose }) {
  return html`<label class="pair-choice">
    variables of${" "}
    <select onChange=${(/** @type {any} */ event) => choose(Number(event.target.value))}>
      ${pairs.map(
        (option, at) =>
          html`<option value=${at} selected=${at === chosen}>${pairText(option)}</option>`,
      )}
    </select>
  </label>`;
}

/** @param {Difference[]} differences */
function listed(differences) {
  return html`
    ${differences.map(
      ({ name }, at) =>
        html`
          ${at > 0 && ", "}
          <code>${name}</code>
        `,
    )}
  `;
}

/** @param {number} at a step */
function placeText(at) {
  const { model, document } = current();
  const [file, line] = document.statements[statementOf(model, at)];
  return `${document.files[file].path}, line ${line}`;
}

/** @param {Pair} pair */
function pairText({ before, after }) {
  const { model } = current();
  const [one, other] = [before, after].map(({ activation }) => functionOf(model, activation).name);
  if (before.activation === after.activation) return one;
  return one === other ? `two calls of ${one}` : `${one} (A) and ${other} (B)`;
}

/** @param {{difference: Difference}} properties */
function Entry({ difference: { name, kind, before, after, detail } }) {
  const isSingle = detail?.by === "elements" && detail.count === 1;
  const isWide =
    (detail?.by === "elements" && !isSingle) ||
    detail?.by === "statistics" ||
    detail?.by === "parts";
  return html`<li class=${`difference ${kind}`}>
    <h4>
      <code>${name}</code> <span class="kind">${kind}</span>
    </h4>
    ${
      !isWide &&
      html`<div class="before-after">
        <${Side} of="A" name=${name} value=${before} />
        <${Side} of="B" name=${name} value=${after} />
      </div>`
    }
    ${detail && detail.notes.length > 0 && html`<p class="notes">${detail.notes.join("; ")}.</p>`}
    ${detail && html`<${Change} name=${name} value=${after} detail=${detail} />`}
  </li>`;
}

/** A value as it was then: a line of text, or what it draws.
 * @param {{of: string, name: string, value: Value | null}} properties */
function Side({ of, name, value }) {
  if (!value) return null;
  return html`<div>
    <span class="quiet">${of}</span>${" "}
    ${
      isPicture(value)
        ? html`<${ValueView} value=${value} name=${name} />`
        : html`<code>${shortened(valueText(value), LONG)}</code>`
    }
  </div>`;
}

/** @param {{name: string, value: Value | null, detail: Detail}} properties */
function Change({ name, value, detail }) {
  switch (detail.by) {
    case "number":
      return html`<p class="quiet">by ${changeText(detail.difference)}</p>`;
    case "elements":
      if (detail.count !== 1)
        return value && html`<${ElementChange} name=${name} value=${value} detail=${detail} />`;
      return (
        detail.changed > 0 && html`<p class="quiet">by ${changeText(detail.differences[0])}</p>`
      );
    case "statistics":
      return html`<${StatisticChange} detail=${detail} />`;
    case "corners":
      return html`<p class="quiet">
        By the ${integer(detail.shown)} elements that are recorded, of which${" "}
        ${integer(detail.changed)} changed; there are no statistics of the others.
      </p>`;
    case "layout":
      return html`<p class="quiet">
        The shapes differ or no element is recorded, so elements are not compared.
      </p>`;
    case "parts":
      return html`<${PartChange} name=${name} detail=${detail} />`;
    default:
      return null;
  }
}

/** @param {{detail: Extract<Detail, {by: "statistics"}>}} properties */
function StatisticChange({ detail }) {
  return html`
    <p class="quiet">
      By statistics of all elements, since not all are recorded; of ${integer(detail.shown)} that
      are, ${integer(detail.changed)} changed.
    </p>
    <table class="statistics-change">
      <thead>
        <tr>
          <th scope="col"></th>
          <th scope="col">A</th>
          <th scope="col">B</th>
        </tr>
      </thead>
      <tbody>
        ${detail.rows.map(
          ([statistic, one, other]) =>
            html`<tr class=${one === other ? "quiet" : ""}>
              <th scope="row">${statistic}</th>
              <td>${statisticText(one)}</td>
              <td>${statisticText(other)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  `;
}

/** @param {{name: string, detail: Extract<Detail, {by: "parts"}>}} properties */
function PartChange({ name, detail }) {
  return html`
    <table class="parts-change">
      <thead>
        <tr>
          <th scope="col">part</th>
          <th scope="col">A</th>
          <th scope="col">B</th>
        </tr>
      </thead>
      <tbody>
        ${detail.parts.map(
          ([path, one, other]) =>
            html`<tr>
              <th scope="row"><code>${path || name}</code></th>
              <td><code>${one}</code></td>
              <td><code>${other}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${detail.more > 0 && html`<p class="quiet">and ${integer(detail.more)} more</p>`}
  `;
}

/** @param {Cell} change */
function changeText(change) {
  return typeof change === "number" ? `${change > 0 ? "+" : ""}${number(change)}` : String(change);
}

/** @param {number | string} amount */
function statisticText(amount) {
  return typeof amount === "number" ? number(Number(amount.toPrecision(6))) : amount;
}

/** @param {{name: string, value: Value, detail: Extract<Detail, {by: "elements"}>}} properties */
function ElementChange({ name, value, detail }) {
  const { changed, where, differences } = detail;
  const [picked, pick] = useState("");
  const sizes = value.shape ?? [];
  const last = sizes.length - 1;
  const [at, move] = useState(/** @type {number[]} */ (sizes.map((_, axis) => where[axis] ?? 0)));
  const plane = planeOf({ ...value, elements: differences }, last - 1, last, at);
  const shown = last === 0 && plane.columns.length > ON_A_LINE ? folded(plane, ON_A_LINE) : plane;
  const scale = scaleOf(differences);
  const title = (/** @type {number[]} */ index, /** @type {Cell} */ cell) =>
    `${name}[${index.join(", ")}] changed by ${cell}`;
  if (!changed) return html`<p class="quiet">Element by element: no element changed.</p>`;
  return html`
    <p class="quiet">Element by element: ${countText(detail)}</p>
    <p class="quiet">B − A:</p>
    ${sizes.slice(0, -2).map(
      (size, axis) =>
        html`<${AxisSlider}
          axis=${axis}
          count=${size}
          at=${at[axis]}
          shown=${at[axis]}
          label=${`index on axis ${axis} of ${name}`}
          move=${(/** @type {number} */ place) => move(at.with(axis, place))}
        />`,
    )}
    <${HeatMap}
      plane=${shown}
      scale=${scale}
      picked=${picked}
      pick=${(/** @type {number[]} */ index) => pick(String(index))}
      label=${`changes of ${name}`}
      title=${title}
    />
    <${Legend} cells=${differences} scale=${scale} />
  `;
}

/** @param {Extract<Detail, {by: "elements"}>} detail */
function countText({ count, changed, largest, where }) {
  const some = `${integer(changed)} of ${counted(count, "element")} changed.`;
  if (largest === null) return some;
  const place = where.length ? `, at [${where.join(", ")}]` : "";
  return `${some} The largest change is ${number(largest)}${place}.`;
}
