// What steps cost as a table: by line, function, section or operator.

import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { integer } from "viewer/model/format.js";
import { shortPaths } from "viewer/model/places.js";
import { linesOf } from "viewer/model/source.js";
import { MEMORY, sorted, tally, total } from "viewer/model/tally.js";
import { LEAST_SECONDS } from "viewer/model/times.js";
import { html } from "viewer/parts/html.js";
import { breakable, titleOfSection } from "viewer/parts/panel.js";
import { leaveTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { current } from "viewer/state/state.js";
import { COLUMNS, isMemory, ofOperators, SECONDS } from "viewer/views/inspect/columns.js";
import { Wider } from "viewer/views/inspect/scope.js";
import { Sideways } from "viewer/views/inspect/sideways.js";

/** @typedef {import("viewer/views/inspect/columns.js").Column} Column */

/** What the reader chose last, for as long as the page is open. */
const grouping = signal(/** @type {Grouping} */ ("line"));
const withCalls = signal(false);

/** Without a column, by the first that tells the rows apart. */
const order = signal({
  column: "",
  direction: /** @type {"ascending" | "descending"} */ ("descending"),
});

const AT_ONCE = 60;

/** What so large a part of the rows has tells them apart. */
const MANY = 0.2;

/** @type {Partial<Record<Grouping, string>>} */
const GROUPINGS = {
  line: "line",
  call: "function",
  section: "section",
  operator: "operator",
};

/** Those that the table has. @param {boolean} onMeta @returns {Column[]} */
export function columnsShown(onMeta) {
  const isTimed = current().times && !onMeta && grouping.value !== "operator";
  return isTimed ? [...COLUMNS, SECONDS] : COLUMNS;
}

/**
 * The rows, and apart from them that of memory: it is always listed, or the sums below would be of
 * nothing that one sees.
 * @param {Grouping} by
 * @param {TallyEntry[]} entries
 */
function withMemoryApart(by, entries) {
  if (by !== "operator") return { memory: [], rows: entries };
  return {
    memory: entries.filter(isMemory),
    rows: entries.filter((entry) => !isMemory(entry)),
  };
}

/** Whether most of the arithmetic is in matrix products, and there is more of it than bytes.
 * @param {TallyEntry} all */
function isOfProducts({ matmul_flops: products, other_flops: other, ...all }) {
  return products > other && products > all.read_bytes + all.written_bytes;
}

/**
 * What sorts the rows: the column that was chosen; matrix products, where they are what is paid
 * for; or the first amount that many of them have. Of rows that called no operator there may be
 * many more, which took time alone.
 * @param {Column[]} columns
 * @param {TallyEntry[]} entries
 * @param {TallyEntry} all
 */
function sortedBy([operators, ...amounts], entries, all) {
  const column = order.value.column || (isOfProducts(all) ? "matmul_flops" : "");
  if (column) return [operators, ...amounts].find(({ id }) => id === column);
  const working = entries.filter(operators.value);
  const told = working.length ? working : entries;
  const partWith = (/** @type {Column} */ { value }) => told.filter(value).length / told.length;
  const most = Math.max(...amounts.map(partWith));
  const telling = amounts.find((amount) => partWith(amount) >= Math.min(most, MANY));
  return most > 0 ? telling : operators;
}

/**
 * Where few columns have room, the one that sorts stands right beside the names.
 * @param {Column[]} columns
 * @param {Column} [by]
 */
function inOrder(columns, by) {
  if (!matchMedia("(max-width: 60rem)").matches) return columns;
  const sorts = (/** @type {Column} */ { id }) => id === by?.id;
  return [...columns.filter(sorts), ...columns.filter((own) => !sorts(own))];
}

/**
 * Columns without any amount: they have no room on a phone.
 * @param {Column[]} columns
 * @param {TallyEntry[]} entries
 * @param {Column} [by] what sorts
 */
function blankOf(columns, entries, by) {
  const isBlank = (/** @type {Column} */ own) => own !== by && !entries.some(own.value);
  return new Set(columns.filter(isBlank).map(({ id }) => id));
}

/** @param {{span: Span, onMeta: boolean, withClaims: boolean}} properties onMeta: what would be
 *   spent there; withClaims: also by asserts */
export function Table({ span, onMeta, withClaims }) {
  const { document, model, sections, times } = current();
  const seconds = (!onMeta && times?.seconds) || null;
  const run = { model, sections, seconds, withClaims };
  const by = grouping.value;
  const shape = `${by} ${span.first} ${span.beyond}`;
  const [whole, showWhole] = useState("");
  const entries = useMemo(
    () => tally(run, by, span, withCalls.value, onMeta),
    [document, by, span.first, span.beyond, withCalls.value, onMeta, withClaims],
  );
  const label = useMemo(() => labels(by), [document, by]);
  const usual = columnsShown(onMeta);
  const own = by === "operator" ? usual.map(ofOperators) : usual;
  const worth = entries.filter(isWorthARow);
  const sums = total(run, span, onMeta);
  const column = sortedBy(own, worth, sums);
  const [all, columns] = [usual, own].map((some) => inOrder(some, column));
  const value = column?.value;
  const sortedRows = sorted(worth, value ?? (({ key }) => label(key).name), order.value.direction);
  const { memory, rows } = withMemoryApart(by, sortedRows);
  const most = Math.max(0, ...sortedRows.map((entry) => value?.(entry) ?? 0));
  const shown = whole === shape ? rows : rows.slice(0, AT_ONCE);
  const blank = blankOf(columns, worth, column);
  return html`
    <${Choices} />
    <${Sideways} what="table of costs" class="costs-scroll">
      <table
        class="inspect-table costs-table"
        style=${{ "--columns": columns.length - blank.size }}
      >
        <${Head} columns=${columns} by=${column} blank=${blank} />
        <tbody>
          ${[...shown, ...memory].map(
            (entry) =>
              html`<${Row}
                key=${`${by} ${entry.key}`}
                entry=${entry}
                most=${most}
                by=${column}
                label=${label(entry.key)}
                columns=${columns}
                blank=${blank}
              />`,
          )}
        </tbody>
        <${Foot}
          ...${{ columns: all, blank, sums, count: sortedRows.length }}
        />
      </table>
      ${
        shown.length < rows.length &&
        html`<${Whole} count=${sortedRows.length} show=${() => showWhole(shape)} />`
      }
    </${Sideways}>
    ${!sortedRows.length && html`<${Nothing} />`}
    ${memory.length > 0 && html`<${OfMemory} />`}
    ${seconds && by !== "operator" && html`<${OfAnotherRun} device=${times?.device} />`}
  `;
}

/** @param {{count: number, show: () => void}} properties */
function Whole({ count, show }) {
  return html`<button class="inspect-button" title="Show every row" onClick=${show}>
    Show all ${integer(count)} rows
  </button>`;
}

/** Where the times are from, and what they hold. @param {{device?: string}} properties */
function OfAnotherRun({ device }) {
  return html`<p class="quiet">
    Times were measured in another run, on ${device}. They hold Python's own work and that of the
    recorder, which is most of what a short line took.
  </p>`;
}

/** Why all rows but one have no memory. */
function OfMemory() {
  return html`<p class="quiet">
    Tensors live longer than the operators that made them: what was allocated and freed is counted
    in a row of its own, the last, <code>memory</code>.
  </p>`;
}

/** In place of rows. */
function Nothing() {
  return html`<p>Nothing here cost anything.</p>
    <${Wider} at=${stepOfReader()} />`;
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
        with its calls
      </label>`
    }
  </div>`;
}

/** @param {boolean} isBlank */
const look = (isBlank) => (isBlank ? "is-blank" : "");

/** @param {{columns: Column[], by?: Column, blank: Set<string>}} properties by: what sorts; else
 *   the name; blank: columns without any amount */
function Head({ columns, by, blank }) {
  const name = GROUPINGS[grouping.value];
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => showSorted(place.current), [by]);
  return html`
    <caption class="visually-hidden">
      Costs by ${name}, sorted by ${by?.hint ?? "name"}, ${order.value.direction}
    </caption>
    <thead ref=${place}>
      <tr>
        <${Header} id="name" title=${name} hint="name" isChosen=${!by} first="ascending" />
        ${columns.map(
          ({ id, title, hint, kind }) =>
            html`<${Header}
              key=${id}
              ...${{ id, title, hint, kind }}
              isBlank=${blank.has(id)}
              isChosen=${by?.id === id}
              first="descending"
            />`,
        )}
      </tr>
    </thead>
  `;
}

