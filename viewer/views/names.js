// Names in code lead somewhere: what one points at is told, and a click opens its definition.
// Fetched once an article is shown.

import { effect } from "@preact/signals";
import { plainProse } from "viewer/model/excerpts.js";
import { chainAt, definitionNamed, placeOf, resolve } from "viewer/model/names.js";
import { valueText } from "viewer/model/values.js";
import { stateAt } from "viewer/model/variables.js";
import { current, loaded, openDefinition } from "viewer/state/state.js";
import { valueWithheld } from "viewer/state/withheld.js";

/** Milliseconds for which one points at a name before it is told. */
const REST = 250;

/** Letters of a value that is told. */
const MOST = 160;

const tip = document.createElement("div");
tip.className = "name-tip";
tip.setAttribute("role", "tooltip");

let rest = 0;

/** Where the pointer is in a text. @param {MouseEvent} event
 * @returns {{node: Node, offset: number} | null} */
function caretAt({ clientX, clientY }) {
  const anyDocument = /** @type {any} */ (document);
  const caret = anyDocument.caretPositionFromPoint?.(clientX, clientY);
  if (caret) return { node: caret.offsetNode, offset: caret.offset };
  const range = anyDocument.caretRangeFromPoint?.(clientX, clientY);
  return range && { node: range.startContainer, offset: range.startOffset };
}

/**
 * The term of the glossary under the pointer, in prose.
 * @param {MouseEvent} event
 * @returns {{range: Range, lines: string[]} | null}
 */
function termUnder(event) {
  const { target } = event;
  const place = target instanceof Element ? target.closest(".article .prose :is(p, li, td)") : null;
  const caret = place && terms && caretAt(event);
  if (!place || !caret || !terms || !place.contains(caret.node)) return null;
  if (caret.node.parentElement?.closest("code, em, a, .katex")) return null;
  const before = document.createRange();
  before.setStart(place, 0);
  before.setEnd(caret.node, caret.offset);
  const at = before.toString().length;
  for (const { 0: word, index } of (place.textContent ?? "").matchAll(terms.pattern)) {
    if (index > at || at > index + word.length) continue;
    const found = terms.byName.get(word.toLowerCase()) ?? terms.byName.get(singular(word));
    return found ? { range: rangeOf(place, index, index + word.length), lines: [found] } : null;
  }
  return null;
}

/** @param {string} word */
function singular(word) {
  return word.toLowerCase().replace(/s$/, "");
}

/** What is told of terms, once their module is there. */
let terms = /** @type {{pattern: RegExp, byName: Map<string, string>} | null} */ (null);

effect(() => {
  terms = null;
  if (!loaded.value) return;
  const { model, all } = loaded.value;
  import("viewer/model/glossary.js").then(({ glossaryOf }) => {
    const entries = glossaryOf(model, all).filter(({ isLetter }) => !isLetter);
    if (loaded.value?.model !== model || !entries.length) return;
    const words = entries
      .map(({ term }) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .sort((one, other) => other.length - one.length);
    terms = {
      pattern: new RegExp(`(?<![\\p{L}\\d-])(?:${words.join("|")})s?(?![\\p{L}\\d-])`, "giu"),
      byName: new Map(entries.map(({ term, text }) => [term.toLowerCase(), plainProse(text)])),
    };
  });
});

/**
 * The name under the pointer, in a line of code.
 * @param {MouseEvent} event
 */
function nameUnder(event) {
  const { target } = event;
  const line = target instanceof Element ? target.closest(".source-line") : null;
  const place = line?.closest("[data-file]");
  const caret = line && place && caretAt(event);
  if (!line || !caret || !line.contains(caret.node)) return null;
  const ofToken = caret.node.parentElement?.className ?? "";
  if (/token-(string|comment|keyword|number)/.test(ofToken)) return null;
  const before = document.createRange();
  before.setStart(line, 0);
  before.setEnd(caret.node, caret.offset);
  const found = chainAt(line.textContent ?? "", before.toString().length);
  const range = found && rangeOf(line, found.start, found.end);
  // The caret next to a name is also that of the space beside it.
  const { left = 0, right = 0 } = range?.getBoundingClientRect() ?? {};
  if (!found || !range || event.clientX < left - 1 || event.clientX > right + 1) return null;
  const file = Number(/** @type {HTMLElement} */ (place).dataset.file);
  return { line, range, chain: found.chain, file };
}

/** @param {Element} line @param {number} start @param {number} end @returns {Range} */
function rangeOf(line, start, end) {
  const range = document.createRange();
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let passed = 0;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (passed <= start && start < passed + length) range.setStart(node, start - passed);
    if (passed < end && end <= passed + length) range.setEnd(node, end - passed);
    passed += length;
  }
  return range;
}

