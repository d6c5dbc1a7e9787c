// Markdown, maths and pictures of a document, sanitised: they run nothing and fetch nothing. Maths
// is taken out first and laid out last, so nothing escapes it twice.

import "dompurify";
import "katex";
import { Marked } from "marked";
import { useLayoutEffect, useRef } from "preact/hooks";
import { nameAnchors, player, setCallouts } from "viewer/parts/asides.js";
import { html } from "viewer/parts/html.js";
import { loaded } from "viewer/state/state.js";

const ALLOWED_TAGS = [
  ..."a abbr b blockquote br code del details div em figcaption figure font".split(" "),
  ..."h1 h2 h3 h4 h5 h6 hr i img input kbd li mark ol p pre s small span".split(" "),
  ..."strong sub summary sup".split(" "),
  ..."table tbody td tfoot th thead tr u ul var".split(" "),
];
const ALLOWED_ATTRIBUTES = [
  ..."align alt checked class color colspan data-code data-maths disabled height".split(" "),
  ..."href id".split(" "),
  ..."rowspan src start title type width".split(" "),
];
const PYTHON = /^(py|python3?|ipython)\b/i;
const IMAGE_TYPES = "png jpeg gif webp svg+xml bmp".split(" ").map((kind) => `image/${kind}`);

/** Handlers and styles: the sanitiser drops them, but browsers complain when they see them. */
const HANDLER = /(?<=<[a-z][^<>]*)\son[a-z]+(?=\s*=\s*["'])/gi;
const STYLE = /<style\b[\s\S]*?(<\/style\s*>|$)/gi;

/** Between the digits of a number, or before its unit: lines do not break there. */
const WITHIN_NUMBER =
  /(\d) (?=\d{3}\b|(?:[kKMGTPE]i?)?(?:B|bytes?|bits?|FLOPs?|Hz|W)\b|(?:[mnµ]?s|%)(?!\w))/g;

/** Formulas of the text that is being rendered. @type {Formula[]} */
let formulas = [];
/** Code of the text that is being rendered. @type {Fence[]} */
let fences = [];
let highestHeading = 1;

/**
 * @param {string} name
 * @param {"block" | "inline"} level
 * @param {RegExp} rule
 * @param {boolean} display
 * @returns {import("marked").TokenizerAndRendererExtension}
 */
function maths(name, level, rule, display) {
  return {
    name,
    level,
    start: (source) => source.search(level === "block" ? /^\$\$/m : /\$/),
    tokenizer(source) {
      const match = rule.exec(source);
      return match ? { type: name, raw: match[0], tex: match[1].trim() } : undefined;
    },
    renderer(token) {
      return `<span data-maths="${formulas.push({ tex: token.tex, display }) - 1}"></span>`;
    },
  };
}

const markdown = new Marked({
  gfm: true,
  extensions: [
    maths("mathsBlock", "block", /^\$\$((?:(?!\$\$)[\s\S])+)\$\$[ \t]*(?:\n+|$)/, true),
    maths("mathsDisplay", "inline", /^\$\$([\s\S]+?)\$\$/, true),
    maths("mathsInline", "inline", /^\$(?![\s$])((?:\\[\s\S]|[^\\$])+?)(?<!\s)\$(?!\d)/, false),
  ],
  renderer: {
    code: ({ text, lang }) =>
      `<pre data-code="${fences.push({ code: text, language: lang ?? "" }) - 1}"></pre>`,
  },
  walkTokens(token) {
    if (token.type === "heading") token.depth = Math.max(highestHeading, token.depth);
    if (token.type === "text") token.text = token.text.replace(WITHIN_NUMBER, "$1\u00a0");
  },
});

/**
 * @param {string} text Markdown
 * @param {Record<string, Asset>} [assets] images by the path that the text
 *   uses
 * @param {number} [heading] the highest level of a heading
 * @returns {DocumentFragment}
 */
function renderMarkdown(text, assets = {}, heading = 4) {
  formulas = [];
  fences = [];
  highestHeading = heading;
  const html = /** @type {string} */ (markdown.parse(text, { async: false }));
  const found = formulas;
  const harmless = html.replace(HANDLER, " data-on").replace(STYLE, "");
  const fragment = DOMPurify.sanitize(harmless, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ALLOWED_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const image of fragment.querySelectorAll("img")) resolveImage(image, assets);
  nameAnchors(fragment);
  setCallouts(fragment);
  for (const place of fragment.querySelectorAll("pre[data-code]")) setFence(place);
  for (const link of fragment.querySelectorAll("a")) secureLink(link);
  for (const box of fragment.querySelectorAll("input"))
    if (box.type === "checkbox") box.disabled = true;
    else box.remove();
  for (const place of fragment.querySelectorAll("[data-maths]")) layOut(place, found);
  return fragment;
}

/**
 * @param {HTMLImageElement} image
 * @param {Record<string, Asset>} assets
 */
function resolveImage(image, assets) {
  const source = image.getAttribute("src") ?? "";
  const name = [source, unescaped(source)].find((name) => Object.hasOwn(assets, name));
  const asset = name === undefined ? null : assets[name];
  if (asset && /^(audio|video)\//.test(asset.mime))
    image.replaceWith(player(asset.mime, addressOf(asset), image.alt));
  else if (asset && IMAGE_TYPES.includes(asset.mime)) image.setAttribute("src", addressOf(asset));
  else if (asset || !isRelative(source))
    image.replaceWith(image.alt || "(an image that is not part of this document)");
}

/** Where the content of a file lies. @param {Asset} asset */
export function addressOf({ mime, base64, file }) {
  return file ? `traces/${loaded.value?.name}.files/${file}` : `data:${mime};base64,${base64}`;
}

/**
 * An address as the text has it: `größe.svg` reaches the page as `gr%C3%B6%C3%9Fe.svg`.
 * @param {string} address
 */
function unescaped(address) {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

/** @param {string} address */
function isRelative(address) {
  const { origin, protocol } = new URL(address, location.href);
  return (
    origin === location.origin &&
    protocol === location.protocol &&
    !/^[a-z][a-z+.-]*:|^[\\/]{2}/i.test(address)
  );
}

/** @param {HTMLAnchorElement} link */
function secureLink(link) {
  const address = link.getAttribute("href") ?? "";
  if (/^https?:\/\//i.test(address)) link.target = "_blank";
  else if (!isRelative(address) && !/^mailto:/i.test(address)) link.removeAttribute("href");
  link.rel = "noopener noreferrer";
}

/** What colours code, once a text has some. @type {((place: Element) => void) | null} */
let colour = null;

/** Show code between fences; that of Python has its colours. @param {Element} place */
function setFence(place) {
  const fence = fences[Number(place.getAttribute("data-code"))];
  if (!fence) return place.remove();
  place.removeAttribute("data-code");
  const code = document.createElement("code");
  code.textContent = fence.code;
  place.replaceChildren(code);
  if (!PYTHON.test(fence.language)) return;
  if (colour) return colour(code);
  import("viewer/parts/fences.js").then((known) => ({ colour } = known).colour(code));
}

/** @param {Element} place @param {Formula[]} found */
function layOut(place, found) {
  const formula = found[Number(place.getAttribute("data-maths"))];
  if (!formula) return place.remove();
  katex.render(formula.tex, /** @type {HTMLElement} */ (place), {
    displayMode: formula.display,
    throwOnError: false,
    trust: false,
    strict: false,
    maxExpand: 1000,
  });
  if (!formula.display) keepTogether(place, formula.tex);
}

/** Formulas that are as short as a word are broken as little. */
const SHORT = 24;

/** No line begins with what ends a sentence, and short formulas stand on one.
 * @param {Element} place @param {string} tex */
function keepTogether(place, tex) {
  if (tex.length <= SHORT) return place.classList.add("unbroken");
  const last = place.querySelector(".katex-html > .base:last-child");
  if (!last) return;
  const end = document.createElement("span");
  end.className = "unbroken";
  last.replaceWith(end);
  end.append(last);
}

/**
 * @param {{text: string, heading?: number, unrun?: boolean}} properties heading: the highest level
 *   that headings in it take
 */
export function Prose({ text, heading = 4, unrun = false }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    place.current?.replaceChildren(renderMarkdown(text, loaded.value?.document.assets, heading));
  }, [text, heading]);
  return html`<div
    class=${unrun ? "prose unrun" : "prose"}
    title=${unrun ? "The code of this text did not run" : null}
    ref=${place}
  ></div>`;
}
