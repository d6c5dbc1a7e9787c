"""Can the recorder be trusted on programs nobody here has seen? Two properties of generated ones.

*Transparent*: the traced run prints the same, draws the same random numbers, and ends with the same
exception and traceback. *True*: the executed statements are those that Python's own line events
show; an independent reference, as it knows nothing of syntax trees.

`FUZZ_EXAMPLES` sets the number of programs; `make fuzz` takes many.
"""

import contextlib
import dis
import io
import json
import os
import random
import sys
import traceback
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, given, settings

from tests.programs import PROGRAMS
from tests.reference import COMPREHENSION
from tests.tracing import lines
from trace.document.build import build
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import record
from trace.target import find_target

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "100"))
SETTINGS = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)


def written(source: str, folder: Path) -> Path:
    file = folder / "generated.py"
    file.write_text(source, encoding="utf-8")
    return file


def outcome_of_plain_run(file: Path) -> tuple[str, str, float]:
    """Printed text, traceback, and the next random number."""
    namespace = {"__name__": file.stem}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            namespace["main"]()
        except Exception as raised:
            entry = raised.__traceback__.tb_next
            error = "".join(traceback.format_exception(type(raised), raised, entry))
    return printed.getvalue(), error, random.random()


def outcome_of_traced_run(file: Path) -> tuple[str, str, float]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        recording = record(find_target(str(file)), Options())
    error = recording.error
    text = "" if error is None else "".join(traceback.format_exception(error))
    return printed.getvalue(), text, random.random()


@given(PROGRAMS)
@SETTINGS
def test_a_traced_program_does_what_the_plain_one_does(tmp_path_factory, source: str) -> None:
    file = written(source, tmp_path_factory.mktemp("generated"))
    assert outcome_of_traced_run(file) == outcome_of_plain_run(file)


def lines_python_saw(file: Path) -> list[int]:
    """Lines that `sys.settrace` reports, without those that are no statements: `except` and
    `case` lines, the exit of a `with`, the set-up and the docstring of a class."""
    source = file.read_text().split("\n")
    seen: list[int] = []
    latest: dict[FrameType, int] = {}

    def on_event(frame: FrameType, event: str, argument: object):
        code = frame.f_code
        if code.co_filename != str(file) or code.co_name.startswith("<"):
            return None
        if event == "line":
            text = source[frame.f_lineno - 1].strip()
            # From 3.12 on comprehensions run in place, with an event for each item and, of
            # `async for`, for each wait; and leaving a block may touch its end again.
            again = latest.get(frame) == frame.f_lineno and is_repeated(text)
            latest[frame] = frame.f_lineno
            if not again and is_statement(frame, text):
                seen.append(frame.f_lineno)
        return on_event

    namespace = {"__name__": file.stem}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        sys.settrace(on_event)
        try:
            namespace["main"]()
        finally:
            sys.settrace(None)
    return seen


def is_repeated(text: str) -> bool:
    """Tell whether a statement may have several line events in one execution."""
    return bool(COMPREHENSION.search(text)) or text == "pass" or "await " in text


LEAVING = (
    *("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE", "COPY", "SWAP", "RETURN_VALUE"),
    *("CLEANUP_THROW", "CALL_INTRINSIC_1", "END_SEND"),
)


JUMPS = ("pass", "break", "continue")
WAITING = ("SEND", "YIELD_VALUE", "JUMP_BACKWARD_NO_INTERRUPT")
"""What an `await` does again and again."""


def is_statement(frame: FrameType, text: str) -> bool:
    """Tell whether the line event stands for the statement with this text."""
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if operation in LEAVING:
        # Nothing else stands for these where an exception passes or ends.
        return text == "pass" or (text in JUMPS and operation == "POP_EXCEPT")
    is_simple = text not in JUMPS and not text.endswith(":")
    if operation in WAITING or (operation == "NOP" and is_simple):
        return False  # the latter where an `async with` is left from its last line
    if text.startswith(("with ", "async with ")):
        return operation not in ("LOAD_CONST", "POP_TOP")
    if frame.f_lineno == frame.f_code.co_firstlineno and text.startswith("def "):
        return False  # the end of a function without statements
    in_class = frame.f_code.co_name.startswith("C")
    own_set_up = in_class and text in (f"class {frame.f_code.co_name}:", "'''Docs.'''")
    return not own_set_up and not text.startswith(("except ", "case "))


@given(PROGRAMS)
@SETTINGS
def test_the_steps_are_the_lines_python_ran(tmp_path_factory, source: str) -> None:
    file = written(source, tmp_path_factory.mktemp("generated"))
    with contextlib.redirect_stdout(io.StringIO()):
        recording = record(find_target(str(file)), Options())
    document = json.loads(encode(build(recording)))
    assert lines(document) == lines_python_saw(file)
