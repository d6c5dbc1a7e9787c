// The speaker's window: notes, a clock, where one is and what comes next. It is drawn by the page
// that presents, so the two are in step by themselves, also without a server. Fetched when it is
// opened.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { CommandButton } from "viewer/parts/buttons.js";
import { Prose } from "viewer/parts/prose.js";
import { onKey } from "viewer/state/keyboard.js";
import { presenting } from "viewer/state/state.js";
import { blank, pages, part, refused, shown, slides } from "viewer/state/slides.js";
import { Contents, InChapter } from "viewer/views/slide.js";

const SIZE = "popup,width=960,height=680";
const SECOND = 1000;

/** @type {Window | null} */
let opened = null;

const now = signal(0);
const begun = signal(0);

/** Open it, or bring it to the front. */
export function openSpeaker() {
  if (opened && !opened.closed) return opened.focus();
  opened = window.open("", "", SIZE);
  refused.value = !opened;
  if (!opened) return;
  const { document: page } = opened;
  page.title = "Speaker";
  page.documentElement.lang = document.documentElement.lang;
  page.documentElement.dataset.theme = document.documentElement.dataset.theme ?? "";
  page.head.append(...stylesOf(page));
  page.body.className = "speaker";
  page.addEventListener("keydown", onKey);
  addEventListener("pagehide", close, { once: true });
  now.value = begun.value = Date.now();
  render(html`<${Speaker} page=${opened} />`, page.body);
}

/** The style sheets of the page that presents. @param {Document} page */
function stylesOf(page) {
  const found = document.head.querySelectorAll("link[rel=stylesheet], style");
  return [...found].map((style) => {
    const copy = /** @type {HTMLElement} */ (page.importNode(style, true));
    if (style instanceof HTMLLinkElement) copy.setAttribute("href", style.href);
    return copy;
  });
}

/** End it with the presentation. */
function close() {
  if (opened) render(null, opened.document.body);
  opened?.close();
  opened = null;
}

/** @param {{page: Window}} properties */
function Speaker({ page }) {
  const isOver = !presenting.value;
  useEffect(() => {
    const timer = page.setInterval(() => (now.value = Date.now()), SECOND);
    return () => page.clearInterval(timer);
  }, []);
  useEffect(() => {
    if (isOver) close();
  }, [isOver]);
  if (isOver) return null;
  const all = slides();
  const slide = all[shown.value];
  const next = all[shown.value + 1];
  const rest = pages.value.length - 1 - part.value;
  return html`
    <header class="speaker-head">
      <${Clock} />
      <span class="speaker-place">
        <${InChapter} /> ${shown.value + 1} / ${all.length}${
          pages.value.length > 1 && ` · part ${part.value + 1} of ${pages.value.length}`
        }${blank.value && " · blank"}
      </span>
      <nav>
        ${["slideBack", "slideForward"].map(
          (id) =>
            html`<${CommandButton} id=${id}>
              ${id === "slideBack" ? "‹ back" : "further ›"}
            </${CommandButton}>`,
        )}
        <${CommandButton} id="blank" pressed=${blank.value} />
      </nav>
    </header>
    <main class="speaker-body">
      <section class="speaker-notes">
        <h1>${slide.title}</h1>
        ${
          slide.notes.length
            ? slide.notes.map((text) => html`<${Prose} key=${text} text=${text} />`)
            : html`<div class="speaker-current" inert>
                <${Contents} key=${`here-${shown.value}`} slide=${slide} />
              </div>
              <p class="quiet">No notes: a comment that begins <code># @note</code> is one.</p>`
        }
      </section>
      <section class="speaker-next" aria-label="what comes next">
        <h2>
          ${rest > 0 ? `After ${rest} more of this slide: ` : "Next: "}
          ${next ? next.title : "the end"}
        </h2>
        ${
          next &&
          html`<div class="speaker-preview" inert>
            <${Contents} key=${shown.value} slide=${next} />
          </div>`
        }
      </section>
    </main>
  `;
}

/** The time, and how long one has been speaking; a press begins anew. */
function Clock() {
  const { format } = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
  const seconds = Math.max(0, Math.floor((now.value - begun.value) / SECOND));
  const two = (/** @type {number} */ count) => String(count).padStart(2, "0");
  const minutes = `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return html`<button
    class="speaker-clock"
    title="Begin the time anew"
    onClick=${() => (now.value = begun.value = Date.now())}
  >
    <b>${minutes}</b> ${format(now.value)}
  </button>`;
}
