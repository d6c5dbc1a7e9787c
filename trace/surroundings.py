"""What a lecture runs in: a step limit, watched threads, streams that are recorded."""

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, TextIO

from .failures import StepLimitReached
from .recorder import Printed, Recorder

POLL_SECONDS = 0.05
"""How often the step limit is looked at; the document is cut at the exact step."""


@dataclass(frozen=True)
class Options:
    """What can be chosen about a run."""

    max_steps: int = 1_000_000
    costs: bool = True
    time: bool = False
    """Note the clock at each step, and what `@timed` statements measure."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    progress: Callable[[Recorder | None], None] | None = None
    """Called now and then with what was recorded so far, and with None before output."""


def too_many_steps(options: Options) -> StepLimitReached:
    """What ends a run that makes more steps than allowed."""
    return StepLimitReached(
        f"the lecture made more than {options.max_steps:,} steps; raise --max-steps, or mark the "
        "call or function that runs so long with @stepover."
    )


@contextlib.contextmanager
def step_limit(recorder: Recorder, options: Options) -> Iterator[None]:
    """Interrupt the lecture soon after it has made more steps than allowed; report progress."""
    done = threading.Event()
    reached = threading.Event()

    def poll() -> None:
        while not done.wait(POLL_SECONDS):
            count = len(recorder.events)
            if options.progress:
                options.progress(recorder)
            if count > options.max_steps and recorder.step_count(count) > options.max_steps:
                reached.set()  # and again if the lecture, or a finalizer, swallows it
                signal.raise_signal(signal.SIGINT)

    def on_interrupt(number: int, frame: object) -> None:
        if not reached.is_set():
            signal.default_int_handler(number, None)
        if not done.is_set():
            raise too_many_steps(options)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    try:
        yield
    finally:
        done.set()
        poller.join()
        signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def thread_watch(recorder: Recorder) -> Iterator[None]:
    """Tell the recorder when the lecture starts a thread."""
    start, outer = _thread.start_new_thread, threading.gettrace()

    def on_start(*arguments: Any) -> int:
        recorder.thread_started()
        return start(*arguments)

    def in_new_thread(frame: FrameType, event: Any, argument: object) -> Any:
        recorder.thread_started()
        sys.settrace(outer)
        return outer(frame, event, argument) if outer else None

    _thread.start_new_thread = on_start
    threading.settrace(in_new_thread)
    try:
        yield
    finally:
        _thread.start_new_thread = start
        threading.settrace(outer)


@contextlib.contextmanager
def tees(recorder: Recorder, options: Options, importing: bool = False) -> Iterator[None]:
    """Record what is printed, and show it all the same.

    While importing, the lecture may keep a stream, such as for a logger, or put another one in its
    place, which then stays.
    """
    streams = {"stdout": sys.stdout, "stderr": sys.stderr}
    teed = {
        name: stream if type(stream) is _Tee else _Tee(stream, name, recorder, options.progress)
        for name, stream in streams.items()
    }
    vars(sys).update(teed)
    try:
        yield
    finally:
        for name, stream in streams.items():
            if not importing or getattr(sys, name) is teed[name]:
                setattr(sys, name, stream)


class _Tee:
    """Writes to a stream and notes the text. Not an `IOBase`, which would close the stream."""

    def __init__(
        self,
        stream: TextIO,
        name: str,
        recorder: Recorder,
        progress: Callable[[Recorder | None], None] | None,
    ) -> None:
        self._stream = stream
        self._name = name
        self._recorder = recorder
        self._progress = progress

    def write(self, text: str) -> int:
        if self._recorder.is_reading():  # what a value's own code prints, the lecture does not
            return len(text)
        if self._progress:
            self._progress(None)
        written = self._stream.write(text)
        if self._recorder.running:
            self._note(text)
        return written

    def _note(self, text: str) -> None:
        output, at = self._recorder.output, len(self._recorder.events)
        if output and (output[-1].at, output[-1].stream) == (at, self._name):
            output[-1].text += text
        else:
            output.append(Printed(at, self._name, text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
