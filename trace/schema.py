"""The document, field by field: what the tracer writes and every viewer reads.

One JSON object holds one run of one lecture. Everything that repeats is a column or a table that is
indexed, so that a step costs a few bytes. Terms used below:

event      one entry of `Document.events`, in the order in which things happened
step       one executed statement; the n-th step (from 0) is the n-th positive event
activation one call of a function; the a-th activation (from 1) is the a-th event that enters one
at         the number of events recorded when a fact became known. A viewer that stands on event e
           shows a fact if `at <= e'`, where e' is the end of what it is showing; inside a callee
           the caller's later values are not known yet.

`python -m trace.schema` prints the JSON Schema made from these classes; with `--viewer` it writes
the viewer's copy, `viewer/model/contract.js` and `contract.d.ts`. A field may be missing from the
JSON only where its class is a `TypedDict` with `total=False`.
"""

import typing
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Required, TypedDict

FORMAT = "lecture-trace"
VERSION = 2

TokenKind = Literal[
    "keyword",
    "string",
    "number",
    "comment",
    "directive",
    "definition",
    "builtin",
    "operator",
    "decorator",
]
TOKEN_KINDS: tuple[TokenKind, ...] = typing.get_args(TokenKind)
"""What a highlighted piece of source is; `SourceFile.tokens` stores the index into this tuple."""

StatementKind = Literal[
    "assign",
    "expression",
    "call",
    "assert",
    "return",
    "raise",
    "pass",
    "break",
    "continue",
    "for",
    "while",
    "if",
    "with",
    "try",
    "match",
    "def",
    "class",
    "delete",
    "import",
    "type",
]
"""What a statement is. `call`: an expression statement that is one call, as sections are called."""


@dataclass(frozen=True)
class Index:
    """Says of a number that it is the index (from 0) of an item of a list of the document."""

    into: str
    """Name of the field of `Document` that holds the list."""
    optional: bool = False
    """True where -1 may stand for no item."""


ProseKind = Literal["docstring", "comment", "call", "bridge", "note"]

FileIndex = Annotated[int, Index("files")]
StatementIndex = Annotated[int, Index("statements")]
FunctionIndex = Annotated[int, Index("functions")]
EventIndex = Annotated[int, Index("events")]
NameIndex = Annotated[int, Index("names")]
ValueIndex = Annotated[int, Index("values")]


class Columns:
    """A table that is stored by columns: lists of one length, in which equal places are one row."""


@dataclass(frozen=True)
class Prose:
    """A block of Markdown: a docstring, comments on lines of their own, or what calls say."""

    first_line: int
    """First source line of the block, counted from 1."""
    last_line: int
    """Last source line of the block."""
    kind: ProseKind
    """Where the text stands. `call`: a statement that does nothing but say something. `bridge`: a
    comment that only the short path shows, in place of what it leaves out. `note`: a comment for
    the speaker, which no page shows but the speaker's own."""
    text: str
    """Markdown with `$maths$`, without comment signs, quotes and indentation. Empty for a `call`:
    what it said is in `Document.said`."""


@dataclass(frozen=True)
class SourceFile:
    """A traced source file that the run imported. Of one in which nothing ran there are the source
    and its functions: no prose, tokens, hidden lines and statements."""

    path: str
    """Path relative to the folder the lecture is imported from, with forward slashes."""
    source: str
    """The whole text."""
    prose: list[Prose]
    """Prose blocks in the order of the source."""
    tokens: list[int]
    """Flat groups of four: line (from 1), column and length in UTF-16 units, index in
    `TOKEN_KINDS`. Text between tokens is plain. A token never spans lines."""
    hidden: list[list[int]]
    """Pairs of first and last line that `@hide` keeps out of Read."""


@dataclass(frozen=True)
class Function:
    """A function whose calls are recorded."""

    file: FileIndex
    """Its file."""
    name: str
    """Qualified name without `<locals>`: `main`, `Linear.forward`."""
    line: int
    """Line of the `def`."""
    end_line: int
    """Last line of the body, comments after the last statement included."""
    title: str
    """First line of the docstring, or empty."""
    marks: list[str]
    """What the comment at the end of the `def` line says: its words, such as the topics that a
    section teaches, and `core`, `cover` and `exercise` where it has `@core`, `@cover` and
    `@exercise`."""
    parameters: list[str]
    """Names of the parameters."""
    shared: list[str]
    """Names of its variables that other code may bind while the function waits for a call:
    `nonlocal` and `global` ones."""


