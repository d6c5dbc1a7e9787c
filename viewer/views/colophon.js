// The end of an article. Fetched when all before it is laid out.

import { counted } from "viewer/model/format.js";
import { writeHash } from "viewer/model/places.js";
import { plainTitle } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { chooseMachine, machinesOf } from "viewer/state/library.js";
import { current, listing } from "viewer/state/state.js";

await styled("later.css");

/** Whose times are shown, where there are those of several machines. */
function Machines() {
  const { name, times } = current();
  const { labels, chosen } = machinesOf(name);
  if (!labels.length) return null;
  const choose = (/** @type {any} */ event) => chooseMachine(event.target.value);
  return html`<p>
    <label>
      Times of${" "}
      <select aria-label="machine" value=${chosen} onChange=${choose}>
        ${labels.map(
          (label) => html`<option value=${label}>${label || "the first machine"}</option>`,
        )}
      </select>
    </label>
    ${!times && " (They belong to other sources than this page.)"}
  </p>`;
}

/** The lectures before and after this one in the list of the site. */
function Neighbours() {
  const at = listing.value.findIndex(({ file }) => file === `${current().name}.json`);
  const [before, after] = at < 0 ? [] : [listing.value[at - 1], listing.value[at + 1]];
  if (!before && !after) return null;
  return html`<nav class="neighbours" aria-label="Other lectures">
    ${before && html`<a rel="prev" href=${hrefOf(before)}>← ${plainTitle(before.title)}</a>`}
    ${after && html`<a rel="next" href=${hrefOf(after)}>${plainTitle(after.title)} →</a>`}
  </nav>`;
}

/** @param {Listed} listed */
function hrefOf({ file }) {
  return writeHash({ doc: file.replace(/\.json$/, ""), mode: "read", at: "" });
}

/** What the run depended on and what it did not count. */
export function Colophon() {
  const { document, times } = current();
  const { environment, uncounted, warnings } = document;
  const isForeign = environment.recorded_by !== undefined;
  const run = Object.entries(environment)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
    .join(", ");
  const missing = Object.entries(uncounted).map(
    ([name, count]) => `${name} (${counted(count, "time")})`,
  );
  return html`<footer class="colophon">
    <${Neighbours} />
    <p>
      The values, claims and costs on this page come from one run of${" "}
      <code>${document.module}</code>: ${run}.
      ${isForeign && ` ${environment.recorded_by} records no claims, costs or variables.`}
      ${times && ` Times were measured in another run, on ${times.device}.`}
    </p>
    <${Machines} />
    ${
      missing.length > 0 &&
      html`<details>
        <summary>
          ${counted(missing.length, "operator")} ran without a formula for some cost, so that
          part is not counted
        </summary>
        <p>${missing.join(", ")}.</p>
      </details>`
    }
    ${
      warnings.length > 0 &&
      html`<details>
        <summary>${counted(warnings.length, "warning")} for the author</summary>
        <ul>
          ${warnings.map((warning) => html`<li>${warning}</li>`)}
        </ul>
      </details>`
    }
  </footer>`;
}
