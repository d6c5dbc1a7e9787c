// What the address names, asked for before the rest of the page's code is there, and its first lines as plain text.

/** Ten million steps take 20 MB; far beyond, a browser would run out of memory without a word. */
export const MAX_SIZE = 128e6;
const MAX_LINES = 16;

/** A page that was exported as one file carries its document. */
export const embedded = document.getElementById("document");

/** Answers that nobody has taken yet. @type {Map<string, Promise<Answer>>} */
const asked = new Map();

/** @param {string} name of a document @returns {Promise<Answer>} */
export function documentOf(name) {
  const answer = asked.get(name) ?? ask(name);
  asked.delete(name);
  return answer;
}

/** @param {string} name @returns {Promise<Answer>} */
async function ask(name) {
  const response = embedded
    ? new Response(embedded.textContent)
    : await fetch(`traces/${name}.json`, { cache: "no-cache" });
  const size = Number(response.headers.get("Content-Length"));
  if (!response.ok || size > MAX_SIZE) return { found: response.ok, size, document: undefined };
  const text = await response.text();
  return {
    isLocal: isOurServer(response),
    found: true,
    size: text.length,
    document: text.length > MAX_SIZE ? undefined : parsed(text),
  };
}

/** Whether the server is `python -m trace --serve`, which always has a local index and an answer about times. Another
 * server would answer 404, which browsers print as an error. @param {Response} response */
export function isOurServer(response) {
  return (
    ["127.0.0.1", "localhost"].includes(location.hostname) &&
    response.headers.get("X-Content-Type-Options") === "nosniff"
  );
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {string} name of an element @param {string} style its class @param {...(Node | string)} children @returns {HTMLElement} */
function make(name, style, ...children) {
  const element = document.createElement(name);
  element.className = style;
  element.append(...children);
  return element;
}

/** Text without the marks of Markdown. @param {string} text */
function plain(text) {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]+/g, "");
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

/** The beginning of the function that was run, up to a heading or a section: title, prose and code. @param {any} found a document */
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
      at = block.last_line;
    } else if (/^\s*[\w.]+\(\)\s*(#|$)/.test(lines[at - 1])) break;
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

/** @param {string} style @param {HTMLElement} content */
function row(style, content) {
  return make("div", "row", make("div", style, content));
}

/** Show the beginning until the whole page is there; a failure stands before it. @param {Answer} answer */
function showFirstLines({ document: found }) {
  try {
    if (found.failure) return;
    const article = make("main", "article", firstLines(found));
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

/** Let the rest of the page's code come. */
function loadPage() {
  const later = /** @type {HTMLTemplateElement} */ (document.getElementById("later"));
  document.head.append(later.content);
}

/** Where the reader's choice of colours is kept. */
export const THEME = "lecture-theme";

/** Take it up before anything is painted. */
function takeUpTheme() {
  try {
    const kept = localStorage.getItem(THEME);
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // Storage may be forbidden.
  }
}

/** Show what the address names. */
async function start() {
  const named = /[#&]doc=([\w.-]+)(?=&|$)/.exec(location.hash); // a regular expression is there at once, URLSearchParams is not
  const name = embedded?.dataset.name ?? named?.[1];
  const answer = name ? ask(name) : null;
  takeUpTheme();
  if (name && answer) {
    asked.set(name, answer);
    answer.catch(() => {}); // told by who takes it
    const first = /[#&](at=|mode=step)/.test(location.hash) ? null : await answer.catch(() => null);
    if (first) {
      showFirstLines(first);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
  }
  loadPage();
}

start();
