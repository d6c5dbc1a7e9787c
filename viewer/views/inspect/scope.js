// Which part of the run costs are told of: the choice, and a search in it.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { pageOfStep } from "viewer/model/book.js";
import { chaptersOf, sectionOfStep } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { titleOfSection } from "viewer/parts/panel.js";
import { isOnItsWay, sectionRead } from "viewer/state/article.js";
import { current, mode, page, presenting } from "viewer/state/state.js";

/** A part of the run; without a title, all of it. @typedef {{span: Span, title: string}} Part */

/**
 * Which part of the run: "here", where the reader is, "whole", "chapter" or "section" and a number.
 */
export const scope = signal("here");

/** Of so many sections one is looked for by name. */
const MANY = 20;
/** How many are listed that have what is typed in their names. */
const MOST = 8;

/**
 * What a choice stands for.
 * @param {string} choice
 * @param {Part} here
 * @returns {Part}
 */
export function partOf(choice, here) {
  const { model, sections, book } = current();
  const [kind, index] = choice.split(" ");
  if (kind === "here") return here;
  if (kind === "chapter") return { span: book[Number(index)], title: book[Number(index)].title };
  if (kind === "section") {
    const section = sections[Number(index)];
    return { span: section, title: titleOfSection(section) };
  }
  return { span: { first: 0, beyond: model.steps }, title: "" };
}

/**
 * The chapter and the section that are read, as choices; empty where there is none.
 * @param {number} at the step of the reader
 */
export function choicesAround(at) {
  const { sections, book } = current();
  // Before the article is there, the reader is where they were sent.
  const isRead = mode.value === "read" && !presenting.value && !isOnItsWay();
  const read = isRead ? sectionRead() : -1;
  const section = isRead
    ? sections.find(({ activation }) => activation === read)
    : sectionOfStep(sections, at);
  const chapter = (isRead ? page.value : pageOfStep(book, at)) - 1;
  return {
    chapter: book[chapter] ? `chapter ${chapter}` : "",
    section: section?.depth ? `section ${section.order}` : "",
  };
}

/**
 * The section that is read, or else the chapter, or everything.
 * @param {number} at the step of the reader
 * @returns {Part}
 */
export function partAround(at) {
  const whole = { span: { first: 0, beyond: current().model.steps }, title: "" };
  const { chapter, section } = choicesAround(at);
  return partOf(section || chapter || "whole", whole);
}

/** Ways on where a part of the run has nothing to show. @param {{at: number}} properties */
export function Wider({ at }) {
  const { chapter } = choicesAround(at);
  const isChapter = scope.value === chapter || scope.value === "whole";
  const to = (/** @type {string} */ choice, /** @type {string} */ text) =>
    html`<button class="inspect-button" onClick=${() => (scope.value = choice)}>${text}</button>`;
  return html`<p class="costs-wider">
    ${chapter && !isChapter && to(chapter, "Show the chapter")}${" "}
    ${scope.value !== "whole" && to("whole", "Show the whole run")}
  </p>`;
}

/** Which part of the run is looked at. @param {{here: Part}} properties */
export function Scope({ here }) {
  const { sections } = current();
  return html`<${Parts} here=${here} />${sections.length > MANY && html`<${Finder} />`}`;
}

/** All parts. @param {{here: Part}} properties */
function Parts({ here }) {
  const { sections } = current();
  const option = (/** @type {Section} */ found) =>
    html`<option value=${`section ${found.order}`}>${titleOfSection(found)}</option>`;
  return html`<label>
    of${" "}
    <select
      aria-label="part of the run"
      value=${here.title || scope.value !== "here" ? scope.value : "whole"}
      onChange=${(/** @type {any} */ event) => (scope.value = event.target.value)}
    >
      ${here.title && html`<option value="here">here: ${here.title}</option>`}
      <option value="whole">the whole run</option>
      ${chaptersOf(sections).map(({ title, sections: own }) => {
        const chapter = chapterOf(own);
        const whole =
          chapter >= 0 &&
          html`<option value=${`chapter ${chapter}`}>chapter ${chapter + 1}: ${title}</option>`;
        return title
          ? html`<optgroup label=${title}>${whole} ${own.map(option)}</optgroup>`
          : own.map(option);
      })}
    </select>
  </label>`;
}

/** Chapters and sections by their names; Enter takes the first. */
function Finder() {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const found = wanted
    ? allParts().filter(({ title }) => title.toLowerCase().includes(wanted))
    : [];
  const take = (/** @type {string} */ choice) => {
    scope.value = choice;
    setQuery("");
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && found.length) take(found[0].choice);
  };
  return html`
    <input
      class="search-field scope-query"
      type="text"
      inputmode="search"
      placeholder="find a section"
      aria-label="find a part of the run"
      value=${query}
      onInput=${(/** @type {any} */ event) => setQuery(event.target.value)}
      onKeyDown=${onKey}
    />
    ${
      wanted &&
      html`<ul class="scope-found" aria-label="parts found">
        ${found.slice(0, MOST).map(
          ({ choice, title, place }) =>
            html`<li key=${choice}>
              <button onClick=${() => take(choice)}>
                ${title}${" "}<span class="quiet">${place}</span>
              </button>
            </li>`,
        )}
        ${
          !found.length &&
          html`<li class="quiet">No section has “${query.trim()}” in its name.</li>`
        }
        ${found.length > MOST && html`<li class="quiet">and ${found.length - MOST} more</li>`}
      </ul>`
    }
  `;
}

/**
 * Chapters, each with its sections.
 * @returns {{choice: string, title: string, place: string}[]}
 */
function allParts() {
  const { sections, book } = current();
  return chaptersOf(sections).flatMap(({ title, sections: own }) => {
    const chapter = chapterOf(own);
    const place = chapter >= 0 ? `in chapter ${book[chapter].number}` : "";
    const whole = { choice: `chapter ${chapter}`, title, place: place.replace("in ", "") };
    const inside = own.map((section) => ({
      choice: `section ${section.order}`,
      title: titleOfSection(section),
      place,
    }));
    return chapter >= 0 ? [whole, ...inside] : inside;
  });
}

/** Which chapter of the book begins with the first of these. @param {Section[]} sections */
function chapterOf([start]) {
  return current().book.findIndex(({ sections: [first] }) => first === start);
}
