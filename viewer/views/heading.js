// What stands beside and below a section's title.

import { functionOf, stepRange } from "viewer/model/run.js";
import { writtenCall } from "viewer/model/sections.js";
import { breakable, html } from "viewer/parts/html.js";
import { Cost, Topics } from "viewer/parts/notes.js";
import { addressOfPlace, goTo } from "viewer/state/address.js";
import { current, density, printing } from "viewer/state/state.js";
import { ClaimCount } from "viewer/views/claimed.js";

/** What stands below a section's title. @param {{activation: number, depth: number}} properties */
export function Meta({ activation, depth }) {
  const { model } = current();
  const func = functionOf(model, activation);
  const [first, beyond] = stepRange(model, activation);
  const isFull = density.value === "everything" || printing.value;
  return html`<div class="section-meta">
    ${isFull && html`<${Topics} marks=${func.marks} />`}
    ${
      depth > 0 &&
      html`<button
        class="quiet-link"
        title="Step through this section"
        onClick=${() => goTo(first, { jump: true, to: "step" })}
      >
        ▸ ${breakable(writtenCall(model, activation) || `${func.name}()`)}
      </button>`
    }
    ${
      depth > 0 &&
      html`
        <${ClaimCount} section=${{ activation, first, beyond }} />
        ${isFull && html`<${Cost} first=${first} beyond=${beyond} />`}
      `
    }
  </div>`;
}

/**
 * A link beside a heading, to be copied.
 * @param {{name: string, first: number}} properties
 */
export function Anchor({ name, first }) {
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    goTo(first, { jump: true });
  };
  return html`<a
    class="anchor"
    href=${addressOfPlace({ mode: "read", at: name })}
    aria-label=${`Link to ${name}`}
    title="Link to this section"
    onClick=${go}
  >
    §
  </a>`;
}
