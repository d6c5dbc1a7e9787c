// Documents from the server, or from a page that was exported with one. It is there before the
// first line is shown, so it imports next to nothing.

import { restored } from "viewer/model/packing.js";

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
  if (embedded) {
    const read = "packed" in embedded.dataset ? packed : parsed;
    return { found: true, size: 0, document: await latest(read(embedded.textContent ?? "")) };
  }
  const inParts = (document.documentElement.dataset.parts ?? "").split(" ").includes(name);
  const file = `traces/${name}${inParts ? ".text.json.gz" : ".json"}`;
  const response = await fetch(file, { cache: "no-cache" });
  const size = Number(response.headers.get("Content-Length"));
  if (!response.ok || size > MAX_SIZE) return { found: response.ok, size, document: undefined };
  const text = await textOf(response, inParts ? "text" : "lecture");
  const rest = inParts ? askForRest(name) : null;
  rest?.catch(() => {}); // told by who takes it
  const found = text.length > MAX_SIZE ? undefined : inParts ? packed(text) : parsed(text);
  return {
    isLocal: isOurServer(response),
    found: true,
    size: text.length,
    document: await latest(found),
    rest,
  };
}

/** What was measured, of a document of which the text is there. @param {string} name */
async function askForRest(name) {
  const options = /** @type {const} */ ({ cache: "no-cache", priority: "low" });
  const response = await fetch(`traces/${name}.values.json.gz`, options);
  if (!response.ok) throw new Error(`${response.status}`);
  return JSON.parse(await textOf(response, "values"));
}

/**
 * The text of an answer, unless it is compressed: some servers unpack what ends in `.gz`, others
 * send it as it is. How much is there is said as it comes.
 * @param {Response} response
 * @param {string} what
 */
async function textOf(response, what) {
  const isCoded = response.headers.has("Content-Encoding");
  const size = isCoded ? 0 : Number(response.headers.get("Content-Length"));
  const chunks = [];
  let received = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    chunks.push(next.value);
    received += next.value.length;
    tell(what, received, size);
  }
  tell();
  const [first, second] = chunks[0] ?? [];
  const all = new Blob(chunks).stream();
  const isPacked = first === 0x1f && second === 0x8b;
  return new Response(isPacked ? all.pipeThrough(new DecompressionStream("gzip")) : all).text();
}

/** Say how much of what has come, or that nothing is on its way.
 * @param {string} [what] @param {number} [received] @param {number} [size] */
function tell(what, received = 0, size = 0) {
  const place = document.getElementById("coming");
  const megabytes = [received, ...(size ? [size] : [])].map((bytes) => (bytes / 1e6).toFixed(1));
  if (place) place.textContent = what ? `Fetching ${what}: ${megabytes.join(" of ")} MB` : "";
}

/**
 * Whether the server is `python -m trace --serve`, which always has a local index and an answer
 * about times. Another server would answer 404, which browsers print as an error.
 * @param {Response} response
 */
export function isOurServer(response) {
  return response.headers.has("Lecture-Server");
}

/** A document of an older version as one of the latest. @param {any} found */
export async function latest(found) {
  if (found?.version !== 1) return found;
  return (await import("viewer/model/older.js")).upgraded(found);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {string} text */
function packed(text) {
  const found = parsed(text);
  return found && restored(found);
}
