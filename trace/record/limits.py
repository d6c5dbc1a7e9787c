"""What a lecture runs in: a step limit and watched threads."""

import _thread
import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors import StepLimitReached
from ..options import Options
from ..own_builtins import use_own_builtins
from .recorder import Recorder

use_own_builtins(globals())

POLL_SECONDS = 0.05
"""How often the step limit is looked at; the document is cut at the exact step."""


def too_many_steps(options: Options) -> StepLimitReached:
    """What ends a run that makes more steps than allowed."""
    return StepLimitReached(
        f"the lecture made more than {options.max_steps:,} steps; raise --max-steps, or mark the "
        "call or function that runs so long with @stepover."
    )


@contextlib.contextmanager
def step_limit(recorder: Recorder, options: Options) -> Iterator[Callable[[], None]]:
    """Interrupt the lecture soon after it has made more steps than allowed; report progress.

    Yields what ends this. No signal is used: a lecture may have handlers of its own, or ask
    whether there are any, and a process may ignore signals. Nor is a `threading.Thread`, which the
    lecture would count, and find its own named after.
    """
    lecture, process = threading.get_ident(), os.getpid()
    here, going_on, gone = (_thread.allocate_lock() for _ in range(3))
    for lock in (here, going_on, gone):
        lock.acquire()

    def poll() -> None:
        here.release()
        try:
            watch()
        finally:
            gone.release()

    def watch() -> None:
        while not going_on.acquire(timeout=POLL_SECONDS):
            count = len(recorder.events)
            if options.progress:
                options.progress(recorder)
            if count > options.max_steps and recorder.step_count(count) > options.max_steps:
                _raise_in(lecture)  # again while it is swallowed

    def end() -> None:
        while True:
            try:
                if going_on.locked():
                    going_on.release()
                if os.getpid() == process:  # a fork has no such thread
                    with gone:
                        pass
                for _ in range(2):  # what is still to come comes where a loop begins anew
                    pass
                return
            except StepLimitReached:
                continue

    with _signals_kept_from_new_threads():
        _thread.start_new_thread(poll, ())
    with here:  # a lecture may count threads, and it counts from here on
        pass
    try:
        yield end
    finally:
        end()


@contextlib.contextmanager
def _signals_kept_from_new_threads() -> Iterator[None]:
    """What wakes a thread that sleeps, such as Ctrl-C, is for those of the lecture: a thread that
    is started here takes none of it."""
    if not hasattr(signal, "pthread_sigmask"):  # where signals go to the first thread alone
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _raise_in(thread: int) -> None:
    """Let a thread raise the exception at its next instruction."""
    error = ctypes.py_object(StepLimitReached)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


@contextlib.contextmanager
def thread_watch(recorder: Recorder) -> Iterator[None]:
    """Tell the recorder when the lecture starts a thread."""
    start, outer = _thread.start_new_thread, threading.gettrace()

    def on_start(*arguments: Any) -> int:
        recorder.thread_started()
        at = len(recorder.events)
        thread = start(*arguments)
        recorder.threads_at[thread] = at
        return thread

    def in_new_thread(frame: FrameType, event: Any, argument: object) -> Any:
        recorder.thread_started()
        recorder.threads_at[threading.get_ident()] = len(recorder.events)
        sys.settrace(outer)
        return outer(frame, event, argument) if outer else None

    _thread.start_new_thread = on_start
    threading.settrace(in_new_thread)
    try:
        yield
    finally:
        _thread.start_new_thread = start
        threading.settrace(outer)
