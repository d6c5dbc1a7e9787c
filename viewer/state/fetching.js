// Documents from the server, or from a page that was exported with one. It is there before the
// first line is shown, so it imports nothing.

/** Ten million steps take 20 MB; far beyond, a browser would run out of memory without a word. */
export const MAX_SIZE = 128e6;

/** A page that was exported as one file carries its document. */
export const embedded = document.getElementById("document");

/** Answers that nobody has taken yet. @type {Map<string, Promise<Answer>>} */
const asked = new Map();

/**
 * Ask for a document that `documentOf` will want.
 * @param {string} name
 * @returns {Promise<Answer>}
 */
export function askAhead(name) {
  const answer = ask(name);
  answer.catch(() => {}); // told by who takes it
  asked.set(name, answer);
  return answer;
}

/** @param {string} name of a document @returns {Promise<Answer>} */
export function documentOf(name) {
  const answer = asked.get(name) ?? ask(name);
  asked.delete(name);
  return answer;
}

/** @param {string} name @returns {Promise<Answer>} */
async function ask(name) {
  const response = embedded
    ? new Response(embedded.textContent)
    : await fetch(`traces/${name}.json`, { cache: "no-cache" });
  const size = Number(response.headers.get("Content-Length"));
  if (!response.ok || size > MAX_SIZE) return { found: response.ok, size, document: undefined };
  const text = await response.text();
  return {
    isLocal: isOurServer(response),
    found: true,
    size: text.length,
    document: text.length > MAX_SIZE ? undefined : parsed(text),
  };
}

/**
 * Whether the server is `python -m trace --serve`, which always has a local index and an answer
 * about times. Another server would answer 404, which browsers print as an error.
 * @param {Response} response
 */
export function isOurServer(response) {
  return response.headers.has("Lecture-Server");
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
