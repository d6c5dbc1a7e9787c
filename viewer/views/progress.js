// What the reader predicted and solved: counted, saved as a file, or forgotten. Fetched when it is
// opened.

import { useState } from "preact/hooks";
import { counted } from "viewer/model/format.js";
import { hasMark } from "viewer/model/sections.js";
import { html } from "viewer/parts/html.js";
import { saveAs } from "viewer/parts/saving.js";
import { answersHere, forget } from "viewer/state/answers.js";
import { current } from "viewer/state/state.js";

/** @type {[grade: Reply["grade"], words: string][]} */
const GRADES = [
  ["right", "predicted right"],
  ["near", "predicted nearly"],
  ["off", "predicted wrong"],
];

/** The panel. */
export function Progress() {
  const { name, document } = current();
  const answers = answersHere();
  const replies = Object.entries(answers);
  const count = (/** @type {string} */ grade) =>
    replies.filter(([, reply]) => reply.grade === grade).length;
  const marked = document.assertions.filter(({ predict }) => predict).length;
  const exercises = document.functions.filter((func) => hasMark(func, "exercise")).length;
  const save = () => {
    const { title, environment } = document;
    const file = { lecture: name, title, environment, answers };
    saveAs(`${name}.answers.json`, `${JSON.stringify(file, null, 1)}\n`);
  };
  return html`
    <ul class="progress-counts">
      ${GRADES.map(([grade, words]) => html`<li>${counted(count(grade), "claim")} ${words}</li>`)}
      <li>${count("solved")} of ${counted(exercises, "exercise")} solved</li>
    </ul>
    <p class="quiet">
      ${counted(marked, "claim")} ask for a prediction. Answers are kept in this browser, and sent
      nowhere.
    </p>
    <p class="progress-actions">
      <button class="button" disabled=${!replies.length} onClick=${save}>Save as a file</button>
      <${Forget} count=${replies.length} />
    </p>
  `;
}

/** What cannot be undone is asked for twice. @param {{count: number}} properties */
function Forget({ count }) {
  const [asked, ask] = useState(false);
  if (!asked || !count)
    return html`<button class="button" disabled=${!count} onClick=${() => ask(true)}>
      Forget all …
    </button>`;
  const answer = (/** @type {boolean} */ yes) => () => {
    ask(false);
    if (yes) forget();
  };
  return html`<span role="alert">Forget ${counted(count, "answer")} for good?</span>
    <button class="button is-final" onClick=${answer(true)}>Forget</button>
    <button class="button" onClick=${answer(false)}>Keep</button>`;
}
