"""From readings of names to the rows of a document: only what changed, with small numbers for
objects, and the moments and events between which nothing can have changed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ..events import EXIT, RESUMED, RESUMPTIONS, Log
from ..record.glances import Glance, Node
from ..record.recorder import Reading, Recorder, Returned
from ..rewrite.rows import Tables
from ..schema import Locals, Value

LOWEST_ADDRESS = 1 << 16
"""Smaller integers are none."""
CLOCK: Value = {"type": "", "text": "depends on the clock, not recorded"}


class Read(NamedTuple):
    """What names stood for at one moment."""

    at: int
    """Events of the document that were recorded."""
    names: tuple[str, ...]
    glances: Sequence[Glance]
    addresses: frozenset[str] = frozenset()
    """Names whose integers are addresses."""
    statement: int = 0
    """Number of the `return` statement that this is the value of, or 0."""
    function: int = 0
    """Number of the function whose names these are."""


def reads_of(
    tables: Tables, readings: Iterable[Reading], returned: Iterable[Returned], log: Log
) -> list[Read]:
    """Return all complete readings and returned values, in the order of their moments."""
    found = []
    for row in readings:
        site = tables.readings[row.site]
        if len(row.glances) == len(site.names):
            at = log.at(row.at - 1) + 1 if site.is_entry else log.at(row.at)
            found.append(Read(at, site.names, row.glances, site.addresses, 0, site.function))
    for value in returned:
        function = tables.statements[value.statement - 1].function + 1
        has_address = tables.facts[value.statement - 1].has_address
        addresses = frozenset(["return"] if has_address else [])
        at = log.at(value.at)
        found.append(Read(at, ("return",), (value.glance,), addresses, value.statement, function))
    found.sort(key=lambda read: read.at)  # at one moment the value that is returned comes last
    return [read for read in found if read.at <= len(log.events)]


@dataclass(slots=True)
class Activation:
    """One call of a function."""

    entry: int
    """Index of the event that entered it."""
    function: int
    """Its number."""
    event: int
    """Index of its latest step, or else its entry."""
    is_timed: bool
    """Whether a statement that depends on the clock called it."""
    statement: int = 0
    """Number of its latest statement."""
    asks_clock: bool = False
    """Whether that statement depends on the clock: it asks one, or reads a name that does."""
    clock: set[str] = field(default_factory=set)
    """Names that depend on the clock."""
    shown: dict[str, int | None] = field(default_factory=dict)
    """The value of each name as of its latest row."""
    held: dict[str, int] = field(default_factory=dict)
    """Raw identities of the objects that its names stood for at the latest reading."""


class Calls:
    """Follows the events of a log with the calls that are open."""

    def __init__(self, log: Log, tables: Tables, left: Callable[[Activation], None]) -> None:
        self.events = log.events
        self.tables = tables
        self.stack: list[Activation] = []
        self.effects = bytearray()
        """Of each event so far: whether what goes on after it may change objects."""
        self._has_effect = [False, *(facts.has_effect for facts in tables.facts)]
        """By number of a statement; 0 before the first of a call."""
        self._has_clock = any(facts.reads_clock for facts in tables.facts)
        self._left = left
        """Called with each activation that has ended."""
        self._waiting: dict[int, Activation] = {}
        resumed = [index for index, event in enumerate(self.events) if event < RESUMPTIONS]
        self._last_resumption = {RESUMED - self.events[index]: index for index in resumed}

    def to(self, at: int) -> None:
        """Go on until there were `at` events."""
        stack, effects, has_effect = self.stack, self.effects, self._has_effect
        top = stack[-1] if stack else None
        for index in range(len(effects), at):
            code = self.events[index]
            if code > 0 and top is not None:
                top.event, top.statement = index, code
                if self._has_clock:
                    self._ask_clock(top)
            elif code <= 0:
                self._leave(index) if code == EXIT else self._enter(index, code)
                top = stack[-1] if stack else None
            effects.append(has_effect[top.statement] if top is not None else True)

    def _ask_clock(self, activation: Activation) -> None:
        facts = self.tables.facts[activation.statement - 1]
        activation.asks_clock = facts.reads_clock or not activation.clock.isdisjoint(facts.reads)
        if activation.asks_clock:
            activation.clock |= facts.writes
        elif activation.clock:
            activation.clock.difference_update(facts.binds)

    def _enter(self, index: int, code: int) -> None:
        caller = self.stack[-1] if self.stack else None
        timed = caller is not None and (caller.is_timed or caller.asks_clock)
        if code > RESUMPTIONS:
            self.stack.append(Activation(index, -code, index, timed))
        else:
            entry = RESUMED - code
            known = self._waiting.pop(entry, None)  # none where threads mix their events
            self.stack.append(known or Activation(entry, -self.events[entry], entry, timed))

    def _leave(self, index: int) -> None:
        if self.stack:
            activation = self.stack.pop()
            if self._last_resumption.get(activation.entry, -1) > index:
                self._waiting[activation.entry] = activation
            else:
                self._left(activation)
                self._pass_on_the_clock(activation)

    def _pass_on_the_clock(self, activation: Activation) -> None:
        """What is computed from what a function returns depends on the clock if that does."""
        if not (activation.asks_clock and self.stack and activation.statement):
            return
        caller, row = self.stack[-1], self.tables.statements[activation.statement - 1]
        if row.kind == "return" and caller.statement:
            caller.asks_clock = True
            caller.clock |= self.tables.facts[caller.statement - 1].writes


class Identities:
    """Gives objects small numbers. An address is one object's as long as what was read holds it:
    a name of a call that is open, or an object that is held itself."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._count = 0
        self._holders: Counter[int] = Counter()
        self._parts: dict[int, tuple[int, ...]] = {}
        """What each object that is held was seen to hold."""
        self._remembered: dict[int, dict[int, int]] = {}
        """Numbers of what an object that has one for good held when it was out of sight."""

    def number(self, raw: int) -> int:
        """Return the number of an object."""
        if raw not in self._numbers:
            self._count += 1
            self._numbers[raw] = self._count
        return self._numbers[raw]

    def saw(self, raw: int, parts: tuple[int, ...]) -> None:
        """Note what an object holds now."""
        before = self._parts.get(raw, ())
        for part, number in self._remembered.pop(raw, {}).items():
            if part in parts:
                self._numbers.setdefault(part, number)
        if parts != before:
            self._parts[raw] = parts
            for part in parts:
                self._holders[part] += 1
            for part in before:
                self.release(part)

    def hold(self, raw: int) -> None:
        """Note that a name holds an object."""
        self._holders[raw] += 1

    def release(self, raw: int) -> None:
        """Note that one that held it does so no more."""
        todo = [raw]
        while todo:
            one = todo.pop()
            self._holders[one] -= 1
            if self._holders[one] <= 0:
                del self._holders[one]
                parts = self._parts.pop(one, ())
                if one < 0:
                    self._numbers.pop(one, None)
                else:
                    known = ((part, self._numbers.get(part)) for part in parts if part < 0)
                    self._remembered[one] = {part: number for part, number in known if number}
                todo += parts


