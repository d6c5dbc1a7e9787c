// Presenting: one section at a time in large type, cut into pages that fit, for a clicker. Fetched
// when it starts.

import { batch } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { FRONT } from "viewer/model/book.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { goTo, readAddress } from "viewer/state/address.js";
import { isOnItsWay, stepOfReader } from "viewer/state/article.js";
import { COMMANDS } from "viewer/state/commands.js";
import { letGo } from "viewer/state/holding.js";
import { keep } from "viewer/state/kept.js";
import {
  blank,
  pages,
  part,
  passed,
  refused,
  reveal,
  REVEALS,
  shown,
  slides,
  told,
} from "viewer/state/slides.js";
import { current, focus, loaded, mode, page, presenting, step } from "viewer/state/state.js";
import { fetchRules } from "viewer/state/withheld.js";
import { shownAnswers } from "viewer/views/atoms.js";
import { Jump, onNumber, typed } from "viewer/views/jump.js";
import { arrange, stopsOf, watchLayout } from "viewer/views/paging.js";
import { Above, Contents, reserve } from "viewer/views/slide.js";
import { REVEAL_NAMES, SlideBar } from "viewer/views/slidebar.js";
import { attendToFingers } from "viewer/views/swipe.js";
import { closeValues, openValues as openPlace } from "viewer/views/spread.js";
import { fitPage, resetSize, TypeSize } from "viewer/views/typesize.js";

await Promise.all([styled("present.css"), fetchRules()]);

/** The slide that shows a step or, of a table of contents, what comes next. @param {number} at */
function slideOf(at) {
  const all = slides();
  const own = all.findLastIndex(
    ({ section }) => section && section.first <= at && at < section.beyond,
  );
  const isOfContents = own === 0 && current().book.length > 0;
  return Math.max(0, isOfContents ? all.findIndex((slide) => slide.step >= at) : own);
}

/** How many stops there are on the page that is shown. */
function stops() {
  return stopsOf(pages.value[part.value] ?? [], reveal.value);
}

/**
 * Show a slide from its beginning or, going back, from its end, and let the address follow.
 * @param {number} number
 * @param {boolean} [fromEnd]
 */
function show(number, fromEnd = false) {
  stay();
  const all = slides();
  const index = Math.max(0, Math.min(all.length - 1, number));
  batch(() => {
    blank.value = false;
    if (index !== shown.value) goTo(all[index].step);
    const isSame = index === shown.value;
    shown.value = index;
    part.value = fromEnd ? (isSame ? part.value : Infinity) : 0;
    passed.value = fromEnd ? Infinity : 0;
  });
  scrollTo({ top: 0, behavior: "instant" });
}

/** Begin where the address says, at the section that is on the screen, or at the title of the
 * chapter. */
export function start() {
  if (presenting.value || !loaded.value) return;
  const { present = 0, at, chapter } = readAddress();
  const isStart = present ? !at && !chapter : toReader();
  batch(() => {
    shown.value = isStart ? 0 : slideOf(step.value);
    part.value = wanted = Math.max(0, present - 1);
    passed.value = 0;
    blank.value = false;
    presenting.value = true;
  });
  letGo();
  scrollTo({ top: 0, behavior: "instant" });
}

/** Go to what the reader sees. @returns {boolean} whether that is the title of the lecture */
function toReader() {
  const isTop = isAtTop();
  const isStart = isTop && page.value <= FRONT;
  const chapter = isTop && current().book.find(({ number }) => number === page.value);
  if (mode.value === "read" && !isStart) goTo(chapter ? chapter.first : stepOfReader());
  return isStart;
}

/** Whether Read shows a page from its top, and the reader did not go to a line of what is seen. */
function isAtTop() {
  if (mode.value !== "read" || scrollY >= 100 || isOnItsWay()) return false;
  return focus.value.step < 0 || stepOfReader() !== focus.value.step;
}

/** Leave for the same place. */
function leave() {
  presenting.value = false;
  goTo(step.value, { jump: mode.value === "read" });
}

/** Show all of values that are cut, or as much of them as before. @param {Event} event */
function openValues({ target }) {
  wanted = -1;
  if (!(target instanceof Element) || target.closest("a, button:not(.beside-more)")) return;
  const place = /** @type {HTMLElement | null} */ (target.closest(".beside-line"));
  for (const other of document.querySelectorAll(".slide-body .opened"))
    if (other !== place) closeValues(/** @type {HTMLElement} */ (other));
  if (place?.classList.contains("opened")) closeValues(place);
  else if (place?.classList.contains("is-cut")) openPlace(place);
}

/** The part that the address named, until the reader goes on: what comes late makes more parts. */
let wanted = -1;

/** The solution that was opened last, until the reader goes on. @type {Element | null} */
let opened = null;

/** What follows is where the reader goes. */
function stay() {
  opened = null;
  wanted = -1;
}

/** What comes next: the answer to what is asked, of a page, of a slide, or the next slide. */
function forward() {
  stay();
  const asked = pages.value[part.value]?.flatMap(shownAnswers)[0];
  if (blank.value) blank.value = false;
  else if (passed.value < stops().length) passed.value++;
  else if (asked) {
    opened = asked.closest(".solution");
    asked.click();
  } else if (part.value < pages.value.length - 1)
    batch(() => {
      part.value++;
      passed.value = 0;
    });
  else if (shown.value < slides().length - 1) show(shown.value + 1);
  else say("This was the last slide.");
}

/** Back by as much. */
function back() {
  stay();
  if (blank.value) blank.value = false;
  else if (stops().length && passed.value > 0)
    passed.value = Math.min(passed.value, stops().length) - 1;
  else if (part.value > 0)
    batch(() => {
      part.value--;
      passed.value = Infinity;
    });
  else if (shown.value > 0) show(shown.value - 1, true);
}

