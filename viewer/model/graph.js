// The open calls and the objects that their names stand for, each once, as boxes and arrows. Pure.

import { bytes, counted, integer, shape } from "viewer/model/format.js";
import { hasContents } from "viewer/model/objects.js";
import { functionOf } from "viewer/model/run.js";
import { layoutOf, readersOf, tuple } from "viewer/model/storage.js";
import { cellTexts, partsOf, valueText } from "viewer/model/values.js";

/** Larger graphs and containers are cut, with a count of what is left out. */
const MAX_OBJECTS = 40;
const MAX_ROWS = 8;
/** Of a tensor with more elements than these a few rows stand for all, so that boxes stay small. */
const FEW = 16;
const FEW_ROWS = 3;

/** Letters on a line of a box. */
const LINE = 20;
/** Between two elements on it. */
const SPACE = "  ";

/** Columns of objects; what lies deeper stands in the last one. */
const COLUMNS = 3;

/**
 * @param {Model} model
 * @param {ProgramState} state
 * @returns {Graph}
 */
export function graphOf(model, { frames, contentOf }) {
  const graph = new Builder(contentOf);
  for (const { activation, variables } of frames) {
    const key = `call ${activation}`;
    const { name, file } = functionOf(model, activation);
    const isShared = frames.some(({ activation: other }) => {
      const func = functionOf(model, other);
      return func.name === name && func.file !== file;
    });
    const title = isShared ? `${name}, ${model.document.files[file].path}` : name;
    const box = graph.add({ key, kind: "call", column: 0, title, rows: [] });
    for (const variable of variables) {
      const { text, value, object } = variable;
      // What was inspected does not say which object it is; the glance does.
      const known = value && value.object === undefined ? { ...value, object } : value;
      box.rows.push({ label: text, ...graph.shown(key, text, known, 1), variable });
    }
  }
  graph.grow();
  graph.drawStorages();
  return finished(graph);
}

/** Collects boxes: what is found waits until the nearer ones are there. */
class Builder {
  /** @param {ProgramState["contentOf"]} contentOf */
  constructor(contentOf) {
    this.contentOf = contentOf;
    /** @type {Map<string, Box>} */
    this.boxes = new Map();
    /** @type {{key: string, value: Value, column: number}[]} */
    this.waiting = [];
    this.known = new Set();
    this.leftOut = 0;
    /** @type {Map<number, {key: string, value: Value, column: number}[]>} */
    this.views = new Map();
  }

  /** @param {Pick<Box, "key" | "kind" | "column" | "title" | "rows"> & Partial<Box>} box */
  add(box) {
    const whole = { changed: false, since: -1, count: 0, isCyclic: false, note: "", ...box };
    this.boxes.set(box.key, whole);
    return whole;
  }

  /**
   * What stands for a value in a row: an arrow to its object, or text.
   * @param {string} from the box of the row
   * @param {string} label of the row
   * @param {Value | null} value
   * @param {number} column where its object would stand
   * @returns {{text: string, target: string}}
   */
  shown(from, label, value, column) {
    if (!value) return { text: "no longer bound", target: "" };
    const holds = partsOf(value).some(([, part]) => part.object !== undefined);
    if (value.object === undefined && !holds) return { text: valueText(value), target: "" };
    const key = value.object === undefined ? `${from} ${label}` : `object ${value.object}`;
    if (!this.known.has(key)) {
      if (this.known.size >= MAX_OBJECTS) {
        this.leftOut++;
        return { text: `${valueText(value)} (not drawn)`, target: "" };
      }
      this.known.add(key);
      this.waiting.push({ key, value, column: Math.min(column, COLUMNS) });
    }
    return { text: valueText(value), target: key };
  }

  /** Draw what waits, and what that leads to. */
  grow() {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      const { key, value, column } = next;
      const known =
        value.object === undefined ? { value, changed: false, since: -1 } : this.contentOf(value);
      const { value: content, changed, since } = known;
      const box = this.add({
        ...{ key, column, changed, since },
        kind: content.shape ? "tensor" : "object",
        title: titleOf(content),
        rows: [],
      });
      if (content.shape) this.drawTensor(box, content);
      else this.drawParts(box, content);
    }
  }

  /** @param {Box} box @param {Value} value */
  drawParts(box, value) {
    const parts = partsOf(value);
    const shown = parts.map(([label, part]) => ({
      label,
      ...this.shown(box.key, label, part, box.column + 1),
    }));
    const isPlain = value.items && shown.every(({ target }) => !target);
    const rows = isPlain ? wrapped(shown.map(({ text }) => text)) : shown;
    box.rows = rows.slice(0, MAX_ROWS);
    const drawn = isPlain
      ? box.rows.reduce((sum, row) => sum + (row.items ?? 1), 0)
      : box.rows.length;
    const rest = Math.max(value.length ?? 0, parts.length) - drawn;
    if (value.length === 0) box.note = "empty";
    else if (!hasContents(value) || (!parts.length && value.text !== undefined))
      box.rows = [{ label: "", text: value.text ?? "…", target: "" }];
    else if (rest > 0) box.note = `and ${integer(rest)} more`;
    else if (value.items?.length === 0 || value.entries?.length === 0) box.note = "empty";
  }

  /** @param {Box} box @param {Value} value */
  drawTensor(box, value) {
    const { elements = [], shape: sizes = [], storage, offset, strides } = value;
    const width = sizes.at(-1) ?? 1;
    const texts = cellTexts(elements, 2, Math.floor(LINE / width) - SPACE.length);
    const most = elements.length > FEW ? FEW_ROWS : MAX_ROWS;
    for (let at = 0; at < elements.length && box.rows.length < most; at += width || 1) {
      box.rows.push({ label: "", text: texts.slice(at, at + width).join(SPACE), target: "" });
    }
    const rest = Math.ceil(elements.length / (width || 1)) - box.rows.length;
    const isGapped = strides && (sizes.length > 1 || strides[0] !== 1);
    const notes = [
      !elements.length && !isGapped && "elements not shown",
      rest > 0 && counted(rest, "more row"),
      isGapped && `strides ${tuple(strides)}`,
      offset && `offset ${offset}`,
    ];
    box.note = notes.filter(Boolean).join(", ");
    if (storage === undefined) return;
    const view = { key: box.key, value, column: box.column };
    if (!this.views.get(storage)?.push(view)) this.views.set(storage, [view]);
  }

  /** What leads to a box, as the first one calls it; nothing where that has no name.
   * @param {string} key */
  nameOf(key) {
    const rows = [...this.boxes.values()].flatMap((box) => box.rows);
    return rows.find(({ target }) => target === key)?.label ?? "";
  }

  /** A storage that several tensors view is a box of its own; or else a line of its tensor. */
  drawStorages() {
    for (const [storage, views] of this.views) {
      const key = `storage ${storage}`;
      const title = `storage #${storage}`;
      const held = views.find(({ value }) => value.storage_bytes !== undefined)?.value
        .storage_bytes;
      const size = held === undefined ? "" : bytes(held);
      if (views.length > 1)
        this.add({
          ...{ key, title, kind: "storage", note: size },
          column: Math.max(...views.map(({ column }) => column)) + 1,
          rows: partsOfStorage(views.map(({ key: of, value }) => [this.nameOf(of), value])),
        });
      for (const view of views)
        this.boxes
          .get(view.key)
          ?.rows.push({ label: "", text: title, target: views.length > 1 ? key : "" });
    }
  }
}

