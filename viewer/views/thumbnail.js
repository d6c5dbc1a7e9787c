// Slides in small, for the window of the speaker: copies of what the audience sees.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { pages, part, passed, reveal, shown } from "viewer/state/slides.js";
import { shownAgain } from "viewer/views/heads.js";
import { watchLayout } from "viewer/views/paging.js";
import { Above, Contents } from "viewer/views/slide.js";
import { layOutFirst, scaleNow } from "viewer/views/typesize.js";

/** As a part of the window, how high a slide is in it, with notes and without. */
const HIGHEST = 0.5;
const HIGHEST_ALONE = 0.7;

/** What a page of a slide is made of. */
const PIECES = "[data-slide-page]";

/**
 * The frame that a slide is shown in, with the proportions of the screen. Both windows have letters
 * of one size: on a larger screen that is shown smaller they are smaller.
 * @param {{title: string, scale?: number, children?: any, place?: any}} properties
 */
function Frame({ title, scale = 1, children, place }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const own = frame.current;
    const page = own?.ownerDocument.defaultView;
    if (!own || !page) return undefined;
    const fit = () => {
      const width = own.parentElement?.querySelector("h2")?.clientWidth ?? 0;
      const height = page.innerHeight * (own.closest(".no-notes") ? HIGHEST_ALONE : HIGHEST);
      const [wide, high] = [scale * innerWidth, scale * innerHeight];
      own.style.setProperty("--shrink", String(Math.min(width / wide, height / high)));
      own.style.setProperty("--wide", `${wide}px`);
      own.style.setProperty("--high", `${high}px`);
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
 * A page of the slide that is shown, as far as the audience sees it, or will when it comes.
 * @param {{number: number}} properties
 */
export function Page({ number }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // When the slide has been laid out.
    const waiting = requestAnimationFrame(() => {
      const slide = document.querySelector("main.slide");
      if (!slide || !place.current) return;
      place.current.replaceChildren(copyOf(slide, number));
      place.current.style.setProperty("--scale", String(scaleNow()));
    });
    return () => cancelAnimationFrame(waiting);
  }, [shown.value, number, part.value, passed.value, pages.value, reveal.value]);
  return html`<${Frame} title="slide" place=${place} />`;
}

/** @param {Element} slide @param {number} number */
function copyOf(slide, number) {
  const copy = /** @type {HTMLElement} */ (slide.cloneNode(true));
  copy.removeAttribute("id");
  const pieces = /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(PIECES)]);
  const again = shownAgain(pages.value[number]);
  for (const [index, piece] of copy.querySelectorAll(PIECES).entries()) {
    const isAgain = again.includes(pieces[index]);
    const isHere = pieces[index].dataset.slidePage === String(number);
    piece.classList.toggle("again", isAgain);
    piece.classList.toggle("off-page", !isHere && !isAgain);
  }
  for (const box of copy.querySelectorAll(".folded[open]"))
    box.classList.toggle("off-page", isElsewhere(box));
  return copy;
}

/** Whether all that a box holds stands on other pages. @param {Element} box */
function isElsewhere(box) {
  const pieces = [...box.querySelectorAll(PIECES)];
  return pieces.length > 0 && pieces.every((piece) => piece.classList.contains("off-page"));
}

/** The first page of another slide, in type of the usual size.
 * @param {{slide: Slide}} properties */
export function Beginning({ slide }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const scale = scaleNow();
  useLayoutEffect(() => {
    const own = body.current;
    if (!own) return undefined;
    const frame = /** @type {HTMLElement} */ (own.closest(".thumbnail"));
    const layOut = () => {
      frame.classList.add("measured"); // as large as the audience will see it
      layOutFirst(own, frame.children[0].getBoundingClientRect());
      frame.classList.remove("measured");
    };
    layOut();
    return watchLayout(own, layOut);
  }, [slide, scale]);
  return html`<${Frame} title=${slide.title} scale=${scale}>
    <div class="article slide">
      <${Above} slide=${slide} isFurther=${false} />
      <div class="slide-body" ref=${body}><${Contents} slide=${slide} /></div>
    </div>
  </${Frame}>`;
}
