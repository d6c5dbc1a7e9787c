// The page where no document is shown: the list of documents, or a sentence that says why there is
// none.

import { useLayoutEffect } from "preact/hooks";
import { counted } from "viewer/model/format.js";
import { writeHash } from "viewer/model/places.js";
import { plainTitle } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { addressOf, linksOf } from "viewer/state/branding.js";
import { course, listing, problem } from "viewer/state/state.js";
import { OwnFile } from "viewer/views/own_file.js";

await styled("later.css");

/** Several documents to choose from. */
export function Home() {
  useLayoutEffect(() => document.getElementById("first")?.remove(), []);
  const { author, date, licence } = course.value;
  const byline = [author, date, licence].filter(Boolean).join(" · ");
  const logo = addressOf(course.value.logo);
  const links = linksOf(course.value);
  return html`<main class="home">
    ${logo && html`<img class="logo" src=${logo} alt="" />`}
    <h1>${course.value.title ?? "Lectures"}</h1>
    ${byline && html`<p class="byline">${byline}</p>`}
    ${
      links.length > 0 &&
      html`<p class="course-links">
        ${links.map(
          (/** @type {any} */ { title, address }) =>
            html`<a href=${address} target="_blank" rel="noopener noreferrer">${title}</a>`,
        )}
      </p>`
    }
    <${Documents} />
    <${OwnFile} />
  </main>`;
}

/** The lists of documents, one for each group. */
function Documents() {
  const groups = new Set(listing.value.map(({ group }) => group));
  return [...groups].map(
    (group) =>
      html`<section key=${group}>
        ${group && html`<h2>${group}</h2>`}
        <${Group} documents=${listing.value.filter((one) => one.group === group)} />
      </section>`,
  );
}

/** @param {{documents: Listed[]}} props */
function Group({ documents }) {
  return html`<ul class="documents">
    ${documents.map(
      ({ file, title, module, steps, claims, failed }) =>
        html`<li>
          <a href=${writeHash({ doc: file.replace(/\.json$/, ""), mode: "read", at: "" })}>
            <span class="document-title">${plainTitle(title)}</span>
            <span class="document-facts">
              ${module} · ${counted(steps, "step")} ·${" "}
              ${failed ? "✗ failed" : `✓ ${counted(claims, "claim")}`}
            </span>
          </a>
        </li>`,
    )}
  </ul>`;
}

/** A sentence instead of a document. */
export function Problem() {
  return html`<main class="notice-page">
    <h1 class="visually-hidden">No lecture is shown</h1>
    <div role="alert">
      <p>${problem.value}</p>
    </div>
    ${listing.value.length > 0 && html`<${Documents} />`}
    <${OwnFile} />
  </main>`;
}
