// How near an answer came, below its line. Fetched with the first answer.

import { valueText } from "viewer/model/values.js";
import { verdictOf } from "viewer/model/verdicts.js";
import { html } from "viewer/parts/html.js";
import { answer } from "viewer/state/answers.js";
import { bringIntoView, mark } from "viewer/state/article.js";
import { presenting } from "viewer/state/state.js";

/**
 * Go to a line of the same section and mark it; while presenting it may be on another page.
 * @param {number} number
 */
function showLine(number) {
  return async (/** @type {Event & {currentTarget: Element}} */ { currentTarget: button }) => {
    const section = button.closest(".section");
    const line = section?.querySelector(`.line[data-first="${number}"]`);
    if (!line) return;
    line.closest("details")?.setAttribute("open", "");
    if (!presenting.value) return bringIntoView(() => line);
    (await import("viewer/state/slides.js")).turnTo(line);
    mark(line);
  };
}

/** The line that decides. @param {{number: number}} properties */
function Decides({ number }) {
  if (!number) return null;
  return html`${" "}<button type="button" class="line-link" onClick=${showLine(number)}>
      Line ${number}
    </button>${" "}decides it.`;
}

/**
 * What a first answer lacks: who knows in which direction to look may find it.
 * @param {{question: Question, said: string}} properties
 */
export function Missed({ question, said }) {
  return html`<span class="missed" role="status">
    You said <b>${said}</b>: ${verdictOf(question, said)?.hint}.
    <${Decides} number=${question.line} /> Once more?
  </span>`;
}

/** @param {{question: Question, id: string, given: Reply}} properties */
export function Answered({ question, id, given }) {
  if (given.grade === "shown") return null;
  const verdict = verdictOf(question, given.text);
  const grade = verdict?.grade ?? "off";
  const again = () => answer(id, null);
  return html`<p class=${`answered ${grade}`} role="status">
    You said <b>${given.text}</b>: ${verdict?.text}.
    ${grade !== "right" && html`${" "}It is <b>${valueText(question.value, 0, true)}</b>.`}
    ${grade !== "right" && html`<${Decides} number=${question.line} />`}
    ${" "}<button class="quiet-link" onClick=${again}>ask again</button>
  </p>`;
}
