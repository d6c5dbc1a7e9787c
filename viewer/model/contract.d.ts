// Made from `trace/schema.py` by `python -m trace.schema --viewer`. Not to be edited.

export const FORMAT: string;
export const VERSION: number;
export const TOKEN_KINDS: string[];
export const LISTS: string[];
export const TABLES: string[];
export const COLUMNS: Record<string, string[]>;
export const NULLABLE: string[];
export const ROWS: Record<string, string[]>;
export const REFERENCES: [table: string, column: string, list: string, lowest: number][];

/** One recorded run. */
export interface Document {
  /** Name of the module that was run. */
  module: string;
  /** First line of the docstring of `main()`, or else of the module, or its name. */
  title: string;
  /** What the run depended on. */
  environment: Environment;
  /** Traced files, in the order of their import. */
  files: SourceFile[];
  /** Statements of the functions of files in which something ran, in the order of the source. */
  statements: Statement[];
  /** Functions of these files, in the order of the source. */
  functions: Function[];
  /**
   * n > 0: statements[n-1] runs. -k with k <= F = len(functions): functions[k-1] is entered, as
   * the next activation. 0: the innermost activation is left or suspended. -(F+a): activation a is
   * resumed on top.
   */
  events: number[];
  /** Strings that columns refer to. */
  names: string[];
  /** Recorded values, each once. */
  values: Value[];
  /** Values shown by `# @inspect`. */
  inspections: Inspections;
  /** What names stood for; empty with `--no-locals`. */
  locals: Locals;
  /**
   * When names were read, as lengths of runs: of the moments 0, 1, ..., each a number of events,
   * so many without a reading, so many with one, so many without, ... What is left has none. A
   * reading is of the activation that runs. Statements that ran often are read ever more rarely.
   */
  readings: number[];
  /**
   * Which events may have changed objects, as lengths of runs: so many events without, so many
   * with, ... What is left has none. It is said of what goes on right after the event, until the
   * next one: the statement, or after an exit the caller's.
   */
  effects: number[];
  /** Those of `statements` that are an `assert`, whether they ran or not. */
  assertions: Assertion[];
  /** Their executions. */
  claims: Claims;
  /** Printed text. */
  output: Output[];
  /** What operators cost; null with `--no-costs` or when torch was not used. */
  costs: Costs | null;
  /** Tensor bytes alive over time. */
  memory: Memory;
  /** Operators that ran without a formula for all they do, and how often. */
  uncounted: Record<string, number>;
  /** Label to title, from the mapping `TOPICS` of the lecture's module `syllabus`, if any. */
  topics: Record<string, string>;
  /** Images by the path that prose uses. */
  assets: Record<string, Asset>;
  /** What the author should know. */
  warnings: string[];
  /** Null when `main()` returned. */
  failure: Failure | null;
  /** What `@{name}` in prose stood for. */
  quotes: Quotes;
  /** What calls said, in lectures of other tools. */
  said: Said;
  /**
   * Files beside the lecture that it read, by their paths relative to the folder it is imported
   * from, and a short text that tells whether one has changed.
   */
  data: Record<string, string>;
  /** Always `lecture-trace`. */
  format: string;
  /** Version of this contract; a viewer brings an older document to it and refuses a newer one. */
  version: number;
}

/** What the run depended on besides the sources; runs are compared byte for byte within one. */
export interface Environment {
  /** Version of Python, major and minor. */
  python: string;
  /** The other tool that recorded the run; it knows no claims, costs or variables. */
  recorded_by?: string;
  /** Version of PyTorch without its build; missing when it was not imported. */
  torch?: string;
  /** `cpu`, or the name of the GPU. */
  device?: string;
  /** Vector instructions that PyTorch used. */
  cpu_capability?: string;
  /** Threads of PyTorch at the end of the run. */
  threads?: number;
  /**
   * Fingerprint of what PyTorch's kernels on the CPU compute with these threads on this machine:
   * where it is equal, floats are equal to the last bit.
   */
  arithmetic?: string;
}

