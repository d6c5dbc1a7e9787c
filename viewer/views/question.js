// A claim as a question: the reader says what comes out, then sees what did. Fetched when the first
// is asked.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { questionOf } from "viewer/model/predictions.js";
import { html, later } from "viewer/parts/html.js";
import { styled } from "viewer/parts/styles.js";
import { answer, answersHere, keyOf } from "viewer/state/answers.js";
import { takeFocus } from "viewer/state/article.js";
import { current } from "viewer/state/state.js";

await styled("question.css");

const Answered = later(async () => (await import("viewer/views/answered.js")).Answered);
const Missed = later(async () => (await import("viewer/views/answered.js")).Missed);

/**
 * A line that claims something, or the question in its place; below the line, how near the answer
 * came.
 * @param {{row: number, line: any}} properties
 */
export function Asked({ row, line }) {
  const { model } = current();
  const question = useMemo(() => questionOf(model, row), [model, row]);
  if (!question) return line;
  const key = keyOf(row);
  const given = answersHere()[key];
  const wasAsked = useRef(!given);
  useLayoutEffect(() => {
    // What had the focus is gone: the line that tells takes it.
    const line = `.line[data-steps~="${model.document.claims.step[row]}"]`;
    if (given && wasAsked.current) takeFocus(document.querySelector(line));
    wasAsked.current = !given;
  }, [given]);
  if (!given) return html`<${Asking} question=${question} id=${key} />`;
  return html`${line}<${Answered} question=${question} id=${key} given=${given} />`;
}

/** @param {{text: string, isMissed: boolean, say: (text: string) => void}} properties */
function Choice({ text, isMissed, say }) {
  return html`<button
    type="button"
    class="choice"
    disabled=${isMissed}
    onClick=${() => say(text)}
  >
    ${text}
  </button>`;
}

/** How an answer may be written. @param {Question} question */
function exampleOf({ value: { items, type } }) {
  const isTuple = items !== undefined || type === "Size";
  return isTuple ? "(2, 3)" : "12, 1.5e9, 3 GB, 2^20 or 2/3";
}

/** @param {{question: Question, id: string}} properties */
function Asking({ question, id }) {
  const { source, choices, hint, unit } = question;
  const [wrong, setWrong] = useState(false);
  const [missed, miss] = useState("");
  const say = async (/** @type {string} */ text) => {
    const { verdictOf } = await import("viewer/model/verdicts.js");
    const verdict = verdictOf(question, text);
    setWrong(!verdict);
    if (!verdict) return;
    // Whoever is far off may think again, where more than one answer is left.
    if (verdict.grade === "off" && !missed && choices.length !== 2) miss(text.trim());
    else answer(id, { text: text.trim(), grade: verdict.grade });
  };
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    say(event.target.elements.answer.value);
  };
  const show = () => answer(id, { text: "", grade: "shown" });
  const label = `What is ${source}?`;
  return html`<form class="question" onSubmit=${submit}>
    <span class="question-mark" aria-hidden="true">?</span>
    <code class="question-source">${source}</code>
    <span class="equals">=</span>
    ${
      choices.length > 0
        ? choices.map(
            (text) => html`<${Choice} text=${text} isMissed=${text === missed} say=${say} />`,
          )
        : html`<input
              name="answer"
              type="text"
              autocomplete="off"
              spellcheck="false"
              size="12"
              aria-label=${label}
              aria-invalid=${wrong}
            />
            ${unit && html`<span class="question-unit">${unit}</span>`}
            <button class="choice" aria-label=${`Check: ${source}`}>Check</button>`
    }
    <button
      type="button"
      class="quiet-link"
      aria-label=${`show: ${source}`}
      onClick=${show}
    >
      show
    </button>
    ${hint && !missed && html`<span class="question-hint">${hint}</span>`}
    ${missed && !wrong && html`<${Missed} question=${question} said=${missed} />`}
    <span class="question-wrong" role="alert">
      ${wrong && `Write it as ${exampleOf(question)}.`}
    </span>
  </form>`;
}
