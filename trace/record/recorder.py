"""What instrumented code calls: it notes events, values, claims, output and costs.

The recorder keeps columns and knows neither JSON nor files. An event is an integer in a list, so
that a step costs one append; all else is noted together with the number of events so far, and its
step is found afterwards (`events.py`).
"""

import bisect
import functools
import itertools
import operator
import sys
import threading
import time
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..events import count_recorded_steps
from ..meter.ledger import Storage, Work
from ..own_builtins import use_own_builtins
from ..rewrite.rows import Site, Tables
from ..schema import Value
from .bounds import MAX_PICTURE_SECONDS, TRACE_FUNCTION, bounded, held_signals, is_interruption
from .frames import is_own, without_own_frames
from .glances import Glances
from .headers import Headers
from .pictures import MAX_CHARACTERS, Snapshots
from .resume import Lengths, Suspensions
from .tensors import unobserved
from .untracked import untrack, untracked_list

use_own_builtins(globals())

_ITERATION: dict[str, object] = {
    "@map": map,
    "@repeat": itertools.repeat,
    "@chain": itertools.chain,
    "@first": (None,),
    "@pick": {}.get,
}
"""What `for` loops are wrapped in: all of it C, so that no frame of ours is ever in the way."""


FULL_READINGS = 1000
"""How often all names are read at a place before they are read ever more rarely."""


class Reading(NamedTuple):
    """All names of a function read at one moment."""

    at: int
    site: int
    glances: tuple[int | None, ...]
    """In the order of the names of the site; shorter where an exception came in between."""


class Readings:
    """All readings, as columns: Python's collector of garbage looks at none of them, but once at
    each tuple of numbers."""

    def __init__(self) -> None:
        self.at = untracked_list()
        self.site = untracked_list()
        self.glances = untracked_list()

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[Reading]:
        return map(Reading, self.at, self.site, self.glances)

    def cut(self, count: int) -> None:
        """Forget all but the first ones."""
        del self.at[count:], self.site[count:], self.glances[count:]


class Returned(NamedTuple):
    """What a function returned."""

    at: int
    statement: int
    glance: int


class Inspection(NamedTuple):
    """One name read, or cleared (value None)."""

    at: int
    site: int
    value: int | None


class Quoted(NamedTuple):
    """One name in prose as it is written."""

    at: int
    site: int
    text: str


@dataclass
class Claim:
    """One execution of an assert."""

    statement: int
    operands: list[int | None]
    at: int = 0
    held: bool | None = None
    timed: dict[int, Value] = field(default_factory=dict)
    """Operands that depend on the clock."""


class Heard(NamedTuple):
    """One thing that was said by calling."""

    at: int
    value: Value


@dataclass
class Printed:
    """One piece of output."""

    at: int
    stream: str
    text: str