/**
 * Bring the column that sorts beside the names, where not all have room; a head that has moved
 * keeps the focus.
 * @param {HTMLElement | null} head
 */
function showSorted(head) {
  const table = head?.closest(".costs-scroll");
  const [first, sorts] = ["th:first-child", "[aria-sort$=ending]"].map((selector) =>
    head?.querySelector(selector),
  );
  if (!table || !first || !sorts) return;
  if (document.activeElement === document.body) sorts.querySelector("button")?.focus();
  const [name, by] = [first, sorts].map((cell) => cell.getBoundingClientRect());
  const isSeen = by.left >= name.right && by.right <= table.getBoundingClientRect().right;
  if (first !== sorts && !isSeen) table.scrollLeft += by.left - name.right;
}

/** @param {{columns: Column[], sums: TallyEntry, blank: Set<string>, count: number}} properties */
function Foot({ columns, sums, blank, count }) {
  return html`<tfoot>
    <tr>
      <th scope="row">all ${integer(count)}</th>
      ${columns.map(
        (column) => html`<td class=${look(blank.has(column.id))}>${cell(column, sums)}</td>`,
      )}
    </tr>
  </tfoot>`;
}

/**
 * Column header that sorts.
 * @param {{id: string, title: string, hint: string, kind?: string, isChosen: boolean,
 *   isBlank?: boolean, first: "ascending" | "descending"}} properties kind: of evidence; isChosen:
 *   it sorts the rows
 */
