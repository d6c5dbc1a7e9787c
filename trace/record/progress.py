"""One line on a terminal that says how far a lecture is."""

import shutil
import sys
import time
from typing import TextIO

from ..events import EXIT, RESUMPTIONS, count_recorded_steps
from ..own_builtins import use_own_builtins
from ..terminal import counted
from .recorder import Recorder

use_own_builtins(globals())


class Progress:
    """Is called now and then with the recorder; with None before something else is written."""

    def __init__(self, module: str, stream: TextIO) -> None:
        self._module = module
        self._stream = stream
        self._begin = time.perf_counter()
        self._shown = False
        self._events = 0
        self._steps = 0
        self._checks = 0
        self._claims: set[int] = set()
        self._stack: list[str] = []
        """Of each open call the section that it is in."""

    def __call__(self, recorder: Recorder | None) -> None:
        """Show the line, or wipe it away."""
        if recorder is None and not self._shown:
            return
        text = self._line(recorder)[: shutil.get_terminal_size().columns - 1] if recorder else ""
        self._stream.write(f"\r{text}\x1b[K")
        self._stream.flush()
        self._shown = recorder is not None

    def _line(self, recorder: Recorder) -> str:
        self._catch_up(recorder)
        seconds = time.perf_counter() - self._begin
        parts = [
            f"{self._module}: {counted(self._steps, 'step')}",
            counted(len(self._claims), "claim"),
            f"{seconds:.0f} s",
            *self._stack[-1:],
        ]
        return ", ".join(part for part in parts if part)

    def _catch_up(self, recorder: Recorder) -> None:
        """Take note of what was recorded since the last time."""
        events = recorder.events[self._events :]
        self._events += len(events)
        self._steps += count_recorded_steps(events, recorder.tables.first_steps)
        for event in events:
            if event == EXIT:
                del self._stack[-1:]
            elif event < 0:
                self._stack.append(self._section(recorder, event))
        for claim in recorder.claims[self._checks :]:
            self._checks += 1
            self._claims.add(claim.statement)

    def _section(self, recorder: Recorder, event: int) -> str:
        """The function that is entered, if it is a section; else the one it is called from."""
        outer = self._stack[-1] if self._stack else ""
        if event < RESUMPTIONS:
            return outer
        function = recorder.tables.functions[-event - 1]
        return outer if function.parameters or not function.title else function.name


def progress_on(module: str, *, quiet: bool, wanted: bool) -> Progress | None:
    """Return what shows progress: on terminals, unless it is to be quiet, or where it is wanted."""
    shown = wanted or (not quiet and sys.stderr.isatty())
    return Progress(module, sys.stderr) if shown else None
