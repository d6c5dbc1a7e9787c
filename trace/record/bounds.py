"""Bounds on the code of a value's own class while its picture is taken.

`repr` and its kin may loop or sleep. A budget of executed lines stops loops at the same place each
time; on the main thread of a POSIX system an alarm also stops what sleeps or loops in C.
"""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors import StepLimitReached
from ..own_builtins import use_own_builtins
from .frames import is_own, is_raised_by_us

use_own_builtins(globals())

MAX_LINES = 20_000
"""Lines of Python that may run for one value."""
MAX_SECONDS = 0.1
"""Seconds that may pass for one value."""
MAX_PICTURE_SECONDS = 10.0
"""Seconds for a value that draws itself: its author meant it to."""
TRACE_FUNCTION = sys.gettrace
"""Python's own: lectures of other tools may be told that they are traced."""
SOON_SECONDS = 1e-3
"""Seconds after which an alarm of the lecture rings that had to wait."""

_ALARM = getattr(signal, "SIGALRM", None)
_HELD = [signal.SIGINT, *([_ALARM] if _ALARM else [])]


class TooSlow(BaseException):
    """The value's own code took too long; not an Exception, so that such code lets it pass."""


def is_interruption(error: BaseException) -> bool:
    """Tell whether what was raised while a value was read is meant for the run: the step limit, or
    the author's interrupt. A value's own code may raise what it likes."""
    is_pressed = isinstance(error, KeyboardInterrupt) and is_raised_by_us(error)
    return is_pressed or isinstance(error, StepLimitReached)


@contextlib.contextmanager
def bounded(lines: int | None = MAX_LINES, seconds: float = MAX_SECONDS) -> Iterator[None]:
    """Raise TooSlow inside the block when it runs too many lines or takes too long."""
    outer = TRACE_FUNCTION()
    with _kept_random_numbers(), _alarm(seconds):
        if lines is not None:
            sys.settrace(_counter(lines))
        try:
            yield
        finally:
            sys.settrace(outer)


@contextlib.contextmanager
def _kept_random_numbers() -> Iterator[None]:
    """Let the lecture draw the same random numbers afterwards, whatever is drawn inside."""
    restore = []
    if python := sys.modules.get("random"):
        restore.append((python.setstate, python.getstate()))
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "set_state"):
        restore.append((numpy.set_state, numpy.get_state()))
    torch: Any = sys.modules.get("torch.random")
    if torch is not None and hasattr(torch, "set_rng_state"):
        restore.append((torch.set_rng_state, torch.get_rng_state()))
    try:
        yield
    finally:
        for set_state, state in restore:
            set_state(state)


def held_signals() -> Callable[[], None]:
    """Let what the lecture does at an alarm or at Ctrl-C wait until the result is called: it may
    raise. Ctrl-C that only ends the lecture need not wait."""
    if threading.current_thread() != threading.main_thread():
        return lambda: None
    handlers = {number: signal.getsignal(number) for number in _HELD}
    due: set[int] = set()

    def hold(number: int, frame: object) -> None:
        if handlers[number] is signal.default_int_handler:
            signal.default_int_handler(number, None)
        due.add(number)

    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in held:
        signal.signal(number, hold)

    def release() -> None:
        for number, handler in held.items():
            signal.signal(number, handler)
        if _ALARM in due:
            _, interval = signal.getitimer(signal.ITIMER_REAL)
            signal.setitimer(signal.ITIMER_REAL, SOON_SECONDS, interval)
        if signal.SIGINT in due:
            signal.raise_signal(signal.SIGINT)

    return release


_Hook = Callable[..., Any]
"""A trace function; named here, since each call evaluates the annotations of functions inside."""


def _counter(lines: int) -> _Hook:
    """Return a trace function that raises when foreign code has run so many lines."""
    left = lines

    def on_call(frame: FrameType, event: str, argument: object) -> _Hook | None:
        return None if is_own(frame.f_code.co_filename) else on_line

    def on_line(frame: FrameType, event: str, argument: object) -> _Hook:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooSlow(f"it ran more than {lines:,} lines")
        return on_line

    return on_call


def _sets_or_lifts(frame: FrameType | None) -> bool:
    """Tell whether a bound is being set or lifted, or lines are counted, which is done as a whole
    or the lecture goes on with it: an alarm rings again. `sys.settrace` may call an audit hook."""
    if frame is not None and frame.f_code.co_filename == _CONTEXTLIB:
        return True
    around = (frame, frame and frame.f_back)
    return any(one is not None and one.f_code.co_filename == _OWN for one in around)


_OWN = _counter.__code__.co_filename
_CONTEXTLIB = contextlib.contextmanager.__code__.co_filename


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    end_seconds = time.monotonic() + seconds
    is_over = is_due = False

    def on_alarm(number: int, frame: FrameType | None) -> None:
        nonlocal is_due
        if time.monotonic() < end_seconds:  # the lecture's own rang in between
            is_due = True
        elif not is_over and not _sets_or_lifts(frame):
            raise TooSlow(f"it took longer than {seconds} s")

    handler = signal.signal(signal.SIGALRM, on_alarm)
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    try:
        # On a busy machine it may ring before this returns, and must not go on ringing then.
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        yield
    finally:
        is_over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        left = SOON_SECONDS if is_due else left
        signal.setitimer(signal.ITIMER_REAL, left, interval)  # what the lecture had set