class Statement(NamedTuple):
    """A statement of a function, stored as a row."""

    file: FileIndex
    """Its file."""
    first_line: int
    """Its first line."""
    last_line: int
    """Its last line; of a compound statement, that of its header."""
    enclosing: Annotated[int, Index("statements", optional=True)]
    """The innermost statement around it, or -1."""
    kind: StatementKind
    """What it is."""
    function: FunctionIndex
    """The function it belongs to."""
    binds: list[NameIndex]
    """Names that it may bind or unbind when it runs: those it assigns, and those that handlers
    around it bind; `self.x` for an attribute of `self`."""


class Value(TypedDict, total=False):
    """A bounded picture of one Python value.

    Only `type` is always there. Which other keys are there says what kind of value it is; a viewer
    that meets an unknown kind shows `type` and `text`.
    """

    type: Required[str]
    """Name of the value's class."""
    value: bool | int | float | str | None
    """A number, text, truth value or None that JSON holds exactly."""
    text: str
    """Text of a value JSON or JavaScript cannot hold (nan, inf, integers past 2^53, bytes) or of an
    object of any other class."""
    length: int
    """Number of characters, bytes, items or entries of the original."""
    cut: bool
    """True when less than the original is recorded here."""
    items: "list[Value]"
    """Items of a list, tuple, set, ..."""
    entries: "list[list[Value]]"
    """Pairs of key and value of a mapping."""
    fields: "dict[str, Value]"
    """Named parts of an object (dataclass, named tuple, ...)."""
    dtype: str
    """Element type of a tensor or array, such as `float32`."""
    shape: list[int]
    """Size of each axis."""
    strides: list[int]
    """Elements (not bytes) to skip in storage for one step along each axis."""
    offset: int
    """Elements before the first one in storage."""
    device: str
    """Device of a tensor, such as `cpu` or `cuda:0`."""
    contiguous: bool
    """True when the elements lie in storage in row-major order without gaps."""
    requires_grad: bool
    """True when autograd records operations on the tensor."""
    bytes: int
    """Bytes of the elements: number of elements times element size (the logical size)."""
    storage: int
    """Small number of the storage viewed; equal numbers share memory."""
    storage_bytes: int
    """Bytes of that storage (the held size)."""
    shown: list[list[int]]
    """Indices kept along each axis when the tensor is too large to be recorded whole."""
    elements: list[bool | int | float | str]
    """Elements in row-major order: all of them, or those at the product of `shown`. Numbers, truth
    values, or text for nan, inf, complex numbers and objects."""
    statistics: dict[str, float | int | str]
    """`min`, `max`, `mean`, `std` of the finite elements, counts of `nan` and `inf`."""
    histogram: "Histogram"
    """How the finite elements are spread."""
    object: int
    """Small number of a mutable object at a glance (`Document.locals`); equal numbers are the same
    object. That of a list or a mapping lasts as long as something that is read holds it."""
    svg: str
    """The value draws itself: an SVG picture."""
    markdown: str
    """The value draws itself: Markdown text."""
    html: str
    """The value draws itself: HTML without styles, scripts and names, such as a table."""
    png: str
    """The value draws itself: a PNG picture in base64."""
    jpeg: str
    """The same as JPEG."""
    file: str
    """The name of the file with the picture, in place of `svg`, `png` or `jpeg`, where it is large:
    as of an `Asset`."""
    every: int
    """An array of bytes is drawn as `png`: each pixel (1), every second one (2), ..."""
    vega: dict[str, Any]
    """The value draws itself: a Vega-Lite specification."""
    error: str
    """Reading the value failed: type and message of the exception."""


class Histogram(TypedDict):
    """Elements by equal parts of their range."""

    low: float
    """The smallest finite element."""
    high: float
    """The largest."""
    counts: list[int]
    """How many elements lie in each part."""


@dataclass
class Inspections(Columns):
    """Values shown by `# @inspect`, as columns; a row is one name read once."""

    event: list[EventIndex] = field(default_factory=list)
    """The event (step or entry) that the row belongs to."""
    at: list[int] = field(default_factory=list)
    """Number of events recorded when the value was read."""
    name: list[NameIndex] = field(default_factory=list)
    """The dotted name, or `return`."""
    value: list[ValueIndex | None] = field(default_factory=list)
    """The value; null: cleared by `# @clear`."""


@dataclass
class Locals(Columns):
    """What names stood for, at a glance, as columns. All names of a function are read when it is
    entered and after each of its statements (`Document.readings`); a row is one that stands for
    something else than at the reading before, in the same activation.

    A glance shows numbers and short texts whole, of containers and objects a line's worth, and of
    tensors up to 64 elements. Only what is cut has a `length`. What a tensor lacks is usual:
    row-major `strides`, `offset` 0, `device` cpu, no `requires_grad`. An object without its parts
    (`cut`) is shown in another place.
    Modules, functions and classes are left out.
    """

    event: list[EventIndex] = field(default_factory=list)
    """The event (step or entry) that the row belongs to."""
    at: list[int] = field(default_factory=list)
    """Number of events recorded when the names were read."""
    name: list[NameIndex] = field(default_factory=list)
    """The name, `self.x` for an attribute of `self` that the function assigns, or `return`."""
    value: list[ValueIndex | None] = field(default_factory=list)
    """The value; null: there is none any more."""


