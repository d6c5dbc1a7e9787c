"""The tables of a run: its functions, statements, asserts, and the names that directives read."""

from dataclasses import dataclass, field

from ..own_builtins import use_own_builtins
from ..schema import Function, Statement

use_own_builtins(globals())


@dataclass(frozen=True)
class Site:
    """One name that a directive reads or clears."""

    statement: int
    """Number of the statement (from 1), or minus the number of the function for its arguments."""
    name: str
    """The dotted name, `return`, or `*` for everything on display."""
    timed: bool = False
    """True when the value depends on the clock."""
    optional: bool = False
    """True for bare `@inspect`: a name that has no value yet is no mistake."""
    attributes: tuple[str, ...] = ()
    """What follows the first name."""
    quote: tuple[int, int, str, str] | None = None
    """Of a name in prose: the file, the first line of the block, what stands between the braces,
    and how it is written."""


@dataclass(frozen=True)
class AssertionRow:
    """One `assert` statement."""

    text: str
    operands: list[str]
    timed: bool
    predict: bool


@dataclass(frozen=True)
class Facts:
    """What the source says of a statement, besides where it stands."""

    binds: tuple[str, ...] = ()
    """Names that it may bind or unbind; `self.x` for attributes of `self`."""
    has_effect: bool = True
    """Whether it may change what is in an object."""
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    """Names that it may bind, or whose objects it says it changes."""
    reads_clock: bool = False
    """Whether what it computes depends on the clock, by a mark or since it asks one."""
    has_address: bool = False
    """Whether it asks for a number that differs from run to run."""


@dataclass(frozen=True)
class Reading:
    """A place at which all names of a function are read."""

    function: int
    """Its number."""
    names: tuple[str, ...]
    """What is read, in this order: names that certainly have a value, the attributes, names that
    may have one."""
    attributes: tuple[str, ...] = ()
    """Attributes of `self`, the first of the names."""
    is_entry: bool = False
    """True where a function begins: its arguments."""
    addresses: frozenset[str] = frozenset()
    """Names whose integers may be addresses."""


@dataclass
class Tables:
    """What the instrumented code refers to by number; shared by all modules of a run."""

    statements: list[Statement] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    assertions: dict[int, AssertionRow] = field(default_factory=dict)
    """By number of the statement, from 1."""
    facts: list[Facts] = field(default_factory=list)
    """Of each of `statements`."""
    readings: list[Reading] = field(default_factory=list)
    returns: list[int] = field(default_factory=list)
    """Numbers of the statements that return a value, and have it read."""
    first_steps: dict[int, int] = field(default_factory=dict)
    """Number of a function -> number of the statement that always follows its entry. The recorder
    notes the entry alone; a `Log` has the step too."""
    paths: list[str] = field(default_factory=list)
    """Paths of the files as the document names them."""
    warnings: list[str] = field(default_factory=list)
