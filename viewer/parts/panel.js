// What panels share: tabs, ways to a step, boxes that scroll by themselves.

import { integer } from "viewer/model/format.js";
import { activationOf, functionOf } from "viewer/model/run.js";
import { headingOf } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { leaveTo } from "viewer/state/address.js";
import { current } from "viewer/state/state.js";

/**
 * Scroll a box, and nothing around it, so that a part of it is on the screen.
 * @param {Element} box
 * @param {Element} part
 */
export function keepInside(box, part) {
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  box.scrollTop +=
    Math.min(0, inner.top - outer.top - 4) + Math.max(0, inner.bottom - outer.bottom + 4);
}

/** What a section is called. @param {Section} section */
export function titleOfSection({ activation }) {
  const func = functionOf(current().model, activation);
  return headingOf(func);
}

/** So long a name is broken between its words, where a column is narrow. */
const LONG_NAME = /\w{20,}|\w{12,}(?=\.py:)/g;

/**
 * Code or a path that, where it does not fit, goes on below without a break inside a name.
 * @param {string} text
 */
export function breakable(text) {
  return text
    .replace(LONG_NAME, (name) => name.replace(/_+(?=\w)/g, "$&\0"))
    .replace(/[/,](?=\S)|(?<=\w)[([{](?=[^\s)\]}])|(?=\.(?!py\b)[A-Za-z_])/g, "$&\0")
    .split("\0")
    .map((part, index) => html`${index > 0 && html`<wbr />`}${part}`);
}

/** @param {{step: number, place?: boolean}} properties place: name the function too */
export function Jump({ step: target, place = false }) {
  const { model } = current();
  const where = place ? ` in ${functionOf(model, activationOf(model, target)).name}` : "";
  const title = `Go to step ${target + 1}`;
  return html`<button class="jump" title=${title} onClick=${() => leaveTo(target)}>
    step ${integer(target + 1)}
    ${where}
  </button>`;
}

/**
 * The tab that an arrow key leads to; undefined for other keys.
 * @template {string} Name
 * @param {KeyboardEvent} event
 * @param {Name[]} names
 * @param {Name} chosen
 */
export function nextTab(event, names, chosen) {
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!move) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return names[(names.indexOf(chosen) + move + names.length) % names.length];
}

/**
 * @param {{chosen: string, choose: (name: string) => void, tabs: [name: string, title: string][],
 *   children?: any}} properties
 */
export function Tabs({ chosen, choose, tabs, children }) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const names = tabs.map(([name]) => name);
    const next = nextTab(event, names, chosen);
    if (!next) return;
    choose(next);
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    list.querySelectorAll("button")[names.indexOf(next)].focus();
  };
  return html`
    <div class="tabs" role="tablist" onKeyDown=${onKey}>
      ${tabs.map(
        ([name, title]) =>
          html`<button
            role="tab"
            id=${`tab-${name}`}
            aria-selected=${name === chosen}
            aria-controls="tab-panel"
            tabindex=${name === chosen ? 0 : -1}
            onClick=${() => choose(name)}
          >
            ${title}
          </button>`,
      )}
    </div>
    <div id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${chosen}`}>
      ${children}
    </div>
  `;
}

/**
 * A slider along one axis of a tensor.
 * @param {{axis: number, count: number, at: number, shown: number, label: string, text?: string,
 *   move: (at: number) => void}} properties shown: the index that the place on the slider stands
 *   for
 */
export function AxisSlider({ axis, count, at, shown, label, text, move }) {
  return html`<label class="slice-slider">
    axis ${axis}:${" "}
    <input
      type="range"
      min="0"
      max=${count - 1}
      value=${at}
      disabled=${count < 2}
      aria-label=${label}
      aria-valuetext=${text}
      onInput=${(/** @type {any} */ event) => move(Number(event.target.value))}
    />${" "}
    <output>${shown}</output>
  </label>`;
}