/** @param {Value} value */
function titleOf({ type, shape: sizes, dtype, length }) {
  if (sizes) return `${dtype ?? type} ${shape(sizes)}`;
  return length === undefined ? type : `${type} of ${integer(length)}`;
}

/**
 * Texts on as few lines as they need.
 * @param {string[]} texts
 * @returns {GraphRow[]}
 */
function wrapped(texts) {
  /** @type {GraphRow[]} */
  const rows = [];
  for (const text of texts) {
    const last = rows.at(-1);
    if (last && last.text.length + text.length + 2 <= LINE)
      Object.assign(last, { text: `${last.text}, ${text}`, items: (last.items ?? 1) + 1 });
    else rows.push({ label: "", text, target: "", items: 1 });
  }
  return rows;
}

/** Of more cells, gaps between those that a tensor reads are too narrow to be drawn. */
const MAX_CELLS = 32;

/**
 * For each view of a storage, which parts of what they reach it lies in.
 * @param {[name: string, value: Value][]} views
 * @returns {GraphRow[]}
 */
function partsOfStorage(views) {
  const ranges = views.map(([, value]) => {
    const first = value.offset ?? 0;
    return [first, first + reachOf(value)];
  });
  const end = Math.max(1, ...ranges.map(([, beyond]) => beyond));
  return views.map(([name, value], at) => {
    const [first, beyond] = ranges[at];
    const runs = end > MAX_CELLS ? [[first, beyond]] : runsOf(value, first, beyond);
    const gaps = runs.length > 1 ? " with gaps" : "";
    return {
      label: name || shape(value.shape ?? []),
      text: `cells ${integer(first)} to ${integer(beyond - 1)}${gaps}`,
      target: "",
      parts: runs.map((run) => run.map((cell) => cell / end)),
    };
  });
}

/** The cells that a tensor reads: where each run of them begins, and what is beyond it.
 * @param {Value} value @param {number} first @param {number} beyond */
function runsOf(value, first, beyond) {
  const layout = layoutOf(value);
  if (!layout) return [[first, beyond]];
  /** @type {number[][]} */
  const runs = [];
  for (let cell = first; cell < beyond; cell++) {
    if (!readersOf(layout, cell).count) continue;
    const run = runs.at(-1);
    if (run?.[1] === cell) run[1]++;
    else runs.push([cell, cell + 1]);
  }
  return runs;
}

/** Cells from the first to the last that a tensor reads. @param {Value} value */
function reachOf({ shape: sizes = [], strides }) {
  if (!strides) return sizes.reduce((product, size) => product * size, 1);
  return sizes.includes(0)
    ? 0
    : sizes.reduce((sum, size, axis) => sum + (size - 1) * strides[axis], 1);
}

/** @param {Builder} builder @returns {Graph} */
function finished({ boxes, leftOut }) {
  const arrows = [...boxes.values()].flatMap(({ key, rows }) =>
    rows.flatMap(({ target, variable }, row) =>
      boxes.has(target)
        ? [{ from: key, row, to: target, changed: variable?.changed === true }]
        : [],
    ),
  );
  for (const { to } of arrows) /** @type {Box} */ (boxes.get(to)).count++;
  const leads = (/** @type {string} */ from, /** @type {string} */ to, seen = new Set()) => {
    for (const arrow of arrows) {
      if (arrow.from !== from || seen.has(arrow.to)) continue;
      if (arrow.to === to) return true;
      seen.add(arrow.to);
      if (leads(arrow.to, to, seen)) return true;
    }
    return false;
  };
  for (const box of boxes.values()) box.isCyclic = leads(box.key, box.key);
  return {
    boxes: [...boxes.values()],
    arrows: arrows.map((arrow) => ({
      ...arrow,
      isBack: boxes.get(arrow.from)?.isCyclic === true && leads(arrow.to, arrow.from),
    })),
    leftOut,
  };
}
