// Slides in small, for the window of the speaker: copies of what the audience sees.

import { useEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { pages, part, passed, reveal, shown } from "viewer/state/slides.js";
import { Contents } from "viewer/views/slide.js";

/** As a part of the window, how high a slide is in it, with notes and without. */
const HIGHEST = 0.38;
const HIGHEST_ALONE = 0.7;

/**
 * The frame that a slide is shown in, with the proportions of the screen.
 * @param {{title: string, children?: any, place?: any}} properties
 */
function Frame({ title, children, place }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const own = frame.current;
    const page = own?.ownerDocument.defaultView;
    if (!own || !page) return undefined;
    const fit = () => {
      const width = own.parentElement?.querySelector("h2")?.clientWidth ?? 0;
      const height = page.innerHeight * (own.closest(".no-notes") ? HIGHEST_ALONE : HIGHEST);
      own.style.setProperty("--shrink", String(Math.min(width / innerWidth, height / innerHeight)));
      own.style.setProperty("--wide", `${innerWidth}px`);
      own.style.setProperty("--high", `${innerHeight}px`);
      page.document.documentElement.style.fontSize = getComputedStyle(
        document.documentElement,
      ).fontSize;
    };
    fit();
    page.addEventListener("resize", fit);
    addEventListener("resize", fit);
    return () => {
      page.removeEventListener("resize", fit);
      removeEventListener("resize", fit);
    };
  });
  return html`<div class="thumbnail" ref=${frame} inert aria-label=${title}>
    <div class="thumbnail-screen" ref=${place}>${children}</div>
  </div>`;
}

/**
 * A page of the slide that is shown.
 * @param {{number: number, isNow: boolean}} properties isNow: as far as the audience sees it
 */
export function Page({ number, isNow }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // When the slide has been laid out.
    const waiting = requestAnimationFrame(() => {
      const slide = document.querySelector("main.slide");
      if (slide && place.current) place.current.replaceChildren(copyOf(slide, number, isNow));
    });
    return () => cancelAnimationFrame(waiting);
  }, [shown.value, number, isNow, part.value, passed.value, pages.value, reveal.value]);
  return html`<${Frame} title="slide" place=${place} />`;
}

/** @param {Element} slide @param {number} number @param {boolean} isNow */
function copyOf(slide, number, isNow) {
  const copy = /** @type {HTMLElement} */ (slide.cloneNode(true));
  copy.removeAttribute("id");
  for (const piece of copy.querySelectorAll("[data-slide-page]"))
    piece.classList.toggle(
      "off-page",
      /** @type {HTMLElement} */ (piece).dataset.slidePage !== String(number),
    );
  for (const box of copy.querySelectorAll(".folded[open]"))
    box.classList.toggle("off-page", !box.querySelector("[data-slide-page]:not(.off-page)"));
  if (!isNow)
    for (const piece of copy.querySelectorAll(".unrevealed")) piece.classList.remove("unrevealed");
  return copy;
}

/** How another slide begins. @param {{slide: Slide}} properties */
export function Beginning({ slide }) {
  return html`<${Frame} title=${slide.title}>
    <div class="article slide">
      <div class="slide-body"><${Contents} slide=${slide} /></div>
    </div>
  </${Frame}>`;
}
