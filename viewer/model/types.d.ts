// The document once it is checked, and what is computed from it, for the type check only: no browser
// loads this file. Sizes are in bytes, indices count from 0.

/** A checked document; `contract.d.ts` says what each field means. */
type Lecture = Omit<import("viewer/model/contract.js").Document, "events"> & {
  events: Int8Array | Int16Array | Int32Array;
};
type SourceFile = import("viewer/model/contract.js").SourceFile;
type Prose = import("viewer/model/contract.js").Prose;
type LectureFunction = import("viewer/model/contract.js").Function;
type Value = import("viewer/model/contract.js").Value;
type Statement = import("viewer/model/contract.js").Statement;
type Costs = import("viewer/model/contract.js").Costs;
type Asset = import("viewer/model/contract.js").Asset;
type Failure = import("viewer/model/contract.js").Failure;

/**
 * What follows from the events. A stay is the time in which an activation is on the stack: from its
 * entry until it is left or suspended, and again after each time it is resumed.
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
  /**
   * Events that began and ended each stay (or the number of events), the stay it returns to and the
   * step of the caller, or -1.
   */
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
/**
 * Rows by key: keys ascend, and `rows` says which row each belongs to, where that is not its index.
 */
interface Lookup {
  keys: ArrayLike<number>;
  rows: Int32Array | null;
}
/**
 * Rows of inspections of one name, as they became known, and which of them (by index) took it off
 * the display.
 */
interface Changes {
  rows: number[];
  clears: number[];
}
/**
 * What was read of names, in the order of the run. value: an index, CLEARED or GONE; glance: the
 * index of what was read after the statement, GONE, or NONE where only `@inspect` read; owner: the
 * activation; order, start: its rows. ofCall: what `rowsOfCall` remembers.
 */
interface Readings extends Record<"event" | "at" | "name" | "value" | "glance", Int32Array> {
  count: number;
  owner: Int32Array;
  order: Int32Array;
  start: Int32Array;
  ofCall: Map<number, Map<number, number[]>>;
}
/** What was seen of an object, and how deep inside of what was read. */
interface Seen {
  value: Value;
  depth: number;
}
interface ObjectReading extends Seen {
  row: number;
}
/** at: the moment of the reading, a number of events. */
interface Reading extends Seen {
  at: number;
}
/** oldest: when that of it which can be written to was read, or Infinity; isNew: it changed. */
interface Content {
  value: Value;
  oldest: number;
  isNew: boolean;
}
/**
 * What is needed to tell the state at a step. wrote: since when objects are as they are; reads: when
 * each call read its names; seen: what these readings tell of objects.
 */
interface Moments {
  model: Model;
  event: number;
  end: number;
  wrote: number;
  calls: Moment[];
  reads: LastReading[];
  seen: Map<number, Reading>;
}
/** at: when names were read last, looked at `from` a moment; ran: statements that began since. */
interface LastReading {
  from: number;
  at: number;
  ran: Map<number, number>;
}
/** The latest row of a name and the one before, how many there are, and when it was known to hold. */
interface Known {
  name: number;
  row: number;
  before: number;
  count: number;
  isReturn: boolean;
  isGlanced: boolean;
  at: number;
}
/**
 * A name of an open call. value: null where it is not bound any more; since: the step that it is as
 * of, where it may be another now, or -1; changed: by the current step.
 */
interface Variable extends Omit<Known, "at" | "before" | "isGlanced"> {
  text: string;
  value: Value | null;
  object: number | undefined;
  changed: boolean;
  since: number;
}
interface OpenFrame extends Moment {
  variables: Variable[];
}
/**
 * leftOut: calls between the outermost and the innermost, where there are many; contentOf: what is
 * known of an object by itself.
 */
/** Where one stops while stepping. isReturned: the calls that its statement made have ended; isBack:
 * one asked for a line that does not run again. */
interface Stop {
  step: number;
  isReturned: boolean;
  isBack?: boolean;
}
interface ProgramState {
  frames: OpenFrame[];
  leftOut: number;
  contentOf: (value: Value) => { value: Value; changed: boolean; since: number };
}
/** A part of one activation, by events of its own: from the first until before the last. */
interface Scope {
  activation: number;
  from: number;
  to: number;
}
/**
 * The turns of a loop: events of its first line, how many turns there are, and the first event
 * after it.
 */
interface Turns {
  headers: number[];
  count: number;
  end: number;
}
/** Where a step is in the turns of the innermost loop around it; bound: what that turn binds. */
interface Round {
  loop: LoopBlock;
  scope: Scope;
  turns: Turns;
  index: number;
  bound: string;
}
/** One of them; header: the step of the loop's first line. */
interface Turn {
  header: number;
  scope: Scope;
}
/**
 * A call that is a section; chapter: the heading in the table of contents that it is the first of,
 * or empty; its steps.
 */
