// Shapes of data, for the type check only: no browser loads this file. Sizes are in bytes, indices count from 0.

/** The document. `trace/schema.py` says what each field means. */
interface Lecture {
  format: string;
  version: number;
  module: string;
  title: string;
  environment: Record<string, string | number>;
  files: SourceFile[];
  statements: Statement[];
  functions: LectureFunction[];
  events: Int8Array | Int16Array | Int32Array;
  names: string[];
  values: Value[];
  inspections: { event: number[]; at: number[]; name: number[]; value: (number | null)[] };
  assertions: { statement: number; text: string; operands: string[] }[];
  claims: {
    statement: number[];
    step: number[];
    at: number[];
    held: (boolean | null)[];
    operands: (number | null)[][];
  };
  output: { step: number; at: number; stream: "stdout" | "stderr"; text: string }[];
  costs: Costs | null;
  memory: { at: number[]; live_bytes: number[]; category: number[] };
  uncounted: Record<string, number>;
  topics: Record<string, string>;
  assets: Record<string, Asset>;
  warnings: string[];
  failure: Failed | null;
}
interface SourceFile {
  path: string;
  source: string;
  prose: ProseText[];
  tokens: number[];
  hidden: number[][];
}
interface ProseText {
  first_line: number;
  last_line: number;
  kind: "docstring" | "comment";
  text: string;
}
interface LectureFunction {
  file: number;
  name: string;
  line: number;
  end_line: number;
  title: string;
  labels: string;
  parameters: string[];
}
type Statement = [
  file: number,
  first: number,
  last: number,
  enclosing: number,
  kind: string,
  func: number,
];
interface Asset {
  mime: string;
  base64: string;
}
interface Failed {
  kind: string;
  type: string;
  message: string;
  step: number;
  at: number;
  traceback: { path: string; line: number; function: string }[];
}
type Quantity =
  | "matmul_flops"
  | "other_flops"
  | "read_bytes"
  | "written_bytes"
  | "allocated_bytes"
  | "freed_bytes";
type Costs = { step: number[]; operator: number[]; calls: number[] } & Record<
  Quantity,
  (number | null)[]
>;

/** A recorded value: which fields are there says what kind it is. */
interface Value {
  type: string;
  value?: boolean | number | string | null;
  text?: string;
  length?: number;
  cut?: boolean;
  items?: Value[];
  entries?: [Value, Value][];
  fields?: Record<string, Value>;
  error?: string;
  dtype?: string;
  shape?: number[];
  strides?: number[];
  offset?: number;
  device?: string;
  contiguous?: boolean;
  requires_grad?: boolean;
  bytes?: number;
  storage?: number;
  storage_bytes?: number;
  shown?: number[][];
  elements?: (number | boolean | string)[];
  statistics?: Record<string, number | string>;
  histogram?: { low: number; high: number; counts: number[] };
  svg?: string;
  markdown?: string;
  png?: string;
  vega?: Record<string, unknown>;
}

/**
 * What follows from the events. A stay is the time in which an activation is on the stack: from its entry until it is
 * left or suspended, and again after each time it is resumed.
 */
interface Model {
  document: Lecture;
  events: Lecture["events"];
  /** How many functions, steps and activations there are. */
  functions: number;
  steps: number;
  activations: number;
  /** Steps and stays before each checkpoint, and the innermost stay there, or -1. */
  stepsAt: Int32Array;
  staysAt: Int32Array;
  topAt: Int32Array;
  /** Events that began and ended each stay (or the number of events), the stay it returns to and the step of the caller, or -1. */
  stayEvent: Int32Array;
  stayEnd: Int32Array;
  stayBelow: Int32Array;
  stayCaller: Int32Array;
  /** Null where nothing was suspended: then stays are activations. */
  resumed: Resumed | null;
  /** Rows of inspections by event, rows of claims by step, pieces of output by step. */
  inspected: Lookup;
  claimsOf: Lookup;
  outputOf: Lookup;
  /** Statement -> index of its assertion. */
  assertionOf: Map<number, number>;
  /** What `changesOf` remembers. */
  changes: Map<number, Map<number, Changes>>;
}
/** Activation and next stay of each stay; first and last stay of each activation. */
interface Resumed {
  activation: Int32Array;
  next: Int32Array;
  first: Int32Array;
  last: Int32Array;
}
/** Rows by key: keys ascend, and `rows` says which row each belongs to, where that is not its index. */
interface Lookup {
  keys: ArrayLike<number>;
  rows: Int32Array | null;
}
/** Rows of inspections of one name, as they became known, and which of them (by index) took it off the display. */
interface Changes {
  rows: number[];
  clears: number[];
}
/** A part of one activation, by events of its own: from the first until before the last. */
interface Scope {
  activation: number;
  from: number;
  to: number;
}
/** The turns of a loop: events of its first line, how many turns there are, and the first event after it. */
interface Turns {
  headers: number[];
  count: number;
  end: number;
}
/** One of them; header: the step of the loop's first line. */
interface Turn {
  header: number;
  scope: Scope;
}
/** A call that is a section; chapter: the heading in the table of contents that it is the first of, or empty; its steps. */
interface Section {
  activation: number;
  depth: number;
  order: number;
  parent: number;
  chapter: string;
  first: number;
  beyond: number;
}
/** A line of the outline, with the claims inside the call. */
type CountedSection = Section & {
  func: LectureFunction;
  counts: { claims: number; failed: number };
};
interface OutlineChapter {
  title: string;
  sections: CountedSection[];
}

