// The files of a program, the lines of the one that runs marked; others are laid out ahead, while
// the reader rests.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { shortPaths } from "viewer/model/places.js";
import { withValues } from "viewer/model/quotes.js";
import { eventOf, statementOf } from "viewer/model/run.js";
import { spokenOn } from "viewer/model/said.js";
import { linesOf } from "viewer/model/source.js";
import { isSpoken } from "viewer/model/spoken.js";
import { html, memo } from "viewer/parts/html.js";
import { Prose } from "viewer/parts/prose.js";
import { codeLine } from "viewer/parts/sourceline.js";
import { ValueView } from "viewer/parts/value.js";
import { rested } from "viewer/state/address.js";
import { takeFocus } from "viewer/state/article.js";
import { current, focus, proseShown } from "viewer/state/state.js";
import { isAhead, stopNow } from "viewer/state/stops.js";
import { Pane } from "viewer/views/pane.js";
import { Rounds } from "viewer/views/rounds.js";

/**
 * How many files stay laid out: the one shown, those that the run enters next, those that it left.
 */
const KEPT = 5;
const AHEAD = 2;

/**
 * How many events the next files are looked for in, how few of these are soon, and after how many
 * steps one looks again.
 */
const REACH = 4000;
const SOON = 200;
const STRIDE = 8;

/**
 * @param {{at: number, inner: boolean}} properties the step to mark, and whether it is the current
 *   one
 */
export function Program({ at, inner }) {
  const { model, document } = current();
  const [file, first, last] = document.statements[statementOf(model, at)];
  const recent = useRef(/** @type {number[]} */ ([]));
  const [ahead, setAhead] = useState("");
  const paths = useMemo(() => shortPaths(document.files.map((source) => source.path)), [document]);
  const [soon, ...next] = ahead.split(" ").map(Number);
  recent.current = [...new Set([file, ...next, ...recent.current])].slice(0, KEPT);
  useEffect(() => {
    idle().then(() =>
      setAhead([filesAhead(model, at, SOON).length, ...filesAhead(model, at, REACH)].join(" ")),
    );
  }, [file, Math.floor(at / STRIDE)]);
  const target = focus.value;
  useLayoutEffect(() => {
    const line = `.program-file:not(.away) [data-line="${first}"]`;
    if (target.takes && target.step === at) takeFocus(window.document.querySelector(line));
  }, [target]);
  const mark = `${first} ${last} ${inner ? "current" : "caller"}`;
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  const { isBack } = stopNow();
  const past = isBack ? `back at ${lines}, its last run` : `after ${lines} ran`;
  const ran = isAhead() ? `${lines}: its calls come first` : past;
  return html`<section class="program" aria-label="program">
    <header class="program-head">
      <span class="path">${paths[file]}</span>
      <${Rounds} at=${at} />
      <span class="where">${inner ? ran : `during ${lines}`}</span>
    </header>
    <div class="program-files">
      ${recent.current
        .toSorted((one, other) => one - other)
        .map(
          (kept) =>
            html`<${SourceFile}
              key=${kept}
              file=${kept}
              path=${paths[kept]}
              how=${proseShown.value}
              isSoon=${next.slice(0, soon).includes(kept)}
              mark=${kept === file ? mark : ""}
            />`,
        )}
    </div>
  </section>`;
}

/** Settled when the browser has nothing to do. @returns {Promise<any>} */
function idle() {
  return new Promise((resolve) =>
    "requestIdleCallback" in window
      ? requestIdleCallback(resolve, { timeout: 2000 })
      : setTimeout(resolve, 200),
  );
}

/**
 * The other files that the run enters next, in their order.
 * @param {Model} model
 * @param {number} step
 * @param {number} reach in events
 * @returns {number[]}
 */
function filesAhead(model, step, reach) {
  const { statements } = model.document;
  const from = eventOf(model, step);
  const files = new Set([statements[model.events[from] - 1][0]]);
  for (
    let event = from;
    event < Math.min(from + reach, model.events.length) && files.size <= AHEAD;
    event++
  )
    if (model.events[event] > 0) files.add(statements[model.events[event] - 1][0]);
  return [...files].slice(1);
}

/** The lines on which statements of a file stand. @param {Lecture} document @param {number} file */
function linesThatRun({ statements }, file) {
  /** @type {Set<number>} */
  const found = new Set();
  for (const [owner, first, last] of statements)
    if (owner === file) for (let line = first; line <= last; line++) found.add(line);
  return found;
}

/**
 * Lines that are laid out at once ahead of the reader: few, since a press may have to wait for
 * them.
 */
const CHUNK = 8;

/**
 * The lines of a file in chunks that cut no prose.
 * @param {number} file
 * @param {string} how prose is shown
 */
