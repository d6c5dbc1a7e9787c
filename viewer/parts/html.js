// Markup in template strings: text that goes through it becomes text nodes, never markup.

import htm from "htm";
import { Component, h } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/** @param {any} one @param {any} other */
function differs(one, other) {
  for (const name in one) if (one[name] !== other[name]) return true;
  return false;
}

/**
 * A component that is left as it is while its properties are the same.
 * @template P
 * @param {(properties: P) => any} draw
 * @returns {any}
 */
export function memo(draw) {
  return class extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      return differs(this.props, next) || differs(next, this.props);
    }
    /** @param {any} properties */
    render(properties) {
      return draw(properties);
    }
  };
}

/**
 * A component whose module is fetched when it is first shown.
 * @param {() => Promise<any>} load
 * @param {(properties: any) => any} [instead] what is shown until it is there
 * @returns {(properties: any) => any}
 */
export function later(load, instead = () => null) {
  /** @type {any} */
  let component = null;
  return (properties) => {
    const [Shown, show] = useState(() => component);
    useLayoutEffect(() => {
      if (!Shown) load().then((loaded) => show(() => (component = loaded)));
    }, []);
    return Shown ? html`<${Shown} ...${properties} />` : instead(properties);
  };
}

/** A long name goes on below, where it has no room, without a break inside a word.
 * @param {string} text */
export const breakable = (text) =>
  text.split(/(?<=_)(?=[^_])/).map((part, index) => html`${index > 0 && html`<wbr />`}${part}`);