@dataclass
class Said(Columns):
    """What a lecture of another tool said by calling its functions, as columns, in order."""

    step: list[int] = field(default_factory=list)
    """The innermost step that was running, or -1."""
    at: list[int] = field(default_factory=list)
    """Number of events recorded when it was said."""
    value: list[ValueIndex] = field(default_factory=list)
    """What was said: a value that draws itself."""


OPTIONAL = ("quotes", "data", "said")
"""Fields of a document that are left out where they are empty."""


@dataclass
class Quotes(Columns):
    """What `@{name}` in prose stood for, as columns; a row is one of them, read once the statement
    below the prose had run. A document without any lacks the field."""

    at: list[int] = field(default_factory=list)
    """Number of events recorded when it was read."""
    file: list[FileIndex] = field(default_factory=list)
    """The file of the prose."""
    line: list[int] = field(default_factory=list)
    """The first line of the block of prose."""
    mark: list[NameIndex] = field(default_factory=list)
    """What stands between the braces."""
    text: list[NameIndex] = field(default_factory=list)
    """What is shown in its place."""


class Assertion(TypedDict):
    """One `assert` statement, whether it ran or not."""

    statement: StatementIndex
    """The statement."""
    text: str
    """Source text of the condition, on one line."""
    operands: list[str]
    """Source text of each measured operand, in the order of evaluation."""
    predict: NotRequired[bool]
    """True for `# @predict`: the reader is asked before the claim is shown."""


@dataclass
class Claims(Columns):
    """Executed asserts, as columns; a row is one occurrence."""

    statement: list[StatementIndex] = field(default_factory=list)
    """The `assert`."""
    step: list[int] = field(default_factory=list)
    """The step that executed it."""
    at: list[int] = field(default_factory=list)
    """Number of events recorded when the outcome was known."""
    held: list[bool | None] = field(default_factory=list)
    """Whether it held; null when evaluating the condition raised."""
    operands: list[list[ValueIndex | None]] = field(default_factory=list)
    """The value of each of `Assertion.operands`; null: not evaluated."""


class Output(TypedDict):
    """A piece of text that the lecture printed."""

    step: int
    """The step that printed it, or -1."""
    at: int
    """Number of events recorded when it was printed."""
    stream: Literal["stdout", "stderr"]
    """Which stream."""
    text: str
    """The text."""


@dataclass
class Costs(Columns):
    """What operators cost, as columns; a row is what one operator did within one step, on device
    `meta` or elsewhere: one that ran on both has two rows."""

    step: list[int] = field(default_factory=list)
    """The innermost step that was running, or -1."""
    operator: list[NameIndex] = field(default_factory=list)
    """The operator, or `memory` for the storages."""
    calls: list[int] = field(default_factory=list)
    """How often the operator ran."""
    matmul_flops: list[int] = field(default_factory=list)
    """FLOPs of matrix products, two per multiply-add."""
    other_flops: list[int] = field(default_factory=list)
    """All other FLOPs, by the convention of `meter/rates.py`."""
    read_bytes: list[int] = field(default_factory=list)
    """Bytes read, each element of an input once."""
    written_bytes: list[int] = field(default_factory=list)
    """Bytes written, each element of an output once."""
    allocated_bytes: list[int] = field(default_factory=list)
    """Bytes of the storages that came to life."""
    freed_bytes: list[int] = field(default_factory=list)
    """Bytes of the storages that died while the step was the innermost one."""
    uncounted: list[int] = field(default_factory=list)
    """How many of the calls have no formula for all they do: the row's sums are too small."""
    meta: list[int] = field(default_factory=list)
    """1 where the row tells of device `meta`, on which nothing is computed: what it would take.
    Else 0."""


@dataclass
class Memory(Columns):
    """Bytes of tensor storage alive over time, as columns; a row is one change of a category.

    Of several changes at one moment there are the state in which most was alive, and the last.
    Tensors on the device `meta` hold no memory and are not among it, though `Costs` counts what
    they would take.
    """

    at: list[int] = field(default_factory=list)
    """Number of events recorded at the change."""
    live_bytes: list[int] = field(default_factory=list)
    """Bytes of the category alive after it."""
    category: list[NameIndex] = field(default_factory=list)
    """What the bytes are for, one of `ledger.CATEGORIES`."""


