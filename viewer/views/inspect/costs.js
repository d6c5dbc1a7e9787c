// The costs of the run in one panel: a table, a roofline, and memory over time. Fetched when it is
// opened.

import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { KINDS } from "viewer/model/kinds.js";
import { bytes, counted, flops } from "viewer/model/format.js";
import { MEANINGS, momentsOf } from "viewer/model/memory.js";
import { reachedBy, timedPoints } from "viewer/model/roofline.js";
import { activationOf, functionOf, statementOf } from "viewer/model/run.js";
import { sectionOfStep } from "viewer/model/sections.js";
import { bandsOf } from "viewer/model/stretch.js";
import { tally, total, uncountedIn } from "viewer/model/tally.js";
import { html } from "viewer/parts/html.js";
import { nextTab, titleOfSection } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { current, mode } from "viewer/state/state.js";
import { MemoryChart } from "viewer/views/inspect/memory.js";
import { Roofline, ROOFLINE_MEANINGS } from "viewer/views/inspect/roofline.js";
import { partAround, partOf, scope, Scope } from "viewer/views/inspect/scope.js";
import { columnsShown, Table } from "viewer/views/inspect/table.js";

await styled("costs.css");

const VIEWS = {
  table: { title: "Table", shown: Table },
  roofline: { title: "Roofline", shown: Rates },
  memory: { title: "Memory", shown: Memory },
};
const VIEW_NAMES = /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(VIEWS));

/** What the reader chose last, for as long as the page is open. */
const view = signal(/** @type {keyof typeof VIEWS} */ ("table"));

/**
 * Whether what would be spent on device `meta` is shown, in place of what was; null: where nothing
 * was.
 */
const onMeta = signal(/** @type {boolean | null} */ (null));

/** Whether what asserts spend to check what they claim is counted too. */
const withClaims = signal(false);

/** What these were chosen in. @type {Lecture | null} */
let chosenIn = null;

/** The panel. */
export function Costs() {
  const { document } = current();
  const at = useMemo(stepOfReader, [document]);
  const here = useMemo(() => partAround(at), [document]);
  if (chosenIn !== document) [scope.value, onMeta.value] = ["here", null];
  chosenIn = document;
  if (!document.costs) return html`<p>This run was recorded without costs, or used no tensors.</p>`;
  const { span, title } = partOf(scope.value, here);
  // There is no memory on meta.
  const imagined = view.value !== "memory" && (onMeta.value ?? isAllOnMeta(span));
  return html`
    <div class="inspect-choices">
      <div class="inspect-tabs" role="tablist" aria-label="costs" onKeyDown=${turnTab}>
        ${VIEW_NAMES.map((id) => html`<${Tab} key=${id} id=${id} />`)}
      </div>
      <${Scope} here=${here} />
      ${view.value !== "memory" && html`<${OrOnMeta} span=${span} imagined=${imagined} />`}
    </div>
    <div
      id="costs-view"
      class=${`costs-${view.value}-view ${imagined ? "on-meta" : ""}`}
      role="tabpanel"
      aria-labelledby=${`costs-${view.value}`}
    >
      <${VIEWS[view.value].shown}
        span=${span}
        at=${at}
        onMeta=${imagined}
        withClaims=${withClaims.value}
      />
    </div>
    <div class="costs-notes">
      <${Uncounted} span=${span} part=${title ? "part" : "run"} />
      ${view.value !== "memory" && html`<${OfClaims} span=${span} imagined=${imagined} />`}
      <${Apart} span=${span} imagined=${imagined} />
      <${Legend} imagined=${imagined} />
    </div>
  `;
}

/** @param {{id: keyof typeof VIEWS}} properties */
function Tab({ id }) {
  const { title } = VIEWS[id];
  return html`<button
    id=${`costs-${id}`}
    role="tab"
    title=${title}
    aria-selected=${view.value === id}
    aria-controls="costs-view"
    tabindex=${view.value === id ? 0 : -1}
    onClick=${() => (view.value = id)}
  >
    ${title}
  </button>`;
}

/** Arrow keys go from one view to the next. @param {KeyboardEvent} event */
function turnTab(event) {
  const next = nextTab(event, VIEW_NAMES, view.value);
  if (!next) return;
  view.value = next;
  document.getElementById(`costs-${next}`)?.focus();
}

