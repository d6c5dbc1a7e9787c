// What the address names, asked for before the rest of the page's code is there, and its first
// lines as plain text.

import { askAhead, embedded } from "viewer/state/fetching.js";
import { kept } from "viewer/state/kept.js";

const MAX_LINES = 16;

/**
 * @param {string} name of an element
 * @param {string} style its class
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function make(name, style, ...children) {
  const element = document.createElement(name);
  element.className = style;
  element.append(...children);
  return element;
}

/** Text without the marks of Markdown. @param {string} text */
function plain(text) {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^<>]+>|[`*]+/g, "")
    .replace(/@\{[^{}]*\}/g, "…");
}

/** @param {string} text @returns {HTMLElement} */
function prose(text) {
  return make(
    "div",
    "prose",
    ...text
      .trim()
      .split(/\n\s*\n/)
      .map((paragraph) => make("p", "", plain(paragraph))),
  );
}

/**
 * The beginning of the function that was run, up to a heading or a section: title, prose and code.
 * @param {any} found a document
 */
function firstLines({ files, functions, events }) {
  const { file, line, end_line: end, title } = functions[-events[0] - 1];
  const { source, prose: blocks, hidden } = files[file];
  const lines = source.split(/\r\n|\r|\n/);
  const section = make(
    "section",
    "section depth-0",
    make(
      "header",
      "section-head",
      make("h1", "section-title", plain(title).replace(/\.$/, "")),
      make("div", "section-meta"),
    ),
  );
  for (let at = line + 1, shown = 0; at <= end && shown < MAX_LINES; at++, shown++) {
    const block = blocks.find((/** @type {any} */ candidate) => candidate.first_line === at);
    if (block) {
      const text = block.kind === "docstring" ? block.text.replace(/^[^\n]*\n?/, "") : block.text;
      if (text.startsWith("#")) break;
      if (text.trim())
        section.append(block.kind === "docstring" ? prose(text) : row("row-rest", prose(text)));
      if (block.kind === "docstring" && text.trim()) break;
      at = block.last_line;
    } else if (/^\s*[\p{ID_Continue}.]+\(\)\s*(#|$)/u.test(lines[at - 1])) break;
    else if (
      /^\s*[^#\s]/.test(lines[at - 1]) &&
      !hidden.some((/** @type {number[]} */ [from, to]) => from <= at && at <= to)
    ) {
      const code = make(
        "code",
        "source",
        lines[at - 1].replace(/^ {4}/, "").replace(/\s*#\s*@.*$/, "") || " ",
      );
      section.append(row("row-line", make("div", "line", make("pre", "", code))));
    }
  }
  return section;
}

/**
 * Whether a lecture has chapters: headings in the function that was run, or in those without a
 * title that it calls.
 * @param {any} found a document
 */
function isBook({ files, functions, events }) {
  const run = functions[-events[0] - 1];
  const headings = functions.flatMap((/** @type {any} */ func) =>
    func !== run && func.title
      ? []
      : files[func.file].prose.filter(
          (/** @type {any} */ { first_line: at, text }) =>
            func.line <= at && at <= func.end_line && text.startsWith("#"),
        ),
  );
  return headings.length > 1;
}

/** Whether a document begins with a front page. @param {Answer} answer */
function hasFront({ document: found }) {
  try {
    return isBook(found);
  } catch {
    return false; // what is wrong with it is told by the code that checks it
  }
}

/** Leave title and first paragraph, as on the cover of a book. @param {Element} section */
function makeCover(section) {
  const [head, text] = section.children;
  const lead = text?.matches(".prose") ? [text] : [];
  for (const next of [...(lead[0]?.children ?? [])].slice(1)) next.remove();
  section.replaceChildren(make("div", "cover", make("div", "cover-text", head, ...lead)));
}

/** @param {string} style @param {HTMLElement} content */
function row(style, content) {
  return make("div", "row", make("div", style, content));
}

/**
 * Show the beginning until the whole page is there; a failure stands before it.
 * @param {Answer} answer
 */
function showFirstLines({ document: found }) {
  try {
    if (found.failure) return;
    const lines = firstLines(found);
    if (isBook(found)) makeCover(lines);
    const article = make("main", "article", lines);
    const titled = found.functions.filter((/** @type {any} */ { title }) => title).length > 1;
    const page = make(
      "div",
      "page",
      ...(titled ? [make("div", "sidebar")] : []),
      make("div", "content", article),
    );
    const first = make("div", "", make("header", "bar"), page);
    first.id = "first";
    document.getElementById("app")?.before(first);
  } catch {
    // What is wrong with the document is told by the code that checks it.
  }
}

/**
 * Show a chapter as its plain page has it, where there are such pages.
 * @param {string} file
 */
async function showPlain(file) {
  if (document.documentElement.dataset.parts === undefined) return;
  const response = await fetch(file, { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const first = page.getElementById("first");
  const app = document.getElementById("app");
  if (first && !app?.querySelector("main")) app?.before(first);
}

/** Let the rest of the page's code come. @param {boolean} isFront whether that of its front page */
function loadPage(isFront) {
  for (const name of ["later", isFront ? "front" : "chapters"]) {
    const part = /** @type {HTMLTemplateElement | null} */ (document.getElementById(name));
    if (part) document.head.append(part.content);
  }
}

/** Take up the reader's colours. */
function takeUpTheme() {
  const theme = kept("theme") ?? "";
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
}

/** Show what the address names. */
async function start() {
  document.documentElement.classList.add("served"); // a page opened as a file does not get here
  const { doc } = document.documentElement.dataset;
  // A regular expression is there at once, URLSearchParams is not.
  const named = /[#&]doc=([\w.-]+)(?=&|$)/.exec(location.hash);
  const name = embedded?.dataset.name ?? named?.[1] ?? doc;
  const answer = name ? askAhead(name) : null;
  takeUpTheme();
  const isElsewhere = /[#&](at=|mode=step|chapter=)/.test(location.hash);
  if (document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
  const chapter = /[#&]chapter=([\w%-]+)$/.exec(location.hash)?.[1];
  const isShort = location.hash.includes("&path=");
  if (chapter && name && !isShort) showPlain(`${name}.${chapter}.html`);
  const isThere = document.getElementById("first") !== null;
  const first = isElsewhere || isThere ? null : await answer?.catch(() => null);
  if (first) {
    showFirstLines(first);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }
  loadPage(first ? hasFront(first) : !isElsewhere && !document.documentElement.dataset.chapter);
}

start();