/**
 * A traced source file that the run imported. Of one in which nothing ran there are the source
 * and its functions: no prose, tokens, hidden lines and statements.
 */
export interface SourceFile {
  /** Path relative to the folder the lecture is imported from, with forward slashes. */
  path: string;
  /** The whole text. */
  source: string;
  /** Prose blocks in the order of the source. */
  prose: Prose[];
  /**
   * Flat groups of four: line (from 1), column and length in UTF-16 units, index in
   * `TOKEN_KINDS`. Text between tokens is plain. A token never spans lines.
   */
  tokens: number[];
  /** Pairs of first and last line that `@hide` keeps out of Read. */
  hidden: number[][];
}

/** A block of Markdown: a docstring, comments on lines of their own, or what calls say. */
export interface Prose {
  /** First source line of the block, counted from 1. */
  first_line: number;
  /** Last source line of the block. */
  last_line: number;
  /**
   * Where the text stands. `call`: a statement that does nothing but say something. `bridge`: a
   * comment that only the short path shows, in place of what it leaves out. `note`: a comment for
   * the speaker, which no page shows but the speaker's own.
   */
  kind: "docstring" | "comment" | "call" | "bridge" | "note";
  /**
   * Markdown with `$maths$`, without comment signs, quotes and indentation. Empty for a `call`:
   * what it said is in `Document.said`.
   */
  text: string;
}

/** A statement of a function, stored as a row. */
export type Statement = [
  /** Its file. */
  file: number,
  /** Its first line. */
  first_line: number,
  /** Its last line; of a compound statement, that of its header. */
  last_line: number,
  /** The innermost statement around it, or -1. */
  enclosing: number,
  /** What it is. */
  kind:
    | "assign"
    | "expression"
    | "call"
    | "assert"
    | "return"
    | "raise"
    | "pass"
    | "break"
    | "continue"
    | "for"
    | "while"
    | "if"
    | "with"
    | "try"
    | "match"
    | "def"
    | "class"
    | "delete"
    | "import"
    | "type",
  /** The function it belongs to. */
  function: number,
  /**
   * Names that it may bind or unbind when it runs: those it assigns, and those that handlers
   * around it bind; `self.x` for an attribute of `self`.
   */
  binds: number[],
];

/** A function whose calls are recorded. */
export interface Function {
  /** Its file. */
  file: number;
  /** Qualified name without `<locals>`: `main`, `Linear.forward`. */
  name: string;
  /** Line of the `def`. */
  line: number;
  /** Last line of the body, comments after the last statement included. */
  end_line: number;
  /** First line of the docstring, or empty. */
  title: string;
  /**
   * What the comment at the end of the `def` line says: its words, such as the topics that a
   * section teaches, and `core`, `cover` and `exercise` where it has `@core`, `@cover` and
   * `@exercise`.
   */
  marks: string[];
  /** Names of the parameters. */
  parameters: string[];
  /**
   * Names of its variables that other code may bind while the function waits for a call:
   * `nonlocal` and `global` ones.
   */
  shared: string[];
}

/**
 * A bounded picture of one Python value.
 *
 * Only `type` is always there. Which other keys are there says what kind of value it is; a viewer
 * that meets an unknown kind shows `type` and `text`.
 */