/** How many operators without a formula are named before one asks for all. */
const NAMED = 3;

/** The run, as its costs are summed. @returns {Tallied} */
function tallied() {
  const { model, sections, times } = current();
  return { model, sections, seconds: times?.seconds, withClaims: withClaims.value };
}

/**
 * What the sums lack, always in sight.
 * @param {{span: Span, part: string}} properties part: what it is of the run
 */
function Uncounted({ span, part }) {
  const { document } = current();
  const missing = useMemo(() => {
    const run = { ...tallied(), seconds: null };
    const found = part === "run" ? Object.entries(document.uncounted) : uncountedIn(run, span);
    return found.sort(([, one], [, other]) => other - one);
  }, [document, span.first, span.beyond, withClaims.value]);
  if (!missing.length) return html`<p class="quiet">Every operator of this ${part} is counted.</p>`;
  const why = "For what these did there is no formula: sums marked with + are too small.";
  const named = missing.length > NAMED + 1 ? missing.slice(0, NAMED) : missing;
  const others = missing.slice(named.length);
  if (!others.length)
    return html`<p class="quiet inspect-uncounted">
      Not counted: <${Times} found=${named} />. ${why}
    </p>`;
  return html`<details class="quiet inspect-uncounted">
    <summary>
      Not counted: <${Times} found=${named} /> and ${counted(others.length, "other operator")}
    </summary>
    <${Times} found=${others} />. ${why}
  </details>`;
}

/** How often operators ran. @param {{found: [name: string, count: number][]}} properties */
function Times({ found }) {
  return found.map(
    ([name, count], index) =>
      html`${index > 0 && ", "}<code>${name}</code> (${counted(count, "time")})`,
  );
}

/** Whether anything was spent. @param {Amounts} amounts */
function isSpent(amounts) {
  return Object.values(amounts).some(Boolean);
}

/** Whether a part of the run spent nothing, and would have on `meta`. @param {Span} span */
function isAllOnMeta({ first, beyond }) {
  const { onMeta: imagined, ...happened } = current().cost(first, beyond);
  return isSpent(imagined) && !isSpent(happened);
}

/**
 * The choice between what happened and what would have, where anything would.
 * @param {{span: Span, imagined: boolean}} properties
 */
function OrOnMeta({ span, imagined }) {
  if (!imagined && !isSpent(current().cost(span.first, span.beyond).onMeta)) return null;
  const choose = (/** @type {any} */ event) => (onMeta.value = event.target.value === "meta");
  return html`<label>
    that${" "}
    <select
      aria-label="what happened or what would"
      title="Nothing is computed on the device meta, and no memory is held: it is counted apart"
      value=${imagined ? "meta" : "ran"}
      onChange=${choose}
    >
      <option value="ran">happened</option>
      <option value="meta">would cost, on meta</option>
    </select>
  </label>`;
}

/**
 * What asserts spent to check what they claim: it is no work of the lecture, and is counted if the
 * reader wants it.
 * @param {{span: Span, imagined: boolean}} properties
 */
function OfClaims({ span, imagined }) {
  const [without, all] = [false, true].map((also) =>
    total({ ...tallied(), withClaims: also }, span, imagined),
  );
  const computed = all.matmul_flops + all.other_flops - without.matmul_flops - without.other_flops;
  const operators = all.calls - without.calls;
  if (!operators) return null;
  const spent = `${counted(operators, "operator")} with ${flops(computed)}`;
  return html`<p class="quiet">
    ${
      withClaims.value
        ? html`Of this, asserts spent ${spent} to check what they claim.`
        : html`Apart from this, asserts spent ${spent} to check what they claim.`
    }${" "}
    <button class="inspect-button" onClick=${() => (withClaims.value = !withClaims.value)}>
      ${withClaims.value ? "Leave asserts out" : "Count asserts too"}
    </button>
  </p>`;
}

/**
 * What a part of the run only computed on paper, which no sum here contains.
 * @param {{span: Span, imagined: boolean}} properties imagined: whether that is shown
 */
