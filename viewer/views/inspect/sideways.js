// A table that may be wider than its place: as long as it goes on at the right, its edge fades.

import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";

/** Say whether more is to come at the right. @param {HTMLElement} place */
function mark(place) {
  const { scrollLeft, clientWidth, scrollWidth } = place;
  place.toggleAttribute("data-more", scrollLeft + clientWidth < scrollWidth - 1);
}

/** @param {{what: string, class?: string, children?: any}} properties what: it is, for a reader who
 *   hears it */
export function Sideways({ what, class: name = "", children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (place.current);
    const watcher = new ResizeObserver(() => mark(element));
    for (const sized of [element, ...element.children]) watcher.observe(sized);
    return () => watcher.disconnect();
  }, []);
  return html`<div
    class=${`inspect-scroll ${name}`}
    ref=${place}
    tabindex="0"
    role="region"
    aria-label=${what}
    onScroll=${(/** @type {any} */ event) => mark(event.currentTarget)}
  >
    ${children}
  </div>`;
}
