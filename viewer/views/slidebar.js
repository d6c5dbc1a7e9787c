// What one presses while presenting, and where one is. Fetched when a presentation starts.

import { CommandButton, Icon } from "viewer/parts/buttons.js";
import { html } from "viewer/parts/html.js";
import { blank, pages, reveal, shown } from "viewer/state/slides.js";
import { InChapter } from "viewer/views/slide.js";

export const REVEAL_NAMES = { all: "at once", claims: "by claim", steps: "by line" };

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

/** Of more parts than these it is said which one is shown. */
const MOST_DOTS = 20;

/** What one presses, and where one is. @param {{at: number, of: number}} properties */
export function SlideBar({ at, of }) {
  const count = pages.value.length;
  return html`<nav class="slide-bar" aria-label="presentation">
    ${["leave", "firstSlide", "previousSlide", "slideBack"].map(button)}
    <${InChapter} />
    <span class="slide-count" title="To a slide: type its number, then Enter">
      ${shown.value + 1} / ${of}
    </span>
    ${
      count > 1 &&
      html`<span class="slide-part" title=${`Part ${at + 1} of ${count} of this slide`}>
        ${
          count > MOST_DOTS
            ? `part ${at + 1} / ${count}`
            : pages.value.map(
                (_, index) => html`<i class=${index === at ? "here" : ""} key=${index}></i>`,
              )
        }
      </span>`
    }
    ${["slideForward", "nextSlide", "lastSlide"].map(button)}
    <${CommandButton} id="blank" pressed=${blank.value} />
    <${CommandButton} id="reveal">${REVEAL_NAMES[reveal.value]}</${CommandButton}>
    <${CommandButton} id="speaker" />
  </nav>`;
}
