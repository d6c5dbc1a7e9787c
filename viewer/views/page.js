// The page: its bar, the article or the program, a panel over it, or a sentence instead.

import { Component } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { FRONT, pageOfStep } from "viewer/model/book.js";
import { integer } from "viewer/model/format.js";
import { functionOf } from "viewer/model/run.js";
import { claimsWithin, titleOf } from "viewer/model/sections.js";
import { CommandButton, Icon, Switch } from "viewer/parts/buttons.js";
import { html, later } from "viewer/parts/html.js";
import { bringIntoView } from "viewer/state/article.js";
import { fail } from "viewer/state/opening.js";
import {
  current,
  definitions,
  density,
  dialog,
  hasOutline,
  isEmbedded,
  loaded,
  loading,
  mode,
  notice,
  page,
  presenting,
  printing,
  problem,
  step,
} from "viewer/state/state.js";
import { theme } from "viewer/state/theme.js";
import { switchMode } from "viewer/state/toggles.js";
import { Failure } from "viewer/views/alert.js";
import { article, fetchArticle } from "viewer/views/articles.js";
import { PageLink } from "viewer/views/chapter.js";
import { Outline } from "viewer/views/outline.js";
import { Read } from "viewer/views/read.js";

/** Take away the first lines, which stood in for the page. */
function removeFirst() {
  document.getElementById("first")?.remove();
}

/** Put the page in the place of its plain text, where the reader has come in that. */
function takeOver() {
  const titles = [...document.querySelectorAll("#first .section[id] > .section-head > *")];
  const tops = titles.map((title) => title.getBoundingClientRect().top);
  const at = tops.findLastIndex((top) => top < innerHeight / 2);
  const name = titles[at]?.closest(".section")?.id;
  const hasScrolled = scrollY > 0;
  removeFirst();
  const { model, sections } = current();
  const read = sections.find(
    ({ activation, depth }) => depth > 0 && functionOf(model, activation).name === name,
  );
  if (hasScrolled && read)
    bringIntoView(() => document.getElementById(`title-${read.activation}`), tops[at]);
}

const Embedded = later(async () => (await import("viewer/views/embed.js")).Embedded);
const Home = later(async () => (await import("viewer/views/home.js")).Home);
const Definition = later(async () => (await import("viewer/views/definition.js")).Definition);
const Panel = later(async () => (await import("viewer/views/panels.js")).Panel);
const Step = later(async () => (await import("viewer/views/step.js")).Step);
const Present = later(async () => (await import("viewer/views/present.js")).Present);
const Sentence = later(async () => (await import("viewer/views/home.js")).Problem);

/** A sentence instead of a document. */
function Problem() {
  useLayoutEffect(removeFirst, []);
  return html`<${Sentence} />`;
}

/** Catches what a malformed document does to a component, so that the page says something. */
export class App extends Component {
  /** @param {Error} error */
  componentDidCatch(error) {
    console.warn(error);
    fail(`A part of this document cannot be shown (${error.message}); record it again.`);
  }

  /** */
  render() {
    if (problem.value) return html`<${Problem} />`;
    if (loading.value)
      return document.getElementById("first")
        ? null
        : html`<p class="notice-inline" role="status">
          Loading…
        </p>`;
    if (!loaded.value) return html`<${Home} />`;
    return isAwaited() ? null : html`<${Page} key=${loaded.value.sections} />`;
  }
}

/** Whether the first lines stay until there is what lays out the rest. */
function isAwaited() {
  const isAsked = mode.value === "read" && page.value !== FRONT && !article.value;
  if (isAsked) fetchArticle();
  return isAsked && document.getElementById("first") !== null;
}

