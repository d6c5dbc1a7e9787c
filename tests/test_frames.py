"""The tracer's own frames are cut out of tracebacks, and no others."""

import traceback
from pathlib import Path

import pytest

from trace.record.frames import cut_own_frames, is_own
from trace.record.run import _main_of

TRACER = Path(__file__).parent.parent / "trace"


@pytest.mark.parametrize(
    ("file", "own"),
    [
        (TRACER / "cli.py", True),
        (TRACER / "record" / "frames.py", True),
        (TRACER.with_name("traces") / "lecture.py", False),
        (TRACER.with_name("trace.py"), False),
        (__file__, False),
    ],
)
def test_files_of_the_tracer_are_known_by_their_folder(file, own):
    assert is_own(str(file)) is own


def failing():
    _main_of(object(), None)  # raises inside the tracer, for want of a module


def files_of(error):
    return {Path(frame.filename).name for frame in traceback.extract_tb(error.__traceback__)}


def test_they_are_cut_from_all_that_an_exception_came_from_and_holds():
    with pytest.raises(AttributeError) as first:
        failing()
    with pytest.raises(AttributeError) as second:
        failing()
    error = ExceptionGroup("two", [first.value])
    error.__context__ = second.value
    second.value.__cause__ = error  # a circle ends
    assert "run.py" in files_of(first.value) & files_of(second.value)
    cut_own_frames(error)
    assert files_of(first.value) == files_of(second.value) == {"test_frames.py"}
