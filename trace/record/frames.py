"""The tracer's own frames, and how they are cut out of tracebacks."""

import importlib
import os
from pathlib import Path
from types import TracebackType

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_OWN_FOLDER = str(Path(__file__).parents[1]) + os.sep
_METER = _OWN_FOLDER + str(Path("meter", "mode.py"))
_IMPORT_SYSTEM = ("<frozen importlib", importlib.__file__ or "\0")
_AROUND_THE_METER = (
    str(Path("torch", "_compile.py")),
    str(Path("torch", "_dynamo", "eval_frame.py")),
)


def is_own(file: str) -> bool:
    """Tell whether code of this file is the tracer's."""
    return file.startswith(_OWN_FOLDER)


def without_own_frames(
    entry: TracebackType | None, *, for_authors: bool = True
) -> TracebackType | None:
    """Return a traceback without the tracer's own frames, and those of torch that an operator that
    fails passes through under the meter alone. For authors the import system's are left out too.
    """
    entries: list[TracebackType] = []
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if file == _METER and _only_torch(entry.tb_next):
            while entries and entries[-1].tb_frame.f_code.co_filename.endswith(_AROUND_THE_METER):
                entries.pop()
            break
        if not is_own(file) and not (for_authors and file.startswith(_IMPORT_SYSTEM)):
            entries.append(entry)
        entry = entry.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _only_torch(entry: TracebackType | None) -> bool:
    while entry is not None:
        module = str(entry.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] != "torch" and entry.tb_frame.f_code.co_filename != _METER:
            return False
        entry = entry.tb_next
    return True


def is_raised_by_us(error: BaseException) -> bool:
    """Tell whether code of ours raised an exception, such as the handler of an interrupt."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry is not None and is_own(entry.tb_frame.f_code.co_filename)


def cut_own_frames(error: BaseException) -> None:
    """Cut them from an exception, from what it came from, and from what it holds."""
    done: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in done:
            done.add(id(one))
            one.__traceback__ = without_own_frames(one.__traceback__)
            held = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
            waiting += [one.__cause__, one.__context__, *held]