interface Section {
  activation: number;
  /** 0 for the function that was run, and for parts of the table of contents that it calls. */
  depth: number;
  order: number;
  parent: number;
  chapter: string;
  first: number;
  beyond: number;
}
/**
 * Where a name comes from: lines of a file (-1: a library outside the document), and the first line
 * of what is said there.
 */
interface FoundName {
  file: number;
  line: number;
  last: number;
  kind: string;
  text: string;
  /** The line of it that is marked. */
  at?: number;
}
/**
 * Sections that are read as one page. number: of its page; label: its number for readers, which is
 * the same whether or not other chapters are left out; name: as the address spells it; about: the
 * prose below its heading; bridges: what is said in place of sections that are left out; contents,
 * line: where it begins in the table of contents; part: what the file of that table says about
 * itself, if it is a part of another; first, beyond: its steps, those of what is left out included.
 */
interface Chapter {
  number: number;
  label: number;
  title: string;
  name: string;
  about: string;
  bridges: string;
  contents: number;
  line: number;
  isHeading: boolean;
  part: string;
  first: number;
  beyond: number;
  sections: Section[];
}
/** A line of the run that shows a mark beside code. row: of the inspections, where it is a value. */
interface Specimen {
  kind: "claim" | "value" | "cost" | "question";
  step: number;
  code: string;
  row?: number;
}
/** Where a chapter stands in the map. */
interface Seat {
  number: number;
  row: number;
  column: number;
}
/** The map of chapters, in the units of its drawing. */
interface Drawing {
  width: number;
  height: number;
  boxes: { number: number; lines: string[]; x: number; y: number; width: number; height: number }[];
  /** end: where the path ends; isBeside: it ends at the side of a box, not above it. */
  lines: { from: number; to: number; path: string; end: [number, number]; isBeside: boolean }[];
  bands: { lines: string[]; y: number; height: number }[];
}
/** A line of a table of contents where chapters begin. from, to: their numbers. */
interface Start {
  line: number;
  from: number;
  to: number;
  isHeading: boolean;
}
/** A statement of a module that defines names. */
interface Definition {
  kind: "class" | "def" | "imports";
  file: SourceFile;
  first: number;
  last: number;
  names: string[];
}
/** Claims, each counted once; failed: how often one failed. */
interface Counts {
  claims: number;
  failed: number;
}
/** A line of the outline, with the claims inside the call. */
type CountedSection = Section & {
  func: LectureFunction;
  counts: Counts;
};
interface OutlineChapter {
  title: string;
  /** Of the chapter in the book, or 0. */
  number: number;
  label: number;
  counts: Counts;
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
  /** Whether only the short path shows it. */
  isBridge?: boolean;
  /** The statement below it, where that is not shown. */
  below?: number;
}
/** No statements on `else:` and the like. */
interface CodeBlock {
  kind: "code";
  first: number;
  last: number;
  statements: number[];
  /** Statements of lines that only say something, and are shown as what they said. */
  spoken?: boolean;
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
  /** The first line of the docstring, if there is one. */
  line: number;
  docstring: string;
  blocks: Block[];
}
/**
 * What is needed to lay out one function; prose by first line, the first statement on each line.
 */
interface Shape {
  document: Lecture;
  func: number;
  lines: string[];
  start: number;
  end: number;
  indent: number;
  prose: Map<number, Prose>;
  owner: Map<number, number>;
  isHidden: (line: number) => boolean;
}
/** Sums over a range of steps; uncounted: calls without a formula for all they do. */
type Amounts = Record<Quantity | "uncounted", number>;
/** Of what happened; and of what would have, on device `meta`. */
type CostSum = Amounts & { onMeta: Amounts };
type CostMeter = (first: number, beyond: number) => CostSum;
/** One execution of an assert; operands: measured, without the literals. */
interface Outcome {
  row: number;
  step: number;
  held: boolean | null;
  text: string;
  operands: { source: string; text: string }[];
  /** Whether operands were left out since no run knows their time. */
  isOnClock: boolean;
}
interface Named {
  name: string;
  value: Value;
}
/** What a claim asks for: its operands, the one whose value is asked, and that value. */
interface Asked {
  operands: string[];
  source: string;
  measured: Value | undefined;
}
/** What a claim asks for, and the lines and the function where it stands. */
interface Secret {
  asked: Asked;
  file: number;
  first: number;
  last: number;
  func: number;
  told: Set<number>;
}
interface Result {
  step: number;
  kind: "prose" | "code" | "title" | "value" | "term";
  before: string;
  match: string;
  after: string;
  place: string;
  /** Of a table of the glossary: the row of this term. */
  row?: string;
  /** The line of code that was found. */
  at?: { file: number; line: number };
  /** What holds it, where the article does not show it; there is no step then. */
  definition?: FoundName;
  /** The chapter itself. */
  chapter?: Chapter;
}
/** What of a text is found, in small letters, or nothing. */
type Finder = (text: string) => string;
/** A line that may be found. defines: the name that it defines, if any; found: what of it is. */
interface FoundLine {
  line: number;
  text: string;
  kind: "prose" | "code";
  defines: string;
  found: string;
}
/** Where a line is shown: at a step of the article, or in a definition beside it. */
interface Shown {
  step: number;
  definition?: FoundName;
}
/**
 * What of a file ran, by its lines and by its functions, each with its first step, and definitions
 * that the article shows, each with the step that it stands above.
 */
