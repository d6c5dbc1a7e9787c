// Vega-Lite charts. The libraries are fetched when the first chart comes near; no chart fetches
// anything itself.

import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { printing } from "viewer/state/state.js";
import { colourOf, colours } from "viewer/state/theme.js";

const MAX_WIDTH = 640;

const SERIES = [
  "light-dark(#1f5fa8, #7fb4f0)",
  "light-dark(#c2571a, #f0a06a)",
  "light-dark(#1c7a45, #63c58b)",
  "light-dark(#8a4fa3, #cf9fe3)",
  "light-dark(#a3392f, #ef8f86)",
  "light-dark(#6b6a1f, #cfcd74)",
];

/** @type {Promise<any> | null} */
let libraries = null;

/** @returns {Promise<{vega: any, vegaLite: any, expressionInterpreter: any}>} */
function loadLibraries() {
  libraries ??= (async () => {
    await import("vega");
    await import("vega-lite");
    const { expressionInterpreter } = await import("vega-interpreter");
    const { vega, vegaLite } = /** @type {any} */ (globalThis);
    return { vega, vegaLite, expressionInterpreter };
  })();
  return libraries;
}

/** Refuses every address: a document's chart has its data within. */
const refusingLoader = {
  options: {},
  load: refuse,
  sanitize: refuse,
  http: refuse,
  file: refuse,
};

/** @returns {Promise<never>} */
function refuse() {
  return Promise.reject(new Error("charts of a document may not load addresses"));
}

/** Colours and letters of the page. @returns {Record<string, any>} */
function look() {
  const [text, quiet, line] = ["var(--text)", "var(--quiet)", "var(--line)"].map(colourOf);
  const font = getComputedStyle(document.body).getPropertyValue("--sans").trim();
  const axis = {
    labelColor: quiet,
    titleColor: text,
    gridColor: line,
    domainColor: line,
    tickColor: line,
    titleFontWeight: "normal",
  };
  return {
    background: null,
    font,
    view: { stroke: null },
    axis: { ...axis, labelFontSize: 12, titleFontSize: 13 },
    legend: {
      labelColor: quiet,
      titleColor: text,
      labelFontSize: 12,
      titleFontSize: 13,
      titleFontWeight: "normal",
    },
    header: { labelColor: quiet, titleColor: text },
    title: {
      color: text,
      subtitleColor: quiet,
      fontSize: 15,
      fontWeight: "normal",
      anchor: "start",
    },
    mark: { color: colourOf(SERIES[0]) },
    text: { color: text },
    rule: { color: quiet },
    range: { category: SERIES.map(colourOf) },
  };
}

/**
 * Fit a single view to the page; composed views keep the sizes that they have.
 * @param {any} spec
 * @param {number} width
 */
function fitted(spec, width) {
  const isSingle = "mark" in spec || "layer" in spec;
  const room = isSingle
    ? { width: "container", autosize: { type: "fit-x", contains: "padding" } }
    : {};
  return { ...spec, background: null, ...room, ...(isSingle ? { width } : {}) };
}

/** Let the page paint before the next piece of work; a browser that prints waits for no timer. */
async function breath() {
  if (!printing.value) await new Promise((resolve) => setTimeout(resolve));
}

/**
 * @param {HTMLElement} place
 * @param {any} spec
 * @param {number} room in pixels
 * @returns {Promise<{finalize: () => void}>}
 */
async function draw(place, spec, room) {
  const { vega, vegaLite, expressionInterpreter } = await loadLibraries();
  const width = Math.min(MAX_WIDTH, room || MAX_WIDTH);
  const logger = vega.logger(vega.None);
  const { config, ...rest } = fitted(spec, width);
  const compiled = vegaLite.compile(rest, {
    config: vega.mergeConfig({}, config ?? {}, look()),
    logger,
  }).spec;
  await breath();
  const runtime = vega.parse(compiled, null, { ast: true });
  const view = new vega.View(runtime, {
    renderer: "svg",
    loader: refusingLoader,
    expr: expressionInterpreter,
    logger,
  });
  await breath();
  view.initialize(place).hover();
  await view.runAsync();
  place.querySelector(".vega-bindings:empty")?.remove();
  return view;
}

/** @param {any} spec @param {string} name */
function description(spec, name) {
  const title = typeof spec.title === "string" ? spec.title : (spec.title?.text ?? "");
  return String(spec.description ?? (title || `chart ${name}`));
}

/** @param {{spec: any, name: string, height: string}} properties */
export function Chart({ spec, name, height }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [problem, setProblem] = useState("");
  const shade = colours.value;
  useEffect(() => {
    /** @type {{finalize: () => void} | null} */
    let view = null;
    let gone = false;
    const start = (/** @type {number} */ room) => {
      if (gone || !place.current) return;
      draw(place.current, spec, room).then(
        (drawn) => (gone ? drawn.finalize() : (view = drawn)),
        (error) => setProblem(String(error?.message ?? error)),
      );
    };
    const watcher = new IntersectionObserver(
      (entries) => {
        const entry = entries.find(({ isIntersecting }) => isIntersecting);
        if (!entry) return;
        watcher.disconnect();
        // To measure it later would lay out a section that has left the screen.
        start(entry.boundingClientRect.width);
      },
      { rootMargin: "600px" },
    );
    if (printing.value) start(place.current?.clientWidth ?? 0);
    else if (place.current) watcher.observe(place.current);
    return () => {
      gone = true;
      watcher.disconnect();
      view?.finalize();
    };
  }, [spec, shade, printing.value]);
  return html`<figure class="picture chart" role="img" aria-label=${description(spec, name)}>
    <div ref=${place} class="chart-place" style=${{ minHeight: height }}></div>
    ${
      problem && html`<figcaption class="wrong">This chart cannot be drawn: ${problem}</figcaption>`
    }
  </figure>`;
}
