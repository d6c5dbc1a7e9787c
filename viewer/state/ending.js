// The way to the end of a page. Fetched when somebody goes there, or with the panels.

import { hold } from "viewer/state/holding.js";

/** Go to the end of the page, which moves as what is above it is laid out. */
export function goToPageEnd() {
  hold(() => {
    const element = [...document.querySelectorAll("#article .section")].at(-1);
    if (!element) return null;
    const { top } = element.getBoundingClientRect();
    const left = document.documentElement.scrollHeight - innerHeight - scrollY;
    return { element, top: top - left };
  });
}
