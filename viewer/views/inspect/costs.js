// The costs of the run in one panel: a table, a roofline, and memory over time. Fetched when it is
// opened.

import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { bytes, counted, duration, flops, integer, number } from "viewer/model/format.js";
import { momentsOf } from "viewer/model/memory.js";
import { shortPaths } from "viewer/model/places.js";
import { activationOf, functionOf, statementOf } from "viewer/model/run.js";
import { sectionOfStep } from "viewer/model/sections.js";
import { linesOf } from "viewer/model/source.js";
import { intensityOf, MEMORY, sorted, tally } from "viewer/model/tally.js";
import { html } from "viewer/parts/html.js";
import { titleOfSection } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { current } from "viewer/state/state.js";
import { MemoryChart } from "viewer/views/inspect/memory.js";
import { Roofline } from "viewer/views/inspect/roofline.js";

await styled("costs.css");

/**
 * @typedef {{id: string, title: string, hint: string, value: (entry: TallyEntry) => number | null,
 *   text: (value: number) => string}} Column
 */

/** What the reader chose last, for as long as the page is open. */
const view = signal(/** @type {"table" | "roofline" | "memory"} */ ("table"));
const grouping = signal(/** @type {Grouping} */ ("line"));

/** Order of the section, or -1 for the whole run. */
const scope = signal(-1);
const withCalls = signal(false);

const order = signal({
  column: "matmul_flops",
  direction: /** @type {"ascending" | "descending"} */ ("descending"),
});

/** What these were chosen in. @type {Lecture | null} */
let chosenIn = null;

const AT_ONCE = 60;

/** @type {Column[]} */
const COLUMNS = [
  {
    id: "calls",
    title: "calls",
    hint: "how often operators ran",
    value: ({ calls }) => calls,
    text: integer,
  },
  {
    id: "matmul_flops",
    title: "matmul",
    hint: "FLOPs of matrix products",
    value: (entry) => entry.matmul_flops,
    text: flops,
  },
  {
    id: "other_flops",
    title: "other",
    hint: "all other FLOPs",
    value: (entry) => entry.other_flops,
    text: flops,
  },
  {
    id: "read_bytes",
    title: "read",
    hint: "bytes read",
    value: (entry) => entry.read_bytes,
    text: bytes,
  },
  {
    id: "written_bytes",
    title: "written",
    hint: "bytes written",
    value: (entry) => entry.written_bytes,
    text: bytes,
  },
  {
    id: "intensity",
    title: "FLOP/B",
    hint: "FLOPs for each byte read or written",
    value: intensityOf,
    text: (value) => number(Number(value.toPrecision(2))),
  },
  {
    id: "allocated_bytes",
    title: "allocated",
    hint: "bytes of tensors that came to life",
    value: (entry) => entry.allocated_bytes,
    text: bytes,
  },
  {
    id: "freed_bytes",
    title: "freed",
    hint: "bytes of tensors that were given back",
    value: (entry) => entry.freed_bytes,
    text: bytes,
  },
];

/** @type {Column} */
const SECONDS = {
  id: "seconds",
  title: "time",
  hint: "measured in another run",
  value: ({ seconds }) => seconds,
  text: (value) => (value ? duration(value) : "0"),
};

/** @type {Record<Grouping, string>} */
const GROUPINGS = {
  line: "line",
  call: "function",
  section: "section",
  operator: "operator",
};
const VIEWS = /** @type {const} */ ({
  table: "Table",
  roofline: "Roofline",
  memory: "Memory",
});

/**
 * Sections for the choice of a part of the run, by chapters.
 * @returns {{title: string, sections: Section[]}[]}
 */
function chapters() {
  /** @type {{title: string, sections: Section[]}[]} */
  const found = [];
  for (const section of current().sections) {
    if (section.depth === 0) continue;
    if (section.chapter || !found.length) found.push({ title: section.chapter, sections: [] });
    found[found.length - 1].sections.push(section);
  }
  return found;
}

