// Presenting: one section at a time in large type, for a clicker. Fetched when it starts.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { bodyOf } from "viewer/model/blocks.js";
import { withValues } from "viewer/model/quotes.js";
import { functionIndex, functionOf, wholeScope } from "viewer/model/run.js";
import { titleOf } from "viewer/model/sections.js";
import { restOfRoot, slidesOf } from "viewer/model/slides.js";
import { CommandButton, Icon } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { styled } from "viewer/parts/styles.js";
import { goTo } from "viewer/state/address.js";
import { stepOfReader } from "viewer/state/article.js";
import { COMMANDS } from "viewer/state/commands.js";
import { current, focus, loaded, mode, presenting, step } from "viewer/state/state.js";
import { Blocks, Section } from "viewer/views/section.js";

await styled("present.css");

const shown = signal(0);
const blank = signal(false);

/** How much of the screen a press scrolls where a section is longer. */
const SCREEN = 0.85;

function slides() {
  const { model, sections } = current();
  return slidesOf(model, sections);
}

/** @param {number} at a step @returns {number} the slide that shows it */
function slideOf(at) {
  return Math.max(
    0,
    slides().findLastIndex(({ section }) => section && section.first <= at && at < section.beyond),
  );
}

/** Show a slide from its top, and let the address follow. @param {number} wanted */
function show(wanted) {
  const all = slides();
  const index = Math.max(0, Math.min(all.length - 1, wanted));
  blank.value = false;
  if (index !== shown.value) goTo(all[index].step);
  shown.value = index;
  scrollTo({ top: 0, behavior: "instant" });
}

/** Begin at the section that is on the screen. */
export function start() {
  if (presenting.value || !loaded.value) return;
  if (mode.value === "read" && !isAtStart()) goTo(stepOfReader());
  shown.value = isAtStart() ? 0 : slideOf(step.value);
  blank.value = false;
  presenting.value = true;
  scrollTo({ top: 0, behavior: "instant" });
}

/** Whether the article is shown from its beginning. */
function isAtStart() {
  return mode.value === "read" && scrollY < 100;
}

/** Leave for the same place. */
function leave() {
  presenting.value = false;
  if (mode.value === "read") goTo(step.value, { jump: true });
}

/** A screen further, or to the next section at the end of this one. */
function forward() {
  const left = document.documentElement.scrollHeight - innerHeight - scrollY;
  if (!blank.value && left > 4)
    return scrollBy({ top: Math.min(left, SCREEN * innerHeight), behavior: "instant" });
  if (blank.value) blank.value = false;
  else show(shown.value + 1);
}

/** A screen back, or to the section before. */
function back() {
  if (blank.value) blank.value = false;
  else if (scrollY > 4) scrollBy({ top: -SCREEN * innerHeight, behavior: "instant" });
  else show(shown.value - 1);
}

const next = () => show(shown.value + 1);
const previous = () => show(shown.value - 1);
const first = () => show(0);
const last = () => show(Infinity);
const toggleBlank = () => (blank.value = !blank.value);

/** @type {Record<string, string>} */
const ICONS = {
  leave: "close",
  firstSlide: "first",
  previousSlide: "backOver",
  slideBack: "back",
  slideForward: "forward",
  nextSlide: "over",
  lastSlide: "last",
};

/** @param {string} id */
function button(id) {
  return html`<${CommandButton} id=${id}>
    <${Icon} name=${ICONS[id]} />
  </${CommandButton}>`;
}