/** At once, claim by claim, line by line; the choice lasts, and what was seen stays. */
function changeReveal() {
  const here = pages.value[part.value] ?? [];
  const hidden = stops()[passed.value];
  const seen = hidden ? here.slice(0, here.indexOf(hidden)) : here;
  batch(() => {
    reveal.value = REVEALS[(REVEALS.indexOf(reveal.value) + 1) % REVEALS.length];
    passed.value = stops().filter((stop) => seen.includes(stop)).length;
  });
  keep("reveal", reveal.value);
  say(`Slides come ${REVEAL_NAMES[reveal.value]}.`);
}

/** How long it is said what a key changed, in milliseconds. */
const TOLD = 2500;
let telling = 0;

/** @param {string} text */
function say(text) {
  told.value = text;
  clearTimeout(telling);
  telling = setTimeout(() => (told.value = ""), TOLD);
}

const next = () => show(shown.value + 1);
const previous = () => show(shown.value - 1);
const first = () => show(0);
const last = () => show(Infinity);
const toggleBlank = () => (blank.value = !blank.value);

/** Fetched when it is asked for. */
async function openSpeaker() {
  (await import("viewer/views/speaker.js")).openSpeaker(jump);
}

/** @param {KeyboardEvent} event */
const jump = (event) => onNumber(event, show);

COMMANDS.unshift(
  {
    id: "slideForward",
    keys: ["PageDown", "ArrowRight", " "],
    title: "Further: what comes next of the slide, or the next slide",
    where: "present",
    run: forward,
  },
  {
    id: "slideBack",
    keys: ["PageUp", "ArrowLeft", "Shift+ "],
    title: "Back by as much",
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
    id: "reveal",
    keys: ["i"],
    title: "Show a slide at once, claim by claim, or line by line",
    where: "present",
    run: changeReveal,
  },
  {
    id: "speaker",
    keys: ["s"],
    title: "Window for the speaker: notes, clock, what comes next",
    label: "speaker",
    where: "present",
    run: openSpeaker,
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
  const { document: lecture } = current();
  const all = useMemo(slides, [lecture]);
  const slide = all[Math.min(shown.value, all.length - 1)];
  useLeading();
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  usePages(root, slide);
  const at = Math.min(part.value, Math.max(0, pages.value.length - 1));
  useEffect(() => {
    place.current?.focus({ preventScroll: true });
    const live = document.getElementById("live");
    const inPart = at > 0 ? `, part ${at + 1} of ${pages.value.length}` : "";
    if (live && slide)
      live.textContent = blank.value
        ? "blank screen"
        : `${slide.title}, ${shown.value + 1} of ${all.length}${inPart}`;
  }, [slide, at, blank.value]);
  useEffect(() => goTo(step.value), [slide, at]); // so that the address says it
  if (!slide)
    return html`<main id="article">
      <p class="notice-inline">Nothing of this lecture ran.</p>
    </main>`;
  return html`
    <div class="content slide-content">
      <main
        id="article"
        class="article slide"
        onClick=${openValues}
        tabindex="-1"
        ref=${place}
        aria-label=${slide.title}
      >
        <${Above} slide=${slide} isFurther=${at > 0} />
        <div class="slide-body" ref=${root}>
          <${Contents} key=${shown.value} slide=${slide} />
        </div>
      </main>
    </div>
    <${SlideBar} at=${at} of=${all.length} />
    <${Jump} />
    <div role="status">${told.value && html`<p class="slide-said">${told.value}</p>`}</div>
    ${
      refused.value &&
      html`<p class="slide-said" role="alert">
        The browser opened no window: allow this page to open one, and press s again.
      </p>`
    }
    ${blank.value && html`<div class="slide-blank" onClick=${toggleBlank}></div>`}
  `;
}

/**
 * Cut a slide into pages whenever it is laid out, and show what is to be shown.
 * @param {{current: HTMLElement | null}} root
 * @param {Slide | undefined} slide
 */
function usePages(root, slide) {
  const arranged = () => {
    arrange(pages.value, part.value, stops()[passed.value]);
    if (root.current) fitPage(root.current, reveal.value === "all");
  };
  useLayoutEffect(() => {
    const body = root.current;
    if (!body) return undefined;
    const size = new TypeSize();
    const cut = () => {
      const before = pages.value[part.value] ?? [];
      reserve(body, /** @type {Slide} */ (slide));
      const found = size.layOut(body, pages.value, part.value);
      const missed = before.find((piece) => piece.querySelector(".missed"));
      const isHere = (/** @type {HTMLElement} */ piece) => {
        if (missed?.isConnected) return piece === missed;
        if (opened?.isConnected) return opened.contains(piece) || piece.contains(opened);
        return size.answer ? piece === size.answer : before.includes(piece);
      };
      const same = wanted > 0 ? wanted : found.findIndex((page) => page.some(isHere));
      batch(() => {
        pages.value = found;
        part.value = Math.max(0, Math.min(same < 0 ? part.value : same, found.length - 1));
      });
      arranged();
    };
    cut();
    return watchLayout(body, cut);
  }, [slide]);
  useLayoutEffect(arranged, [part.value, passed.value, reveal.value]);
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
    addEventListener("keydown", jump, true);
    const ended = attendToFingers((direction) => (direction > 0 ? forward() : back()));
    return () => {
      ended();
      removeEventListener("keydown", jump, true);
      typed.value = null;
      document.documentElement.classList.remove("presenting");
      resetSize();
    };
  }, []);
}
