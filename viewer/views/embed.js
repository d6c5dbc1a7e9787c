// One section or one step within a page of somebody else: `?embed`. No bars, at the height that it
// needs, which the page around it is told. Fetched where it is shown.

import { useEffect, useRef } from "preact/hooks";
import { functionOf } from "viewer/model/run.js";
import { sectionOfStep, titleOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { current, focus, mode } from "viewer/state/state.js";
import { Read } from "viewer/views/read.js";
import { Section } from "viewer/views/section.js";
import { Step } from "viewer/views/step.js";

await styled("embed.css");

/** Pixels that a step takes at least and at most, and beside its lines of code. */
const LEAST = 360;
const MOST = 640;
const LINE = 22;
const AROUND = 190;

/** @param {number} height */
function tell(height) {
  parent.postMessage({ type: "lecture-height", height: Math.ceil(height) }, "*");
}

/** What the address names, and a link to all of it. */
export function Embedded() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const isStep = mode.value === "step";
  useEffect(() => {
    if (!place.current) return undefined;
    const { height } = place.current.getBoundingClientRect();
    if (isStep) return tell(height);
    const observer = new ResizeObserver(([{ target }]) =>
      tell(target.getBoundingClientRect().height),
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isStep]);
  return html`<div
    ref=${place}
    class=${isStep ? "embedded-step" : "embedded"}
    style=${isStep ? { height: `${heightOfStep()}px` } : null}
  >
    ${isStep ? html`<${Step} />` : html`<${OneSection} />`}
    <${Whole} />
  </div>`;
}

/** So that the function that runs can be seen, as far as there is room. */
function heightOfStep() {
  const { model, sections } = current();
  const { activation } = sectionOfStep(sections, focus.value.step) ?? sections[0];
  const { line, end_line: end } = functionOf(model, activation);
  return Math.min(MOST, Math.max(LEAST, (end - line + 1) * LINE + AROUND));
}

/** The section of the place in the address; without one, the page that would be shown. */
function OneSection() {
  const { sections } = current();
  const target = focus.value.step;
  const section = target < 0 ? undefined : sectionOfStep(sections, target);
  if (!section?.depth) return html`<${Read} />`;
  const { activation, depth } = section;
  return html`<main id="article" class="article">
    <${Section} key=${activation} activation=${activation} depth=${depth} />
  </main>`;
}

/** A link to the lecture, at this place. */
function Whole() {
  const { model } = current();
  const address = new URL(location.href);
  address.search = "";
  return html`<p class="embedded-foot">
    <a href=${address.href} target="_blank" rel="noopener">${titleOf(model)} ↗</a>
  </p>`;
}
