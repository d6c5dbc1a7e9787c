// The speaker's window: notes, a clock, where one is and what comes next. It is drawn by the page
// that presents, so the two are in step by themselves, also without a server. Fetched when it is
// opened.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { CommandButton } from "viewer/parts/buttons.js";
import { Prose } from "viewer/parts/prose.js";
import { questionOf } from "viewer/model/predictions.js";
import { passedOf } from "viewer/model/slides.js";
import { assertionOf } from "viewer/state/answers.js";
import { keep, kept } from "viewer/state/kept.js";
import { onKey } from "viewer/state/keyboard.js";
import { pendingClaims } from "viewer/state/spoiling.js";
import { current, presenting } from "viewer/state/state.js";
import { blank, pages, part, refused, shown, slides } from "viewer/state/slides.js";
import { shownAnswers } from "viewer/views/atoms.js";
import { InChapter } from "viewer/views/slide.js";
import { Beginning, Page } from "viewer/views/thumbnail.js";

const SIZE = "popup,width=1200,height=760";
const SECOND = 1000;
const MINUTE = 60;

/** @type {Window | null} */
let opened = null;

const now = signal(0);
const begun = signal(0);

/** The slide with which the time began, and how many minutes are planned for the rest. */
const from = signal(0);
const planned = signal(Number(kept("minutes")) || 0);

/** The time begins anew, at the slide that is shown. */
function begin() {
  now.value = begun.value = Date.now();
  from.value = shown.value;
}

/**
 * Open it, or bring it to the front.
 * @param {(event: KeyboardEvent) => void} jump takes the keys of a slide's number
 */
export async function openSpeaker(jump) {
  if (opened && !opened.closed) return opened.focus();
  opened = window.open("", "", SIZE);
  refused.value = !opened;
  if (!opened) return;
  const { document: page } = opened;
  page.title = "Speaker";
  page.documentElement.lang = document.documentElement.lang;
  page.documentElement.dataset.theme = document.documentElement.dataset.theme ?? "";
  page.documentElement.classList.add("presenting");
  page.body.className = "speaker";
  page.addEventListener("keydown", jump, true);
  page.addEventListener("keydown", onKey);
  addEventListener("pagehide", close, { once: true });
  begin();
  await takeStyles(page);
  if (opened?.document !== page) return;
  styles.observe(document.head, { childList: true });
  render(html`<${Speaker} page=${opened} />`, page.body);
}

/** Some come later, with what they are for. */
const styles = new MutationObserver(() => opened && takeStyles(opened.document));

/** Take over the style sheets of the page that presents. Settled when they are there: without them
 * nothing has its size. @param {Document} page */
async function takeStyles(page) {
  const known = page.head.querySelectorAll("link, style").length;
  const found = [...document.head.querySelectorAll("link[rel=stylesheet], style")].slice(known);
  const coming = found.map((style) => {
    const copy = /** @type {HTMLElement} */ (page.importNode(style, true));
    page.head.append(copy);
    if (!(style instanceof HTMLLinkElement)) return undefined;
    copy.setAttribute("href", style.href);
    return new Promise((settle) => (copy.onload = copy.onerror = settle));
  });
  await Promise.all(coming);
}

/** End it with the presentation. */
function close() {
  styles.disconnect();
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
  const rest = pages.value.length - 1 - part.value;
  return html`
    <header class="speaker-head">
      <${Clock} />
      <${Pace} />
      <span class="speaker-place">
        <b>${shown.value + 1}</b> / ${all.length} <${InChapter} />${
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
        <${CommandButton} id="blank" pressed=${blank.value}>■ blank</${CommandButton}>
      </nav>
    </header>
    <main class=${`speaker-body ${slide.notes.length ? "" : "no-notes"}`}>
      <div class="speaker-here">
        <section class="speaker-current" aria-label="what is shown">
          <h2>Now${rest > 0 && `, and ${rest} more of this slide`}</h2>
          <${Page} number=${part.value} />
        </section>
        <section class="speaker-notes">
          <h1>${slide.title}</h1>
          ${slide.notes.map((text) => html`<${Prose} key=${text} text=${text} />`)}
          ${!slide.notes.length && html`<p class="quiet">No notes for this slide.</p>`}
        </section>
      </div>
      <div class="speaker-ahead">
        <${Following} slide=${slide} next=${all[shown.value + 1]} rest=${rest} />
        <${Later} all=${all} />
      </div>
    </main>
  `;
}

