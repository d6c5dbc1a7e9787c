// All claims, of the lecture or of one section: statement, outcome, both sides, each time it was
// checked.

import { useMemo, useState } from "preact/hooks";
import { FRONT, pageOfStep } from "viewer/model/book.js";
import { outcomeOf } from "viewer/model/claims.js";
import { claimGroups } from "viewer/model/groups.js";
import { counted, integer } from "viewer/model/format.js";
import { sectionOfStep } from "viewer/model/sections.js";
import { html, memo } from "viewer/parts/html.js";
import { Claim } from "viewer/parts/notes.js";
import { Jump, titleOfSection } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { claimsOf, current } from "viewer/state/state.js";

await styled("inspect.css");

const AT_ONCE = 100;
const TIMES_AT_ONCE = 20;

/** The claims that contain what is typed. */
export function Claims() {
  const { model, document, sections, leftOut } = current();
  const [query, setQuery] = useState("");
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  const section = sections.find(({ activation }) => activation === claimsOf.value);
  const groups = useMemo(() => claimGroups(model, section, leftOut), [document, section, leftOut]);
  const failed = groups.filter((group) => group.failed).length;
  const shown = groups.filter(
    (group) => group.words.includes(query.trim().toLowerCase()) && (group.failed || !onlyFailed),
  );
  const place = section ? titleOfSection(section) : "";
  return html`
    <${Summary} groups=${groups} failed=${failed} place=${place} />
    <div class="filter">
      <input
        class="search-field"
        type="text"
        inputmode="search"
        placeholder="filter"
        aria-label="filter claims"
        value=${query}
        onInput=${(/** @type {any} */ event) => setQuery(event.target.value)}
      />
      ${
        failed > 0 &&
        html`<label>
          <input
            type="checkbox"
            checked=${onlyFailed}
            onChange=${() => setOnlyFailed(!onlyFailed)}
          />${" "}
          failed only
        </label>`
      }
    </div>
    <ol class="claim-list">
      ${shown.slice(0, most).map(
        (group, index) => html`
          ${!section && html`<${ChapterTitle} group=${group} before=${shown[index - 1]} />`}
          <${Group} key=${group.statement} group=${group} within=${place} />
        `,
      )}
    </ol>
    ${
      shown.length > most &&
      html`<button class="quiet-link" onClick=${() => setMost(most + AT_ONCE)}>
        show ${Math.min(shown.length - most, AT_ONCE)} more of ${integer(shown.length)}
      </button>`
    }
    ${
      !shown.length &&
      html`<p class="quiet">
        ${query ? `No claim contains “${query}”.` : "There is no claim here."}
      </p>`
    }
  `;
}

/**
 * The chapter of a claim, where another one begins; claims that failed stand before all chapters.
 * @param {{group: ClaimGroup, before?: ClaimGroup}} properties
 */
function ChapterTitle({ group, before }) {
  const { book, document } = current();
  const pageOf = (/** @type {ClaimGroup | undefined} */ of) =>
    of && !of.failed ? pageOfStep(book, document.claims.step[of.rows[0]]) : FRONT;
  const number = pageOf(group);
  if (number === FRONT || number === pageOf(before)) return null;
  const { label, title } = book[number - 1];
  return html`<li><h3>${label}. ${title}</h3></li>`;
}

/**
 * How many there are, and a way to fewer or to all.
 * @param {{groups: ClaimGroup[], failed: number, place: string}} properties
 */
function Summary({ groups, failed, place }) {
  const { document, sections, leftOut } = current();
  const checks = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const around = useMemo(() => sectionOfStep(sections, stepOfReader()), [document]);
  const narrower =
    around && around.depth > 0
      ? { activation: around.activation, text: `show only “${titleOfSection(around)}”` }
      : null;
  const none = document.failure ? "all held until it ended" : "all held";
  const choice = place
    ? { activation: -1, text: leftOut.size ? "show all of it" : "show the whole lecture" }
    : narrower;
  return html`<p class="quiet">
    ${counted(groups.length, "claim")} in ${counted(checks, "execution")}
    ${(place || leftOut.size > 0) && html`${" "}of <b>${place || "the short path"}</b>`};${" "}
    ${failed ? `${failed} failed` : none}.${" "}
    ${
      choice &&
      html`<button class="jump" onClick=${() => (claimsOf.value = choice.activation)}>
        ${choice.text}
      </button>`
    }
  </p>`;
}

/**
 * @type {(properties: {group: ClaimGroup, within: string}) => any} within: the section whose claims
 *   are listed
 */
const Group = memo(({ group: { rows, failed, place }, within }) => {
  const { document, model } = current();
  const many = rows.length > 1;
  const times =
    failed && failed < rows.length
      ? `failed ${integer(failed)} of ${counted(rows.length, "time")}`
      : counted(rows.length, "time");
  return html`<li>
    <button
      class="claim-entry"
      title="Go to this claim"
      onClick=${() => leaveTo(document.claims.step[rows[0]])}
    >
      <${Claim} outcome=${outcomeOf(model, rows[0])} text />
      <span class="claim-place">
        ${[place !== within && place, !many && `step ${integer(document.claims.step[rows[0]] + 1)}`]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </button>
    ${many && html`<${Occurrences} rows=${rows} times=${times} />`}
  </li>`;
});

/** @param {{rows: number[], times: string}} properties */
function Occurrences({ rows, times }) {
  const { document, model } = current();
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(TIMES_AT_ONCE);
  return html`<details
    class="occurrences"
    onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}
  >
    <summary>${times}</summary>
    ${
      open &&
      html`
        <ol>
          ${rows.slice(0, most).map(
            (row) =>
              html`<li key=${row}>
                <${Jump} step=${document.claims.step[row]} />${" "}
                <${Claim} outcome=${outcomeOf(model, row)} />
              </li>`,
          )}
        </ol>
        ${
          rows.length > most &&
          html`<button class="quiet-link" onClick=${() => setMost(most + AT_ONCE)}>
            show ${Math.min(rows.length - most, AT_ONCE)} more
          </button>`
        }
      `
    }
  </details>`;
}
