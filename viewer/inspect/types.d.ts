// Shapes of the inspectors' data, for the type check only: no browser loads this file.

/** An element of a tensor as the document has it: text for nan, inf, complex numbers and large integers. */
type Cell = number | boolean | string;

/** Where the elements of a tensor lie, counted in elements. cells: how many the storage holds; known: the document says so. */
interface Layout {
  sizes: number[];
  strides: number[];
  offset: number;
  itemBytes: number;
  cells: number;
  known: boolean;
}
/** The elements that lie in one cell: how many, whether there may be more, and the indices of the first few. */
interface Readers {
  count: number;
  isAll: boolean;
  indices: number[][];
}
/** A plane through the recorded elements: indices of its rows and columns, what a row adds to the index, and for each cell
 * its index and what is there. */
interface Plane {
  lines: number[];
  columns: number[];
  step: number;
  cells: { index: number[]; cell: Cell }[];
}
/** of: how many elements it is made from; recorded: by the run, from all elements, or else computed here from those shown. */
interface Summary {
  of: number;
  recorded: boolean;
  statistics: [name: string, amount: number][];
  histogram: Bins | null;
}
interface Bins {
  low: number;
  high: number;
  counts: number[];
}

/** What the inspector was opened on: a value, the name beside it, and the steps at which it may have been recorded. */
interface Opened {
  value: Value;
  name: string;
  steps: number[];
  view: "value" | "history";
}
/** The same, found in the record; step: from which it is looked at; path: from the recorded value to it. */
interface Found {
  row: number;
  step: number;
  recorded: number;
  activation: number;
  name: number;
  path: string;
  value: Value;
}

/** A name that views a storage. step: where it was recorded; count: how often with the same layout. */
interface Alias {
  name: string;
  func: string;
  activation: number;
  row: number;
  step: number;
  value: Value;
  when: "now" | "earlier" | "later";
  count: number;
}

/** A record of a variable; number: what a chart shows of it; changed: it differs from the record before. */
interface Point {
  row: number;
  step: number;
  activation: number;
  value: Value | null;
  number: number | null;
  changed: boolean;
}

/** A call at a step. */
interface Moment {
  activation: number;
  step: number;
}
/** Two calls whose variables can be compared, the same one twice or two of them. */
interface Pair {
  before: Moment;
  after: Moment;
}
interface Difference {
  name: string;
  kind: "added" | "removed" | "changed" | "same";
  before: Value | null;
  after: Value | null;
  detail: Detail | null;
  anew: boolean;
}
/** How a value differs. notes: what changed about it besides its contents. */
type Detail =
  | {
      by: "elements";
      notes: string[];
      count: number;
      changed: number;
      largest: number | null;
      where: number[];
      differences: Cell[];
    }
  | {
      by: "statistics";
      notes: string[];
      rows: [name: string, before: number | string, after: number | string][];
      shown: number;
      changed: number;
    }
  | { by: "corners"; notes: string[]; shown: number; changed: number }
  | { by: "layout"; notes: string[] }
  | { by: "number"; notes: string[]; difference: number }
  | {
      by: "parts";
      notes: string[];
      parts: [path: string, before: string, after: string][];
      more: number;
    }
  | { by: "text"; notes: string[] };

/** A claim with what happened each time; rows: of `claims`, the failed ones first. */
interface ClaimGroup {
  statement: number;
  text: string;
  failed: number;
  rows: number[];
  place: string;
  words: string;
}
