// The page before the chapters: what the lecture is, the ways through it, and its map. Fetched when
// it is shown; its title and first paragraphs stand there before.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { blocksOnPage, FRONT, totalOf, WHOLE } from "viewer/model/book.js";
import { counted, integer } from "viewer/model/format.js";
import { withoutDetours } from "viewer/model/detours.js";
import { needsOf } from "viewer/model/needs.js";
import { countOnPath } from "viewer/model/path.js";
import { stepOfPlace, writeHash } from "viewer/model/places.js";
import { functionOf, stepsBefore, wholeScope } from "viewer/model/run.js";
import {
  claimsWithin,
  hasMark,
  headingOf,
  isWithin,
  sectionOfStep,
} from "viewer/model/sections.js";
import { html, later } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { styled } from "viewer/parts/styles.js";
import { ValueView } from "viewer/parts/value.js";
import { goTo, openPage, writePage } from "viewer/state/address.js";
import { shownOf, takePath } from "viewer/state/path.js";
import { kept } from "viewer/state/kept.js";
import { current } from "viewer/state/state.js";
import { factsOf, Needs, PageLink } from "viewer/views/chapter.js";

await styled("front.css");

/** The section where the reader stopped last, or nothing. @returns {Section | undefined} */
function stopped() {
  const { name, model, sections } = current();
  const place = kept(`place-${name}`);
  const found = place ? sectionOfStep(sections, stepOfPlace(model, place)) : undefined;
  return found && found.depth > 0 ? found : undefined;
}

/**
 * The picture of a section that its author marked with `@cover`, or else the first chart of the
 * run, or its first picture; and the section that draws it, where that is shown.
 */
function coverPicture() {
  const { model, all, leftOut, document } = current();
  const { inspections, names, values } = document;
  const marked = all.find(({ activation }) => hasMark(functionOf(model, activation), "cover"));
  const { first, beyond } = marked ?? { first: 0, beyond: Infinity };
  const find = (/** @type {"vega" | "svg"} */ kind) =>
    inspections.value.findIndex((value, row) => {
      if (value === null || !values[value][kind]) return false;
      const step = stepsBefore(model, inspections.event[row]);
      return first <= step && step < beyond;
    });
  const row = [find("vega"), find("svg")].find((found) => found >= 0);
  if (row === undefined) return null;
  const section = sectionOfStep(all, stepsBefore(model, inspections.event[row]));
  const isShown = section && section.depth > 0 && !isWithin(model, section.first, leftOut);
  return {
    value: values[inspections.value[row] ?? 0],
    name: names[inspections.name[row]],
    section: isShown ? section : undefined,
  };
}

/**
 * All of it.
 * @param {{head: any, text: string}} properties head: title and first paragraph; text: what follows
 */
export function Front({ head, text }) {
  const { model, book, sections, leftOut } = current();
  const [{ activation }] = sections;
  const blocks = blocksOnPage(model, book, sections, activation, FRONT, leftOut.size > 0);
  const code = blocks.findIndex(({ kind }) => kind !== "prose");
  const isSetUp = !sections.some(({ depth, first }) => depth > 0 && first < book[0].first);
  // Prose right before code is about that code.
  const lead = isSetUp ? blocks.slice(0, code < 0 ? blocks.length : Math.max(0, code - 1)) : blocks;
  const rest = blocks.slice(lead.length);
  const [isOpen, open] = useState(false);
  const lines = (/** @type {Block[]} */ shown) =>
    shown.length > 0 &&
    html`<${Blocks}
      blocks=${shown}
      scope=${wholeScope(model, activation)}
      indent=${4}
      depth=${0}
    />`;
  return html`
    <div class="cover">
      <div class="cover-text">
        ${head}
        <${Amounts} />
        <${Ways} />
      </div>
      <${Picture} />
    </div>
    <div class="about">
      <div>${text && html`<${Prose} text=${text} />`} ${lines(lead)}</div>
      <${Near} shown=${Specimens} />
    </div>
    <${Chapters} />
    ${
      rest.length > 0 &&
      html`<details class="set-up" onToggle=${() => open(true)}>
        <summary>What the program does before its first chapter</summary>
        ${isOpen && lines(rest)}
      </details>`
    }
    <${Near} shown=${Colophon} />
  `;
}

/** How much there is of everything. */
function Amounts() {
  const { book, model, leftOut } = current();
  const amounts = useMemo(() => {
    const { claims } = claimsWithin(model, { first: 0, beyond: model.steps }, leftOut);
    const { minutes, exercises } = totalOf(model, book);
    const time = minutes < 100 ? [minutes, "minute"] : [Math.round(minutes / 60), "hour"];
    return /** @type {[number, string][]} */ ([
      time,
      [book.length, "chapter"],
      [claims, "claim"],
      [exercises, "exercise"],
    ]).filter(([count]) => count > 0);
  }, [model, book]);
  return html`<ul class="amounts" aria-label="how much there is">
    ${amounts.map(
      ([count, one]) =>
        html`<li>
          <b>${integer(count)}</b> ${count === 1 ? one : `${one}s`}
        </li>`,
    )}
  </ul>`;
}