/** What comes next: of a page that asks the first answer, and then what follows it, as it is cut
 * so far.
 * @param {{slide: Slide, next: Slide | undefined, rest: number}} properties */
function Following({ slide, next, rest }) {
  const asked = (pages.value[part.value] ?? []).flatMap(shownAnswers).slice(0, 1);
  const told = rest > 0 ? "more of this slide" : next ? next.title : "the end";
  const seen =
    rest > 0
      ? html`<${Page} key=${part.value + 1} number=${part.value + 1} />`
      : next && html`<${Beginning} key=${shown.value} slide=${next} />`;
  if (!asked.length) return html`<${Beyond} told=${told}>${seen}</${Beyond}>`;
  return html`<${Beyond} told="the answer">
    <${Answers} slide=${slide} asked=${asked} />
    <h3>Then: ${told}</h3>
    ${seen}
  </${Beyond}>`;
}

/** @param {{told: string, children?: any}} properties */
function Beyond({ told, children }) {
  return html`<section class="speaker-next" aria-label="what comes next">
    <h2>Next: ${told}</h2>
    ${children}
  </section>`;
}

/** The answers to what the page asks, which the audience does not see yet.
 * @param {{slide: Slide, asked: HTMLElement[]}} properties */
function Answers({ slide: { section }, asked }) {
  if (!section) return null;
  const { step, statement } = current().document.claims;
  const isOfSlide = (/** @type {number} */ row) =>
    section.first <= step[row] && step[row] < section.beyond;
  const sources = asked.map((place) =>
    place.closest(".question")?.querySelector(".question-source")?.textContent?.trim(),
  );
  const rows = asked.some((place) => place.closest(".solution"))
    ? [...new Map(statement.map((own, row) => [own, row])).values()].filter(isOfSlide)
    : pendingClaims()
        .filter(isOfSlide)
        .filter((row) => sources.includes(questionOf(current().model, row)?.source));
  return html`<ul class="speaker-answers" aria-label="answers">
    ${rows.map((row) => html`<li key=${row}><code>${assertionOf(row)?.text}</code></li>`)}
  </ul>`;
}

/** How many slides are named that come later. */
const LATER = 9;

/** With the numbers that lead there. @param {{all: Slide[]}} properties */
function Later({ all }) {
  const later = all.slice(shown.value + 1, shown.value + 1 + LATER);
  if (!later.length) return null;
  return html`<ol class="speaker-later" aria-label="slides that follow">
    ${later.map(
      (slide) => html`<li key=${slide.step}><b>${all.indexOf(slide) + 1}</b> ${slide.title}</li>`,
    )}
  </ol>`;
}

/** The minutes that are planned, and whether one is ahead of them. */
function Pace() {
  const seconds = (now.value - begun.value) / SECOND;
  const along = passedOf(slides(), from.value, shown.value, part.value / pages.value.length);
  const ahead = planned.value > 0 ? along * planned.value - seconds / MINUTE : 0;
  const minutes = Math.round(Math.abs(ahead));
  const way = ahead > 0 ? "ahead" : "behind";
  const told = minutes ? `${minutes} min ${way}` : "on time";
  const plan = (/** @type {any} */ event) => {
    planned.value = Math.max(0, Math.round(Number(event.target.value) || 0));
    keep("minutes", String(planned.value));
  };
  return html`<label class="speaker-plan" title="Minutes planned, from where the clock began">
      of
      <input
        type="number"
        min="0"
        max="999"
        placeholder="…"
        value=${planned.value || ""}
        onChange=${plan}
      />
      min
    </label>
    ${planned.value > 0 && html`<span class=${`speaker-pace ${minutes && way}`}>${told}</span>`}`;
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
    onClick=${begin}
  >
    <b>${minutes}</b> <span>${format(now.value)}</span>
  </button>`;
}
