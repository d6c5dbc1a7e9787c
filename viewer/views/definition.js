// The definition of a name, beside the text. Fetched when one is opened.

import { useLayoutEffect, useRef } from "preact/hooks";
import { withTokens } from "viewer/model/colours.js";
import { shortPaths } from "viewer/model/places.js";
import { html } from "viewer/parts/html.js";
import { codeLine } from "viewer/parts/sourceline.js";
import { styled } from "viewer/parts/styles.js";
import { mark } from "viewer/state/article.js";
import { current, definitions, openDefinition } from "viewer/state/state.js";

await styled("definition.css");

/** Where it stands, and the ways away. @param {{definition: FoundName}} properties */
function Head({ definition: { file, line, kind } }) {
  const { files } = current().document;
  const path = shortPaths(files.map((one) => one.path))[file];
  const last = files[file].source.split("\n").length;
  const whole = () => openDefinition({ file, line: 1, last, kind: "file", text: "" });
  const back = () => (definitions.value = definitions.value.slice(0, -1));
  return html`<header class="definition-head">
    ${
      definitions.value.length > 1 &&
      html`<button class="command" title="The definition before" onClick=${back}>←</button>`
    }
    ${
      kind === "file"
        ? html`<code>${path}</code>`
        : html`<button class="definition-file" title="The whole file" onClick=${whole}>
          <code>${path}:${line}</code>
        </button>`
    }
    <button
      class="command definition-close"
      title="Close (Esc)"
      onClick=${() => (definitions.value = [])}
    >
      ✕
    </button>
  </header>`;
}

/** Pixels between the end of code and the panel. */
const AIR = 8;

/** Let the panel begin where the code beside it ends. @param {HTMLElement} panel */
function standBeside(panel) {
  const line = document.querySelector("#article .row-line");
  const { right = 0 } = line?.getBoundingClientRect() ?? {};
  if (right) panel.style.setProperty("--room", `${innerWidth - right - AIR}px`);
}

/** The definition that was opened last, with the way back to those before it. */
export function Definition() {
  const { files } = current().document;
  const definition = definitions.value[definitions.value.length - 1];
  const { file, line, last, at } = definition;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const fit = () => panel.current && standBeside(panel.current);
    fit();
    addEventListener("resize", fit);
    return () => removeEventListener("resize", fit);
  }, []);
  useLayoutEffect(() => {
    place.current?.scrollTo(0, 0);
    place.current?.focus({ preventScroll: true });
    const found = place.current?.querySelectorAll(".definition-line")[(at ?? 0) - line];
    if (!found) return;
    found.scrollIntoView({ block: "nearest", behavior: "instant" });
    mark(found);
  }, [definition]);
  const source = withTokens(files[file]);
  const lines = Array.from({ length: last - line + 1 }, (_, index) => line + index);
  return html`<aside class="definition-panel" aria-label="definition" ref=${panel}>
    <${Head} definition=${definition} />
    <div
      class="definition-body"
      ref=${place}
      tabindex="0"
      role="region"
      aria-label=${`source of ${files[file].path}`}
      data-file=${file}
    >
      <pre>
        ${lines.map(
          (number) =>
            html`<div class="definition-line">
              <span class="definition-number" aria-hidden="true">${number}</span>
              ${codeLine(source, number, false)}
            </div>`,
        )}
      </pre>
    </div>
  </aside>`;
}
