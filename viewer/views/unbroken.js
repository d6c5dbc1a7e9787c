// Keeps names with a hyphen in titles on one line: no style sheet can ask for that. On slides only,
// where titles are large. Asks the laid out page.

const TITLES = ".section-title, .prose :is(h1, h2, h3, h4)";

/** The hyphen of a name, such as GPT-2 or ZeRO-1: one beside a digit or a capital letter. */
const OF_NAME = /(?<=[\p{Lu}\d])-(?=[^\s\u2060])|(?<=\S)-(?=[\p{Lu}\d])/gu;

/** No line ends beside this, and nothing is seen of it. */
const JOINER = "\u2060";

/** @param {HTMLElement} root */
export function keepNames(root) {
  for (const title of root.querySelectorAll(TITLES)) {
    const walker = document.createTreeWalker(title, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = /** @type {Text} */ (walker.currentNode);
      const joined = text.data.replace(OF_NAME, `-${JOINER}`);
      if (joined !== text.data) text.data = joined;
    }
  }
}