/** The panel. */
export function Costs() {
  const { document, model, sections } = current();
  const at = useMemo(stepOfReader, [document]);
  if (chosenIn !== document) scope.value = -1;
  chosenIn = document;
  const section = sections[scope.value];
  const span = section
    ? { first: section.first, beyond: section.beyond }
    : { first: 0, beyond: model.steps };
  if (!document.costs) return html`<p>This run was recorded without costs, or used no tensors.</p>`;
  const around = sectionOfStep(sections, at);
  const choose = (/** @type {any} */ event) => (scope.value = Number(event.target.value));
  const option = (/** @type {Section} */ found) =>
    html`<option value=${found.order} selected=${found.order === scope.value}>
      ${titleOfSection(found)}
    </option>`;
  return html`
    <div class="inspect-choices">
      <div class="inspect-tabs" role="tablist" aria-label="costs" onKeyDown=${turnTab}>
        ${Object.entries(VIEWS).map(
          ([id, title]) =>
            html`<button
              key=${id}
              id=${`costs-${id}`}
              role="tab"
              title=${title}
              aria-selected=${view.value === id}
              aria-controls="costs-view"
              tabindex=${view.value === id ? 0 : -1}
              onClick=${() => (view.value = /** @type {any} */ (id))}
            >
              ${title}
            </button>`,
        )}
      </div>
      <label>
        of${" "}
        <select aria-label="part of the run" value=${scope.value} onChange=${choose}>
          <option value="-1">the whole run</option>
          ${
            around &&
            around.depth > 0 &&
            html`<option value=${around.order}>this section: ${titleOfSection(around)}</option>`
          }
          ${chapters().map(({ title, sections: own }) =>
            title ? html`<optgroup label=${title}>${own.map(option)}</optgroup>` : own.map(option),
          )}
        </select>
      </label>
    </div>
    <${Uncounted} span=${section ? span : null} />
    <div id="costs-view" role="tabpanel" aria-labelledby=${`costs-${view.value}`}>
      ${
        view.value === "table"
          ? html`<${Table} span=${span} />`
          : view.value === "roofline"
            ? html`<${Rates} span=${span} />`
            : html`<${Memory} span=${span} at=${at} />`
      }
      <${OnMeta} />
    </div>
  `;
}

/** Arrow keys go from one view to the next. @param {KeyboardEvent} event */
function turnTab(event) {
  const views = /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(VIEWS));
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  view.value = views[(views.indexOf(view.value) + move + views.length) % views.length];
  window.document.getElementById(`costs-${view.value}`)?.focus();
}

/**
 * What the sums lack, always in sight.
 * @param {{span: Span | null}} properties a part of the run
 */
function Uncounted({ span }) {
  const { document } = current();
  const missing = useMemo(() => uncountedIn(document, span), [document, span?.first, span?.beyond]);
  if (!missing.length)
    return html`<p class="quiet">Every operator of this ${span ? "part" : "run"} is counted.</p>`;
  return html`<p class="quiet inspect-uncounted">
    Not counted:${" "}
    ${missing.map(
      ([name, count], index) =>
        html`
          ${index > 0 && ", "}
          <code>${name}</code> (${counted(count, "time")})
        `,
    )}
    . For what these did there is no formula, so sums marked with + are too small.
  </p>`;
}