@dataclass
class Recorder:
    """One recording. Its methods are what the names in `instrument` stand for."""

    tables: Tables
    timed: bool = False
    """Whether to note when each event happened, and the values that depend on the clock."""
    reads_locals: bool = True
    """Whether all names are read after each statement."""
    stops_at_none: bool = False
    """Whether of a chain of names that comes upon None that is shown, as other tools do."""
    own_modules: set[str] = field(default_factory=set)
    """Names of the lecture's modules."""
    events: list[int] = field(default_factory=untracked_list)
    inspections: list[Inspection] = field(default_factory=list)
    quotes: list[Quoted] = field(default_factory=list)
    readings: Readings = field(default_factory=Readings)
    returned: list[Returned] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    output: list[Printed] = field(default_factory=list)
    said: list[Heard] = field(default_factory=list)
    """In the order of `at`."""
    threads_at: dict[int, int] = field(default_factory=dict)
    """at, when a thread was started, by thread."""
    operators: dict[tuple[int, str, Work], int] = field(default_factory=dict)
    """at, operator, what a call cost: how many calls. Training that is stepped over makes hundreds
    of thousands of them; kept one by one, Python's collector would look at each again and again."""
    storages: list[Storage] = field(default_factory=list)
    """Each twice: when it came to life, and when it died."""
    storages_at: list[int] = field(default_factory=list)
    storages_live: list[bool] = field(default_factory=list)
    """at, and whether it came to life then, of each of `storages`."""
    elsewhere_operators: Counter[str] = field(default_factory=Counter)
    """How often each operator ran in another thread."""
    values: list[Value] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)
    """Warnings in order, each once."""
    times: list[float] = field(default_factory=untracked_list)
    """Seconds on a clock at each event."""
    running: bool = False
    """Whether `main()` has begun: what is printed before is not recorded."""
    reading: int = 0
    """Greater than 0 while a value is read."""
    end_seconds: float = 0.0
    """What that clock said at the end of the run."""
    timed_inspections: dict[int, Value] = field(default_factory=dict)
    """By row of `inspections`."""
    timed_claims: dict[int, dict[int, Value]] = field(default_factory=dict)
    """By row of `claims`, then by operand."""

    def __post_init__(self) -> None:
        self._is_watched = False
        self._snapshots = Snapshots()
        self._interned: dict[str, int] = {}
        self._scalars: dict[type, dict[Any, int]] = {
            scalar: {} for scalar in (int, float, str, bool, type(None))
        }
        self._open_claims: list[Claim] = []
        self.glances = Glances(self.intern, self.own_modules, self._snapshots.storages)
        self._waits: list[Iterator[int]] = []
        self._returns: list[Callable[[None, object], object]] = []
        self._returns_left: list[int] = []
        self._thread = threading.get_ident()
        self._skips: list[Lengths] = []
        self.note: Callable[[int], None] = self.events.append
        if self.timed:
            self.note = functools.partial(_note_with_time, self.events, self.times)
        self._suspensions = Suspensions(
            self.events, self.note, self._skips, self._open_claims, self.off
        )
        self._headers = Headers(self.skip, self.unskip)
        self._home = types.ModuleType("recorder")  # of all attributes the quickest are a module's
        vars(self._home).update(self._names())
        self._constants = {**_CONSTANTS, "@step": self.note, "@outer": TRACE_FUNCTION()}

    def _names(self) -> dict[str, object]:
        """What instrumented code looks up while the run lasts."""
        return {
            **_ASKED_AT_ENTRY,
            **self._suspensions.names(),
            **self._headers.names(),
            "@caught": bool,
            "@elsewhere": self.elsewhere,
            "@inspect": self.inspect,
            "@unbound": self.unbound,
            "@clear": self.clear,
            "@read": self.read,
            "@more": self.read_more,
            "@gone": self.read_nothing,
            "@returns": {True: self._returns, False: _RETURNS_PASSED_ON},
            "@skip": self.skip,
            "@unskip": self.unskip,
            "@claim": self.claim,
            "@operand": self.operand,
            "@address": self.address,
            "@held": self.held,
            "@failed": self.failed,
            "@claimed": self.claimed,
        }

    def constant(self, name: str) -> object:
        """Return what a mark in instrumented code stands for (`inserted.py`)."""
        if name.isdecimal():
            return self._waits[int(name)]
        return self._constants[name] if name else self._home

    def end(self) -> None:
        """After the run, when an exit handler or a finalizer calls it, instrumented code runs as
        written, and what was left in the middle ends in silence."""
        vars(self._home).update(dict.fromkeys(self._names(), _nothing))
        vars(self._home).update({**_ASKED_AT_ENTRY, **_PASSING_ON, "@watch": True, "@off": True})
        self._home = types.ModuleType("ended")
        for name in ("events", "times"):  # such code goes on adding to those that were there
            kept = untracked_list()
            kept += getattr(self, name)
            setattr(self, name, kept)

    def off(self, off: bool) -> None:
        """Let functions that are entered from here on run as written, or be recorded."""
        names = vars(self._home)
        names["@off"] = off
        names["@watch"] = off or self._is_watched

    def torch_loaded(self) -> None:
        """Once torch is loaded, compiled code runs as written."""
        torch: Any = sys.modules.get("torch")
        if hasattr(torch, "compiler") and hasattr(torch, "cuda"):  # and is no stand-in for it
            self._watch("@compiling", torch.compiler.is_compiling)
            vars(self._home)["@caught"] = _cut_the_meter
            if torch.cuda.is_available():  # whose backward pass has threads of its own
                self.thread_started()

    def printed(self, stream: str, text: str) -> None:
        """Note output."""
        at = self._moment()
        index = bisect.bisect_right(self.output, at, key=_at)
        before = self.output[index - 1] if index else None
        if before and (before.at, before.stream) == (at, stream):
            before.text += text
        else:
            self.output.insert(index, Printed(at, stream, text))

    def _moment(self) -> int:
        """The moment to book something at; in another thread where the lecture started it: which
        step runs when it prints or speaks differs from run to run."""
        at = len(self.events)
        thread = threading.get_ident()
        return at if thread == self._thread else min(self.threads_at.get(thread, at), at)

    def step_count(self, event_count: int) -> int:
        """Return the number of steps among the first events."""
        events = itertools.islice(self.events, event_count)
        return count_recorded_steps(events, self.tables.first_steps)

    def is_reading(self) -> bool:
        """Tell whether the thread that asks is reading a value."""
        return bool(self.reading) and threading.get_ident() == self._thread

    # Values -------------------------------------------------------------------------------------

    def inspect(self, site: int, root: object) -> object:
        """Read a value; returns `root`."""
        row = self.tables.sites[site]
        if row.timed or row.attributes or row.quote:
            self._inspect_object(site, row, root)
        else:
            self.inspections.append(Inspection(len(self.events), site, self.intern(root)))
        return root

    def _inspect_object(self, site: int, row: Site, value: object) -> None:
        if row.attributes:
            try:
                with _Quiet(self), bounded(None, MAX_PICTURE_SECONDS):
                    for attribute in row.attributes:
                        if value is None and self.stops_at_none:
                            break
                        value = getattr(value, attribute)
            except BaseException as error:
                if is_interruption(error):
                    raise
                self._warn(site, "has no value")
                return
        if row.quote:
            if not row.timed:  # else it is another one each time
                self._quote(site, row.quote[3], value)
            return
        if row.timed:
            self.timed_inspections[len(self.inspections)] = self.picture(value)
        index = self._intern_timed(value) if row.timed else self.intern(value)
        self.inspections.append(Inspection(len(self.events), site, index))

    def _quote(self, site: int, form: str, value: object) -> None:
        """Note how a value is written in prose."""
        try:
            with _Quiet(self), bounded(None, MAX_PICTURE_SECONDS):
                text = str.__str__(format(value, form))
        except BaseException as error:
            if is_interruption(error):
                raise
            self._warn(site, f"cannot be written as {form!r}: {type(error).__name__}: {error}")
            return
        text = self.without_addresses(text)[:MAX_CHARACTERS]
        self.quotes.append(Quoted(len(self.events), site, text))

    def unbound(self, site: int) -> None:
        """Note that a name to read has no value."""
        missing = sys.exc_info()[1]
        has_failed = missing is not None and missing.__context__ is not None  # which says it all
        if not self.tables.sites[site].optional and not has_failed:
            self._warn(site, "does not exist here")

    def without_addresses(self, text: str) -> str:
        """Replace each memory address in a text by a small number."""
        return self._snapshots.without_addresses(text)

    def small_number(self, address: str) -> str:
        """Return the small number of an address."""
        return self._snapshots.number(address)

    def clear(self, site: int) -> None:
        """Take a name off the display."""
        self.inspections.append(Inspection(len(self.events), site, None))

    def show(self, value: object, name: str) -> None:
        """Show a value that the lecture wants to be seen, as if it had been inspected here."""
        if not self.running or threading.get_ident() != self._thread:
            return
        site = Site(0, name)
        if site not in self.tables.sites:
            self.tables.sites.append(site)
        index = self.tables.sites.index(site)
        self.inspections.append(Inspection(len(self.events), index, self.intern(value)))

    def hear(self, value: Value) -> None:
        """Note what the lecture says by calling, also while it is imported."""
        if (self.running or not self.events) and not self.is_reading():
            row = Heard(self._moment(), value)
            self.said.insert(bisect.bisect_right(self.said, row.at, key=_at), row)

    # Names, at a glance -------------------------------------------------------------------------

    def prepare_readings(self) -> None:
        """Make ready for what was instrumented since."""
        while len(self._waits) < len(self.tables.readings):
            self._waits.append(_waits_for_readings())
        while len(self._returns) < len(self.tables.returns):
            self._returns.append(functools.partial(self._read_returned, len(self._returns)))
            self._returns_left.append(FULL_READINGS)

    def read(self, site: int, *values: object) -> None:
        """Read names that have a value."""
        glances: list[int | None] = []
        take, scalars, readings = self.glances.take, self._scalars, self.readings
        try:
            place = len(readings.at)  # another one may come in between
            readings.at.append(len(self.events))
            readings.site.append(site)
            readings.glances.append(())
            for value in values:
                known = scalars.get(type(value))
                index = known.get(value) if known and value else None
                glances.append(take(value) if index is None else index)
            for attribute in self.tables.readings[site].attributes:
                glances.append(self.glances.attribute(values[0], attribute))
            readings.glances[place] = tuple(glances)
        except Exception as error:  # the reading stays too short, and is none
            _let_the_lecture_go_on(error)

    def read_more(self, value: object) -> None:
        """Read one more name of the latest reading."""
        glances = self.readings.glances
        try:
            place = len(glances) - 1
            glance = self.glances.take(value)
            glances[place] += (glance,)
        except Exception as error:
            _let_the_lecture_go_on(error)

    def read_nothing(self) -> None:
        """Note of one more name that it has no value."""
        self.readings.glances[-1] += (None,)

    def _read_returned(self, site: int, _: None, value: object) -> object:
        """Read what a function returns; returns it."""
        try:
            glance = self.glances.take(value)
            if glance is not None:
                row = Returned(len(self.events), self.tables.returns[site], glance)
                untrack(row)
                self.returned.append(row)
        except Exception as error:
            _let_the_lecture_go_on(error)
        self._returns_left[site] -= 1
        if not self._returns_left[site]:
            self._returns[site] = _PASS_ON
        return value

    def intern(self, value: object) -> int:
        """Return the index of the picture of a value."""
        scalars = self._scalars.get(type(value))
        if type(value) is str and len(value) > MAX_CHARACTERS:
            scalars = None  # which would keep it alive
        if scalars is not None:
            key = value if value and value == value else repr(value)  # 0.0 == -0.0, nan != nan
            index = scalars.get(key)
            if index is None:
                index = scalars[key] = self._add(self._snapshots.take(value))
            return index
        return self.intern_picture(self.picture(value))

    def picture(self, value: object) -> Value:
        """Return what is kept of a value that is shown."""
        with _Quiet(self):
            return self._snapshots.take(value)

    def _intern_timed(self, value: object) -> int:
        return self.intern_picture(
            {"type": type(value).__name__, "text": "depends on the clock, not recorded"}
        )

    def intern_picture(self, picture: Value) -> int:
        """Return the index of a picture."""
        text = repr(picture)
        if text not in self._interned:
            self._interned[text] = self._add(picture)
        return self._interned[text]

    def _add(self, picture: Value) -> int:
        self.values.append(picture)
        return len(self.values) - 1

    def _warn(self, site: int, complaint: str) -> None:
        row = self.tables.sites[site]
        number = row.statement
        table = self.tables.statements if number > 0 else self.tables.functions
        place: Any = table[abs(number) - 1]
        line = place.first_line if number > 0 else place.line
        self.warnings[f"{self.tables.paths[place.file]}:{line}: {row.name} {complaint}."] = None

    # Recording on and off -----------------------------------------------------------------------

    def skip(self) -> None:
        """Do not record what is called from here on."""
        tables: tuple[Sized, ...] = (self.events, self.inspections, self.claims)
        tables += (self.readings, self.returned)
        self._skips.append(tuple(map(len, tables)))
        self.off(True)

    def unskip(self, keep: int = 0) -> None:
        """End the innermost `skip`. A generator that was begun before it goes on being recorded
        inside; unless `keep`, what it noted there is forgotten."""
        events, inspections, claims, readings, returned = self._skips.pop()
        self.off(bool(self._skips))
        if not keep and len(self.events) > events:
            del self.events[events:], self.inspections[inspections:], self.claims[claims:]
            del self.returned[returned:]
            self.readings.cut(readings)
            del self.times[events:]
            self._book_at(events)

    def _book_at(self, at: int) -> None:
        """Move output, costs and what was said in a forgotten stretch to the statement that is
        stepped over."""
        for printed in reversed(self.output):
            if printed.at <= at:
                break
            printed.at = at
        for index in range(len(self.said) - 1, -1, -1):
            if self.said[index].at <= at:
                break
            self.said[index] = self.said[index]._replace(at=at)
        self.threads_at = {thread: min(one, at) for thread, one in self.threads_at.items()}
        for index in range(len(self.storages_at) - 1, -1, -1):
            if self.storages_at[index] <= at:
                break
            self.storages_at[index] = at
        late = list(itertools.takewhile(lambda key: key[0] > at, reversed(self.operators)))
        for key in late:
            moved = (at, *key[1:])
            self.operators[moved] = self.operators.get(moved, 0) + self.operators.pop(key)

    def elsewhere(self) -> bool:
        """Tell whether this is another thread than that of the run; it is not recorded."""
        if threading.get_ident() == self._thread:
            return False
        warning = "Functions ran in other threads: their steps and costs are not recorded."
        self.warnings[warning] = None
        return True

    def thread_started(self) -> None:
        """From now on each function that is entered has to ask in which thread it runs."""
        self._watch("@threads", True)

    def _watch(self, name: str, reason: object) -> None:
        self._is_watched = True
        vars(self._home).update({name: reason, "@watch": True})

    # Claims -------------------------------------------------------------------------------------

    def claim(self, statement: int) -> None:
        """Begin an assert."""
        row = self.tables.assertions[statement]
        self._open_claims.append(Claim(statement, [None] * len(row.operands)))

    def operand(self, index: int, value: object) -> object:
        """Read an operand of the innermost open assert; returns it."""
        claim = self._open_claims[-1]
        timed = self.tables.assertions[claim.statement].timed
        if timed:
            claim.timed[index] = self.picture(value)
        claim.operands[index] = self._intern_timed(value) if timed else self.intern(value)
        return value

    def address(self, index: int, value: object) -> object:
        """Read an operand that is an address: equal ones get the same small number."""
        picture: Value = {"type": "int", "text": self._snapshots.number(str(value))}
        self._open_claims[-1].operands[index] = self.intern_picture(picture)
        return value

    def held(self) -> None:
        """Note that the innermost open assert held."""
        self._close(self._open_claims[-1], True)

    def failed(self) -> None:
        """Note that it failed; called before its message is evaluated."""
        self._close(self._open_claims[-1], False)

    def claimed(self) -> None:
        """End an assert. If nothing is known of it yet, it failed and has no message, or one of
        its operands raised."""
        claim = self._open_claims.pop()
        error = sys.exception()
        if not claim.at and not isinstance(error, GeneratorExit):  # nobody asked for the outcome
            entry = error.__traceback__ if error else None
            failed = isinstance(error, AssertionError) and entry and entry.tb_next is None
            self._close(claim, False if failed else None)

    def _close(self, claim: Claim, held: bool | None) -> None:
        claim.held, claim.at = held, len(self.events)
        if claim.timed:
            self.timed_claims[len(self.claims)] = claim.timed
        self.claims.append(claim)

    # Costs: the recorder is an account of the meter ---------------------------------------------

    def ran(self, operator: str, work: Work) -> None:
        """One call of an operator."""
        call = (len(self.events), operator, work)
        self.operators[call] = self.operators.get(call, 0) + 1

    def ran_elsewhere(self, operator: str) -> None:
        """One call of an operator in another thread; no step can be given."""
        self.elsewhere_operators[operator] += 1

    def allocated(self, storage: Storage) -> None:
        """A storage came to life."""
        self._note_storage(storage, True)

    def freed(self, storage: Storage) -> None:
        """A storage died."""
        self._note_storage(storage, False)

    def _note_storage(self, storage: Storage, live: bool) -> None:
        self.storages.append(storage)
        self.storages_at.append(len(self.events))
        self.storages_live.append(live)