export interface Value {
  /** Name of the value's class. */
  type: string;
  /** A number, text, truth value or None that JSON holds exactly. */
  value?: boolean | number | string | null;
  /**
   * Text of a value JSON or JavaScript cannot hold (nan, inf, integers past 2^53, bytes) or of an
   * object of any other class.
   */
  text?: string;
  /** Number of characters, bytes, items or entries of the original. */
  length?: number;
  /** True when less than the original is recorded here. */
  cut?: boolean;
  /** Items of a list, tuple, set, ... */
  items?: Value[];
  /** Pairs of key and value of a mapping. */
  entries?: Value[][];
  /** Named parts of an object (dataclass, named tuple, ...). */
  fields?: Record<string, Value>;
  /** Element type of a tensor or array, such as `float32`. */
  dtype?: string;
  /** Size of each axis. */
  shape?: number[];
  /** Elements (not bytes) to skip in storage for one step along each axis. */
  strides?: number[];
  /** Elements before the first one in storage. */
  offset?: number;
  /** Device of a tensor, such as `cpu` or `cuda:0`. */
  device?: string;
  /** True when the elements lie in storage in row-major order without gaps. */
  contiguous?: boolean;
  /** True when autograd records operations on the tensor. */
  requires_grad?: boolean;
  /** Bytes of the elements: number of elements times element size (the logical size). */
  bytes?: number;
  /** Small number of the storage viewed; equal numbers share memory. */
  storage?: number;
  /** Bytes of that storage (the held size). */
  storage_bytes?: number;
  /** Indices kept along each axis when the tensor is too large to be recorded whole. */
  shown?: number[][];
  /**
   * Elements in row-major order: all of them, or those at the product of `shown`. Numbers, truth
   * values, or text for nan, inf, complex numbers and objects.
   */
  elements?: (boolean | number | string)[];
  /** `min`, `max`, `mean`, `std` of the finite elements, counts of `nan` and `inf`. */
  statistics?: Record<string, number | string>;
  /** How the finite elements are spread. */
  histogram?: Histogram;
  /**
   * Small number of a mutable object at a glance (`Document.locals`); equal numbers are the same
   * object. That of a list or a mapping lasts as long as something that is read holds it.
   */
  object?: number;
  /** The value draws itself: an SVG picture. */
  svg?: string;
  /** The value draws itself: Markdown text. */
  markdown?: string;
  /** The value draws itself: HTML without styles, scripts and names, such as a table. */
  html?: string;
  /** The value draws itself: a PNG picture in base64. */
  png?: string;
  /** The same as JPEG. */
  jpeg?: string;
  /**
   * The name of the file with the picture, in place of `svg`, `png` or `jpeg`, where it is large:
   * as of an `Asset`.
   */
  file?: string;
  /** An array of bytes is drawn as `png`: each pixel (1), every second one (2), ... */
  every?: number;
  /** The value draws itself: a Vega-Lite specification. */
  vega?: Record<string, any>;
  /** Reading the value failed: type and message of the exception. */
  error?: string;
}

/** Elements by equal parts of their range. */
export interface Histogram {
  /** The smallest finite element. */
  low: number;
  /** The largest. */
  high: number;
  /** How many elements lie in each part. */
  counts: number[];
}

/** Values shown by `# @inspect`, as columns; a row is one name read once. */
export interface Inspections {
  /** The event (step or entry) that the row belongs to. */
  event: number[];
  /** Number of events recorded when the value was read. */
  at: number[];
  /** The dotted name, or `return`. */
  name: number[];
  /** The value; null: cleared by `# @clear`. */
  value: (number | null)[];
}

/**
 * What names stood for, at a glance, as columns. All names of a function are read when it is
 * entered and after each of its statements (`Document.readings`); a row is one that stands for
 * something else than at the reading before, in the same activation.
 *
 * A glance shows numbers and short texts whole, of containers and objects a line's worth, and of
 * tensors up to 64 elements. Only what is cut has a `length`. What a tensor lacks is usual:
 * row-major `strides`, `offset` 0, `device` cpu, no `requires_grad`. An object without its parts
 * (`cut`) is shown in another place.
 * Modules, functions and classes are left out.
 */
export interface Locals {
  /** The event (step or entry) that the row belongs to. */
  event: number[];
  /** Number of events recorded when the names were read. */
  at: number[];
  /** The name, `self.x` for an attribute of `self` that the function assigns, or `return`. */
  name: number[];
  /** The value; null: there is none any more. */
  value: (number | null)[];
}

/** One `assert` statement, whether it ran or not. */
export interface Assertion {
  /** The statement. */
  statement: number;
  /** Source text of the condition, on one line. */
  text: string;
  /** Source text of each measured operand, in the order of evaluation. */
  operands: string[];
  /** True for `# @predict`: the reader is asked before the claim is shown. */
  predict?: boolean;
}