class Asset(TypedDict):
    """An image, sound or film named in prose: its content, or where that lies."""

    mime: str
    """Media type, such as `image/png`."""
    base64: NotRequired[str]
    """The content."""
    file: NotRequired[str]
    """The name of its file, in the folder `NAME.files` beside the document `NAME.json`."""


class TracebackEntry(TypedDict):
    """One frame of a traceback, outermost first."""

    path: str
    """Path of a traced file as in `SourceFile.path`, or the file's name elsewhere."""
    line: int
    """Line number."""
    function: str
    """Name of the function."""


class Failure(TypedDict):
    """Why the run ended early."""

    kind: Literal["claim", "exception", "exit", "interrupt", "step limit"]
    """What stopped it."""
    type: str
    """Name of the exception's class."""
    message: str
    """Text of the exception, or what to do."""
    step: int
    """The step that failed, or -1."""
    at: int
    """Number of events recorded then."""
    traceback: list[TracebackEntry]
    """Frames of the lecture and of the libraries it called."""


class Environment(TypedDict):
    """What the run depended on besides the sources; runs are compared byte for byte within one."""

    python: str
    """Version of Python, major and minor."""
    recorded_by: NotRequired[str]
    """The other tool that recorded the run; it knows no claims, costs or variables."""
    torch: NotRequired[str]
    """Version of PyTorch without its build; missing when it was not imported."""
    device: NotRequired[str]
    """`cpu`, or the name of the GPU."""
    cpu_capability: NotRequired[str]
    """Vector instructions that PyTorch used."""
    threads: NotRequired[int]
    """Threads of PyTorch at the end of the run."""
    arithmetic: NotRequired[str]
    """Fingerprint of what PyTorch's kernels on the CPU compute with these threads on this machine:
    where it is equal, floats are equal to the last bit."""


@dataclass
class Document:
    """One recorded run."""

    module: str
    """Name of the module that was run."""
    title: str
    """First line of the docstring of `main()`, or else of the module, or its name."""
    environment: Environment
    """What the run depended on."""
    files: list[SourceFile]
    """Traced files, in the order of their import."""
    statements: list[Statement]
    """Statements of the functions of files in which something ran, in the order of the source."""
    functions: list[Function]
    """Functions of these files, in the order of the source."""
    events: list[int]
    """n > 0: statements[n-1] runs. -k with k <= F = len(functions): functions[k-1] is entered, as
    the next activation. 0: the innermost activation is left or suspended. -(F+a): activation a is
    resumed on top."""
    names: list[str]
    """Strings that columns refer to."""
    values: list[Value]
    """Recorded values, each once."""
    inspections: Inspections
    """Values shown by `# @inspect`."""
    locals: Locals
    """What names stood for; empty with `--no-locals`."""
    readings: list[int]
    """When names were read, as lengths of runs: of the moments 0, 1, ..., each a number of events,
    so many without a reading, so many with one, so many without, ... What is left has none. A
    reading is of the activation that runs. Statements that ran often are read ever more rarely."""
    effects: list[int]
    """Which events may have changed objects, as lengths of runs: so many events without, so many
    with, ... What is left has none. It is said of what goes on right after the event, until the
    next one: the statement, or after an exit the caller's."""
    assertions: list[Assertion]
    """Those of `statements` that are an `assert`, whether they ran or not."""
    claims: Claims
    """Their executions."""
    output: list[Output]
    """Printed text."""
    costs: Costs | None
    """What operators cost; null with `--no-costs` or when torch was not used."""
    memory: Memory
    """Tensor bytes alive over time."""
    uncounted: dict[str, int]
    """Operators that ran without a formula for all they do, and how often."""
    topics: dict[str, str]
    """Label to title, from the mapping `TOPICS` of the lecture's module `syllabus`, if any."""
    assets: dict[str, Asset]
    """Images by the path that prose uses."""
    warnings: list[str]
    """What the author should know."""
    failure: Failure | None
    """Null when `main()` returned."""
    quotes: Quotes = field(default_factory=Quotes)
    """What `@{name}` in prose stood for."""
    said: Said = field(default_factory=Said)
    """What calls said, in lectures of other tools."""
    data: dict[str, str] = field(default_factory=dict)
    """Files beside the lecture that it read, by their paths relative to the folder it is imported
    from, and a short text that tells whether one has changed."""
    format: str = FORMAT
    """Always `lecture-trace`."""
    version: int = VERSION
    """Version of this contract; a viewer brings an older document to it and refuses a newer one."""


if __name__ == "__main__":
    from .contract import main

    main()
