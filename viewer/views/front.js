// The page before the chapters: what the lecture is, the ways through it, and its map. Fetched when
// it is shown; its title and first paragraphs stand there before.

import { useMemo } from "preact/hooks";
import { amountOf, blocksOnPage, FRONT, WHOLE } from "viewer/model/book.js";
import { counted } from "viewer/model/format.js";
import { countOnPath } from "viewer/model/path.js";
import { stepOfPlace } from "viewer/model/places.js";
import { functionOf, stepsBefore, wholeScope } from "viewer/model/run.js";
import { claimsWithin, headingOf, sectionOfStep } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { styled } from "viewer/parts/styles.js";
import { ValueView } from "viewer/parts/value.js";
import { goTo } from "viewer/state/address.js";
import { takePath } from "viewer/state/path.js";
import { kept } from "viewer/state/kept.js";
import { current } from "viewer/state/state.js";
import { factsOf, PageLink } from "viewer/views/chapter.js";
import { Colophon } from "viewer/views/colophon.js";
import { Blocks } from "viewer/views/section.js";

await styled("front.css");

/** The section where the reader stopped last, or nothing. @returns {Section | undefined} */
function stopped() {
  const { name, model, sections } = current();
  const place = kept(`place-${name}`);
  const found = place ? sectionOfStep(sections, stepOfPlace(model, place)) : undefined;
  return found && found.depth > 0 ? found : undefined;
}

/** The first chart of the run, or else its first picture, and the section that draws it. */
function firstPicture() {
  const { model, sections, document } = current();
  const { inspections, names, values } = document;
  const first = (/** @type {"vega" | "svg"} */ kind) =>
    inspections.value.findIndex((value) => value !== null && values[value][kind]);
  const row = first("vega") >= 0 ? first("vega") : first("svg");
  if (row < 0) return null;
  const section = sectionOfStep(sections, stepsBefore(model, inspections.event[row]));
  return {
    value: values[inspections.value[row] ?? 0],
    name: names[inspections.name[row]],
    section: section && section.depth > 0 ? section : undefined,
  };
}

/** What follows the first paragraphs. */
export function Front() {
  const { model, book, sections, leftOut } = current();
  const [{ activation }] = sections;
  const blocks = blocksOnPage(model, book, sections, activation, FRONT, leftOut.size > 0);
  const code = blocks.findIndex(({ kind }) => kind !== "prose");
  const isSetUp = !sections.some(({ depth, first }) => depth > 0 && first < book[0].first);
  // Prose right before code is about that code.
  const lead = isSetUp ? blocks.slice(0, code < 0 ? blocks.length : Math.max(0, code - 1)) : blocks;
  const rest = blocks.slice(lead.length);
  const lines = (/** @type {Block[]} */ shown) =>
    html`<${Blocks}
      blocks=${shown}
      scope=${wholeScope(model, activation)}
      indent=${4}
      depth=${0}
    />`;
  return html`
    ${lines(lead)}
    <${Ways} />
    <${Hero} />
    <${Map} />
    ${
      rest.length > 0 &&
      html`<details class="set-up">
        <summary>What the program does before its first chapter</summary>
        ${lines(rest)}
      </details>`
    }
    <${Colophon} />
  `;
}

/** Where to begin. */
function Ways() {
  const { model } = current();
  const place = useMemo(stopped, [model]);
  const title = place && headingOf(functionOf(model, place.activation));
  return html`<nav class="ways" aria-label="ways through">
    ${
      place &&
      html`<button class="way is-first" onClick=${() => goTo(place.first, { jump: true })}>
        Continue at “${title}”
      </button>`
    }
    <${PageLink} number=${1} class=${`way ${place ? "" : "is-first"}`}>
      ${place ? "Start anew" : "Start reading"}
    </${PageLink}>
    <${Path} />
    <button class="way" onClick=${() => goTo(0, { jump: true, to: "step" })}>
      Step through the program
    </button>
    <${PageLink} number=${WHOLE} class="way">All on one page</${PageLink}>
  </nav>`;
}

/** The short path, or back to all; nothing where all is one. */
function Path() {
  const { model, all, leftOut } = current();
  const count = useMemo(() => countOnPath(model, all), [model]);
  if (!count) return null;
  const isShort = leftOut.size > 0;
  return html`<button class="way" aria-pressed=${isShort} onClick=${() => takePath(!isShort)}>
    ${isShort ? "All sections" : `The short path: ${counted(count, "section")}`}
  </button>`;
}

/** A picture from the run, with the way to where it is drawn. */
function Hero() {
  const { model } = current();
  const found = useMemo(firstPicture, [model]);
  if (!found) return null;
  const { value, name, section } = found;
  return html`<div class="hero">
    <${ValueView} value=${value} name=${name} />
    ${
      section &&
      html`<p class="quiet">
        Drawn by this run, in${" "}
        <button class="quiet-link" onClick=${() => goTo(section.first, { jump: true })}>
          “${headingOf(functionOf(model, section.activation))}”
        </button>
      </p>`
    }
  </div>`;
}

/** The chapters as links, by the parts that they stand in. */
function Map() {
  const { book, model, document } = current();
  const total = useMemo(() => totals(), [document, book]);
  const parts = book.reduce((found, chapter) => {
    if (!found.length || found[found.length - 1][0].part !== chapter.part) found.push([]);
    found[found.length - 1].push(chapter);
    return found;
  }, /** @type {Chapter[][]} */ ([]));
  return html`<nav class="map" aria-label="chapters">
    <h2>${counted(book.length, "chapter")}</h2>
    <p class="quiet">${total}, recorded in ${counted(model.steps, "step")}.</p>
    ${parts.map(
      (chapters) => html`
        ${chapters[0].part && html`<${PartTitle} text=${chapters[0].part} />`}
        <ol class="map-chapters">
          ${chapters.map((chapter) => html`<${MapEntry} chapter=${chapter} />`)}
        </ol>
      `,
    )}
  </nav>`;
}

/** How much there is of everything. @returns {string} */
function totals() {
  const { book, model } = current();
  const amounts = book.map((chapter) => amountOf(model, chapter));
  const minutes = amounts.reduce((sum, amount) => sum + amount.minutes, 0);
  const exercises = amounts.reduce((sum, amount) => sum + amount.exercises, 0);
  const { claims } = claimsWithin(model, { first: 0, beyond: model.steps });
  const time = minutes < 100 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  return [
    `About ${time} of reading`,
    counted(claims, "claim"),
    exercises && counted(exercises, "exercise"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** A part's name, and after the colon what it is about. @param {{text: string}} properties */
function PartTitle({ text }) {
  const [, name, about] = /^([^:]+)(?::\s*(.*))?$/.exec(text) ?? ["", text, ""];
  return html`<h3 class="map-part">
    ${name.replace(/\.$/, "")}
    ${about && html`<span class="quiet"> ${about}</span>`}
  </h3>`;
}

/** @param {{chapter: Chapter}} properties */
function MapEntry({ chapter }) {
  const facts = useMemo(() => factsOf(chapter), [chapter]);
  return html`<li>
    <${PageLink} number=${chapter.number} class="map-link">
      <span class="map-number">${chapter.number}</span>
      <span class="map-title">${chapter.title}</span>
      <span class="map-facts">${facts}</span>
    </${PageLink}>
    ${chapter.about && html`<${Prose} text=${chapter.about.split(/\n\s*\n/)[0]} />`}
  </li>`;
}