interface ShownFile {
  ran: Map<number, { step: number; func: number }>;
  functions: { func: number; line: number; end: number; step: number }[];
  definitions: { first: number; last: number; step: number }[];
}

/**
 * An element of a tensor as the document has it: text for nan, inf, complex numbers and large
 * integers.
 */
type Cell = number | boolean | string;
/**
 * Where the elements of a tensor lie, counted in elements. cells: how many the storage holds, or
 * where that is not known how many up to the last one that is read; known: the document says which
 * storage and where in it; isWhole: and how large it is.
 */
interface Layout {
  sizes: number[];
  strides: number[];
  offset: number;
  itemBytes: number;
  cells: number;
  known: boolean;
  isWhole: boolean;
}
/**
 * The elements that lie in one cell: how many, whether there may be more, and the indices of the
 * first few.
 */
interface Readers {
  count: number;
  isAll: boolean;
  indices: number[][];
}
/**
 * A plane through the recorded elements: indices of its rows and columns, what a row adds to the
 * index, and for each cell its index and what is there.
 */
interface Plane {
  lines: number[];
  columns: number[];
  step: number;
  cells: { index: number[]; cell: Cell }[];
}
/**
 * of: how many elements it is made from; recorded: by the run, from all elements, or else computed
 * here from those shown.
 */
interface Summary {
  of: number;
  recorded: boolean;
  statistics: [name: string, amount: number][];
  histogram: Bars | null;
  /** Of booleans, which have no other statistics: how many are true. */
  truths: string;
}
interface Bins {
  low: number;
  high: number;
  counts: number[];
}
interface Bar {
  from: number;
  to: number;
  count: number;
}
/** Bars of a histogram: of single values, around which they lie, or of parts of the range. */
interface Bars {
  low: number;
  high: number;
  bars: Bar[];
  isOfValues: boolean;
}
/**
 * What the inspector was opened on: a value, the name beside it, and the steps at which it may have
 * been recorded.
 */
interface Opened {
  value: Value;
  name: string;
  steps: number[];
  view: "value" | "history";
  watched?: Watched;
}
/** A variable of a call, or a part of it, that is looked at while one steps. */
interface Watched {
  activation: number;
  name: number;
  path: string;
}
/**
 * The same, found in the record; step: from which it is looked at; path: from the recorded value to
 * it.
 */
interface Found {
  row: number;
  step: number;
  recorded: number;
  activation: number;
  name: number;
  path: string;
  value: Value;
}
/**
 * A name that views a storage. step: where it was recorded; count: how often with the same layout.
 */
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
/**
 * A record of a variable; number: what a chart shows of it; changed: it differs from the record
 * before.
 */
interface Point {
  row: number;
  step: number;
  activation: number;
  value: Value | null;
  number: number | null;
  changed: boolean;
}
/**
 * Records in a row that do not differ. value: the one that tells most; first: where they begin;
 * last: the step of the last one.
 */
