// Types of the document and of `contract.js`, for the type check only: no browser loads this file.
// `trace/schema.py` says what each field means. Sizes are in bytes, indices count from 0.

export const FORMAT: string;
export const VERSION: number;
/** Index of each kind in `SourceFile.tokens`; also the CSS class `token-KIND`. */
export const TOKEN_KINDS: string[];
export const LISTS: string[];
export const TABLES: string[];
export const COLUMNS: Record<string, string[]>;
/** Columns whose numbers point into another list of the document. */
export const REFERENCES: [table: string, column: string, list: string][];

declare global {
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
}
