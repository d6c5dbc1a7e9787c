// Vega-Lite charts. The libraries are fetched when the first chart comes near; no chart fetches
// anything itself.

import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { SERIES } from "viewer/parts/series.js";
import { printing } from "viewer/state/state.js";
import { colourOf, colours } from "viewer/state/theme.js";

/** Pixels in the letter of a page for which charts are drawn, as pictures are. On larger screens
 * all of a chart is larger: its plot and its marks as well as its letters. */
const LETTER = 16;

/** What else has a size, in pixels. */
const MAX_WIDTH = 640;
const LABEL = 12;
const TITLE = 13;
const HEADING = 15;
const MARK = 11;

/** How wide a label may be. */
const WIDEST = 192;

/** Between two labels of an axis at least. */
const APART = 8;

/** What an entry of a legend takes beside its letters, and one of those about. */
const KEY = 28;
const KEY_LETTER = 6.5;

/** How many pixels of the page one is that is drawn. */
function unit() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / LETTER;
}

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

/** The letters of charts. */
function sans() {
  return getComputedStyle(document.body).getPropertyValue("--sans").trim();
}

/** Colours and letters of the page. @returns {Record<string, any>} */
function look() {
  const [text, quiet, line] = ["var(--text)", "var(--quiet)", "var(--line)"].map(colourOf);
  const axis = {
    labelColor: quiet,
    titleColor: text,
    gridColor: line,
    domainColor: line,
    tickColor: line,
    titleFontWeight: "normal",
  };
  const limit = { labelLimit: WIDEST };
  const apart = { labelSeparation: APART };
  const number = { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["$", ""] };
  return {
    background: null,
    font: sans(),
    locale: { number },
    view: { stroke: null },
    axis: { ...axis, ...limit, ...apart, labelFontSize: LABEL, titleFontSize: TITLE },
    legend: {
      ...limit,
      labelColor: quiet,
      titleColor: text,
      labelFontSize: LABEL,
      titleFontSize: TITLE,
      titleFontWeight: "normal",
    },
    header: { labelColor: quiet, titleColor: text },
    title: {
      color: text,
      subtitleColor: quiet,
      fontSize: HEADING,
      fontWeight: "normal",
      anchor: "start",
    },
    mark: { color: colourOf(SERIES[0]), tooltip: true },
    text: { color: text, fontSize: MARK },
    rule: { color: quiet },
    range: { category: SERIES.map(colourOf) },
  };
}

/**
 * Fit a single view to the page; composed views keep the sizes that they have.
 * @param {any} spec
 * @param {number} width
 * @param {boolean} bare without its title
 */
function fitted({ title, ...spec }, width, bare) {
  const isSingle = "mark" in spec || "layer" in spec;
  const room = isSingle
    ? { width: "container", autosize: { type: "fit-x", contains: "padding" } }
    : {};
  const heading = bare || title === undefined ? {} : { title };
  return { ...heading, ...spec, background: null, ...room, ...(isSingle ? { width } : {}) };
}

/** How the exponents of powers are written. @type {[string, string][]} */
const RAISED = [..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((raised, digit) => [String(digit), raised]);

/**
 * A label, or the power of ten as text has it in place of 1e+10: an expression of Vega.
 * @param {string} label an expression
 */
function withPower(label) {
  const power = RAISED.reduce(
    (text, [digit, raised]) => `replace(${text}, regexp('${digit}', 'g'), '${raised}')`,
    `replace(replace(${label}, /^1e[+]?/, ''), /[-−]/, '⁻')`,
  );
  return `test(/^1e/, ${label}) ? '10' + ${power} : ${label}`;
}

/** Vega groups the digits of every number from 1000 on, the page those from five digits on. */
const FOUR_DIGITS = /^([-−]?\d)\u202f(\d{3})(?![\d\u202f])/;

/** Powers of ten at the axes of a compiled chart, or of a part of one. @param {any} group */
function writePowers({ axes = [], marks = [] }) {
  for (const axis of axes) {
    if (axis.labels === false) continue;
    const { labels } = axis.encode ?? {};
    const { signal = "datum.label" } = labels?.update?.text ?? {};
    const text = `replace((${signal}), ${FOUR_DIGITS}, '$1$2')`;
    const update = { ...labels?.update, text: { signal: withPower(text) } };
    axis.encode = { ...axis.encode, labels: { ...labels, update } };
  }
  for (const mark of marks) writePowers(mark);
}

/** A title that is longer than its axis is high stands on two lines. @param {any} compiled */
function breakTitles({ axes = [], height }) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return;
  pen.font = `${TITLE}px ${sans()}`;
  for (const axis of axes) {
    const isUpright = axis.orient === "left" || axis.orient === "right";
    if (!isUpright || typeof axis.title !== "string") continue;
    if (pen.measureText(axis.title).width > height) axis.title = halves(axis.title);
  }
}

/** Words on two lines of about the same length. @param {string} text @returns {string[]} */
function halves(text) {
  const uneven = (/** @type {number} */ at) => Math.abs(text.length - 2 * at);
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
  const [at = text.length] = spaces.sort((one, other) => uneven(one) - uneven(other));
  return [text.slice(0, at), text.slice(at + 1)];
}

