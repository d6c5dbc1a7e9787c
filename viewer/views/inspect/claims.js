// Claims of a chapter, a section or the whole lecture: statement, outcome, both sides, each time
// one was checked.

import { useMemo, useState } from "preact/hooks";
import { FRONT, pageOfStep } from "viewer/model/book.js";
import { outcomeOf } from "viewer/model/claims.js";
import { claimGroups } from "viewer/model/groups.js";
import { counted, integer } from "viewer/model/format.js";
import { questionOf } from "viewer/model/predictions.js";
import { html, memo } from "viewer/parts/html.js";
import { Claim } from "viewer/parts/notes.js";
import { Jump } from "viewer/parts/panel.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { isPending } from "viewer/state/answers.js";
import { stepOfReader } from "viewer/state/article.js";
import { claimsOf, current } from "viewer/state/state.js";
import { choicesAround, partOf } from "viewer/views/inspect/scope.js";

await styled("inspect.css");

/** No part of the run. */
const WHOLE = { span: { first: 0, beyond: Infinity }, title: "" };

const AT_ONCE = 100;
const TIMES_AT_ONCE = 20;

/** The claims that contain what is typed. */
export function Claims() {
  const { model, document, leftOut } = current();
  const [query, setQuery] = useState("");
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  const choices = useMemo(choicesHere, [document]);
  const choice = claimsOf.value || choices[0];
  const isWhole = choice === "whole";
  const { span, title: place } = partOf(choice, WHOLE);
  const groups = useMemo(
    () => claimGroups(model, isWhole ? undefined : span, leftOut),
    [document, choice, leftOut],
  );
  const failed = groups.filter((group) => group.failed).length;
  const shown = groups.filter(
    (group) => group.words.includes(query.trim().toLowerCase()) && (group.failed || !onlyFailed),
  );
  return html`
    <${Summary} groups=${groups} failed=${failed} place=${place} />
    <${Choices} choices=${choices} chosen=${choice} />
    <${Filter} ...${{ query, setQuery, onlyFailed, setOnlyFailed }} hasFailed=${failed > 0} />
    <ol class="claim-list">
      ${shown.slice(0, most).map(
        (group, index) => html`
          ${isWhole && html`<${ChapterTitle} group=${group} before=${shown[index - 1]} />`}
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
 * @param {{query: string, setQuery: (query: string) => void, onlyFailed: boolean,
 *   setOnlyFailed: (only: boolean) => void, hasFailed: boolean}} properties
 */
function Filter({ query, setQuery, onlyFailed, setOnlyFailed, hasFailed }) {
  return html`<div class="filter">
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
      hasFailed &&
      html`<label>
        <input
          type="checkbox"
          checked=${onlyFailed}
          onChange=${() => setOnlyFailed(!onlyFailed)}
        />${" "}
        failed only
      </label>`
    }
  </div>`;
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
 * What can be chosen: the chapter that is read, or else all; the section; all.
 * @returns {string[]}
 */
function choicesHere() {
  const { sections } = current();
  const [kind, order] = claimsOf.value.split(" ");
  const asked = kind === "section" ? sections[Number(order)] : undefined;
  const { chapter, section } = choicesAround(stepOfReader());
  const parts = [chapter, asked?.depth ? claimsOf.value : section];
  return chapter ? [...parts, "whole"].filter(Boolean) : ["whole", ...parts].filter(Boolean);
}

/** @param {{choices: string[], chosen: string}} properties */
function Choices({ choices, chosen }) {
  const { leftOut, book } = current();
  const all = leftOut.size ? "the short path" : "the whole lecture";
  const nameOf = (/** @type {string} */ choice) => {
    const [kind, index] = choice.split(" ");
    const { title } = partOf(choice, WHOLE);
    if (kind === "chapter") return `chapter ${book[Number(index)].label}. ${title}`;
    return kind === "section" ? `section “${title}”` : all;
  };
  if (choices.length < 2) return null;
  return html`<fieldset class="claim-choices">
    <legend class="visually-hidden">claims of</legend>
    ${choices.map(
      (choice) =>
        html`<label key=${choice}>
          <input
            type="radio"
            name="claims-of"
            checked=${choice === chosen}
            onChange=${() => (claimsOf.value = choice)}
          />${" "}
          ${nameOf(choice)}
        </label>`,
    )}
  </fieldset>`;
}

/**
 * How many there are.
 * @param {{groups: ClaimGroup[], failed: number, place: string}} properties
 */
function Summary({ groups, failed, place }) {
  const { document, leftOut } = current();
  const checks = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const none = document.failure ? "all held until it ended" : "all held";
  return html`<p class="quiet">
    ${counted(groups.length, "claim")} in ${counted(checks, "execution")}
    ${(place || leftOut.size > 0) && html`${" "}of <b>${place || "the short path"}</b>`};${" "}
    ${failed ? `${failed} failed` : none}.
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
      ${
        isPending(rows[0])
          ? html`<span class="quiet">? asked there: ${questionOf(model, rows[0])?.source}</span>`
          : html`<${Claim} outcome=${outcomeOf(model, rows[0])} text />`
      }
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
