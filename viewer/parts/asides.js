// What Markdown lacks: places that links lead to, callouts, sound and films.

/** What places in a text are called on the page, where `address.js` looks for them: no text takes a
 * name of the page itself. */
const ANCHOR = "in-text-";
const CLASS = /^prose-(notes|references)$/;
const KINDS = ["note", "tip", "important", "warning", "caution"];
const CALLOUT = /^\s*\[!(\w+)\][ \t]*/;

/** Give places names of their own, and leave no other class than those of ours.
 * @param {DocumentFragment} fragment */
export function nameAnchors(fragment) {
  for (const element of fragment.querySelectorAll("[id]")) element.id = `${ANCHOR}${element.id}`;
  for (const element of fragment.querySelectorAll("[class]"))
    if (!CLASS.test(element.className)) element.removeAttribute("class");
}

/** A quotation that begins with `[!NOTE]` is a note. @param {DocumentFragment} fragment */
export function setCallouts(fragment) {
  for (const quotation of fragment.querySelectorAll("blockquote")) {
    const text = quotation.querySelector("p")?.firstChild;
    const match = text instanceof Text ? CALLOUT.exec(text.data) : null;
    const kind = match?.[1].toLowerCase() ?? "";
    if (!match || !KINDS.includes(kind)) continue;
    /** @type {Text} */ (text).data = /** @type {Text} */ (text).data.slice(match[0].length);
    const title = Object.assign(document.createElement("strong"), { className: "callout-title" });
    title.textContent = kind[0].toUpperCase() + kind.slice(1);
    const callout = Object.assign(document.createElement("div"), {
      className: `callout callout-${kind}`,
    });
    callout.setAttribute("role", "note");
    callout.append(title, ...quotation.childNodes);
    quotation.replaceWith(callout);
  }
}

/** @param {string} mime @param {string} address @param {string} name */
export function player(mime, address, name) {
  const element = document.createElement(mime.startsWith("video/") ? "video" : "audio");
  element.controls = true;
  element.preload = "metadata";
  element.src = address;
  element.setAttribute("aria-label", name);
  return element;
}