/** A legend below a plot has one line where that is wide enough. @param {any} compiled */
function widenLegends({ legends = [] }) {
  for (const legend of legends) {
    if (legend.orient !== "bottom" || typeof legend.columns !== "number") continue;
    const names = `domain('${legend.fill ?? legend.stroke ?? legend.shape}')`;
    const taken = `${KEY_LETTER} * length(join(${names}, '')) + ${KEY} * length(${names})`;
    const signal = `${taken} < width ? length(${names}) : ${legend.columns}`;
    legend.columns = { signal };
  }
}

/** What is said of a mark that one points at. */
const tip = Object.assign(document.createElement("div"), {
  className: "name-tip",
  role: "tooltip",
});

/**
 * @param {any} _
 * @param {MouseEvent} event
 * @param {any} __
 * @param {unknown} value the encoded fields, or a text; nothing where one points at no mark
 */
function showTip(_, event, __, value) {
  if (value === undefined || value === null || value === "") return tip.remove();
  tip.textContent =
    typeof value === "object"
      ? Object.entries(value)
          .map(([name, text]) => `${name}: ${String(text).replace(FOUR_DIGITS, "$1$2")}`)
          .join(" · ")
      : String(value);
  document.body.append(tip);
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 12, innerWidth - width - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, event.clientY - height - 12)}px`;
}

/** Let the page paint before the next piece of work; a browser that prints waits for no timer. */
async function breath() {
  if (!printing.value) await new Promise((resolve) => setTimeout(resolve));
}

/**
 * @param {HTMLElement} place
 * @param {any} spec
 * @param {number} room in pixels
 * @param {boolean} bare without its title
 * @returns {Promise<{finalize: () => void}>}
 */
async function draw(place, spec, room, bare) {
  const { vega, vegaLite, expressionInterpreter } = await loadLibraries();
  const width = Math.min(MAX_WIDTH, room / unit() || MAX_WIDTH);
  const logger = vega.logger(vega.None);
  const { config, ...rest } = fitted(spec, width, bare);
  const compiled = vegaLite.compile(rest, {
    config: vega.mergeConfig({}, config ?? {}, look()),
    logger,
  }).spec;
  writePowers(compiled);
  breakTitles(compiled);
  widenLegends(compiled);
  compiled.description = insideOf(spec);
  await breath();
  const runtime = vega.parse(compiled, null, { ast: true });
  const view = new vega.View(runtime, {
    renderer: "svg",
    loader: refusingLoader,
    expr: expressionInterpreter,
    tooltip: showTip,
    logger,
  });
  await breath();
  view.initialize(place).hover();
  await view.runAsync();
  place.querySelector(".vega-bindings:empty")?.remove();
  const svg = /** @type {SVGSVGElement} */ (place.querySelector("svg"));
  svg.style.width = `${svg.width.baseVal.value / LETTER}rem`;
  return view;
}

/** @param {any} spec @param {string} name */
function description(spec, name) {
  const title = typeof spec.title === "string" ? spec.title : (spec.title?.text ?? "");
  return String(spec.description ?? (title || `chart ${name}`));
}

/** What a chart is made of: its marks, and what its axes show. @param {any} spec */
function insideOf({ description: said, mark, encoding, layer = [] }) {
  if (said) return said;
  const parts = [{ mark, encoding }, ...layer].filter((part) => part.mark);
  const kinds = new Set(
    parts.flatMap(({ mark: own }) => [own.type ?? own, ...(own.point ? ["points"] : [])]),
  );
  const axes = ["x", "y"].map((axis) => {
    const shown = parts.map((part) => part.encoding?.[axis] ?? encoding?.[axis]).find(Boolean);
    return `${axis}: ${shown?.title ?? shown?.field ?? "nothing"}`;
  });
  return parts.length ? [[...kinds].join(", "), ...axes].join("; ") : "several charts";
}

/**
 * @param {{spec: any, name: string, height: string, bare?: boolean}} properties bare: its title
 *   stands elsewhere
 */
export function Chart({ spec, name, height, bare = false }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [problem, setProblem] = useState("");
  const shade = colours.value;
  useEffect(() => {
    /** @type {{finalize: () => void} | null} */
    let view = null;
    let gone = false;
    const start = (/** @type {number} */ room) => {
      if (gone || !place.current) return;
      draw(place.current, spec, room, bare).then(
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
    // What stands on a later page of a slide is there when that comes, and the speaker sees it.
    const slide = place.current?.closest(".slide-body");
    if (printing.value || slide) start(place.current?.clientWidth || (slide?.clientWidth ?? 0));
    else if (place.current) watcher.observe(place.current);
    return () => {
      gone = true;
      watcher.disconnect();
      view?.finalize();
      tip.remove();
    };
  }, [spec, shade, printing.value]);
  return html`<figure class="picture chart" aria-label=${description(spec, name)}>
    <div ref=${place} class="chart-place" style=${{ minHeight: height }}></div>
    ${
      problem && html`<figcaption class="wrong">This chart cannot be drawn: ${problem}</figcaption>`
    }
  </figure>`;
}
