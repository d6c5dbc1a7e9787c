"""The line on a terminal that says how far a lecture is."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracing import record_source
from trace.record import progress
from trace.record.progress import Progress

ROOT = Path(__file__).parent.parent
LECTURE = """
    def main():
        "The lecture."
        first()
        second(3)

    def first():
        "The first section."
        helper(2)
        look()
        assert 1 == 1

    def helper(n):
        "No section: it has a parameter."
        look()

    def second(n):
        for i in range(n):
            look()
            assert i < 3

    def look():
        pass
    """


@pytest.fixture
def said(monkeypatch):
    """A progress line, and what it writes to; its clock gains 7 s each time it is looked at."""
    monkeypatch.setattr(progress.time, "perf_counter", iter(range(0, 10**6, 7)).__next__)
    monkeypatch.setenv("COLUMNS", "60")
    stream = io.StringIO()
    return Progress("lec", stream), stream


def test_steps_claims_seconds_and_section_are_shown(said):
    shown, stream = said
    recording = record_source(LECTURE, "lec")
    recorder = recording.recorder
    events, claims = list(recorder.events), list(recorder.claims)
    lines = []
    for count in range(len(events) + 1):
        recorder.events[:] = events[:count]
        recorder.claims[:] = [claim for claim in claims if claim.at <= count]
        stream.truncate(0), stream.seek(0)
        shown(recorder)
        lines.append(stream.getvalue())
    assert all(re.fullmatch(r"\rlec: [^\r]*\x1b\[K", line) for line in lines)
    assert {line.rstrip("\x1b[K").rpartition(", ")[2] for line in lines[1:-1]} == {"main", "first"}
    assert re.fullmatch(r"\rlec: 1 step, 0 claims, \d+ s, main\x1b\[K", lines[1])
    assert re.fullmatch(r"\rlec: 21 steps, 2 claims, \d+ s\x1b\[K", lines[-1])


def test_the_line_is_cut_to_the_terminal(said, monkeypatch):
    shown, stream = said
    monkeypatch.setenv("COLUMNS", "12")
    shown(record_source(LECTURE, "lec").recorder)
    assert stream.getvalue() == "\rlec: 21 ste\x1b[K"


def test_it_is_wiped_away_only_where_it_stands(said):
    shown, stream = said
    shown(None)
    assert stream.getvalue() == ""
    shown(record_source("def main(): pass", "lec").recorder)
    shown(None)
    shown(None)
    assert stream.getvalue().endswith("\x1b[K\r\x1b[K")
    assert stream.getvalue().count("\r") == 2


# options -> whether progress is shown where stderr is no terminal
SHOWN = [([], False), (["--progress"], True), (["--progress", "-q"], True), (["-q"], False)]


@pytest.mark.parametrize(("options", "expected"), SHOWN)
def test_elsewhere_it_is_shown_on_demand(options, expected, tmp_path):
    (tmp_path / "lec.py").write_text("import time\ndef main(): time.sleep(0.3)")
    command = [sys.executable, "-m", "trace", tmp_path / "lec.py", "-o", tmp_path / "out", *options]
    run = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert run.returncode == 0
    assert ("lec: 1 step, 0 claims, 0 s" in run.stderr) == expected
    assert bool(run.stderr) == expected
