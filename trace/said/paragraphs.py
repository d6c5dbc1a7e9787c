"""Tells apart what several statements say within one step."""

import sys
import threading
from pathlib import Path
from typing import Protocol

from ..rewrite.rows import Tables
from ..schema import Value

PARAGRAPH = "paragraph"
"""The type of a text that another statement said than the one whose step it is said in."""


_Call = tuple[int, int, int]
"""How many events there were when something was said, the statement that did, where in its code."""


class Recorder(Protocol):
    """What is told of what is said."""

    events: list[int]
    tables: Tables

    def hear(self, value: Value) -> None:
        """Note what is said."""


class Paragraphs:
    """What one statement says goes on in its line. What another says within the same step begins a
    paragraph: the end of a `with`, which is no step of its own, or a function stepped over."""

    def __init__(self, recorder: Recorder, root: Path) -> None:
        """`root`: the folder relative to which the paths of the recorded files are."""
        self._recorder = recorder
        self._root = root
        self._thread = threading.get_ident()
        self._before: _Call = (-1, 0, 0)
        self._files: dict[str, int | None] = {}
        """Number of a recorded file, by the name that its code has."""
        self._statements: dict[tuple[int, int], int] = {}
        """Number of a statement, by its file and each of its lines; 0 where there are several."""
        self._known = 0

    def hear(self, value: Value) -> None:
        """Hear one thing."""
        if threading.get_ident() == self._thread:
            before, own = self._before, (len(self._recorder.events), *self._call())
            self._before = own
            if value["type"] == "text" and self._is_apart(before, own):
                value = {**value, "type": PARAGRAPH}
        self._recorder.hear(value)

    def _is_apart(self, before: _Call, own: _Call) -> bool:
        (_, statement, _), rows = own, self._recorder.tables.statements
        if not statement:
            return False
        row, running = rows[statement - 1], self._running()
        is_stepped_over = running > 0 and rows[running - 1].function != row.function
        if before[0] != own[0]:
            return not is_stepped_over and running not in (0, statement)
        # The end of a `with` is of the same statement as its beginning; a loop says it once more.
        is_again = before[1:] == own[1:] and is_stepped_over
        return statement != before[1] or row.kind == "with" or is_again

    def _call(self) -> tuple[int, int]:
        """The statement of the lecture that is the innermost to run, or 0; and where in its code
        it is."""
        frame = sys._getframe(1)
        while (file := self._file(frame.f_code.co_filename)) is None:
            if frame.f_back is None:
                return 0, 0
            frame = frame.f_back
        rows = self._recorder.tables.statements
        for number, row in enumerate(rows[self._known :], self._known + 1):
            for place in ((row.file, line) for line in range(row.first_line, row.last_line + 1)):
                self._statements[place] = 0 if place in self._statements else number
        self._known = len(rows)
        return self._statements.get((file, frame.f_lineno), 0), frame.f_lasti

    def _running(self) -> int:
        """The statement of the step that runs; 0 before the first one."""
        depth = 0
        for event in reversed(self._recorder.events):
            depth += (event == 0) - (event < 0)
            if event > 0 and not depth:
                return event
            if depth < 0:
                break
        return 0

    def _file(self, name: str) -> int | None:
        if name not in self._files:
            path = Path(name).resolve()
            paths = self._recorder.tables.paths
            own = path.relative_to(self._root).as_posix() if self._root in path.parents else None
            self._files[name] = paths.index(own) if own in paths else None
        return self._files[name]