function chunksOf(file, how) {
  const { document } = current();
  const source = document.files[file];
  const length = linesOf(source).length;
  const prose = new Map(
    how === "raw" ? [] : source.prose.map((block) => [block.first_line, block]),
  );
  const claims = new Set(
    document.assertions
      .map(({ statement }) => document.statements[statement])
      .filter(([owner]) => owner === file)
      .map(([, line]) => line),
  );
  const runs = linesThatRun(document, file);
  const chunks = [];
  for (let first = 1, line = 1; line <= length; line++) {
    line = prose.get(line)?.last_line ?? line;
    if (line < Math.min(first + CHUNK - 1, length)) continue;
    chunks.push(
      html`<${Chunk}
        key=${first}
        source=${source}
        first=${first}
        last=${line}
        prose=${prose}
        claims=${claims}
        runs=${runs}
        how=${how}
      />`,
    );
    first = line + 1;
  }
  return chunks;
}

/**
 * A file; while it is not shown it is laid out bit by bit, when the reader rests or will see it
 * soon, then frozen. Mark: of `Pane.mark`.
 * @type {View<{file: number, path: string, how: string, isSoon: boolean, mark: string}>}
 */
const SourceFile = memo(({ file, path, how, isSoon, mark }) => {
  const { document } = current();
  const isAway = !mark;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const pane = useRef(/** @type {Pane | null} */ (null));
  const chunks = useMemo(() => chunksOf(file, how), [document, file, how]);
  const [grown, grow] = useState(0);
  const ready = useRef(0);
  ready.current = mark ? chunks.length : Math.max(ready.current, Math.min(grown, chunks.length));
  const isFrozen = isAway && grown > chunks.length;
  const text = useMemo(
    () => html`<div class="program-text">${chunks.slice(0, ready.current)}</div>`,
    [chunks, ready.current],
  );
  useLayoutEffect(() => {
    if (!place.current) return;
    pane.current = new Pane(place.current);
    return () => pane.current?.close();
  }, [document, file, how]);
  useLayoutEffect(() => {
    if (ready.current === chunks.length) pane.current?.fill(chunks);
    pane.current?.mark(mark);
  }, [mark, ready.current, chunks]);
  useEffect(() => {
    if (!isAway) return grow(0);
    if (isFrozen) return;
    let isLeft = false;
    (isSoon ? idle() : rested().then(idle)).then(() => isLeft || grow(ready.current + 1));
    return () => (isLeft = true);
  }, [isAway, isSoon, isFrozen, ready.current, chunks]);
  const onClick = async (/** @type {any} */ event) => {
    const line = event.target.closest("button.line-number")?.parentElement.dataset.line;
    if (line) (await import("viewer/state/moves.js")).goToLine(file, Number(line));
  };
  return html`<div
    class=${`program-file ${isAway ? "away" : ""} ${isFrozen ? "frozen" : ""}`}
    inert=${isAway}
  >
    <div
      class="program-lines"
      ref=${place}
      tabindex="0"
      role="region"
      aria-label=${`source of ${path}`}
      onClick=${onClick}
    >
      <div class="marker" aria-hidden="true"></div>
      ${text}
    </div>
  </div>`;
});

/**
 * @type {View<{source: SourceFile, first: number, last: number, prose: Map<number, Prose>,
 *   claims: Set<number>, runs: Set<number>, how: string}>}
 */
const Chunk = memo(({ source, first, last, prose, claims, runs, how }) => {
  const page = [];
  for (let line = first; line <= last; line++) {
    const block = prose.get(line);
    if (!block)
      page.push(
        html`<div
          class=${claims.has(line) ? "program-line is-claim" : "program-line"}
          data-line=${line}
        >
          ${lineNumber(line, runs.has(line))}
          ${codeLine(source, line, how === "raw")}
        </div>`,
      );
    else if (how === "rendered" && block.kind !== "note")
      page.push(
        html`<${ProseLine}
          block=${block}
          source=${source}
          indent=${linesOf(source)[line - 1].search(/\S|$/)}
        />`,
      );
    if (block) line = block.last_line;
  }
  return page;
});

/** @param {number} line @param {boolean} runs whether a statement stands there */
function lineNumber(line, runs) {
  if (!runs) return html`<span class="line-number">${line}</span>`;
  return html`<button class="line-number" tabindex="-1" title="Run to this line">${line}</button>`;
}

/** @param {{block: Prose, source: SourceFile, indent: number}} properties */
function ProseLine({ block, source, indent }) {
  const { document, model } = current();
  const place = { file: document.files.indexOf(source), line: block.first_line };
  const said = withValues(document, { ...place, text: block.text });
  const isDocstring = block.kind === "docstring";
  const text = isDocstring ? said.replace(/^[^\n]+/, (title) => `**${title}**\n`) : said;
  const pieces = isSpoken(block) ? spokenOn(model, source, block) : [{ text }];
  // What is said is said by a step, which stands there.
  return html`<div class="program-prose" data-line=${isSpoken(block) ? block.first_line : null}>
    <span class="line-number">${block.first_line}</span>
    <div style=${{ marginLeft: `${indent}ch` }}>
      ${pieces.map(({ text, value }) =>
        value ? html`<${ValueView} value=${value} name="" />` : html`<${Prose} text=${text} />`,
      )}
    </div>
  </div>`;
}
