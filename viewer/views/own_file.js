// A file of the reader's, where no document is shown.

import { useEffect } from "preact/hooks";
import { html } from "viewer/parts/html.js";
import { openFile } from "viewer/state/own.js";
import { course } from "viewer/state/state.js";

/** It is dropped on the page or, where this is no course, chosen. */
export function OwnFile() {
  useEffect(() => {
    const over = (/** @type {DragEvent} */ event) => event.preventDefault();
    const dropped = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) openFile(file);
    };
    addEventListener("dragover", over);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", dropped);
    };
  }, []);
  if (course.value.title) return null;
  return html`<p class="own-file">
    <label>
      A document, or a trace of edtrace, CS336 or lectrace, from a file (or dropped here):${" "}
      <input
        type="file"
        accept=".json,application/json"
        onChange=${(/** @type {any} */ event) => openFile(event.target.files[0])}
      />
    </label>
  </p>`;
}
