"""Generators and coroutines: functions that are left in the middle and go on later.

Every `yield` and `await` of a recorded function passes through here, so that the events say which
activation runs. Exceptions that are thrown into one do not show our own frames.
"""

import inspect
import sys
import types
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..events import EXIT, RESUMED
from ..own_builtins import use_own_builtins
from .frames import without_own_frames

use_own_builtins(globals())

Lengths = tuple[int, ...]
"""How much of each kind was noted when a `@stepover` began."""


_MAY_YIELD_FROM_COROUTINES = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE


_Hook = Callable[..., object]


class _Shared:
    """A stack of the recorder that several generators add to, such as that of the open asserts.

    What a generator has added belongs to it alone: its entries are taken off when it is left at a
    `yield`, and put back when it goes on.
    """

    def __init__(self, stack: list[Any]) -> None:
        self.stack = stack
        self.outer: dict[int, int] = {}
        """How many entries, if any, there are below those of an activation that is going on."""
        self.own: dict[int, list[Any]] = {}
        """The entries of an activation that was left and has not gone on."""

    def resume(self, activation: int) -> bool:
        """Put its entries back; tell whether there are any now."""
        own = self.own.pop(activation, [])
        if self.stack:
            self.outer[activation] = len(self.stack)
        self.stack += own
        return bool(self.stack)

    def suspend(self, activation: int) -> bool:
        """Take its entries off; tell whether it had any."""
        outer = self.outer.pop(activation, 0)
        own = self.stack[outer:]
        if own:
            self.own[activation] = own
            del self.stack[outer:]
        return bool(own)


@dataclass
class Suspensions:
    """Notes suspension and resumption. An activation is known by the index of its entry."""

    events: list[int]
    """Those of the recorder."""
    note: Callable[[int], None]
    """Adds to them."""
    skips: list[Lengths]
    """The open stepovers of the recorder."""
    claims: list[Any]
    """The open asserts of the recorder."""
    off: Callable[[bool], None]
    """Turns its recording off or on."""
    _suspended: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._skips, self._claims = _Shared(self.skips), _Shared(self.claims)
        self.suspend, self.resume = self._hooks()

    def names(self) -> dict[str, object]:
        """The names that instrumented code looks up."""
        return {
            "@activation": self.activation,
            "@suspend": self.suspend,
            "@resume": self.resume,
            "@thrown": self.thrown,
            "@delegate": self.delegate,
            "@awaiting": self.awaiting,
            "@aiter": self.aiter,
            "@acontext": self.acontext,
        }

    def activation(self) -> int:
        """Return what identifies the activation that was just entered."""
        activation = len(self.events) - 1
        self._claims.resume(activation)
        return activation

    def _hooks(self) -> tuple[_Hook, _Hook]:
        """Return what is called when a generator is left at a `yield`, and when it goes on; both
        return the value that passes. They run for every item, so all they need is at hand."""
        note, off, suspended = self.note, self.off, self._suspended
        skips, claims = self._skips, self._claims

        def suspend(activation: int, value: object = None) -> object:
            suspended.add(activation)
            note(EXIT)
            if open_claims or outer_claims:
                claims.suspend(activation)
            if (open_skips or outer_skips) and skips.suspend(activation):
                off(bool(open_skips))  # it yields under a @stepover of its own
            return value

        def resume(activation: int, value: object = None) -> object:
            suspended.discard(activation)
            note(RESUMED - activation)
            if open_claims or own_claims:
                claims.resume(activation)
            if (open_skips or own_skips) and skips.resume(activation):
                off(True)
            return value

        open_claims, outer_claims, own_claims = claims.stack, claims.outer, claims.own
        open_skips, outer_skips, own_skips = skips.stack, skips.outer, skips.own
        return suspend, resume

    def thrown(self, activation: int) -> None:
        """Resume a generator into which an exception was thrown; hide our frames from it."""
        if activation in self._suspended:
            self.resume(activation)
        error = sys.exception()
        if error is not None:
            error.__traceback__ = without_own_frames(error.__traceback__, for_authors=False)

    def delegate(self, activation: int, iterable: Any) -> Any:
        """Return what to `yield from` instead of `iterable`."""
        if isinstance(iterable, types.CoroutineType):
            if not sys._getframe(1).f_code.co_flags & _MAY_YIELD_FROM_COROUTINES:
                return iterable  # and let Python say what is wrong with it
            return self._passing_on(activation, iterable.__await__())
        try:
            iterator = iter(iterable)
        except TypeError:
            if hasattr(type(iterable), "__iter__"):
                raise
            return iterable
        return self._passing_on(activation, iterator)

    def _passing_on(self, activation: int, iterator: Iterator[Any]) -> Generator[Any, Any, Any]:
        """`yield from iterator`, noting each suspension (PEP 380 spelled out).

        What passes through is in no variable here while others have it: an object that nobody
        needs any more is gone at once, as it is plainly.
        """
        suspend, resume = self.suspend, self.resume
        passing: list[Any] = [None]
        thrown: BaseException | None = None
        while True:
            try:
                if thrown is None and passing[-1] is None:
                    passing[-1] = next(iterator)
                else:
                    passing.append(_advance(iterator, passing, thrown))
            except StopIteration as stop:
                return stop.value
            suspend(activation)
            thrown = None
            try:
                passing.append((yield passing.pop()))
            except BaseException as error:
                thrown = error
            resume(activation)

    def awaiting(self, activation: int, awaitable: Any) -> Any:
        """Return what to await instead of `awaitable`."""
        is_awaited = isinstance(awaitable, types.CoroutineType) and awaitable.cr_await is not None
        if is_awaitable(awaitable) and not is_awaited:
            return _Awaiting(self, activation, awaitable)
        return awaitable  # and let Python say what is wrong with it

    def aiter(self, activation: int, statement: int, iterable: Any) -> Any:
        """Return what `async for` iterates over instead of `iterable`."""
        if not hasattr(type(iterable), "__aiter__"):
            return iterable
        iterator = type(iterable).__aiter__(iterable)
        if not hasattr(type(iterator), "__anext__"):
            return _Iterable(iterator)
        return _AsyncIterator(self, activation, statement, iterator)

    def acontext(self, activation: int, manager: Any) -> Any:
        """Return what `async with` enters instead of `manager`."""
        if hasattr(type(manager), "__aenter__") and hasattr(type(manager), "__aexit__"):
            return _AsyncContext(self, activation, manager)
        return manager


