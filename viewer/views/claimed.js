// How many claims a section has, and a way to their list.

import { counted } from "viewer/model/format.js";
import { claimsWithin } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { claimsOf, current, dialog } from "viewer/state/state.js";

/**
 * A section's claims, and a way to their list.
 * @param {{section: Pick<Section, "activation" | "first" | "beyond">}} properties
 */
export function ClaimCount({ section }) {
  const { model, sections } = current();
  const { claims, failed } = claimsWithin(model, section);
  const open = () => {
    const { order } = sections.find(({ activation }) => activation === section.activation) ?? {};
    claimsOf.value = `section ${order}`;
    dialog.value = "claims";
  };
  return (
    claims > 0 &&
    html`<button
      class=${`quiet-link ${failed ? "wrong" : ""}`}
      title="List the claims of this section"
      onClick=${open}
    >
      ${failed ? `✗ ${counted(failed, "failure")}` : `✓ ${counted(claims, "claim")}`}
    </button>`
  );
}
