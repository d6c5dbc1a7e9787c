// Step: the program with the statement that just ran, the calls that are open, and what is known.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { integer } from "viewer/format.js";
import { CommandButton, html, Icon, memo } from "viewer/html.js";
import {
  callStack,
  endOf,
  eventOf,
  functionOf,
  hasCalls,
  rows,
  statementOf,
  stepAfter,
} from "viewer/model.js";
import { environmentAt, shortPaths } from "viewer/navigate.js";
import { Prose } from "viewer/prose.js";
import { Claim, codeLine, Cost, Failure, outcomeOf, plainTitle, Printed } from "viewer/read.js";
import { linesOf, titleOf } from "viewer/reading.js";
import {
  chosenFrame,
  chosenName,
  colourOf,
  colours,
  current,
  goTo,
  pinned,
  playing,
  proseShown,
  rested,
  step,
  variablesShown,
} from "viewer/store.js";
import { inspect, ValueView } from "viewer/value.js";

/** The stepping page. What does not follow each step is made once. */
export function Step() {
  const { model } = current();
  const controls = useMemo(() => html`<${Controls} />`, []);
  if (!model.steps)
    return html`<main id="stepping" class="stepping"><p class="notice-inline">Nothing of this lecture ran.</p></main>`;
  const frames = callStack(model, step.value);
  const shown =
    frames.find((frame) => frame.activation === chosenFrame.value) ?? frames[frames.length - 1];
  return html`<main id="stepping" class="stepping" tabindex="-1"><h1 class="visually-hidden">${titleOf(model)}</h1>
    <${Program} at=${shown.step} inner=${shown.step === step.value} />
    <aside class="facts" aria-label="state after this statement"><div class="apart">
      ${current().document.failure?.step === step.value && html`<${Failure} />`}
      <${Frames} frames=${frames} shown=${shown.activation} />
      <${Outcome} />
      ${variablesShown.value && html`<${Variables} activation=${shown.activation} />`}
    </div></aside>
    ${controls}
  </main>`;
}

/** How many files stay laid out: the one shown, those that the run enters next, those that it left. */
const KEPT = 5;
const AHEAD = 2;
/** How many events the next files are looked for in, how few of these are soon, and after how many steps one looks again. */
const REACH = 4000;
const SOON = 200;
const STRIDE = 8;

