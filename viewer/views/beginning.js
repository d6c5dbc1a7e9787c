// The first lines of a lecture as plain text, before the code of the page is there.

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
 * The titles of chapters: headings in the function that was run, or in those without a title that
 * it calls. One alone is no chapter.
 * @param {any} found a document
 * @returns {string[]}
 */
function chaptersOf({ files, functions, events }) {
  const run = functions[-events[0] - 1];
  const titles = functions.flatMap((/** @type {any} */ func) =>
    func !== run && func.title
      ? []
      : files[func.file].prose
          .filter(
            (/** @type {any} */ { first_line: at, text }) =>
              func.line <= at && at <= func.end_line && text.startsWith("#"),
          )
          .map((/** @type {any} */ { text }) => text.split("\n")[0].replace(/^#+\s*|\.$/g, "")),
  );
  return titles.length > 1 ? titles.map(plain) : [];
}

/** Whether a document begins with a front page. @param {Answer} answer */
function hasFront({ document: found }) {
  try {
    return chaptersOf(found).length > 0;
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
 * The list of chapters, as it will stand beside the page.
 * @param {string[]} titles
 * @param {any} found a document
 */
function outline(titles, { functions }) {
  const isCore = (/** @type {any} */ { marks }) => marks.includes("core");
  const pages = ["Front", "One page", ...(functions.some(isCore) ? ["Short path"] : [])];
  const chapters = titles.map((title, index) =>
    make(
      "div",
      "chapter",
      make(
        "div",
        "chapter-line",
        make("button", "chapter-toggle", "›"),
        make("span", "chapter-link", `${index + 1}. ${title}`),
        make("span", "outline-claims"),
      ),
    ),
  );
  const links = make("div", "outline-pages", ...pages.map((name) => make("a", "", name)));
  links.firstElementChild?.setAttribute("aria-current", "page");
  return titles.length ? make("nav", "outline", links, ...chapters) : "";
}

/**
 * Show the beginning until the whole page is there; a failure stands before it.
 * @param {Answer} answer
 */
function showFirstLines({ document: found }) {
  try {
    if (found.failure) return;
    const lines = firstLines(found);
    const chapters = chaptersOf(found);
    if (chapters.length) makeCover(lines);
    const article = make("main", "article", lines);
    const titled = found.functions.filter((/** @type {any} */ { title }) => title).length > 1;
    const page = make(
      "div",
      "page",
      ...(titled ? [make("div", "sidebar", outline(chapters, found))] : []),
      make("div", "content", article),
    );
    const title = lines.querySelector("h1")?.textContent ?? "";
    const bar = make("header", "bar", make("i", "command"), make("b", "bar-title", title));
    const first = make("div", "", bar, page);
    first.id = "first";
    document.getElementById("app")?.before(first);
  } catch {
    // What is wrong with the document is told by the code that checks it.
  }
}

/**
 * Show the first lines of a document; whether it begins with a front page.
 * @param {Answer} answer
 */
export function begin(answer) {
  showFirstLines(answer);
  return hasFront(answer);
}
