"""What ended a run early."""

import traceback
from pathlib import Path

from ..errors import StepLimitReached
from ..own_builtins import use_own_builtins
from ..schema import Failure, TracebackEntry
from ..target import Target
from .recorder import Recorder

use_own_builtins(globals())


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