interface Told {
  point: Point;
  value: Value | null;
  first: number;
  count: number;
  last: number;
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
  known: boolean;
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
/** What a reader is asked in place of a claim. */
interface Question {
  /** The source text whose value is asked for. */
  source: string;
  value: Value;
  /** What there is to choose from; none: one writes. */
  choices: string[];
  unit: string;
  /** The order of magnitude, in words. */
  hint: string;
  /** Half of the last digit that the claim shows, as a share; 0 where it shows none. */
  digits: number;
  /** The line above that gives the asked its value; 0: none. */
  line: number;
}
/** An entry of the glossary. */
interface Meaning {
  term: string;
  /** The sentence that defines it, or two, as Markdown. */
  text: string;
  /** The section in which that stands, and its first step. */
  title: string;
  step: number;
  /** In a table: its first cell. */
  row?: string;
}
/** The prose of a section: sentences by paragraphs, and all of it without marks in small letters. */
interface Sentences {
  paragraphs: string[][];
  plain: string;
  title: string;
  step: number;
}
interface Entry extends Meaning {
  isLetter: boolean;
  /** Other sections that use the term. */
  uses: { title: string; step: number }[];
}
interface Verdict {
  grade: "right" | "near" | "off";
  text: string;
  /** Why it is off, without what came out. */
  hint?: string;
}
interface ClaimGroup {
  statement: number;
  text: string;
  failed: number;
  rows: number[];
  place: string;
  words: string;
}

/** Columns of the costs that can be added up. */
type Quantity =
  | "matmul_flops"
  | "other_flops"
  | "read_bytes"
  | "written_bytes"
  | "allocated_bytes"
  | "freed_bytes";
/** A range of steps. */
interface Span {
  first: number;
  beyond: number;
}
/** Steps with a name on a timeline. */
/** number: of a chapter; 0: a section. */
interface Band extends Span {
  number: number;
  title: string;
}
type Grouping = "line" | "call" | "section" | "operator" | "whole";
/** A run whose costs are summed; withClaims: also what asserts spent to check what they claim. */
interface Tallied {
  model: Model;
  sections: Section[];
  seconds?: ((first: number, beyond: number) => number) | null;
  withClaims?: boolean;
}
/**
 * Key: a statement, a function, the order of a section, or the name of an operator by its index.
 * Step: the place where most of it was spent. Partial: some of it has no formula. Seconds: null
 * where no time was measured.
 */
interface TallyEntry extends Record<Quantity, number> {
  key: number;
  step: number;
  calls: number;
  seconds: number | null;
  uncounted: number;
}
/** The ends of a logarithmic scale. */
type Scale = [low: number, high: number];
/** An open call and the step that it has reached. */
interface OpenCall {
  func: number;
  statement: number;
  step: number;
}
/** Bytes by category while a step ran. */
interface MemoryState {
  step: number;
  live: number[];
  total: number;
}
/** FLOP/s, and bytes per second from memory. */
interface Limits {
  peak: number;
  memory: number;
}
/** A line with what it reached: FLOP/B and FLOP/s. */
interface TimedPoint {
  entry: TallyEntry;
  seconds: number;
  intensity: number;
  rate: number;
}
/**
 * A mark of the roofline: an operator at the FLOP/s that are attainable at its FLOP/B, with the
 * seconds that it would take at least; or a line with the rate and the seconds that were measured.
 */
interface RooflinePoint extends TimedPoint {
  name: string;
  place: string;
  attainable: number;
  waits: boolean;
  isMeasured: boolean;
  number?: number;
}
/** How a page of a slide comes: at once, claim by claim, or line by line. */
type Reveal = "all" | "claims" | "steps";
/**
 * What is presented at one time. Text: prose of the table of contents before a section, or empty;
 * section: null where a heading and its text stand alone; step: the first step of what is shown;
 * notes: Markdown for the speaker alone; lines: of source that a section has.
 */
interface Slide {
  lines: number;
  notes: string[];
  section: Section | null;
  chapter: string;
  text: string;
  step: number;
  title: string;
}
/** What the address names. */
interface State {
  doc: string;
  mode: "read" | "step";
  at: string;
  /** The chapter that is shown from its top, and whether all of them are one page. */
  chapter?: string;
  whole?: boolean;
  /** Whether it is of the short path. */
  short?: boolean;
  /** Which part of a slide is shown, from 1; 0: no slide is. */
  present?: number;
}
/**
 * Times that were measured in another run of the same sources; of a range of steps; text is empty
 * where they were short.
 */
interface Times {
  seconds: (first: number, beyond: number) => number;
  text: (first: number, beyond: number) => string;
  device: string;
}
/**
 * A row of a box. text: the value in words; target: the box that its arrow leads to, or empty;
 * items: how many stand on this line; part: from where to where a view reaches in its storage.
 */
interface GraphRow {
  label: string;
  text: string;
  target: string;
  items?: number;
  parts?: number[][];
  variable?: Variable;
}
/** count: arrows that lead here; isCyclic: some of them from what this leads to. */
interface Box {
  key: string;
  kind: "call" | "object" | "tensor" | "storage";
  column: number;
  title: string;
  note: string;
  rows: GraphRow[];
  changed: boolean;
  since: number;
  count: number;
  isCyclic: boolean;
}
/** changed: the name that it leads from; isBack: it is part of a cycle. */
interface Arrow {
  from: string;
  row: number;
  to: string;
  changed: boolean;
  isBack: boolean;
}
/** leftOut: objects that are not drawn, since there are too many. */
interface Graph {
  boxes: Box[];
  arrows: Arrow[];
  leftOut: number;
}
interface Place {
  top: number;
  height: number;
  column: number;
}
