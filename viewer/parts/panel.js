// What panels share: tabs, ways to a step, boxes that scroll by themselves.

import { integer } from "viewer/model/format.js";
import { activationOf, functionOf } from "viewer/model/run.js";
import { plainTitle } from "viewer/model/sections.js";
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
  return func.title ? plainTitle(func.title) : func.name;
}

/** @param {{step: number, place?: boolean}} properties place: name the function too */
export function Jump({ step: target, place = false }) {
  const { model } = current();
  const where = place ? ` in ${functionOf(model, activationOf(model, target)).name}` : "";
  return html`<button class="jump" title=${`Go to step ${target + 1}`} onClick=${() => leaveTo(target)}>
    step ${integer(target + 1)}
    ${where}
  </button>`;
}

/**
 * @param {{chosen: string, choose: (name: string) => void, tabs: [name: string, title: string][],
 *   children?: any}} properties
 */
export function Tabs({ chosen, choose, tabs, children }) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = (at + step + tabs.length) % tabs.length;
    choose(tabs[next][0]);
    /** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("button")[next].focus();
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
