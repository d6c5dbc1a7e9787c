// Pictures of a document, sanitised: they run nothing and fetch nothing. Fetched when there is one.

import "dompurify";
import { useEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { IN_PLACE_OF } from "viewer/parts/series.js";

const REFERENCE = /url\(\s*['"]?(?!#)/i;
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/i;

/**
 * Style sheets go before the sanitiser parses them: the policy would complain about each on the
 * console.
 */
const STYLE = /<style\b[^>]*>[\s\S]*?<\/style\s*>/gi;
let drawn = 0;

/**
 * @param {string} source
 * @returns {SVGSVGElement | null} null when nothing to draw is left
 */
function renderSvg(source) {
  const picture = source.slice(Math.max(0, source.indexOf("<svg"))).replace(STYLE, "");
  const fragment = DOMPurify.sanitize(picture, {
    USE_PROFILES: { svg: true, svgFilters: true },
    ADD_TAGS: ["use"],
    FORBID_TAGS: ["style", "a", "foreignobject", "animate", "set"],
    RETURN_DOM_FRAGMENT: true,
  });
  const svg = fragment.querySelector("svg");
  if (!svg) return null;
  isolated(svg);
  fitToWidth(svg);
  asThePage(svg);
  return svg;
}

/** Pixels in the letter of a page for which pictures are drawn. */
const LETTER = 16;

/** Let a picture grow with the letters of the page, in the colours of its charts.
 * @param {SVGSVGElement} svg */
function asThePage(svg) {
  const width = Number(svg.getAttribute("width"));
  if (width > 0) svg.style.width = `${width / LETTER}rem`;
  /** @type {NodeListOf<SVGElement>} */
  const drawn = svg.querySelectorAll("[fill], [stroke]");
  for (const element of drawn)
    for (const name of /** @type {const} */ (["fill", "stroke"])) {
      const ours = IN_PLACE_OF[element.getAttribute(name) ?? ""];
      if (ours) element.style[name] = ours;
    }
}

/** @param {SVGSVGElement} svg */
export function isolated(svg) {
  const prefix = `picture-${++drawn}-`;
  for (const element of [svg, ...svg.querySelectorAll("*")]) isolate(element, prefix);
}

/** Keep references inside the picture, and its names apart from those of other pictures.
 * @param {Element} element @param {string} prefix */
function isolate(element, prefix) {
  for (const { name, value } of [...element.attributes]) {
    const isLink = name === "href" || name === "xlink:href" || name === "src";
    if (name === "id") element.setAttribute(name, prefix + value);
    else if (isLink && value.startsWith("#"))
      element.setAttribute(name, `#${prefix}${value.slice(1)}`);
    else if (isLink && !PICTURE.test(value)) element.removeAttribute(name);
    else if (REFERENCE.test(value) || /@import|expression\(/i.test(value))
      element.removeAttribute(name);
    else if (value.includes("url(#"))
      element.setAttribute(name, value.replaceAll("url(#", `url(#${prefix}`));
  }
}

/** Let a picture shrink on small screens. @param {SVGSVGElement} svg */
export function fitToWidth(svg) {
  const width = Number.parseFloat(svg.getAttribute("width") ?? "");
  const height = Number.parseFloat(svg.getAttribute("height") ?? "");
  if (!svg.hasAttribute("viewBox") && width > 0 && height > 0)
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (svg.hasAttribute("viewBox")) svg.removeAttribute("height");
  if (!svg.hasAttribute("role")) svg.setAttribute("role", "img");
}

/** What is written in a picture. @param {SVGSVGElement} svg */
function wordsOf(svg) {
  return [...svg.querySelectorAll("text")].map((text) => text.textContent?.trim()).join(" ");
}

/** Says what is written to who cannot see it. @param {string} text */
function described(text) {
  const description = document.createElementNS("http://www.w3.org/2000/svg", "desc");
  description.textContent = text;
  return description;
}

/** bare: its title stands elsewhere
 * @param {{source: string, name: string, bare?: boolean}} properties */
export function Svg({ source, name, bare }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const svg = renderSvg(source);
    if (svg && !svg.hasAttribute("aria-label") && !svg.querySelector("title"))
      svg.setAttribute("aria-label", `picture ${name}`);
    const title = svg?.querySelector(":scope > title")?.textContent?.trim() ?? "";
    const drawn = svg ? wordsOf(svg) : "";
    if (drawn && !svg?.querySelector(":scope > desc")) svg?.append(described(drawn));
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    place.current?.replaceChildren(
      ...(title && !bare && !drawn.includes(title) ? [caption] : []),
      svg ?? "This picture cannot be shown.",
    );
  }, [source]);
  return html`<figure class="picture" ref=${place}></figure>`;
}
