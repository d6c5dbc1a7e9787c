"""What `# @stepover` on the header of a compound statement is rewritten to: its own expressions are
evaluated without recording, its body is recorded."""

from collections.abc import Callable, Iterator
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())


class Headers:
    """The headers that are being evaluated without recording, by number of their statement."""

    def __init__(self, skip: Callable[[], None], unskip: Callable[[], None]) -> None:
        self._skip, self._unskip = skip, unskip
        self._open: list[int] = []

    def names(self) -> dict[str, object]:
        """What instrumented code looks up."""
        return {
            "@quiet": self.begin,
            "@loud": self.end,
            "@settle": self.settle,
            "@quiet_items": self.items,
            "@quiet_manager": self.manager,
        }

    def begin(self, number: int) -> None:
        """Do not record from here on; then the header is evaluated."""
        self._skip()
        self._open.append(number)

    def end(self, _: None, value: object) -> object:
        """Record again; returns what the header has been evaluated to."""
        self._open.pop()
        self._unskip()
        return value

    def settle(self, number: int) -> None:
        """Record again where evaluating the header of this statement has raised."""
        if self._open and self._open[-1] == number:
            self.end(None, None)

    def items(self, iterable: Any) -> Iterator[object]:
        """Iterate over a value without recording what that calls."""
        return _Items(iter(iterable), self)

    def manager(self, manager: Any) -> object:
        """Enter and leave a context without recording what that calls. What is no context manager
        is left to Python, which says so."""
        cls = type(manager)
        is_one = hasattr(cls, "__enter__") and hasattr(cls, "__exit__")
        return _Manager(manager, self) if is_one else manager


class _Quiet:
    """Inside, nothing is recorded."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def __enter__(self) -> None:
        self._headers._skip()

    def __exit__(self, *_: object) -> None:
        self._headers._unskip()


class _Items:
    def __init__(self, iterator: Iterator[object], headers: Headers) -> None:
        self._iterator, self._quiet = iterator, _Quiet(headers)

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        with self._quiet:
            return next(self._iterator)


class _Manager:
    def __init__(self, manager: Any, headers: Headers) -> None:
        self._manager, self._quiet = manager, _Quiet(headers)

    def __enter__(self) -> object:
        with self._quiet:
            return type(self._manager).__enter__(self._manager)

    def __exit__(self, *exception: Any) -> object:
        with self._quiet:
            return type(self._manager).__exit__(self._manager, *exception)
