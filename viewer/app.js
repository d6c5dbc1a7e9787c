// The page: bar, outline, failure, and the mode that is on.

import { Component } from "preact";
import { CommandButton } from "viewer/buttons.js";
import { Failure } from "viewer/failure.js";
import { counted, integer } from "viewer/format.js";
import { html } from "viewer/html.js";
import { Icon } from "viewer/icons.js";
import { Outline } from "viewer/outline.js";
import { Panel } from "viewer/panels.js";
import { Read } from "viewer/read.js";
import { plainTitle } from "viewer/section.js";
import { writeHash } from "viewer/state.js";
import { Step } from "viewer/step.js";
import { titleOf } from "viewer/reading.js";
import { current, fail, listing, loaded, loading, mode, outlineShown, problem } from "viewer/store.js";
import { theme } from "viewer/theme.js";

/** Catches what a malformed document does to a component, so that the page says something. */
export class App extends Component {
  /** @param {Error} error */
  componentDidCatch(error) {
    console.warn(error);
    fail(`A part of this document cannot be shown (${error.message}); record it again: python -m trace lecture.main`);
  }

  /** @returns {any} */
  render() {
    if (problem.value) return html`<${Problem} />`;
    if (loading.value) return html`<p class="notice-inline" role="status">Loading…</p>`;
    return loaded.value ? html`<${Page} key=${loaded.value.name} />` : html`<${Home} />`;
  }
}

/** A sentence instead of a document. */
function Problem() {
  return html`<main class="notice-page" role="alert"><p>${problem.value}</p>${listing.value.length > 0 && html`<${Documents} />`}</main>`;
}

/** A document. */
function Page() {
  const wide = outlineShown.value && current().sections.length > 1;
  return html`<a class="skip" href="#article" onClick=${skip}>Skip to the lecture</a>
    <${Bar} />
    <div class=${`page mode-${mode.value} ${wide ? "with-outline" : ""}`}>
      ${wide && html`<div class="sidebar"><${Outline} /></div>`}
      <div class="content">${mode.value === "read" ? html`<${Failure} /><${Read} />` : html`<${Step} />`}</div>
    </div>
    <${Panel} />`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.querySelector("main")?.focus();
}

/** Name, modes and panels. */
function Bar() {
  const { document, model } = current();
  const { held } = document.claims;
  const failed = held.filter((outcome) => outcome !== true).length;
  const claims = new Set(document.claims.statement).size;
  return html`<header class="bar">
    <${CommandButton} id="outline" class="icon" />
    <a class="bar-title" href="#" title="All lectures">${titleOf(model)}</a>
    <span class="bar-spacer"></span>
    <${CommandButton} id="mode" class="modes"><span class=${mode.value === "read" ? "on" : ""}>Read</span><span class=${mode.value === "step" ? "on" : ""}>Step</span></${CommandButton}>
    <${CommandButton} id="claims" class=${failed ? "failed" : "held"}>${failed ? `✗ ${integer(failed)}` : `✓ ${integer(claims)}`}<span class="wide-only"> ${failed ? "failed" : "claims"}</span></${CommandButton}>
    <${CommandButton} id="search" class="icon" />
    <${CommandButton} id="theme" class="icon"><${Icon} name=${theme.value} /></${CommandButton}>
    <${CommandButton} id="help" class="icon wide-only" />
  </header>`;
}

/** Several documents to choose from. */
function Home() {
  return html`<main class="home"><h1>Lectures</h1><${Documents} /></main>`;
}

/** The list of documents. */
function Documents() {
  return html`<ul class="documents">${listing.value.map(({ file, title, module, steps, claims, failed }) => html`<li><a href=${writeHash({ doc: file.replace(/\.json$/, ""), mode: "read", at: "" })}>
    <span class="document-title">${plainTitle(title)}</span>
    <span class="document-facts">${module} · ${counted(steps, "step")} · ${failed ? "✗ failed" : `✓ ${counted(claims, "claim")}`}</span></a></li>`)}</ul>`;
}
