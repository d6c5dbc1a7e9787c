// What is copied: of a selection its prose and code, or the block of code that one points at, by a
// button. Fetched when there is one who does something.

import { codeIn, copyWithoutMargin } from "viewer/views/copying.js";

/** Milliseconds for which it says that it has copied. */
const SAID = 1500;

const button = Object.assign(document.createElement("button"), {
  className: "copy-block",
  title: "Copy this code",
  textContent: "copy",
  tabIndex: -1,
});

button.addEventListener("click", async (event) => {
  event.stopPropagation();
  const block = button.parentElement;
  if (!block) return;
  await navigator.clipboard.writeText(`${codeIn(block)}\n`);
  button.textContent = "copied";
  setTimeout(() => (button.textContent = "copy"), SAID);
});

addEventListener("copy", copyWithoutMargin);
addEventListener(
  "pointerover",
  ({ target, pointerType }) => {
    const block = target instanceof Element ? target.closest("#article .row-line") : null;
    if (pointerType === "touch" || block?.contains(button)) return;
    button.textContent = "copy";
    if (block && navigator.clipboard) block.append(button);
    else button.remove();
  },
  { passive: true },
);