/** A piece of a source line. */
interface Piece {
  text: string;
  kind: string;
}
interface ProseBlock {
  kind: "prose";
  line: number;
  text: string;
}
/** No statements on `else:` and the like. */
interface CodeBlock {
  kind: "code";
  first: number;
  last: number;
  statements: number[];
}
interface LoopBlock {
  kind: "loop";
  first: number;
  last: number;
  statement: number;
  body: Block[];
}
type Block = ProseBlock | CodeBlock | LoopBlock;
interface BodyBlocks {
  indent: number;
  docstring: string;
  blocks: Block[];
}
/** What is needed to lay out one function; prose by first line, the first statement on each line. */
interface Shape {
  document: Lecture;
  func: number;
  lines: string[];
  start: number;
  end: number;
  indent: number;
  prose: Map<number, ProseText>;
  owner: Map<number, number>;
  isHidden: (line: number) => boolean;
}

/** Sums over a range of steps; partial: something was not counted. */
type CostSum = Record<Quantity, number> & { partial: boolean };
type CostMeter = (first: number, beyond: number) => CostSum;
/** One execution of an assert; operands: measured, without the literals. */
interface Outcome {
  row: number;
  step: number;
  held: boolean | null;
  text: string;
  operands: { source: string; text: string }[];
}
interface Named {
  name: string;
  value: Value;
}
/** A line of the article, what stands beside it, and what follows below. */
interface PageRow {
  line: any;
  aside: any[];
  rest: any[];
  steps: number[];
  tall: [value: any, lines: number][];
  height: number;
}
interface Variable {
  name: number;
  text: string;
  value: Value;
  count: number;
  changed: boolean;
}
interface Result {
  step: number;
  kind: "prose" | "code" | "title" | "value";
  before: string;
  match: string;
  after: string;
  place: string;
}

/** What the address names. */
interface State {
  doc: string;
  mode: "read" | "step";
  at: string;
}
/** A document as it came; undefined where it is no JSON. */
interface Answer {
  isLocal?: boolean;
  found: boolean;
  size: number;
  document: any;
}
/** A line of the home page. */
interface Listed {
  file: string;
  module: string;
  title: string;
  steps: number;
  claims: number;
  failed: boolean;
  times?: boolean;
}
/** Times that were measured in another run of the same sources; of a range of steps; text is empty where they were short. */
interface Times {
  seconds: (first: number, beyond: number) => number;
  text: (first: number, beyond: number) => string;
  device: string;
}
/** A document with everything computed from it once. */
interface Loaded {
  times: Times | null;
  name: string;
  document: Lecture;
  model: Model;
  cost: CostMeter;
  sections: Section[];
}
/** A component. */
type View<Properties> = (properties: Properties) => any;
type Signal<T> = import("@preact/signals").Signal<T>;
type Theme = "auto" | "light" | "dark";
type PanelName =
  "claims" | "search" | "help" | "outline" | "inspect" | "compare" | "menu" | "costs";
/** Keys as `KeyboardEvent.key`, with `Shift+` before named keys; label: what the button shows that has no icon; where the keys
 * hold, and whether the menu lists it. */
interface Command {
  id: string;
  keys: string[];
  title: string;
  label?: string;
  where: "step" | "any" | "present";
  menu?: boolean;
  run: () => void;
}
interface Formula {
  tex: string;
  display: boolean;
}
