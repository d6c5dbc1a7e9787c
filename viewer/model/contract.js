// What a document is: names, lists, columns, references and kinds, as `trace/schema.py` describes
// them. Facts, no code.

export const FORMAT = "lecture-trace";
export const VERSION = 1;

/** Index of each kind in `SourceFile.tokens`; also the CSS class `token-KIND`. */
export const TOKEN_KINDS = [
  ..."keyword string number comment directive definition builtin operator decorator".split(" "),
];

export const LISTS = [
  "files",
  "statements",
  "functions",
  "events",
  "names",
  "values",
  "assertions",
  "output",
  "warnings",
];
export const TABLES = ["environment", "uncounted", "topics", "assets"];

export const COLUMNS = {
  inspections: ["event", "at", "name", "value"],
  claims: ["statement", "step", "at", "held", "operands"],
  memory: ["at", "live_bytes", "category"],
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
  ],
};

/** Columns whose numbers point into another list of the document. */
export const REFERENCES = [
  ["inspections", "event", "events"],
  ["inspections", "name", "names"],
  ["inspections", "value", "values"],
  ["claims", "statement", "statements"],
  ["costs", "operator", "names"],
  ["memory", "category", "names"],
];
