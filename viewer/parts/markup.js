// Tables and text that a value shows of itself, sanitised: they run nothing and fetch nothing, and
// what is wide scrolls in its place. Fetched when there is one.

import "dompurify";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { fitToWidth, isolated } from "viewer/parts/picture.js";
import { styled } from "viewer/parts/styles.js";

const PROPERTIES = new Set(
  "background background-color background-image color font-style font-weight text-align".split(" "),
).add("text-decoration-line");
const MEDIA = /^data:(image\/(png|jpeg|gif|webp)|audio\/[\w.+-]+|video\/[\w.+-]+);base64,/i;
const FORBIDDEN = "style script form button select textarea input link meta base".split(" ");
/** How bright a background is from which on text on it is black. */
const BRIGHT = 0.45;

/** @param {string} source @returns {DocumentFragment} */
function renderMarkup(source) {
  const fragment = DOMPurify.sanitize(source, {
    USE_PROFILES: { html: true, svg: true, svgFilters: true },
    FORBID_TAGS: [...FORBIDDEN, "foreignobject", "animate", "set"],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const element of fragment.querySelectorAll("*"))
    if (!(element instanceof SVGElement)) tame(/** @type {HTMLElement} */ (element));
  for (const svg of fragment.querySelectorAll("svg")) {
    if (svg.parentElement?.closest("svg")) continue;
    isolated(svg);
    fitToWidth(svg);
  }
  return fragment;
}

/** Leave an element what it shows. @param {HTMLElement} element */
function tame(element) {
  for (const name of ["id", "class", "name", "srcset", "poster", "background", "tabindex"])
    element.removeAttribute(name);
  for (const property of [...element.style])
    if (
      !PROPERTIES.has(property) ||
      /url|image-set/i.test(element.style.getPropertyValue(property))
    )
      element.style.removeProperty(property);
  if (!element.style.length) element.removeAttribute("style");
  const source = element.getAttribute("src");
  if (source !== null && !MEDIA.test(source)) element.removeAttribute("src");
  if (element instanceof HTMLMediaElement) element.controls = true;
  if (element instanceof HTMLAnchorElement) secure(element);
}

/** @param {HTMLAnchorElement} link */
function secure(link) {
  const address = link.getAttribute("href") ?? "";
  if (/^https?:\/\//i.test(address)) link.target = "_blank";
  else if (!/^(mailto:|#)/i.test(address)) link.removeAttribute("href");
  link.rel = "noopener noreferrer";
}

/** Black or white text on cells that have a colour of their own. @param {HTMLElement} place */
function contrast(place) {
  const cells = /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[style]"));
  for (const cell of cells) {
    const { backgroundColor } = cell.style;
    if (!backgroundColor || cell.style.color) continue;
    const [red, green, blue] = (getComputedStyle(cell).backgroundColor.match(/[\d.]+/g) ?? []).map(
      Number,
    );
    const brightness = (0.21 * red + 0.72 * green + 0.07 * blue) / 255;
    cell.style.color = brightness > BRIGHT ? "#111" : "#f6f6f6";
  }
}

/** @param {{source: string, name: string}} properties */
export function Markup({ source, name }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    styled("data.css");
    if (!place.current) return;
    place.current.replaceChildren(renderMarkup(source));
    contrast(place.current);
  }, [source]);
  return html`<figure class="picture data" aria-label=${name}>
    <div
      class="data-scroll"
      tabindex="0"
      role="group"
      aria-label=${`${name}, scrolls`}
      ref=${place}
    ></div>
  </figure>`;
}