COMMANDS.unshift(
  {
    id: "slideForward",
    keys: ["PageDown", "ArrowRight", " "],
    title: "A screen further, or the next section",
    where: "present",
    run: forward,
  },
  {
    id: "slideBack",
    keys: ["PageUp", "ArrowLeft", "Shift+ "],
    title: "A screen back, or the previous section",
    where: "present",
    run: back,
  },
  { id: "nextSlide", keys: ["n", "j"], title: "Next section", where: "present", run: next },
  {
    id: "previousSlide",
    keys: ["k"],
    title: "Previous section",
    where: "present",
    run: previous,
  },
  { id: "firstSlide", keys: ["Home"], title: "First section", where: "present", run: first },
  { id: "lastSlide", keys: ["End"], title: "Last section", where: "present", run: last },
  {
    id: "blank",
    keys: ["b", "."],
    title: "Blank screen",
    label: "■",
    where: "present",
    run: toggleBlank,
  },
  {
    id: "leave",
    keys: ["Escape"],
    title: "Leave the presentation",
    where: "present",
    run: leave,
  },
);

/** The page while presenting. */
export function Present() {
  const { sections, document: lecture } = current();
  const all = useMemo(slides, [lecture]);
  const slide = all[Math.min(shown.value, all.length - 1)];
  useLeading();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    place.current?.focus({ preventScroll: true });
    const live = document.getElementById("live");
    if (live && slide)
      live.textContent = blank.value
        ? "blank screen"
        : `${slide.title}, ${shown.value + 1} of ${all.length}`;
  }, [slide, blank.value]);
  if (!slide)
    return html`<main id="article">
      <p class="notice-inline">Nothing of this lecture ran.</p>
    </main>`;
  return html`
    <div class="content slide-content">
      <main
        id="article"
        class="article slide"
        tabindex="-1"
        ref=${place}
        aria-label=${slide.title}
      >
        ${slide.section?.depth !== 0 && html`<${Above} slide=${slide} />`}
        <${Contents} key=${shown.value} slide=${slide} sections=${sections} />
      </main>
    </div>
    <nav class="slide-bar" aria-label="presentation">
      ${["leave", "firstSlide", "previousSlide", "slideBack"].map(button)}
      <span class="slide-count">${shown.value + 1} / ${all.length}</span>
      ${["slideForward", "nextSlide", "lastSlide"].map(button)}
      <${CommandButton} id="blank" pressed=${blank.value} />
    </nav>
    ${blank.value && html`<div class="slide-blank" onClick=${toggleBlank}></div>`}
  `;
}

/** Large type while one presents; and where a panel leads, the slide that holds it. */
function useLeading() {
  const target = focus.value;
  const known = useRef(target);
  useLayoutEffect(() => {
    if (known.current !== target) show(slideOf(target.step));
    known.current = target;
  }, [target]);
  useLayoutEffect(() => {
    document.documentElement.classList.add("presenting");
    return () => document.documentElement.classList.remove("presenting");
  }, []);
}

/** The lecture and the chapter that a slide is of. @param {{slide: Slide}} properties */
function Above({ slide: { section, chapter } }) {
  return html`
    <h1 class=${chapter ? "visually-hidden" : "slide-chapter"}>${titleOf(current().model)}</h1>
    ${section && chapter && html`<h2 class="slide-chapter">${chapter}</h2>`}
  `;
}

/** @param {{slide: Slide, sections: Section[]}} properties */
function Contents({ slide: { section, text, title }, sections }) {
  const { model, document: lecture } = current();
  if (!section)
    return html`<div class="slide-heading">
      <${Prose} text=${text} heading=${1} />
    </div>`;
  if (section.depth > 0)
    return html`
      ${text && html`<${Prose} text=${text} />`}
      <${Section} activation=${section.activation} depth=${section.depth} />
    `;
  const { indent, line, docstring } = bodyOf(lecture, functionIndex(model, section.activation));
  const { file } = functionOf(model, section.activation);
  const scope = wholeScope(model, section.activation);
  const said = withValues(lecture, { file, line, text: docstring }, scope);
  return html`<section class="section depth-0">
    <header class="section-head">
      <h1 class="section-title">${title}</h1>
    </header>
    ${said && html`<${Prose} text=${said} />`}
    <${Blocks}
      blocks=${restOfRoot(model, sections, section)}
      scope=${scope}
      indent=${indent}
      depth=${0}
    />
  </section>`;
}
