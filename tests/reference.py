"""What names stand for after each statement, as Python itself tells: `sys.settrace` and the
`f_locals` of frames. It knows nothing of the recorder, nor of syntax trees."""

import contextlib
import inspect
import io
import re
import sys
import types
from pathlib import Path
from types import FrameType
from typing import Any

COMPREHENSION = re.compile(r"\[.* for (\w+) in ")
"""From 3.12 on one runs in the frame around it: with line events of its own, and with its variable
among the locals while it runs. No generated program gives a variable of its own that name."""

MAX_DEPTH = 6

Names = dict[str, Any]
"""What the names of a frame stand for, as `frozen` has it."""

_LEFT_OUT = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


def frozen(value: Any, depth: int = 0) -> Any:
    """Return a copy of a value that no longer changes: type, identity, parts."""
    cls = type(value)
    name = cls.__qualname__.rpartition(".<locals>.")[2]
    if value is None or cls in (int, float, str, bool):
        return (name, repr(value))
    if depth > MAX_DEPTH:
        return (name, id(value), "...")
    if cls in (list, tuple):
        parts = [frozen(item, depth + 1) for item in value]
    elif cls is dict:
        parts = [frozen(item, depth + 1) for entry in value.items() for item in entry]
    elif cls.__name__ in ("Thing", "Torch"):
        parts = [part for k, v in vars(value).items() for part in (k, frozen(v, depth + 1))]
    elif cls.__name__ == "Tensor":
        parts = [list(value.shape), value.flatten().tolist()]
    else:
        return (name, id(value))
    return (name, 0 if cls is tuple else id(value), parts)


class Reference:
    """Runs a program, and keeps of each statement what the names of all open calls stood for after
    it: (activation, names, which of them are a closure's) from the outermost call inwards."""

    def __init__(self, file: Path, is_statement: Any, is_repeated: Any) -> None:
        self.file, self.is_statement, self.is_repeated = file, is_statement, is_repeated
        self.source = file.read_text().split("\n")
        self.after: list[list[tuple[int, Names, set[str]]]] = []
        self.lines: list[int] = []
        self._activations: dict[FrameType, int] = {}
        self._open: dict[FrameType, int] = {}
        """By frame, the statement of it that has not ended."""
        self._settling: dict[FrameType | None, list[int]] = {}
        """By frame, the statements of it that have ended, until the next one begins."""
        self._latest: dict[FrameType, int] = {}

    def run(self) -> "Reference":
        namespace = {"__name__": self.file.stem}
        exec(compile(self.file.read_text(), str(self.file), "exec"), namespace)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            sys.settrace(self._on_event)
            try:
                namespace["main"]()
            finally:
                sys.settrace(None)
        self._activations.clear()
        return self

    def _on_event(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code.co_filename != str(self.file) or code.co_name.startswith("<"):
            return None
        if event == "line" and code.co_flags & inspect.CO_OPTIMIZED:  # no body of a class
            self._activations.setdefault(frame, len(self._activations))
        ended = self._open.pop(frame, None)
        if ended is not None:
            self._settling.setdefault(frame, []).append(ended)
        # Until the next statement an exception gets its name or loses it, and contexts are left.
        for settling in self._settling.get(frame, ()):
            self.after[settling] = self._chain(frame)
        is_step = event == "line" and self._is_step(frame)
        if is_step or event == "return":
            settled = self._settling.pop(frame, [])
            if event == "return" and frame not in self._activations:  # the body of a class
                self._settling.setdefault(frame.f_back, []).extend(settled)
        if is_step:
            self._open[frame] = len(self.after)
            self.after.append([])
            self.lines.append(frame.f_lineno)
        return self._on_event

    def _is_step(self, frame: FrameType) -> bool:
        text = self.source[frame.f_lineno - 1].strip()
        again = self._latest.get(frame) == frame.f_lineno and self.is_repeated(text)
        self._latest[frame] = frame.f_lineno
        return not again and self.is_statement(frame, text)

    def _chain(self, frame: FrameType | None) -> list[tuple[int, Names, set[str]]]:
        chain = []
        while frame is not None:
            if frame in self._activations:
                foreign = COMPREHENSION.findall(self.source[frame.f_lineno - 1])
                names = {
                    name: frozen(value)
                    for name, value in frame.f_locals.items()
                    if not isinstance(value, _LEFT_OUT) and name not in foreign
                }
                free = set(frame.f_code.co_freevars)
                chain.append((self._activations[frame], names, free))
            frame = frame.f_back
        return chain[::-1]
