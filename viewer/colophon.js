// The end of an article. Fetched when all before it is laid out.

import { counted } from "viewer/format.js";
import { html } from "viewer/html.js";
import { current } from "viewer/store.js";
import { addStyles } from "viewer/styles.js";

addStyles(`
.colophon { max-width: var(--measure); margin-top: 5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: 0.84rem; }
`);

/** What the run depended on and what it did not count. */
export function Colophon() {
  const { document, times } = current();
  const { environment, uncounted, warnings } = document;
  const run = Object.entries(environment)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
    .join(", ");
  const missing = Object.entries(uncounted).map(
    ([name, count]) => `${name} (${counted(count, "time")})`,
  );
  return html`<footer class="colophon">
    <p>The values, claims and costs on this page come from one run of <code>${document.module}</code>: ${run}.${times && ` Times were measured in another run, on ${times.device}.`}</p>
    ${missing.length > 0 && html`<details><summary>${counted(missing.length, "operator")} ran without a formula for some cost, so that part is not counted</summary><p>${missing.join(", ")}.</p></details>`}
    ${
      warnings.length > 0 &&
      html`<details><summary>${counted(warnings.length, "warning")} for the author</summary>
      <ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul></details>`
    }
  </footer>`;
}
