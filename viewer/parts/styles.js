// Style sheets of parts of the page that are opened later.

/** @type {Map<string, Promise<unknown>>} */
const asked = new Map();

/**
 * Settled when a style sheet is there. A page that was exported as one file has all of them in it.
 * @param {string} path below the viewer's folder
 * @returns {Promise<unknown>}
 */
export function styled(path) {
  if (document.getElementById("parts")) return Promise.resolve();
  const known = asked.get(path);
  if (known) return known;
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: path });
  const there = new Promise((resolve) => (link.onload = link.onerror = resolve));
  asked.set(path, there);
  document.head.append(link);
  return there;
}
