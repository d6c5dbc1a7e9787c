// What is copied of an article: its prose and code, without what stands beside them.

const BESIDE = [
  ...[".beside-line", ".card-place", ".held-mark", ".failed-claims", ".evidence"],
  ...[".line-number", ".scrubber", ".section-meta", ".anchor", ".colophon"],
].join(", ");

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
  copy.append(range.cloneContents());
  for (const margin of copy.querySelectorAll(BESIDE)) margin.remove();
  for (const formula of copy.querySelectorAll(".katex"))
    formula.replaceWith(`$${formula.querySelector("annotation")?.textContent ?? ""}$`);
  document.body.append(copy); // what is not laid out has no lines
  const text = copy.innerText;
  copy.remove();
  event.clipboardData.setData("text/plain", text.replace(/\n{3,}/g, "\n\n"));
  event.preventDefault();
}
