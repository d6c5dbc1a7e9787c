// The document that the address names, asked for before the rest of the page's code is there.

const name = new URLSearchParams(location.hash.slice(1)).get("doc") ?? "";

/** The first answer, for who asks first; later ones are fetched anew. @type {Map<string, Promise<Response>>} */
const asked = new Map();
if (/^[\w.-]+$/.test(name) && !document.getElementById("document")) {
  asked.set(name, fetchDocument(name));
  asked.get(name)?.catch(() => {}); // told by who asks
}

/** @param {string} wanted the name of a document @returns {Promise<Response>} */
function fetchDocument(wanted) {
  return fetch(`traces/${wanted}.json`, { cache: "no-cache" });
}

/** @param {string} wanted the name of a document @returns {Promise<Response>} */
export function documentResponse(wanted) {
  const first = asked.get(wanted);
  asked.delete(wanted);
  return first ?? fetchDocument(wanted);
}
