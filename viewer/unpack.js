// The first script of a page that was exported as one file: it puts the parts of the page in their places and starts it.

async function unpack() {
  const text = document.getElementById("parts")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { name, modules, styles, document: lecture } = await new Response(stream).json();

  /** What lists begin with says how they were packed: integers as differences, tables as columns. @param {any} value @returns {any} */
  const unpacked = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (!Array.isArray(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpacked(item)]));
    const [mark, ...items] = value;
    if (mark === true) {
      const columns = items.map(unpacked);
      return columns[0].map((/** @type {any} */ _, /** @type {number} */ row) => columns.map((column) => column[row]));
    }
    if (mark === null) return items.map(unpacked);
    if (typeof mark !== "number") return value.map(unpacked);
    if (mark) for (let at = mark; at < items.length; at++) items[at] += items[at - mark];
    return items;
  };

  /** @param {string} tag @param {string} text @param {Record<string, string>} attributes */
  const add = (tag, text, attributes = {}) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.textContent = text;
    document.head.append(element);
    return element;
  };

  for (const style of styles) add("style", style);
  const addresses = modules.map((/** @type {string[]} */ [, , source]) => `data:text/javascript,${encodeURIComponent(source)}`);
  const imports = Object.fromEntries(modules.map((/** @type {string[]} */ [specifier], /** @type {number} */ at) => [specifier, addresses[at]]));
  const integrity = Object.fromEntries(modules.map((/** @type {string[]} */ [, hash], /** @type {number} */ at) => [addresses[at], hash]));
  add("script", JSON.stringify({ imports, integrity }), { type: "importmap" });
  add("script", JSON.stringify(unpacked(lecture)), { type: "application/json", id: "document" }).dataset.name = name;
  const early = "viewer/early.js";
  await import(early);
}

unpack().catch((error) => {
  console.warn(error);
  const sentence = document.createElement("p");
  sentence.textContent = "This browser cannot show this page; current versions of Firefox, Safari, Chrome and Edge can.";
  document.body.prepend(sentence);
});
