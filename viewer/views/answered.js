// How near an answer came, below its line. Fetched with the first answer.

import { verdictOf } from "viewer/model/verdicts.js";
import { html } from "viewer/parts/html.js";
import { answer } from "viewer/state/answers.js";

/** @param {{question: Question, id: string, given: Reply}} properties */
export function Answered({ question, id, given }) {
  if (given.grade === "shown") return null;
  const verdict = verdictOf(question, given.text);
  const grade = verdict?.grade ?? "off";
  const again = () => answer(id, null);
  return html`<p class=${`answered ${grade}`} role="status">
    You said <b>${given.text}</b>: ${verdict?.text}.
    ${grade !== "right" && question.line > 0 && html`${" "}Line ${question.line} decides it.`}
    ${" "}<button class="quiet-link" onClick=${again}>ask again</button>
  </p>`;
}
