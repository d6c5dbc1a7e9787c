// The component around rendered Markdown.

import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "viewer/html.js";
import { renderMarkdown } from "viewer/prose.js";
import { loaded } from "viewer/store.js";

/** @param {{text: string, heading?: number}} properties heading: the highest level that headings in it take */
export function Prose({ text, heading = 4 }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    place.current?.replaceChildren(renderMarkdown(text, loaded.value?.document.assets, heading));
  }, [text, heading]);
  return html`<div class="prose" ref=${place}></div>`;
}