function Header({ id, title, hint, kind, isChosen, isBlank = false, first }) {
  const { direction } = order.value;
  const turn = () =>
    (order.value = {
      column: id,
      direction: isChosen ? (direction === "ascending" ? "descending" : "ascending") : first,
    });
  const sorts = isChosen ? direction : "none";
  return html`<th scope="col" class=${look(isBlank)} aria-sort=${sorts}>
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
 *   columns: Column[], by?: Column, blank: Set<string>}} properties by: the column that sorts;
 *   most: of any row in it
 */
function Row({ entry, most, label: { name, place, isCode }, columns, by, blank }) {
  const share = (/** @type {Column} */ { id, value }) =>
    id === by?.id && most ? `${(100 * (value(entry) ?? 0)) / most}%` : "";
  return html`<tr>
    <th scope="row">
      <button
        class="inspect-jump"
        title="Go to where most of it was spent"
        onClick=${() => leaveTo(entry.step)}
      >
        ${isCode ? html`<code>${breakable(name)}</code>` : name}
        <span class="inspect-place">${breakable(place)}</span>
      </button>
    </th>
    ${columns.map((column) => {
      const bar = share(column);
      const kind = bar ? "has-bar" : look(blank.has(column.id));
      return html`<td class=${kind} style=${bar ? { "--bar": bar } : null}>
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
    const [file, line, last] = statements[key];
    const text = (linesOf(files[file])[line - 1] ?? "").replace(/\s*#\s.*$/, "").trim();
    const name = last > line ? `${text} …` : text;
    return { name, place: `${paths[file]}:${line}`, isCode: true };
  };
}
