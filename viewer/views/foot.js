// What stands below a chapter: the ways on.

import { useMemo } from "preact/hooks";
import { amountOf, FRONT } from "viewer/model/book.js";
import { html } from "viewer/parts/html.js";
import { openPage } from "viewer/state/address.js";
import { takePath } from "viewer/state/path.js";
import { current } from "viewer/state/state.js";
import { PageLink } from "viewer/views/chapter.js";

/** Its exercises, to be saved as a file. @param {{chapter: Chapter}} properties */
function ExerciseFile({ chapter }) {
  const { model } = current();
  const save = async () => {
    const { exerciseFile } = await import("viewer/model/exercises.js");
    const { saveAs } = await import("viewer/parts/saving.js");
    saveAs(`exercises_${chapter.name.replaceAll("-", "_")}.py`, exerciseFile(model, chapter));
  };
  return html`<p class="exercise-file">
    <button class="button" onClick=${save}>
      Save the exercises of this chapter as a Python file, with the claims as tests
    </button>
  </p>`;
}

/** From the end of the short path to the front page of all. */
function leavePath() {
  takePath(false);
  openPage(FRONT);
}

/** @param {{chapter: Chapter}} properties */
export function ChapterFoot({ chapter }) {
  const { number } = chapter;
  const { book, model, leftOut } = current();
  const [before, after] = [book[number - 2], book[number]];
  const { exercises } = useMemo(() => amountOf(model, chapter), [chapter]);
  return html`${exercises > 0 && html`<${ExerciseFile} chapter=${chapter} />`}
    <nav class="chapter-foot" aria-label="chapters">
    <${PageLink} number=${number - 1} rel="prev" class="chapter-way">
      <span class="quiet">← ${before ? `Chapter ${before.label}` : "Front page"}</span>
      <span>${before ? before.title : "All chapters"}</span>
    </${PageLink}>
    ${
      after &&
      html`<${PageLink} number=${number + 1} rel="next" class="chapter-way">
        <span class="quiet">Chapter ${after.label} →</span>
        <span>${after.title}</span>
      </${PageLink}>`
    }
    ${
      !after &&
      leftOut.size > 0 &&
      html`<button class="chapter-way is-end" onClick=${leavePath}>
        <span class="quiet">Here the short path ends →</span>
        <span>All chapters and their exercises</span>
      </button>`
    }
  </nav>`;
}
