// Search as one types.

import { useLayoutEffect, useRef } from "preact/hooks";
import { WHOLE } from "viewer/model/book.js";
import { nearTo } from "viewer/model/near.js";
import { search } from "viewer/model/search.js";
import { html } from "viewer/parts/html.js";
import { leaveTo, openPage } from "viewer/state/address.js";
import { headingOf, lineOf, rowOf } from "viewer/state/found.js";
import {
  current,
  dialog,
  mode,
  openDefinition,
  page,
  presenting,
  query,
} from "viewer/state/state.js";
import { pendingClaims } from "viewer/state/spoiling.js";

/** Search as one types. */
export function Search() {
  const { model, all, chapters } = current();
  const text = query.value;
  const found = search(model, text, all, pendingClaims(), chapters);
  // No definition stands beside a slide.
  const results = presenting.value ? found.filter(({ definition }) => !definition) : found;
  const first = results[0];
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (first) leave(first);
  };
  return html`<div onKeyDown=${walk}>
    <form onSubmit=${submit}>
      <input
        ref=${field}
        class="search-field"
        type="text"
        autofocus
        inputmode="search"
        placeholder="text, code, a name, a value or the number of a step"
        aria-label="search"
        value=${text}
        onInput=${(/** @type {any} */ event) => (query.value = event.target.value)}
      />
    </form>
    <ul class="results" aria-live="polite">
      ${results.map((result) => {
        const { kind, before, match, after, place, definition } = result;
        const title = definition ? "Open the definition" : "Go there";
        return html`<li>
          <button title=${title} onClick=${() => leave(result)}>
            <span class=${`result-text ${kind}`}>
              ${before}
              <mark>${match}</mark>
              ${after}
            </span>
            ${place && html`<span class="result-place">${place}</span>`}
          </button>
        </li>`;
      })}
    </ul>
    ${text.trim().length > 1 && !results.length && html`<${Nothing} text=${text} />`}
  </div>`;
}

/** Leave the panel for what was found. @param {Result} result */
function leave({ step, row, at, definition, chapter }) {
  if (chapter) return leaveForChapter(chapter);
  if (!definition) return leaveTo(step, row ? rowOf(row) : at && lineOf(step, at));
  dialog.value = "";
  openDefinition(definition);
}

/** Leave for the top of a chapter; one that is not on the short path is shown among all.
 * @param {Chapter} chapter */
function leaveForChapter(chapter) {
  const shown = current().book.find(({ name }) => name === chapter.name);
  if (!shown) return leaveTo(chapter.sections[0].first);
  const isPage = mode.value === "read" && page.value !== WHOLE && !presenting.value;
  if (isPage) openPage(shown.number);
  else leaveTo(shown.first, headingOf(shown));
}

/** What to say where nothing is found. @param {{text: string}} properties */
function Nothing({ text }) {
  const { model, all } = current();
  const meant = nearTo(model, text, all);
  const last = meant.length - 1;
  return html`<p class="quiet">
    Nothing that ran contains “${text}”.
    ${meant.map((words, index) => {
      const before = index === 0 ? " Did you mean " : index === last ? " or " : ", ";
      const ask = () => (query.value = words);
      return html`${before}<button class="suggestion" onClick=${ask}>${words}</button>`;
    })}${meant.length > 0 && "?"}
  </p>`;
}

/** The arrow keys go from the field to the results, and from one to the next.
 * @param {KeyboardEvent} event */
function walk(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const stops = [...box.querySelectorAll("input, .results button")];
  const at = stops.indexOf(/** @type {Element} */ (document.activeElement));
  const next = /** @type {HTMLElement | undefined} */ (stops[at + by]);
  next?.focus();
  event.preventDefault();
}
