// The page where no document is shown: the list of documents, or a sentence that says why there is none.

import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { writeHash } from "viewer/navigate.js";
import { plainTitle } from "viewer/read.js";
import { listing, problem } from "viewer/store.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
.home { max-width: 44rem; margin: 10vh auto; padding: 0 1.5rem; font-family: var(--serif); }
.documents { list-style: none; padding: 0; }
.documents a { display: block; padding: 1rem 0; border-top: 1px solid var(--line); text-decoration: none; color: inherit; }
.documents a:hover .document-title { color: var(--accent); }
.document-title { display: block; font: 600 1.25rem var(--serif); }
.document-facts { color: var(--quiet); font: 0.875rem var(--sans); }
`);

/** Several documents to choose from. */
export function Home() {
  return html`<main class="home"><h1>Lectures</h1><${Documents} /></main>`;
}

/** The list of documents. */
function Documents() {
  return html`<ul class="documents">${listing.value.map(
    ({
      file,
      title,
      module,
      steps,
      claims,
      failed,
    }) => html`<li><a href=${writeHash({ doc: file.replace(/\.json$/, ""), mode: "read", at: "" })}>
    <span class="document-title">${plainTitle(title)}</span>
    <span class="document-facts">${module} · ${counted(steps, "step")} · ${failed ? "✗ failed" : `✓ ${counted(claims, "claim")}`}</span></a></li>`,
  )}</ul>`;
}

/** A sentence instead of a document. */
export function Problem() {
  return html`<main class="notice-page"><h1 class="visually-hidden">No lecture is shown</h1><div role="alert"><p>${problem.value}</p></div>${listing.value.length > 0 && html`<${Documents} />`}</main>`;
}