/** The value of a name when a line has run, as text, or nothing.
 * @param {Element} line @param {string[]} chain @returns {string} */
function valueHere(line, chain) {
  const { model } = current();
  const step = line.closest("[data-step]")?.getAttribute("data-step");
  if (!step || chain.length > 1) return "";
  const frame = stateAt(model, Number(step)).frames.at(-1);
  const variable = frame?.variables.find(({ text }) => text === chain[0]);
  if (!variable?.value) return "";
  const isAsked = valueWithheld(Number(step), { name: chain[0], value: variable.value });
  if (isAsked) return "?";
  const text = valueText(variable.value);
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

/**
 * What a name is, in lines.
 * @param {Element} line @param {string[]} chain @param {number} file
 * @returns {string[]}
 */
function told(line, chain, file) {
  const { document: lecture } = current();
  const value = valueHere(line, chain);
  const definition = resolve(lecture, file, chain);
  if (value) return [`${chain[0]} = ${value}`];
  if (!definition) return [];
  if (definition.file < 0) return [`${definition.text}, a library`];
  const kind = { def: "function", file: "module" }[definition.kind] ?? definition.kind;
  return [
    `${kind} ${chain[chain.length - 1]}, ${placeOf(lecture, definition)}`,
    ...(definition.text ? [definition.text] : []),
  ];
}

/** Mark a name as what leads somewhere. @param {Range | null} range */
function underline(range) {
  const { highlights } = /** @type {any} */ (CSS);
  if (!highlights) return;
  if (range) highlights.set("name", new /** @type {any} */ (window).Highlight(range));
  else highlights.delete("name");
}

/** */
function leave() {
  clearTimeout(rest);
  underline(null);
  tip.remove();
}

/** @param {PointerEvent} event */
function onMove(event) {
  leave();
  if (!loaded.value || event.pointerType === "touch" || event.buttons) return;
  const term = termUnder(event);
  if (term) rest = setTimeout(() => loaded.value && show(term.range, term.lines), REST);
  const found = term ? null : nameUnder(event);
  if (!found) return;
  const lines = () => told(found.line, found.chain, found.file);
  if (resolve(current().document, found.file, found.chain)) underline(found.range);
  rest = setTimeout(() => loaded.value && show(found.range, lines()), REST);
}

/** @param {Range} range @param {string[]} lines */
function show(range, lines) {
  if (!lines.length) return;
  tip.replaceChildren(
    ...lines.map((text) => Object.assign(document.createElement("div"), { textContent: text })),
  );
  document.body.append(tip);
  const { left, top, bottom } = range.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const above = top - height - 6;
  tip.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 8))}px`;
  tip.style.top = `${above > 50 ? above : bottom + 6}px`;
}

/** @param {MouseEvent} event */
function onClick(event) {
  if (!loaded.value || getSelection()?.isCollapsed === false) return;
  const { target } = event;
  const { document: lecture } = current();
  if (!(target instanceof Element)) return;
  const prose = target.closest(".prose code");
  const found = prose || target.closest("button, a") ? null : nameUnder(event);
  const named = prose && !prose.closest("a, pre") ? (prose.textContent ?? "") : "";
  const definition = named
    ? definitionNamed(lecture, named.replace(/\(.*\)$/, ""))
    : found && resolve(lecture, found.file, found.chain);
  if (!definition || definition.file < 0) return;
  leave();
  openDefinition(definition);
}

addEventListener("pointermove", onMove, { passive: true });
addEventListener("scroll", leave, { passive: true });
addEventListener("keydown", leave);
addEventListener("click", onClick);