_at = operator.attrgetter("at")


def _note_with_time(events: list[int], times: list[float], event: int) -> None:
    now = time.perf_counter()  # first, since it may raise: at the limit of recursion
    events.append(event)
    times.append(now)


def _let_the_lecture_go_on(error: Exception) -> None:
    """Swallow what went wrong while names were read, such as that the stack is full; but not what
    a handler of a signal raised in between, which is the lecture's."""
    entry = error.__traceback__
    while entry and entry.tb_next:
        entry = entry.tb_next
    if entry and not is_own(entry.tb_frame.f_code.co_filename):
        raise error.with_traceback(without_own_frames(error.__traceback__, for_authors=False))


def _cut_the_meter() -> None:
    """Take the meter out of the traceback of the exception that is handled."""
    error = sys.exception()
    if error is not None:
        error.__traceback__ = without_own_frames(error.__traceback__, for_authors=False)


_PASS_ON: Callable[[None, object], object] = {}.get  # type: ignore[assignment]
"""Gives back its second argument, in C."""
_RETURNS_PASSED_ON: defaultdict[int, Any] = defaultdict(itertools.repeat(_PASS_ON).__next__)
"""Of every `return` statement the same."""


_WAITS_FROM_THE_LAST = (
    *(range((FULL_READINGS << n) - 1, -1, -1) for n in range(39, -1, -1)),
    bytes(FULL_READINGS),
)
"""Read backwards: a `reversed` may be untracked, but the iterator of a tuple, which untracks
itself when it dies without asking whether it is tracked, crashes then."""