/** A document. */
function Page() {
  useLayoutEffect(takeOver, []);
  const panel = dialog.value && html`<${Panel} />`;
  const definition = definitions.value.length > 0 && html`<${Definition} />`;
  if (isEmbedded)
    return html`
      <${Embedded} />
      ${definition}${panel}
    `;
  const wide = hasOutline() && current().sections.length > 1;
  if (presenting.value && !printing.value)
    return html`
      <${Present} />
      ${panel}
    `;
  return html`
    <a class="skip" href=${mode.value === "read" ? "#article" : "#stepping"} onClick=${skip}>
      Skip to the lecture
    </a>
    <${Bar} />
    <${Notice} />
    <div class=${`page mode-${mode.value} ${wide ? "with-outline" : ""}`}>
      ${
        wide &&
        html`<div class="sidebar">
          <${Outline} />
        </div>`
      }
      <div class="content">
        ${
          mode.value === "read" || printing.value
            ? html`
              <${Failure} />
              <${Read} />
            `
            : html`<${Step} />`
        }
      </div>
    </div>
    ${definition}${panel}
  `;
}

/** Where the address leads, if it leads nowhere. */
function Notice() {
  return html`<div role="status">
    ${notice.value && html`<p class="page-notice">${notice.value}</p>`}
  </div>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.querySelector("main")?.focus();
}

/** The lecture, and the chapter of it that is shown. */
function Title() {
  const { model, book } = current();
  const title = titleOf(model);
  if (!book.length) return html`<a class="bar-title" href="#" title="All lectures">${title}</a>`;
  const chapter = book[shownPage() - 1];
  return html`
    <span class="bar-title">
      <${PageLink} number=${FRONT} class="bar-lecture">${title}</${PageLink}>
    </span>
    ${
      chapter &&
      html`<${PageLink} number=${chapter.number} class="bar-title bar-chapter">
        ${chapter.label}. ${chapter.title}
      </${PageLink}>`
    }
  `;
}

/** The page that Read shows, or that holds the step. */
function shownPage() {
  return mode.value === "step" ? pageOfStep(current().book, step.value) : page.value;
}

/** How much stands beside code. */
const DENSITIES = { story: "Story", evidence: "Evidence", everything: "Everything" };

/** @param {Density} name */
async function choose(name) {
  (await import("viewer/state/ways.js")).chooseDensity(name);
}

const MODES = { read: "Read", step: "Step" };

/** @param {"read" | "step"} name */
function change(name) {
  if (name !== mode.value) switchMode();
}

/** Name, modes and panels. */
function Bar() {
  return html`<header class="bar">
    <${CommandButton} id="outline" class="icon" />
    <${Title} />
    <span class="bar-spacer"></span>
    ${
      mode.value === "read" &&
      html`<${Switch}
        id="density"
        class="roomy-only"
        name="beside code"
        choices=${DENSITIES}
        chosen=${density.value}
        choose=${choose}
      />`
    }
    <${Switch} id="mode" name="view" choices=${MODES} chosen=${mode.value} choose=${change} />
    <${ClaimsButton} />
    <${CommandButton} id="costs" class="icon wide-only" />
    <${CommandButton} id="search" class="icon" />
    <${CommandButton} id="theme" class="icon wide-only">
      <${Icon} name=${theme.value} />
    </${CommandButton}>
    <${CommandButton} id="menu" class="icon" />
  </header>`;
}

/** How the claims fared. Of a run that ended early nobody knows: some were never reached. */
function ClaimsButton() {
  const { model, document, leftOut } = current();
  const { claims, failure } = document;
  const failed = claims.held.filter((outcome) => outcome !== true).length;
  const count = useMemo(
    () => claimsWithin(model, { first: 0, beyond: model.steps }, leftOut).claims,
    [document, leftOut],
  );
  const [mark, words] = failed
    ? [`✗ ${integer(failed)}`, "failed"]
    : failure
      ? ["✗", "ended early"]
      : [`✓ ${integer(count)}`, count === 1 ? "claim" : "claims"];
  return html`<${CommandButton} id="claims" class=${failed || failure ? "failed" : "held"}>
    ${mark}
    <span class="wide-only">${" "}${words}</span>
  </${CommandButton}>`;
}
