// The first script of a page that was exported as one file: it puts the parts of the page in their
// places and starts it.

/**
 * Five letters for four bytes, as in Python's `base64.b85encode`, with a comma for "<".
 * @param {string} text
 */
function bytesOf(text) {
  const letters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  const digits = new Map([...letters].map((letter, digit) => [letter, digit]));
  const words = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let word = 0; word * 5 < text.length; word++) {
    let number = 0;
    for (let at = word * 5; at < word * 5 + 5; at++)
      number = number * 85 + (digits.get(text[at]) ?? 84);
    words.setUint32(word * 4, number);
  }
  return words.buffer.slice(0, Math.floor((text.length * 4) / 5));
}

/** @param {string} tag @param {string} text @param {Record<string, string>} attributes */
function add(tag, text, attributes = {}) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.textContent = text;
  document.head.append(element);
  return element;
}

/** @param {[specifier: string, hash: string, source: string][]} modules */
function importMap(modules) {
  const addresses = modules.map(
    ([, , source]) => `data:text/javascript,${encodeURIComponent(source)}`,
  );
  const imports = Object.fromEntries(modules.map(([specifier], at) => [specifier, addresses[at]]));
  const integrity = Object.fromEntries(modules.map(([, hash], at) => [addresses[at], hash]));
  return JSON.stringify({ imports, integrity });
}

async function unpack() {
  const parts = bytesOf(document.getElementById("parts")?.textContent ?? "");
  const stream = new Blob([parts]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { name, modules, styles, document: packed } = await new Response(stream).json();
  for (const style of styles) add("style", style);
  add("script", importMap(modules), { type: "importmap" });
  const json = { type: "application/json", id: "document" };
  Object.assign(add("script", JSON.stringify(packed), json).dataset, { name, packed: "" });
  const early = "viewer/early.js";
  await import(early);
}

unpack().catch((error) => {
  console.warn(error);
  const sentence = document.createElement("p");
  sentence.textContent =
    "This browser cannot show this page; current versions of Firefox, Safari, Chrome and Edge can.";
  document.body.prepend(sentence);
});