class Rows:
    """Makes the rows of one document."""

    def __init__(self, recorder: Recorder, name_index: Callable[[str], int]) -> None:
        self.rows = Locals()
        self.identities = Identities()
        self._nodes = nodes = recorder.glances.nodes
        self._values = recorder.values
        self._intern = recorder.intern_picture
        self._small_number = recorder.small_number
        self._name_index = name_index
        self._edges = [edges_of(node, nodes) for node in nodes]
        self._raws = [tuple(raws_of(node, nodes)) for node in nodes]
        self._interned: dict[tuple[int, tuple[int, ...]], int] = {}
        self._returned: list[int] = []
        """What was returned since the last reading of names, which may show it again."""

    def add(self, read: Read, activation: Activation) -> None:
        """Add the rows of a reading."""
        if read.statement:
            self._hold(read.glances)
            for glance in read.glances:
                if glance is not None and glance < 0:
                    self._returned += self._own_raws(glance)
                    for raw in self._own_raws(glance):
                        self.identities.hold(raw)
            self._row(read, activation, "return", self._value(read, activation, 0))
            return
        self._hold(read.glances)
        held = {
            name: raw
            for name, glance in zip(read.names, read.glances, strict=True)
            if glance is not None and glance < 0
            for raw in self._own_raws(glance)
        }
        for raw in held.values():
            self.identities.hold(raw)
        for position, name in enumerate(read.names):
            value = self._value(read, activation, position)
            if value != activation.shown.get(name):
                activation.shown[name] = value
                self._row(read, activation, name, value)
        for raw in (*activation.held.values(), *self._returned):
            self.identities.release(raw)
        self._returned.clear()
        activation.held = held

    def left(self, activation: Activation) -> None:
        """Forget what a call that has ended held."""
        for raw in activation.held.values():
            self.identities.release(raw)

    def _without_addresses(self, part: Any) -> Any:
        """Replace each integer that may be an address by a small number."""
        if isinstance(part, list):
            return [self._without_addresses(inner) for inner in part]
        if not isinstance(part, dict):
            return part
        value = part.get("value")
        if type(value) is int and value >= LOWEST_ADDRESS:
            return {"type": part["type"], "text": self._small_number(str(value))}
        return {key: self._without_addresses(inner) for key, inner in part.items()}

    def _own_raws(self, glance: int) -> tuple[int, ...]:
        raw = self._nodes[-1 - glance].object
        return (raw,) if raw else self._raws[-1 - glance]

    def _hold(self, glances: Sequence[Glance]) -> None:
        for glance in glances:
            if glance is not None and glance < 0:
                for raw, parts in self._edges[-1 - glance]:
                    self.identities.saw(raw, parts)

    def _row(self, read: Read, activation: Activation, name: str, value: int | None) -> None:
        self.rows.event.append(activation.event)
        self.rows.at.append(read.at)
        self.rows.name.append(self._name_index(name))
        self.rows.value.append(value)

    def _value(self, read: Read, activation: Activation, position: int) -> int | None:
        glance = read.glances[position]
        if glance is None:
            return None
        name = read.names[position].partition(".")[0]
        is_clock = activation.asks_clock if read.statement else name in activation.clock
        if activation.is_timed or is_clock:
            return self._intern(CLOCK)
        if name in read.addresses:
            picture = picture_of(glance, self._nodes, self._values, self.identities.number)
            return self._intern(self._without_addresses(picture))
        if glance >= 0:
            return glance
        numbers = tuple(map(self.identities.number, self._raws[-1 - glance]))
        key = glance, numbers
        if key not in self._interned:
            picture = picture_of(glance, self._nodes, self._values, self.identities.number)
            self._interned[key] = self._intern(picture)
        return self._interned[key]