/** Where a lecture computes on paper: the device that has sizes and no memory. */
function OnMeta() {
  const { document } = current();
  if (!document.files.some(({ source }) => /["']meta["']/.test(source))) return null;
  if (view.value === "memory")
    return html`<p class="quiet">
      Tensors on the device <code>meta</code> have sizes and no memory: they are not in this
      chart.
    </p>`;
  return html`<p class="quiet">
    On the device <code>meta</code> an operator is counted as it would run: nothing is
    computed there, and no memory is held.
  </p>`;
}

/**
 * Operators without a formula, and how often they ran.
 * @param {Lecture} document
 * @param {Span | null} span
 */
function uncountedIn({ uncounted, costs, names }, span) {
  if (!span || !costs) return Object.entries(uncounted);
  const isHere = (/** @type {number} */ row) =>
    span.first <= costs.step[row] && costs.step[row] < span.beyond;
  return Object.entries(uncounted).flatMap(([name, most]) => {
    const operator = names.indexOf(name);
    const calls = costs.operator.reduce(
      (sum, other, row) => (other === operator && isHere(row) ? sum + costs.calls[row] : sum),
      0,
    );
    return calls ? [/** @type {[string, number]} */ ([name, Math.min(calls, most)])] : [];
  });
}

/** @param {{span: Span}} properties */
function Table({ span }) {
  const { document, model, sections, times, cost } = current();
  const seconds = times?.seconds ?? null;
  const by = grouping.value;
  const shape = `${by} ${span.first} ${span.beyond}`;
  const [whole, showWhole] = useState("");
  const entries = useMemo(
    () => tally({ model, sections, seconds }, by, span, withCalls.value),
    [document, by, span.first, span.beyond, withCalls.value],
  );
  const label = useMemo(() => labels(by), [document, by]);
  const columns = seconds && by !== "operator" ? [...COLUMNS, SECONDS] : COLUMNS;
  const { column, direction } = order.value;
  const chosen = columns.find(({ id }) => id === column);
  const rows = sorted(entries, chosen ? chosen.value : ({ key }) => label(key).name, direction);
  const shown = whole === shape ? rows : rows.slice(0, AT_ONCE);
  const sums = totals(
    cost(span.first, span.beyond),
    entries,
    seconds?.(span.first, span.beyond) ?? null,
    by !== "operator" && withCalls.value,
  );
  return html`
    <div class="inspect-choices">
      <fieldset>
        <legend>by</legend>
        ${Object.entries(GROUPINGS).map(
          ([id, title]) =>
            html`<label>
              <input
                type="radio"
                name="grouping"
                checked=${by === id}
                onChange=${() => (grouping.value = /** @type {Grouping} */ (id))}
              />${" "}
              ${title}
            </label>`,
        )}
      </fieldset>
      ${
        by !== "operator" &&
        html`<label title="Count also what its calls spent; the rows then overlap">
          <input
            type="checkbox"
            checked=${withCalls.value}
            onChange=${() => (withCalls.value = !withCalls.value)}
          />${" "}
          with the calls made in it
        </label>`
      }
    </div>
    <div class="inspect-scroll" tabindex="0" role="region" aria-label="table of costs">
      <table class="inspect-table costs-table">
        <caption class="visually-hidden">
          Costs by ${GROUPINGS[by]}, sorted by ${chosen ? chosen.hint : "name"}, ${direction}
        </caption>
        <thead>
          <tr>
            <${Header} id="name" title=${GROUPINGS[by]} hint="name" first="ascending" />
            ${columns.map(
              ({ id, title, hint }) =>
                html`<${Header} key=${id} id=${id} title=${title} hint=${hint} first="descending" />`,
            )}
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (entry) =>
              html`<${Row}
                key=${`${by} ${entry.key}`}
                entry=${entry}
                label=${label(entry.key)}
                columns=${columns}
              />`,
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            ${columns.map((each) => html`<td>${cell(each, sums)}</td>`)}
          </tr>
        </tfoot>
      </table>
    </div>
    ${
      shown.length < rows.length &&
      html`<button
        class="inspect-button"
        title="Show every row"
        onClick=${() => showWhole(shape)}
      >
        Show all ${integer(rows.length)} rows
      </button>`
    }
    ${!rows.length && html`<p>Nothing here cost anything.</p>`}
    ${
      times &&
      by !== "operator" &&
      html`<p class="quiet">Times were measured in another run, on ${times.device}.</p>`
    }
  `;
}

/**
 * Column header that sorts.
 * @param {{id: string, title: string, hint: string, first: "ascending" | "descending"}} properties
 */
function Header({ id, title, hint, first }) {
  const { column, direction } = order.value;
  const isChosen = column === id;
  const turn = () =>
    (order.value = {
      column: id,
      direction: isChosen ? (direction === "ascending" ? "descending" : "ascending") : first,
    });
  return html`<th scope="col" aria-sort=${isChosen ? direction : "none"}>
    <button title=${`Sort by ${hint}`} onClick=${turn}>
      ${
        isChosen &&
        html`<span class="inspect-arrow" aria-hidden="true">
          ${direction === "ascending" ? "▲" : "▼"}
        </span>`
      }
      ${title}
    </button>
  </th>`;
}

/**
 * @param {{entry: TallyEntry, label: {name: string, place: string, isCode: boolean}, columns:
 *   Column[]}} properties
 */
function Row({ entry, label: { name, place, isCode }, columns }) {
  return html`<tr>
    <th scope="row">
      <button
        class="inspect-jump"
        title="Go to where most of it was spent"
        onClick=${() => leaveTo(entry.step)}
      >
        ${isCode ? html`<code>${name}</code>` : name}
        <span class="inspect-place">${place}</span>
      </button>
    </th>
    ${columns.map((column) => html`<td>${cell(column, entry)}</td>`)}
  </tr>`;
}

/** @param {Column} column @param {TallyEntry} entry */
function cell({ id, value, text }, entry) {
  const found = value(entry);
  const mark = entry.partial && id.endsWith("_flops") ? "+" : "";
  if (found === null) return "–";
  return found ? `${text(found)}${mark}` : html`<span class="inspect-zero">${`0${mark}`}</span>`;
}

/**
 * The last row: what the span cost, however the rows overlap.
 * @param {CostSum} sum
 * @param {TallyEntry[]} entries
 * @param {number | null} seconds
 * @param {boolean} overlaps
 * @returns {TallyEntry}
 */
function totals(sum, entries, seconds, overlaps) {
  const calls = overlaps
    ? Math.max(0, ...entries.map((entry) => entry.calls))
    : entries.reduce((count, entry) => count + entry.calls, 0);
  return {
    ...sum,
    key: -1,
    step: 0,
    calls,
    seconds,
    partial: sum.partial || entries.some(({ partial }) => partial),
  };
}

/**
 * What the rows are called and where they are.
 * @param {Grouping} by
 * @returns {(key: number) => {name: string, place: string, isCode: boolean}}
 */
function labels(by) {
  const { document, sections } = current();
  const { statements, files, functions, names } = document;
  const paths = shortPaths(files.map(({ path }) => path));
  if (by === "operator")
    return (key) => ({
      name: names[key] === MEMORY ? "memory" : names[key],
      place: names[key] === MEMORY ? "tensors that came and went" : "",
      isCode: true,
    });
  if (by === "section")
    return (key) => ({ name: titleOfSection(sections[key]), place: "", isCode: false });
  if (by === "call")
    return (key) => ({
      name: `${functions[key].name}()`,
      place: `${paths[functions[key].file]}:${functions[key].line}`,
      isCode: true,
    });
  return (key) => {
    const [file, line] = statements[key];
    const text = (linesOf(files[file])[line - 1] ?? "").replace(/\s*#\s.*$/, "").trim();
    return { name: text, place: `${paths[file]}:${line}`, isCode: true };
  };
}

/** @param {{span: Span}} properties */
function Rates({ span }) {
  const { document, model, sections } = current();
  const entries = useMemo(
    () => tally({ model, sections }, "operator", span, false),
    [document, span.first, span.beyond],
  );
  return html`<${Roofline} entries=${entries} names=${document.names} jump=${leaveTo} />`;
}

/** @param {{span: Span, at: number}} properties */
function Memory({ span, at }) {
  const { document, model, sections } = current();
  const moments = useMemo(() => momentsOf(model), [document]);
  if (!moments.length) return html`<p>No tensor memory was recorded.</p>`;
  const place = (/** @type {number} */ target) => {
    const section = sectionOfStep(sections, target);
    const func = functionOf(model, activationOf(model, target)).name;
    const line = document.statements[statementOf(model, target)][1];
    return `line ${line} of ${func}${section && section.depth > 0 ? `, in “${titleOfSection(section)}”` : ""}`;
  };
  return html`<${MemoryChart}
    key=${`${span.first} ${span.beyond}`}
    model=${model}
    moments=${moments}
    span=${span}
    here=${at}
    place=${place}
    jump=${leaveTo}
  />`;
}
