// Tensor memory over the run: its states, and one for each column of a chart. Pure.

/** What each category of the recorder is, in its order; the colours of the style sheet go by it. */
export const MEANINGS = {
  parameters: "registered in a module, or changed by the step of an optimizer",
  gradients: "made by a backward pass, for a parameter or on the way to one",
  "optimizer state": "what an optimizer keeps, and what its step makes on the way",
  activations: "results of operators that autograd records for the backward pass",
  "other tensors": "data, and all that runs without autograd",
};

export const CATEGORIES = Object.keys(MEANINGS);

/**
 * The states of the memory in the order of the run. At one moment there may be two: the one in
 * which most was alive, and the last.
 * @param {Model} model
 * @returns {MemoryState[]}
 */
export function momentsOf({ document, events }) {
  const { at, live_bytes: live, category } = document.memory;
  /** @type {MemoryState[]} */
  const moments = [];
  let now = CATEGORIES.map(() => 0);
  let [event, step] = [0, -1];
  at.forEach((moment, row) => {
    const index = CATEGORIES.indexOf(document.names[category[row]]);
    const place = index < 0 ? CATEGORIES.length - 1 : index;
    for (; event < moment; event++) if (events[event] > 0) step++;
    const isNext =
      row === 0 ||
      at[row - 1] !== moment ||
      CATEGORIES.indexOf(document.names[category[row - 1]]) >= place;
    now = now.map((before, other) => (other === place ? live[row] : before));
    const state = {
      step: Math.max(0, step),
      live: now,
      total: now.reduce((sum, part) => sum + part, 0),
    };
    if (isNext) moments.push(state);
    else moments[moments.length - 1] = state;
  });
  return moments;
}

/**
 * What was alive once a step had run.
 * @param {MemoryState[]} moments
 * @param {number} step
 * @returns {MemoryState}
 */
export function momentAfter(moments, step) {
  const { live, total } = moments.findLast((moment) => moment.step <= step) ?? {
    live: CATEGORIES.map(() => 0),
    total: 0,
  };
  return { step, live, total };
}

/**
 * One moment for each column of a chart: the one in which most was alive during its steps.
 * @param {MemoryState[]} moments
 * @param {Span} span
 * @param {number} most how many columns there may be
 * @returns {MemoryState[]}
 */
export function columnsOf(moments, { first, beyond }, most) {
  const count = Math.max(1, Math.min(most, beyond - first));
  let next = 0;
  /** @type {MemoryState} */
  let state = { step: first, live: CATEGORIES.map(() => 0), total: 0 };
  for (; next < moments.length && moments[next].step < first; next++) state = moments[next];
  return Array.from({ length: count }, (_, column) => {
    const from = first + Math.floor((column * (beyond - first)) / count);
    const to = first + Math.floor(((column + 1) * (beyond - first)) / count);
    let highest = { ...state, step: from };
    for (; next < moments.length && moments[next].step < to; next++) {
      state = moments[next];
      if (state.total > highest.total) highest = state;
    }
    return highest;
  });
}

/**
 * The column in which most was alive.
 * @param {MemoryState[]} columns
 */
export function peakOf(columns) {
  return columns.reduce(
    (best, { total }, column) => (total > columns[best].total ? column : best),
    0,
  );
}

/**
 * The column that holds a step.
 * @param {MemoryState[]} columns
 * @param {Span} span
 * @param {number} step
 */
export function columnAt(columns, { first, beyond }, step) {
  const column = Math.floor(((step - first) / (beyond - first)) * columns.length);
  return Math.max(0, Math.min(columns.length - 1, column));
}

/**
 * Where bytes stand from the bottom of the chart, from 0 to 1, and what is written beside it.
 * @param {MemoryState[]} columns
 * @param {boolean} isLogarithmic
 * @returns {{height: (value: number) => number, marks: number[]}}
 */
export function scaleOf(columns, isLogarithmic) {
  const totals = columns.map(({ total }) => total).filter(Boolean);
  const highest = Math.max(1, ...totals);
  if (isLogarithmic) {
    const low = 2 ** Math.floor(Math.log2(Math.min(highest, ...totals)));
    const range = Math.max(1, Math.log2((highest * 1.2) / low));
    const step = [1, 2, 5].find((powers) => range / powers < 7) ?? 10;
    const height = (/** @type {number} */ value) =>
      value <= low ? 0 : Math.log2(value / low) / range;
    return {
      height,
      marks: Array.from({ length: 60 / step }, (_, index) => 2 ** (index * step)).filter(
        (mark) => mark > low && mark <= highest * 1.2,
      ),
    };
  }
  const unit = 2 ** Math.floor(Math.log2(highest / 2));
  return {
    height: (value) => value / (highest * 1.08),
    marks: [0, 1, 2, 3, 4].map((times) => times * unit).filter((mark) => mark <= highest * 1.08),
  };
}