def _glances_in(node: Node) -> Iterator[int]:
    if node.kind in ("items", "entries"):
        yield from node.parts
    elif node.kind == "fields":
        yield from node.parts[1::2]


def raws_of(node: Node, nodes: list[Node]) -> Iterator[int]:
    """Yield the raw identities of all objects that a glance shows."""
    if node.object:
        yield node.object
    for glance in _glances_in(node):
        if glance < 0:
            yield from raws_of(nodes[-1 - glance], nodes)


def edges_of(node: Node, nodes: list[Node]) -> list[tuple[int, tuple[int, ...]]]:
    """Return which objects hold which, of those that a glance shows with their parts."""
    found: list[tuple[int, tuple[int, ...]]] = []

    def parts(node: Node) -> Iterator[int]:
        for glance in _glances_in(node):
            if glance < 0:
                inner = nodes[-1 - glance]
                visit(inner)
                yield from (inner.object,) if inner.object else parts(inner)

    def visit(node: Node) -> None:
        if node.object and node.kind in ("items", "entries", "fields"):
            found.append((node.object, tuple(parts(node))))

    visit(node)
    if not node.object:
        list(parts(node))
    return found


def picture_of(
    glance: int, nodes: list[Node], values: list[Value], number: Callable[[int], int]
) -> Value:
    """Return a glance as the document has it."""
    if glance >= 0:
        return values[glance]
    node = nodes[-1 - glance]
    picture: dict[str, Any] = {"type": node.type}
    if node.object:
        picture["object"] = number(node.object)
    if node.length >= 0 and node.cut:
        picture["length"] = node.length
    inner = [picture_of(part, nodes, values, number) for part in _glances_in(node)]
    if node.kind == "text":
        picture["value" if node.type == "str" else "text"] = node.parts[0]
    elif node.kind == "items":
        picture["items"] = inner
    elif node.kind == "entries":
        picture["entries"] = [[*pair] for pair in zip(inner[::2], inner[1::2], strict=True)]
    elif node.kind == "fields":
        picture["fields"] = dict(zip(node.parts[::2], inner, strict=True))
    elif node.kind == "tensor":
        pairs = zip(node.parts[::2], node.parts[1::2], strict=True)
        picture |= {key: [*part] if isinstance(part, tuple) else part for key, part in pairs}
    if node.cut:
        picture["cut"] = True
    return cast(Value, picture)


def runs_of(flags: bytes | bytearray) -> list[int]:
    """Return the lengths of runs, in turn of 0 and of 1, without the last of 0.

    >>> runs_of(bytes([1, 1, 0, 1, 0, 0]))
    [0, 2, 1, 1]
    """
    runs = [len(run) for run in re.findall(rb"\x00+|\x01+", flags.rstrip(b"\0"))]
    return [0, *runs] if flags.startswith(b"\1") else runs


@dataclass
class LocalsOfRun:
    """What a document says of names."""

    rows: Locals
    readings: list[int]
    effects: list[int]


def locals_of(
    tables: Tables,
    log: Log,
    reads: list[Read],
    rows: Rows,
) -> LocalsOfRun:
    """Return the rows of all readings, the moments at which there were any, and which events may
    have changed objects."""
    calls = Calls(log, tables, rows.left)
    moments = bytearray(len(log.events) + 1)
    for read in reads:
        calls.to(read.at)
        if calls.stack and calls.stack[-1].function == read.function:  # not another thread's
            rows.add(read, calls.stack[-1])
            moments[read.at] = not read.statement or moments[read.at]
    calls.to(len(log.events))
    return LocalsOfRun(rows.rows, runs_of(moments), runs_of(calls.effects) if reads else [])