/** Executed asserts, as columns; a row is one occurrence. */
export interface Claims {
  /** The `assert`. */
  statement: number[];
  /** The step that executed it. */
  step: number[];
  /** Number of events recorded when the outcome was known. */
  at: number[];
  /** Whether it held; null when evaluating the condition raised. */
  held: (boolean | null)[];
  /** The value of each of `Assertion.operands`; null: not evaluated. */
  operands: (number | null)[][];
}

/** A piece of text that the lecture printed. */
export interface Output {
  /** The step that printed it, or -1. */
  step: number;
  /** Number of events recorded when it was printed. */
  at: number;
  /** Which stream. */
  stream: "stdout" | "stderr";
  /** The text. */
  text: string;
}

/**
 * What operators cost, as columns; a row is what one operator did within one step, on device
 * `meta` or elsewhere: one that ran on both has two rows.
 */
export interface Costs {
  /** The innermost step that was running, or -1. */
  step: number[];
  /** The operator, or `memory` for the storages. */
  operator: number[];
  /** How often the operator ran. */
  calls: number[];
  /** FLOPs of matrix products, two per multiply-add. */
  matmul_flops: number[];
  /** All other FLOPs, by the convention of `meter/rates.py`. */
  other_flops: number[];
  /** Bytes read, each element of an input once. */
  read_bytes: number[];
  /** Bytes written, each element of an output once. */
  written_bytes: number[];
  /** Bytes of the storages that came to life. */
  allocated_bytes: number[];
  /** Bytes of the storages that died while the step was the innermost one. */
  freed_bytes: number[];
  /** How many of the calls have no formula for all they do: the row's sums are too small. */
  uncounted: number[];
  /**
   * 1 where the row tells of device `meta`, on which nothing is computed: what it would take.
   * Else 0.
   */
  meta: number[];
}

/**
 * Bytes of tensor storage alive over time, as columns; a row is one change of a category.
 *
 * Of several changes at one moment there are the state in which most was alive, and the last.
 * Tensors on the device `meta` hold no memory and are not among it, though `Costs` counts what
 * they would take.
 */
export interface Memory {
  /** Number of events recorded at the change. */
  at: number[];
  /** Bytes of the category alive after it. */
  live_bytes: number[];
  /** What the bytes are for, one of `ledger.CATEGORIES`. */
  category: number[];
}

/** An image, sound or film named in prose: its content, or where that lies. */
export interface Asset {
  /** Media type, such as `image/png`. */
  mime: string;
  /** The content. */
  base64?: string;
  /** The name of its file, in the folder `NAME.files` beside the document `NAME.json`. */
  file?: string;
}

/** Why the run ended early. */
export interface Failure {
  /** What stopped it. */
  kind: "claim" | "exception" | "exit" | "interrupt" | "step limit";
  /** Name of the exception's class. */
  type: string;
  /** Text of the exception, or what to do. */
  message: string;
  /** The step that failed, or -1. */
  step: number;
  /** Number of events recorded then. */
  at: number;
  /** Frames of the lecture and of the libraries it called. */
  traceback: TracebackEntry[];
}

/** One frame of a traceback, outermost first. */
export interface TracebackEntry {
  /** Path of a traced file as in `SourceFile.path`, or the file's name elsewhere. */
  path: string;
  /** Line number. */
  line: number;
  /** Name of the function. */
  function: string;
}

/**
 * What `@{name}` in prose stood for, as columns; a row is one of them, read once the statement
 * below the prose had run. A document without any lacks the field.
 */
export interface Quotes {
  /** Number of events recorded when it was read. */
  at: number[];
  /** The file of the prose. */
  file: number[];
  /** The first line of the block of prose. */
  line: number[];
  /** What stands between the braces. */
  mark: number[];
  /** What is shown in its place. */
  text: number[];
}

/** What a lecture of another tool said by calling its functions, as columns, in order. */
export interface Said {
  /** The innermost step that was running, or -1. */
  step: number[];
  /** Number of events recorded when it was said. */
  at: number[];
  /** What was said: a value that draws itself. */
  value: number[];
}