def is_awaitable(value: Any) -> bool:
    """Tell whether Python can await a value."""
    generator = isinstance(value, types.GeneratorType)
    flagged = generator and value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE
    return bool(flagged) or hasattr(type(value), "__await__")


@dataclass
class _Awaiting:
    suspensions: Suspensions
    activation: int
    awaitable: Any

    def __await__(self) -> Any:
        generator = isinstance(self.awaitable, types.GeneratorType)
        iterator = self.awaitable if generator else type(self.awaitable).__await__(self.awaitable)
        if isinstance(iterator, types.CoroutineType) or not hasattr(type(iterator), "__next__"):
            return iterator  # and let Python say what is wrong with it
        return self.suspensions._passing_on(self.activation, iterator)


@dataclass
class _Iterable:
    iterator: Any

    def __aiter__(self) -> Any:
        return self.iterator


class _AsyncIterator:
    def __init__(
        self, suspensions: Suspensions, activation: int, statement: int, iterator: Any
    ) -> None:
        self.suspensions = suspensions
        self.activation = activation
        self.statement = statement
        self.asked = False
        self.iterator = iterator

    def __aiter__(self) -> "_AsyncIterator":
        return self

    def __anext__(self) -> Any:
        if self.statement and self.asked:
            self.suspensions.note(self.statement)
        self.asked = True
        awaitable = type(self.iterator).__anext__(self.iterator)
        return self.suspensions.awaiting(self.activation, awaitable)


@dataclass
class _AsyncContext:
    suspensions: Suspensions
    activation: int
    manager: Any

    def __aenter__(self) -> Any:
        entering = type(self.manager).__aenter__(self.manager)
        return self.suspensions.awaiting(self.activation, entering)

    def __aexit__(self, *exception: Any) -> Any:
        leaving = type(self.manager).__aexit__(self.manager, *exception)
        return self.suspensions.awaiting(self.activation, leaving)


def _advance(iterator: Iterator[Any], sent: list[Any], thrown: BaseException | None) -> Any:
    """Do what `yield from` does to its iterator after something was sent to it, or an exception
    thrown into it; returns what that yields.

    What was sent is taken off the list `sent`; nothing is there when an exception was thrown.
    """
    if thrown is None:
        return iterator.send(sent.pop())  # type: ignore[attr-defined]
    if isinstance(thrown, GeneratorExit):
        try:
            close = getattr(iterator, "close", None)
        except Exception as error:  # Python, too, tells of it and goes on
            told = types.SimpleNamespace(
                exc_type=type(error),
                exc_value=error,
                exc_traceback=error.__traceback__,
                err_msg=None,
                object=iterator,
            )
            sys.unraisablehook(told)
            close = None
        if close is not None:
            close()
        raise thrown
    if not hasattr(iterator, "throw"):
        raise thrown
    return iterator.throw(thrown)
