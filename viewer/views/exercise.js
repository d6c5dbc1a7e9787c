// An exercise: its question, the reader's answer, the solution. Fetched with the first of them.

import { split } from "viewer/model/exercises.js";
import { html } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { styled } from "viewer/parts/styles.js";
import { answer, answersHere } from "viewer/state/answers.js";
import { printing } from "viewer/state/state.js";

await styled("question.css");

/**
 * @param {{name: string, text: string, children?: any}} properties name: of the function; text: its
 *   docstring below the title; children: its code
 */
export function Exercise({ name, text, children }) {
  const { question, hint } = split(text);
  const key = `exercise ${name}`;
  const given = answersHere()[key];
  const write = (/** @type {any} */ event) =>
    answer(key, { text: event.target.value, grade: given?.grade ?? "shown" });
  const solve = (/** @type {any} */ event) =>
    answer(key, { text: given?.text ?? "", grade: event.target.checked ? "solved" : "shown" });
  return html`<div class="exercise">
    <${Prose} text=${question} />
    ${
      hint &&
      html`<details class="folded">
        <summary>a hint</summary>
        <${Prose} text=${hint} />
      </details>`
    }
    ${
      !printing.value &&
      html`<label class="exercise-answer">
        Your answer
        <textarea rows="2" spellcheck="false" onChange=${write}>${given?.text ?? ""}</textarea>
      </label>`
    }
    <details class="folded solution" open=${printing.value}>
      <summary>the solution, as it ran</summary>
      <div class="folded-body">
        ${children}
        ${
          !printing.value &&
          html`<label class="exercise-solved">
            <input type="checkbox" checked=${given?.grade === "solved"} onChange=${solve} />
            I had it
          </label>`
        }
      </div>
    </details>
  </div>`;
}
