// Made from `trace/schema.py` by `python -m trace.schema --viewer`. Not to be edited.

/** What every document says it is. */
export const FORMAT = "lecture-trace";

/** The version that is described here. */
export const VERSION = 2;

/** Kinds of source text: tokens have the index. */
export const TOKEN_KINDS = [
  "keyword",
  "string",
  "number",
  "comment",
  "directive",
  "definition",
  "builtin",
  "operator",
  "decorator",
];

/** Lists. */
export const LISTS = [
  "files",
  "statements",
  "functions",
  "events",
  "names",
  "values",
  "readings",
  "effects",
  "assertions",
  "output",
  "warnings",
];

/** Objects. */
export const TABLES = ["environment", "uncounted", "topics", "assets", "failure", "data"];

/** Tables that are stored by columns, lists of one length. */
export const COLUMNS = {
  inspections: ["event", "at", "name", "value"],
  locals: ["event", "at", "name", "value"],
  claims: ["statement", "step", "at", "held", "operands"],
  costs: [
    "step",
    "operator",
    "calls",
    "matmul_flops",
    "other_flops",
    "read_bytes",
    "written_bytes",
    "allocated_bytes",
    "freed_bytes",
    "uncounted",
    "meta",
  ],
  memory: ["at", "live_bytes", "category"],
  quotes: ["at", "file", "line", "mark", "text"],
  said: ["step", "at", "value"],
};

/** What may be null. */
export const NULLABLE = ["costs", "failure"];

/** Lists of rows that are lists, and what stands in each place. */
export const ROWS = {
  statements: ["file", "first_line", "last_line", "enclosing", "kind", "function", "binds"],
};

/** Table, column, the list that its numbers point into, and the lowest: -1 is nothing. */
export const REFERENCES = [
  ["statements", "file", "files", 0],
  ["statements", "enclosing", "statements", -1],
  ["statements", "function", "functions", 0],
  ["statements", "binds", "names", 0],
  ["functions", "file", "files", 0],
  ["inspections", "event", "events", 0],
  ["inspections", "name", "names", 0],
  ["inspections", "value", "values", 0],
  ["locals", "event", "events", 0],
  ["locals", "name", "names", 0],
  ["locals", "value", "values", 0],
  ["assertions", "statement", "statements", 0],
  ["claims", "statement", "statements", 0],
  ["claims", "operands", "values", 0],
  ["costs", "operator", "names", 0],
  ["memory", "category", "names", 0],
  ["quotes", "file", "files", 0],
  ["quotes", "mark", "names", 0],
  ["quotes", "text", "names", 0],
  ["said", "value", "values", 0],
];
