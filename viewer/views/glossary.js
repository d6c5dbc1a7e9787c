// The words of the lecture, with the sentences that define them. Fetched when it is opened.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { glossaryOf } from "viewer/model/glossary.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { styled } from "viewer/parts/styles.js";
import { leaveTo } from "viewer/state/address.js";
import { rowOf } from "viewer/state/found.js";
import { current } from "viewer/state/state.js";

await styled("question.css");

/** How many of the sections that use a term are named. */
const MOST_USES = 6;

/** The panel. */
export function Glossary() {
  const { model, all } = current();
  const [wanted, want] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const entries = useMemo(() => glossaryOf(model, all), [model]);
  const shown = entries.filter(({ term }) => term.toLowerCase().includes(wanted.toLowerCase()));
  if (!entries.length) return html`<p class="quiet">This lecture has no words in italics.</p>`;
  return html`
    <input
      ref=${field}
      class="search-field"
      type="text"
      inputmode="search"
      placeholder="a term or a letter"
      aria-label="look up"
      onInput=${(/** @type {any} */ event) => want(event.target.value)}
    />
    <dl class="glossary">
      ${shown.map((entry) => html`<${Term} key=${entry.term} ...${entry} />`)}
    </dl>
    ${!shown.length && html`<p class="quiet">No entry for “${wanted}”; try the search.</p>`}
  `;
}

/** @param {Entry} properties */
function Term({ term, text, title, step, row, uses }) {
  const more = uses.length - MOST_USES;
  /** @param {{title: string, step: number, row?: string}} place */
  const way = (place) => {
    const go = () => leaveTo(place.step, place.row ? rowOf(place.row) : undefined);
    return html`<button class="quiet-link" onClick=${go}>${place.title}</button>`;
  };
  return html`<dt>${term}</dt>
    <dd>
      <${Prose} text=${text} />
      <p class="glossary-places">
        ${way({ title, step, row })}${" "}
        ${uses.length > 0 && html`<span class="quiet">· used in </span>`}
        ${uses.slice(0, MOST_USES).map((place, index) => [index > 0 && ", ", way(place)])}
        ${more > 0 && html`<span class="quiet"> and ${more} more</span>`}
      </p>
    </dd>`;
}