/** @param {{at: number, inner: boolean}} properties the step to mark, and whether it is the current one */
function Program({ at, inner }) {
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
  const mark = `${first} ${last} ${inner ? "current" : "caller"}`;
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return html`<section class="program" aria-label="program">
    <header class="program-head"><span class="path">${paths[file]}</span><span class="where">${inner ? `after ${lines} ran` : `during ${lines}`}</span></header>
    <div class="program-files">${recent.current.toSorted((one, other) => one - other).map((kept) => html`<${SourceFile} key=${kept} file=${kept} path=${paths[kept]} how=${proseShown.value} isSoon=${next.slice(0, soon).includes(kept)} mark=${kept === file ? mark : ""} />`)}</div>
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

/** The other files that the run enters next, in their order. @param {Model} model @param {number} step @param {number} reach in events @returns {number[]} */
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

/** Lines that are laid out at once ahead of the reader: few, since a press may have to wait for them. */
const CHUNK = 8;

/** The lines of a file in chunks that cut no prose. @param {number} file @param {string} how prose is shown */
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
  const chunks = [];
  for (let first = 1, line = 1; line <= length; line++) {
    line = prose.get(line)?.last_line ?? line;
    if (line < Math.min(first + CHUNK - 1, length)) continue;
    chunks.push(
      html`<${Chunk} key=${first} source=${source} first=${first} last=${line} prose=${prose} claims=${claims} how=${how} />`,
    );
    first = line + 1;
  }
  return chunks;
}

/** A file; while it is not shown it is laid out bit by bit, when the reader rests or will see it soon, then frozen.
 * Mark: of `Pane.mark`. @type {View<{file: number, path: string, how: string, isSoon: boolean, mark: string}>} */
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
    if (line) (await import("viewer/moves.js")).goToLine(file, Number(line));
  };
  return html`<div class=${`program-file ${isAway ? "away" : ""} ${isFrozen ? "frozen" : ""}`} aria-hidden=${isAway}><div class="program-lines" ref=${place} tabindex=${isAway ? -1 : 0} role="region" aria-label=${`source of ${path}`} onClick=${onClick}><div class="marker" aria-hidden="true"></div>${text}</div></div>`;
});

/** @type {View<{source: Lecture["files"][0], first: number, last: number, prose: Map<number, ProseText>, claims: Set<number>, how: string}>} */
const Chunk = memo(({ source, first, last, prose, claims, how }) => {
  const page = [];
  for (let line = first; line <= last; line++) {
    const block = prose.get(line);
    if (!block)
      page.push(
        html`<div class=${claims.has(line) ? "program-line is-claim" : "program-line"} data-line=${line}><button class="line-number" tabindex="-1" title="Run to this line">${line}</button>${codeLine(source, line, how === "raw")}</div>`,
      );
    else if (how === "rendered")
      page.push(
        html`<${ProseLine} block=${block} indent=${linesOf(source)[line - 1].search(/\S|$/)} />`,
      );
    if (block) line = block.last_line;
  }
  return page;
});

/** @param {{block: ProseText, indent: number}} properties */
function ProseLine({ block, indent }) {
  const text =
    block.kind === "docstring"
      ? block.text.replace(/^[^\n]+/, (title) => `**${title}**\n`)
      : block.text;
  return html`<div class="program-prose"><span class="line-number">${block.first_line}</span><div style=${{ marginLeft: `${indent}ch` }}><${Prose} text=${text} /></div></div>`;
}

/** The lines of a program, of which some are marked. It measures when sizes change, so that a step need not wait for
 * a layout, and the mark is a layer of its own, so that no line is painted again. */
class Pane {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.marker = /** @type {HTMLElement} */ (element.querySelector(".marker"));
    /** @type {any} */
    this.filled = null;
    /** @type {Map<number, HTMLElement>} */
    this.lines = new Map();
    /** @type {HTMLElement[]} */
    this.marked = [];
    this.place = [0, 0, ""];
    this.scrolled = () => (this.top = element.scrollTop);
    element.addEventListener("scroll", this.scrolled, { passive: true });
    this.watcher = new ResizeObserver(() => {
      this.measure();
      this.show();
    });
    this.watcher.observe(element);
    this.watcher.observe(/** @type {HTMLElement} */ (element.lastElementChild));
  }

  /** Measure the lines, when they are new. @param {any[]} chunks */
  fill(chunks) {
    if (chunks === this.filled) return;
    this.filled = chunks;
    this.lines = new Map();
    for (const line of /** @type {NodeListOf<HTMLElement>} */ (
      this.element.querySelectorAll("[data-line]")
    ))
      this.lines.set(Number(line.dataset.line), line);
    this.measure();
  }

  measure() {
    this.top = this.element.scrollTop;
    this.height = this.element.clientHeight;
    this.lowest = this.element.scrollHeight - this.height;
    /** @type {Map<number, [top: number, bottom: number]>} */
    this.bounds = new Map(
      [...this.lines].map(([number, { offsetTop, offsetHeight }]) => [
        number,
        [offsetTop, offsetTop + offsetHeight],
      ]),
    );
  }

  /** @param {string} mark first line, last line and class, or nothing */
  mark(mark) {
    for (const line of this.marked) line.classList.remove("current", "caller");
    this.marked = [];
    if (!mark) return;
    const [first, last, name] = mark.split(" ");
    for (let number = Number(first); number <= Number(last); number++) {
      const line = this.lines.get(number);
      line?.classList.add(name);
      if (line) this.marked.push(line);
    }
    this.place = [Number(first), Number(last), name];
    this.show();
  }

  /** Put the marker on its lines, and these well inside the pane. */
  show() {
    const [first, last, name] = /** @type {[number, number, string]} */ (this.place);
    const [top, end] = this.bounds?.get(first) ?? [0, 0];
    const bottom = this.bounds?.get(last)?.[1] ?? end;
    this.marker.classList.toggle("of-caller", name === "caller");
    this.marker.style.transform = `translateY(${top}px) scaleY(${bottom - top})`;
    const { height = 0, top: from = 0, lowest = 0 } = this;
    const margin = Math.min(120, height / 4);
    const isInside = bottom <= top || (top >= from + margin && bottom <= from + height - margin);
    const target = Math.round(Math.max(0, Math.min(lowest, top - height / 3)));
    if (!isInside && target !== from) this.element.scrollTo({ top: target, behavior: "instant" });
  }

  close() {
    this.watcher.disconnect();
    this.element.removeEventListener("scroll", this.scrolled);
  }
}

/** Claims, output and cost of the statement that just ran. */
function Outcome() {
  const { model } = current();
  const at = step.value;
  const claims = rows(model.claimsOf, at).map((row) => outcomeOf(model, row));
  const called = hasCalls(model, eventOf(model, at));
  return html`<section class="outcome">
    ${claims.map((outcome) => html`<${Claim} outcome=${outcome} text />`)}
    <${Printed} step=${at} />
    <div class="outcome-cost"><${Cost} first=${at} beyond=${stepAfter(model, at)} />${called && html`<span class="quiet">with the calls it made</span>`}</div>
  </section>`;
}

/** @param {{frames: {activation: number, step: number}[], shown: number}} properties */
function Frames({ frames, shown }) {
  const innermost = frames.length - 1;
  return html`<nav class="frames" aria-label="open calls"><ol>${frames.map(
    ({ activation, step: at }, depth) => html`
    <${Frame} activation=${activation} at=${depth < innermost || activation !== shown ? at : -1} isShown=${activation === shown} />`,
  )}</ol></nav>`;
}

/** An open call, with the line that it has reached unless that is marked in the program (-1).
 * @type {View<{activation: number, at: number, isShown: boolean}>} */
const Frame = memo(({ activation, at, isShown }) => {
  const { model, document } = current();
  const { name, title } = functionOf(model, activation);
  const look = () => (chosenFrame.value = activation);
  return html`<li><button class=${isShown ? "frame shown" : "frame"} aria-current=${isShown} title=${title ? plainTitle(title) : "Look at this call"} onClick=${look}><code>${name}</code>${at >= 0 && html`<span class="frame-line">:${document.statements[statementOf(model, at)][1]}</span>`}</button></li>`;
});

/** Buttons and timeline. */
function Controls() {
  const buttons = ["first", "backOver", "back", "forward", "over", "out", "last"];
  useEffect(() => () => (playing.value = false), []);
  return html`<div class="controls" role="toolbar" aria-label="stepping">
    <div class="control-buttons">${buttons.map((id) => html`<${CommandButton} id=${id} />`)}
      <${CommandButton} id="play" pressed=${playing.value}><${Icon} name=${playing.value ? "pause" : "play"} /></${CommandButton}>
      <${CommandButton} id="notes" class="wide-only" pressed=${proseShown.value !== "none"} />
      <${CommandButton} id="raw" class="wide-only" pressed=${proseShown.value === "raw"} />
      <${CommandButton} id="variables" class="wide-only" pressed=${variablesShown.value} /></div>
    <${Timeline} />
  </div>`;
}

/** The slider with its count. */
export function Timeline() {
  const { model } = current();
  const last = model.steps - 1;
  const ticks = useMemo(() => html`<${Ticks} />`, []);
  const text = `${integer(step.value + 1)} / ${integer(last + 1)}`;
  return html`<div class="timeline">
    <div class="timeline-track">
      ${ticks}
      <input type="range" min="0" max=${last} value=${step.value} aria-label="step" aria-valuetext=${`step ${text}`} onInput=${(/** @type {any} */ event) => goTo(Number(event.target.value))} />
    </div>
    <output class="timeline-count" style=${{ width: `${2 * integer(last + 1).length + 3}ch` }}><span class="apart">${text}</span></output>
  </div>`;
}

/** One canvas however many claims there are. */
function Ticks() {
  const { model } = current();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const shown = [colours.value, pinned.value].join();
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => drawTicks(element);
    draw();
    const watcher = new ResizeObserver(draw);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [model, shown]);
  return html`<canvas ref=${canvas} class="ticks" aria-hidden="true"></canvas>`;
}

/** @param {HTMLCanvasElement} canvas */
function drawTicks(canvas) {
  const { model, sections, document } = current();
  const scale = devicePixelRatio;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const context = canvas.getContext("2d");
  const { claims } = document;
  if (!context) return;
  const tick = (
    /** @type {number} */ at,
    /** @type {number} */ top,
    /** @type {number} */ height,
    width = 1,
  ) =>
    context.fillRect(
      (at / Math.max(1, model.steps - 1)) * (canvas.width - width * scale),
      top * scale,
      width * scale,
      height * scale,
    );
  context.fillStyle = colourOf("var(--line-strong)");
  for (const { first, depth } of sections)
    if (depth > 0 && depth < 3) tick(first, depth === 1 ? 0 : 4, depth === 1 ? 12 : 8);
  context.fillStyle = colourOf("var(--right)");
  claims.step.forEach((at, row) => claims.held[row] && tick(at, 13, 4));
  context.fillStyle = colourOf("var(--wrong)");
  claims.step.forEach((at, row) => claims.held[row] || tick(at, 0, 17));
  context.fillStyle = colourOf("var(--accent)");
  if (pinned.value >= 0) tick(pinned.value, 0, 17, 3);
}

/** @param {number} activation @returns {Variable[]} */
function variablesOf(activation) {
  const { model, document } = current();
  const { inspections, names, values } = document;
  const event = eventOf(model, step.value);
  const known = environmentAt(model, activation, endOf(model, step.value));
  return [...known].map(([name, { row, count }]) => ({
    name,
    text: names[name],
    value: values[inspections.value[row] ?? 0],
    count,
    changed: inspections.event[row] === event,
  }));
}

/** @param {{activation: number}} properties */
export function Variables({ activation }) {
  const { model } = current();
  const variables = variablesOf(activation);
  return html`<section class="variables" aria-label="variables">
    <h2>in <code>${functionOf(model, activation).name}</code><${Changes} isChosen=${chosenName.value >= 0} isPinned=${pinned.value === step.value} isOther=${pinned.value >= 0} /></h2>
    ${!variables.length && html`<p class="quiet">No value of this call is shown yet.</p>`}
    ${variables.map((variable) => html`<${Row} key=${variable.name} ...${variable} shares=${sharing(variables, variable)} chosen=${chosenName.value === variable.name} />`)}
  </section>`;
}

/** Buttons for the chosen variable and for two steps. @type {View<{isChosen: boolean, isPinned: boolean, isOther: boolean}>} */
const Changes = memo(({ isChosen, isPinned, isOther }) => {
  const ofVariable = isChosen ? ["previousChange", "nextChange", "inspect", "history"] : [];
  return html`<span class="changes">${ofVariable.map((id) => html`<${CommandButton} id=${id} />`)}<${CommandButton} id="pin" pressed=${isPinned} /><${CommandButton} id="compare" class=${isOther ? "held" : ""} /></span>`;
});

/** @param {Variable[]} variables @param {Variable} variable */
function sharing(variables, variable) {
  const { storage } = variable.value;
  return storage === undefined
    ? ""
    : variables
        .filter((other) => other !== variable && other.value.storage === storage)
        .map((other) => other.text)
        .join(", ");
}

/** @type {View<Variable & {shares: string, chosen: boolean}>} */
const Row = memo(({ name, text, value, count, changed, shares, chosen }) => {
  const choose = () => (chosenName.value = chosen ? -1 : name);
  return html`<div class=${["variable", changed && "changed", chosen && "chosen"].filter(Boolean).join(" ")}>
    <div class="variable-name"><button aria-pressed=${chosen} title="Choose this variable: [ and ] go to its changes" onClick=${choose}><code>${text}</code>
      ${changed && html`<span class="mark" title="Changed by this statement">●<span class="visually-hidden"> changed</span></span>`}</button>
      <button class="type" title="Its values over the run" onClick=${(/** @type {Event} */ event) => inspect(event, value, text, "history")}>${!value.shape?.length && value.type}${count > 1 || value.shape?.length ? ` ×${integer(count)}` : ""}</button></div>
    <${ValueView} value=${value} shares=${shares} name=${text} />
  </div>`;
});
