// What steps cost as a table: by line, function, section or operator.

import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { bytes, duration, flops, integer, number } from "viewer/model/format.js";
import { shortPaths } from "viewer/model/places.js";
import { linesOf } from "viewer/model/source.js";
import { intensityOf, MEMORY, sorted, tally } from "viewer/model/tally.js";
import { LEAST_SECONDS } from "viewer/model/times.js";
import { html } from "viewer/parts/html.js";
import { titleOfSection } from "viewer/parts/panel.js";
import { leaveTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";

/**
 * @typedef {{id: string, title: string, hint: string, kind: string,
 *   value: (entry: TallyEntry) => number | null, text: (value: number) => string}} Column
 */

/** What the reader chose last, for as long as the page is open. */
const grouping = signal(/** @type {Grouping} */ ("line"));
const withCalls = signal(false);

const order = signal({
  column: "matmul_flops",
  direction: /** @type {"ascending" | "descending"} */ ("descending"),
});

const AT_ONCE = 60;

/** @type {Column[]} */
const COLUMNS = [
  {
    id: "calls",
    title: "calls",
    kind: "observed",
    hint: "how often operators ran",
    value: ({ calls }) => calls,
    text: integer,
  },
  {
    id: "matmul_flops",
    title: "matmul",
    kind: "formula",
    hint: "FLOPs of matrix products",
    value: (entry) => entry.matmul_flops,
    text: flops,
  },
  {
    id: "other_flops",
    title: "other",
    kind: "convention",
    hint: "all other FLOPs",
    value: (entry) => entry.other_flops,
    text: flops,
  },
  {
    id: "read_bytes",
    title: "read",
    kind: "ideal",
    hint: "bytes read",
    value: (entry) => entry.read_bytes,
    text: bytes,
  },
  {
    id: "written_bytes",
    title: "written",
    kind: "ideal",
    hint: "bytes written",
    value: (entry) => entry.written_bytes,
    text: bytes,
  },
  {
    id: "intensity",
    title: "FLOP/B",
    kind: "ideal",
    hint: "FLOPs for each byte read or written, at most",
    value: intensityOf,
    text: (value) => number(Number(value.toPrecision(2))),
  },
  {
    id: "allocated_bytes",
    title: "allocated",
    kind: "observed",
    hint: "bytes of tensors that came to life",
    value: (entry) => entry.allocated_bytes,
    text: bytes,
  },
  {
    id: "freed_bytes",
    title: "freed",
    kind: "observed",
    hint: "bytes of tensors that were given back",
    value: (entry) => entry.freed_bytes,
    text: bytes,
  },
];

/** @type {Column} */
const SECONDS = {
  id: "seconds",
  title: "time",
  kind: "observed",
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

/** @param {{span: Span, onMeta: boolean}} properties onMeta: what would be spent there */
export function Table({ span, onMeta }) {
  const { document, model, sections, times } = current();
  const seconds = (!onMeta && times?.seconds) || null;
  const by = grouping.value;
  const shape = `${by} ${span.first} ${span.beyond}`;
  const [whole, showWhole] = useState("");
  const entries = useMemo(
    () => tally({ model, sections, seconds }, by, span, withCalls.value, onMeta),
    [document, by, span.first, span.beyond, withCalls.value, onMeta],
  );
  const label = useMemo(() => labels(by), [document, by]);
  const columns = seconds && by !== "operator" ? [...COLUMNS, SECONDS] : COLUMNS;
  const { column, direction } = order.value;
  const value = columns.find(({ id }) => id === column)?.value;
  const rows = sorted(
    entries.filter(isWorthARow),
    value ?? (({ key }) => label(key).name),
    direction,
  );
  const most = Math.max(0, ...rows.map((entry) => value?.(entry) ?? 0));
  const shown = whole === shape ? rows : rows.slice(0, AT_ONCE);
  return html`
    <${Choices} />
    <div class="inspect-scroll costs-scroll" tabindex="0" role="region" aria-label="table of costs">
      <table class="inspect-table costs-table">
        <${Head} columns=${columns} />
        <tbody>
          ${shown.map(
            (entry) =>
              html`<${Row}
                key=${`${by} ${entry.key}`}
                entry=${entry}
                most=${most}
                label=${label(entry.key)}
                columns=${columns}
              />`,
          )}
        </tbody>
        <${Foot} columns=${columns} sums=${totals(span, entries, onMeta)} />
      </table>
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
    </div>
    ${!rows.length && html`<p>Nothing here cost anything.</p>`}
    ${
      seconds &&
      by !== "operator" &&
      html`<p class="quiet">Times were measured in another run, on ${times?.device}.</p>`
    }
  `;
}

/** Whether anything was spent, or seconds that a clock can tell. @param {TallyEntry} entry */
function isWorthARow(entry) {
  const spent = COLUMNS.some(({ id, value }) => id !== "intensity" && value(entry));
  return spent || entry.uncounted > 0 || (entry.seconds ?? 0) >= LEAST_SECONDS;
}

/** How the rows are made. */
function Choices() {
  const by = grouping.value;
  return html`<div class="inspect-choices">
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
  </div>`;
}

/** @param {{columns: Column[]}} properties */
function Head({ columns }) {
  const { column, direction } = order.value;
  const by = GROUPINGS[grouping.value];
  const sortedBy = columns.find(({ id }) => id === column)?.hint ?? "name";
  return html`
    <caption class="visually-hidden">
      Costs by ${by}, sorted by ${sortedBy}, ${direction}
    </caption>
    <thead>
      <tr>
        <${Header} id="name" title=${by} hint="name" first="ascending" />
        ${columns.map(
          ({ id, title, hint, kind }) =>
            html`<${Header} key=${id} ...${{ id, title, hint, kind }} first="descending" />`,
        )}
      </tr>
    </thead>
  `;
}

/** @param {{columns: Column[], sums: TallyEntry}} properties */
function Foot({ columns, sums }) {
  return html`<tfoot>
    <tr>
      <th scope="row">all</th>
      ${columns.map((column) => html`<td>${cell(column, sums)}</td>`)}
    </tr>
  </tfoot>`;
}

/**
 * Column header that sorts.
 * @param {{id: string, title: string, hint: string, kind?: string,
 *   first: "ascending" | "descending"}} properties kind: of evidence
 */
function Header({ id, title, hint, kind, first }) {
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
    ${kind && html`<span class="evidence-kind">${kind}</span>`}
  </th>`;
}

/**
 * @param {{entry: TallyEntry, most: number, label: {name: string, place: string, isCode: boolean},
 *   columns: Column[]}} properties most: of any row, in the column that sorts
 */
function Row({ entry, most, label: { name, place, isCode }, columns }) {
  const share = (/** @type {Column} */ { id, value }) =>
    id === order.value.column && most ? `${(100 * (value(entry) ?? 0)) / most}%` : "";
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
    ${columns.map((column) => {
      const bar = share(column);
      return html`<td class=${bar && "has-bar"} style=${bar ? { "--bar": bar } : null}>
        ${cell(column, entry)}
      </td>`;
    })}
  </tr>`;
}

/** @param {Column} column @param {TallyEntry} entry */
function cell({ id, value, text }, entry) {
  const found = value(entry);
  const mark = entry.uncounted && id.endsWith("_flops") ? "+" : "";
  if (found === null) return "–";
  return found ? `${text(found)}${mark}` : html`<span class="inspect-zero">${`0${mark}`}</span>`;
}

/**
 * The last row: what the span cost, however the rows overlap.
 * @param {Span} span
 * @param {TallyEntry[]} entries
 * @param {boolean} onMeta
 * @returns {TallyEntry}
 */
function totals({ first, beyond }, entries, onMeta) {
  const { cost, times } = current();
  const { onMeta: imagined, ...happened } = cost(first, beyond);
  const sum = onMeta ? imagined : happened;
  const overlaps = grouping.value !== "operator" && withCalls.value;
  const calls = overlaps
    ? Math.max(0, ...entries.map((entry) => entry.calls))
    : entries.reduce((count, entry) => count + entry.calls, 0);
  return {
    ...sum,
    key: -1,
    step: 0,
    calls,
    seconds: times?.seconds(first, beyond) ?? null,
  };
}

/**
 * What the rows are called and where they are.
 * @param {Grouping} by
 * @returns {(key: number) => {name: string, place: string, isCode: boolean}}
 */
export function labels(by) {
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
