"""What ended a run early, and its traceback without the tracer's own frames."""

import importlib
import traceback
from pathlib import Path
from types import TracebackType

from ..errors import StepLimitReached
from ..schema import Failure, TracebackEntry
from ..target import Target
from .recorder import Recorder

_OWN_FOLDER = str(Path(__file__).parents[1])
_METER = str(Path(_OWN_FOLDER, "meter", "mode.py"))


def without_own_frames(entry: TracebackType | None) -> TracebackType | None:
    """Take the tracer's own frames, and the import system's, out of a traceback.

    An operator that fails under the meter passes through frames of torch that it does not pass
    through without: those go as well.
    """
    entries: list[TracebackType] = []
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if file == _METER and _only_torch(entry.tb_next):
            while entries and entries[-1].tb_frame.f_code.co_filename.endswith(_AROUND_THE_METER):
                entries.pop()
            break
        if not file.startswith((_OWN_FOLDER, "<frozen importlib", importlib.__file__ or "\0")):
            entries.append(entry)
        entry = entry.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


_AROUND_THE_METER = (
    str(Path("torch", "_compile.py")),
    str(Path("torch", "_dynamo", "eval_frame.py")),
)


def _only_torch(entry: TracebackType | None) -> bool:
    while entry is not None:
        module = str(entry.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] != "torch" and entry.tb_frame.f_code.co_filename != _METER:
            return False
        entry = entry.tb_next
    return True


def failure_of(error: BaseException, recorder: Recorder, target: Target) -> Failure:
    """Describe what the lecture raised; its step is found when the document is made."""
    at = len(recorder.events)
    entries = [
        TracebackEntry(
            path=relative(entry.filename, target.root), line=entry.lineno or 0, function=entry.name
        )
        for entry in traceback.extract_tb(error.__traceback__)
    ]
    failed_claims = [claim for claim in recorder.claims[-1:] if claim.held is False]
    kind = "claim" if isinstance(error, AssertionError) and failed_claims else "exception"
    kinds = {SystemExit: "exit", KeyboardInterrupt: "interrupt", StepLimitReached: "step limit"}
    name = type(error).__name__
    text = "".join(traceback.format_exception_only(error)).strip().removeprefix(f"{name}: ")
    return Failure(
        kind=kinds.get(type(error), kind),  # type: ignore[typeddict-item]
        type=name,
        message="" if text == name else recorder.without_addresses(text),
        step=-1,
        at=at,
        traceback=entries,
    )


def relative(filename: str, root: Path) -> str:
    """A path as the document may hold it: relative to the lecture, else the file's name alone."""
    file = Path(filename)
    if root in file.parents:
        return file.relative_to(root).as_posix()
    return file.name