/** Where to begin. */
function Ways() {
  const { model, leftOut } = current();
  const place = useMemo(stopped, [model]);
  const title = place && headingOf(functionOf(model, place.activation));
  const start = place ? "way" : "way is-first";
  return html`<nav class="ways" aria-label="ways through">
    ${
      place &&
      html`<button class="way is-first" onClick=${() => goTo(place.first, { jump: true })}>
        Continue at “${title}”
      </button>`
    }
    ${
      leftOut.size
        ? html`
          <${ShortPath} class=${start} />
          <button class="way" onClick=${allSections}>All sections</button>
        `
        : html`
          <${PageLink} number=${1} class=${start}>
            ${place ? "Start anew" : "Start reading"}
          </${PageLink}>
          <${ShortPath} class="way" />
        `
    }
    <button class="way" onClick=${() => goTo(0, { jump: true, to: "step" })}>
      Step through the program
    </button>
    <${PageLink} number=${WHOLE} class="way">All on one page</${PageLink}>
  </nav>`;
}

/** Back from the short path, on the same page. */
function allSections() {
  takePath(false);
  writePage("pushState");
}

/** The way to the first section of the short path; nothing where all is one.
 * @param {{class: string}} properties */
function ShortPath({ class: name }) {
  const { model, all, name: doc } = current();
  const { count, minutes, chapter } = useMemo(() => {
    const { book } = shownOf(model, all, true);
    return {
      count: book.length && countOnPath(model, all),
      minutes: totalOf(model, book).minutes,
      chapter: book[0]?.name,
    };
  }, [model]);
  if (!count) return null;
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    takePath(true);
    openPage(1);
  };
  const address = writeHash({ doc, mode: "read", at: "", chapter, short: true });
  return html`<a class=${name} href=${address} onClick=${open}>
    The short path:${" "}
    <span>${counted(count, "section")}, ${counted(minutes, "minute")}</span>
  </a>`;
}

/** A picture from the run, with the way to where it is drawn. */
function Picture() {
  const { model, document } = current();
  const found = useMemo(coverPicture, [document]);
  if (!found) return null;
  const { value, name, section } = found;
  return html`<div class="cover-picture">
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

/** What is fetched when the reader comes near it. @param {{shown: any}} properties */
function Near({ shown }) {
  const [isNear, come] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => come((was) => was || entries.some(({ isIntersecting }) => isIntersecting)),
      { rootMargin: "400px" },
    );
    if (place.current) watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  return html`<div ref=${place}>${isNear && html`<${shown} />`}</div>`;
}

/** The chapters as links, by the parts that they stand in. */
function Chapters() {
  const { book, model } = current();
  const needs = useMemo(() => withoutDetours(needsOf(model, book)), [model, book]);
  const parts = book.reduce((found, chapter) => {
    if (!found.length || found[found.length - 1][0].part !== chapter.part) found.push([]);
    found[found.length - 1].push(chapter);
    return found;
  }, /** @type {Chapter[][]} */ ([]));
  return html`<nav class="map" aria-label="chapters">
    <h2>Chapters</h2>
    <p class="quiet">Recorded in ${counted(model.steps, "step")}.</p>
    <${Near} shown=${ChapterMap} />
    ${parts.map(
      (chapters) => html`
        ${chapters[0].part && html`<${PartTitle} text=${chapters[0].part} />`}
        <ol class="map-chapters">
          ${chapters.map(
            (chapter) =>
              html`<${MapEntry} chapter=${chapter} needs=${needs[chapter.number - 1]} />`,
          )}
        </ol>
      `,
    )}
  </nav>`;
}

/** A part's name, and after the colon what it is about. @param {{text: string}} properties */
function PartTitle({ text }) {
  const [, name, about] = /^([^:]+)(?::\s*(.*))?$/.exec(text) ?? ["", text, ""];
  return html`<h3 class="map-part">
    ${name.replace(/\.$/, "")}
    ${about && html`<span class="quiet"> ${about}</span>`}
  </h3>`;
}

/** @param {{chapter: Chapter, needs: number[]}} properties */
function MapEntry({ chapter, needs }) {
  const facts = useMemo(() => factsOf(chapter), [chapter]);
  return html`<li>
    <${PageLink} number=${chapter.number} class="map-link">
      <span class="map-number">${chapter.label}</span>
      <span class="map-title">${chapter.title}</span>
      <span class="map-facts">${facts}</span>
    </${PageLink}>
    ${chapter.about && html`<${Prose} text=${chapter.about.split(/\n\s*\n/)[0]} />`}
    <${Needs} numbers=${needs} />
  </li>`;
}

const Blocks = later(async () => (await import("viewer/views/section.js")).Blocks);
const ChapterMap = later(async () => (await import("viewer/views/map.js")).ChapterMap);
const Specimens = later(async () => (await import("viewer/views/specimen.js")).Specimens);
const Colophon = later(async () => (await import("viewer/views/colophon.js")).Colophon);
