// The elements of a tensor lead where its name does: into the inspector. Loaded for what it does.

import { presenting } from "viewer/state/state.js";

addEventListener("click", ({ target }) => {
  if (presenting.value || !(target instanceof Element) || !target.closest(".grid")) return;
  const tensor = target.closest(".tensor");
  /** @type {HTMLElement | null | undefined} */ (tensor?.querySelector(".inspect"))?.click();
});