function Apart({ span, imagined }) {
  if (!isSpent(current().cost(span.first, span.beyond).onMeta)) return null;
  const spent = total({ ...tallied(), withClaims: withClaims.value }, span, true);
  const computed = spent.matmul_flops + spent.other_flops;
  const moved = spent.read_bytes + spent.written_bytes;
  if (view.value === "memory")
    return html`<p class="quiet on-meta">
      Tensors on the device <code>meta</code> have sizes and no memory: they are not in this chart.
    </p>`;
  return html`<p class="quiet on-meta">
    ${
      imagined
        ? html`This is what would be spent on the device <code>meta</code>; nothing of it happened.`
        : html`Apart from this, ${flops(computed)} and ${bytes(moved)} moved would have been spent
            on the device <code>meta</code>, where nothing happens.`
    }${" "}
    <button class="inspect-button" onClick=${() => (onMeta.value = !imagined)}>
      ${imagined ? "Show what happened" : "Show what would be spent there"}
    </button>
  </p>`;
}

/** What each column or category is, and how it is known. @param {{imagined: boolean}} properties */
function Legend({ imagined }) {
  const columns = columnsShown(imagined).map(({ title, hint, kind }) => [title, hint, kind]);
  const terms = {
    table: columns,
    roofline: Object.entries(ROOFLINE_MEANINGS),
    memory: Object.entries(MEANINGS),
  }[view.value];
  const kinds = view.value === "memory" ? KINDS.slice(0, 1) : KINDS;
  return html`<details class="quiet costs-legend">
    <summary>What these numbers are</summary>
    <dl class="costs-terms">
      ${terms.map(
        ([term, meaning, kind]) =>
          html`
            <dt>${term}</dt>
            <dd>${meaning}${kind && `: ${kind}`}</dd>
          `,
      )}
    </dl>
    <dl class="costs-kinds">
      ${kinds.map(
        ([kind, what, how]) =>
          html`
            <dt>${kind}</dt>
            <dd>${what}: ${how}</dd>
          `,
      )}
      <dt class="on-meta">would cost</dt>
      <dd>on the device <code>meta</code>: nothing happened, and no sum above contains it</dd>
    </dl>
  </details>`;
}

/** @param {{span: Span, onMeta: boolean}} properties onMeta: what would be spent there */
function Rates({ span, onMeta: imagined }) {
  const { document, model, times } = current();
  const run = tallied();
  const whole = { first: 0, beyond: model.steps };
  const timedIn = (/** @type {Span} */ part) => timedPoints(tally(run, "line", part, false));
  const operators = useMemo(
    () => tally(run, "operator", span, false, imagined),
    [document, span.first, span.beyond, imagined, run.withClaims],
  );
  const timed = useMemo(
    () => (times && !imagined ? timedIn(span) : []),
    [document, times, span.first, span.beyond, imagined, run.withClaims],
  );
  const reached = useMemo(
    () => (times ? reachedBy(timedIn(whole)) : null),
    [document, times, run.withClaims],
  );
  return html`<${Roofline}
    operators=${operators}
    timed=${timed}
    reached=${imagined ? null : reached}
    took=${total(run, span, false).seconds ?? 0}
    device=${times?.device ?? ""}
    jump=${leaveTo}
  />`;
}

/** @param {{span: Span, at: number}} properties */
function Memory({ span, at }) {
  const { document, model, sections, chapters } = current();
  const moments = useMemo(() => momentsOf(model), [document]);
  if (!moments.length) return html`<p>No tensor memory was recorded.</p>`;
  const place = (/** @type {number} */ target) => {
    const section = sectionOfStep(sections, target);
    const func = functionOf(model, activationOf(model, target)).name;
    const line = document.statements[statementOf(model, target)][1];
    const within = section && section.depth > 0 ? `, in “${titleOfSection(section)}”` : "";
    return `line ${line} of ${func}${within}`;
  };
  return html`<${MemoryChart}
    bands=${bandsOf(model, sections, span, chapters)}
    key=${`${span.first} ${span.beyond}`}
    model=${model}
    moments=${moments}
    span=${span}
    here=${mode.value === "step" ? at : -1}
    place=${place}
    jump=${leaveTo}
  />`;
}