def _waits_for_readings() -> Iterator[int]:
    """0 `FULL_READINGS` times; then down to 0 from as many, from twice as many, ... None of it is
    Python code, which the lecture might see running, nor does the collector look at it."""
    parts = reversed(_WAITS_FROM_THE_LAST)
    waits = itertools.chain.from_iterable(parts)
    untrack(parts)
    untrack(waits)
    return waits


_SILENCE = ("ignore", None, Warning, None, 0)
"""A filter; put in place without a word to `warnings`, which would forget what it has shown."""


class _Quiet:
    """Inside, nothing that runs is recorded, printed, metered, or seen by autograd, nor are there
    warnings: a warning that is shown once is still shown when the lecture's own code gives it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.unobserved = unobserved()

    def __enter__(self) -> None:
        self.release_signals = held_signals()
        self.recorder.reading += 1
        warnings.filters.insert(0, _SILENCE)  # type: ignore[attr-defined]
        self.recorder.skip()
        self.unobserved.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.unobserved.__exit__(*exception)
        self.recorder.unskip()
        warnings.filters.remove(_SILENCE)  # type: ignore[attr-defined]
        self.recorder.reading -= 1
        self.release_signals()


def _nothing(*_: object) -> None:
    return None


def _first(value: object) -> object:
    return value


def _second(_: object, value: object = None) -> object:
    return value


def _third(_: object, __: object, value: object) -> object:
    return value


_CONSTANTS = {
    **_ITERATION,
    "@next": next,
    "@gettrace": TRACE_FUNCTION,
    "@second": _second,
    "@NameError": NameError,
    "@BaseException": BaseException,
    "@unreadable": (RecursionError, NameError),
}
_ASKED_AT_ENTRY = {"@watch": False, "@off": False, "@compiling": bool, "@threads": False}
_PASSING_ON = {
    "@inspect": _second,
    "@operand": _second,
    "@address": _second,
    "@suspend": _second,
    "@resume": _second,
    "@delegate": _second,
    "@awaiting": _second,
    "@loud": _second,
    "@quiet_items": _first,
    "@quiet_manager": _first,
    "@acontext": _second,
    "@aiter": _third,
    "@returns": {True: _RETURNS_PASSED_ON, False: _RETURNS_PASSED_ON},
}
"""After a run, what instrumented code passes through them is all that comes out."""
