// What is copied of an article: its prose and code, without what stands beside them.

const BESIDE = [
  ...[".beside-line", ".card-place", ".held-mark", ".failed-claims", ".evidence"],
  ...[".line-number", ".copy-block", ".scrubber", ".section-meta", ".anchor", ".colophon"],
].join(", ");

/**
 * The lines of a block, below each other as they are in the source.
 * @param {Element} block
 */
export function codeIn(block) {
  const own = [...block.querySelectorAll(".line")].filter(
    (line) => line.closest(".row-line") === block,
  );
  const lines = own.map((line, index) => {
    const text = (line.querySelector("pre")?.textContent ?? "").replace(/\n+$/, "");
    return index && line.classList.contains("spaced") ? `\n${text}` : text;
  });
  return lines.join("\n");
}

/**
 * Leave out the margin, unless it is all that is selected. Rendered text has no other lines than
 * those of the source.
 * @param {ClipboardEvent} event
 */
export function copyWithoutMargin(event) {
  const range = getSelection()?.rangeCount ? getSelection()?.getRangeAt(0) : null;
  if (!range || range.collapsed || !event.clipboardData) return;
  const within = range.commonAncestorContainer;
  const element = within instanceof Element ? within : within.parentElement;
  if (!element?.closest("#article") || element.closest(BESIDE)) return;
  const copy = document.createElement("div");
  copy.className = "copied";
  const part = document.createElement("div");
  part.className = element.closest(".row-line") ? "row-line" : "";
  part.append(range.cloneContents());
  copy.append(part);
  for (const margin of copy.querySelectorAll(BESIDE)) margin.remove();
  for (const formula of copy.querySelectorAll(".katex"))
    formula.replaceWith(`$${formula.querySelector("annotation")?.textContent ?? ""}$`);
  for (const block of copy.querySelectorAll(".row-line:has(.line)")) {
    const code = document.createElement("pre");
    code.textContent = codeIn(block);
    block.replaceWith(code);
  }
  document.body.append(copy); // what is not laid out has no lines
  const text = copy.innerText;
  copy.remove();
  event.clipboardData.setData("text/plain", text.replace(/\n{3,}/g, "\n\n"));
  event.preventDefault();
}
