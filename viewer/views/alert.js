// Why a lecture ended early, above its article and beside its last step.

import { html, later } from "viewer/parts/html.js";
import { current } from "viewer/state/state.js";

const Ended = later(async () => (await import("viewer/views/failure.js")).Failure);

/** The alert; none when the lecture ran to its end. */
export function Failure() {
  return current().document.failure && html`<${Ended} />`;
}
