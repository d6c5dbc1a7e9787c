"""A change of text alone: the document is told anew without a run, as a run would have written it;
and the data files that a lecture read."""

import sys
import textwrap
from pathlib import Path

import pytest

from trace.document.build import build
from trace.document.decoding import decode
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import record
from trace.serve import library
from trace.serve.changes import Sources
from trace.serve.rewording import reworded
from trace.target import find_target

BEFORE = '''
"""A module."""
import helper

def main():
    """A title.

    About @{total}.
    """
    # One. See [](#part).
    total = 0
    for n in range(3):  # @inspect n
        # Turn @{n:>2}.
        total += helper.twice(n)
    part()
    assert total == 6

def part():
    # Text.
    word = "a"  # @stepover
    assert word == "a"
'''
HELPER = "def twice(n):\n    return 2 * n\n\n\ndef unused():\n    pass\n"


def recorded(folder: Path) -> bytes:
    target = find_target(str(folder / "lec.py"))
    return encode(build(record(target, Options())))


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "lec.py").write_text(textwrap.dedent(BEFORE))
    return tmp_path


TEXT = [
    [("# One.", "# Two lines\n    # instead of one.")],
    [("A title.", "Another title\n\n    $\\\\frac12$ and more.")],
    [('    """A title.\n\n    About @{total}.\n    """\n', '    # @{total} now\n')],
    [("# Turn @{n:>2}.\n", "#\n        # Turn is @{n:>2}.\n")],
    [("    # Text.\n", '    """A part."""\n')],
    [("def part():", "def part():  # words views")],
    [('word = "a"', 'word = "a"  ')],
    [("total += helper", "total  +=  helper")],
    [("See [](#part).", "See [](#nowhere).")],
    [('"""A module."""\n', "")],
]  # fmt: skip


@pytest.mark.parametrize("changes", TEXT, ids=lambda changes: changes[0][0][:20].strip())
def test_a_change_of_text_needs_no_run(changes: list, lecture: Path) -> None:
    data = recorded(lecture)
    text = textwrap.dedent(BEFORE)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (lecture / "lec.py").write_text(text)
    target = find_target(str(lecture / "lec.py"))
    quotes_moved = changes[0][0].startswith('    """A title')
    told = reworded(decode(data), target)
    if quotes_moved:  # read at another moment
        assert told is None
    else:
        assert told is not None
        assert encode(told).decode() == recorded(lecture).decode()


def test_text_of_another_file_counts_too(lecture: Path) -> None:
    data = recorded(lecture)
    (lecture / "helper.py").write_text(f'"""Helps."""\n\n# Twice.\n{HELPER}')
    told = reworded(decode(data), find_target(str(lecture / "lec.py")))
    assert told is not None and encode(told) == recorded(lecture)


CODE = [
    ("range(3)", "range(4)"),
    ("# @inspect n", "# @inspect n total"),
    ("  # @stepover", ""),
    ("@{n:>2}", "@{n:>3}"),
    ("@{n:>2}", "@{total}"),
    ('word = "a"', 'word = "b"'),
    ('"""A module."""', "import sys"),
    ("# Text.", "# Text, printed by `print(part.__doc__)`."),
    ("# Text.", "# @{word.nothing}"),
]


@pytest.mark.parametrize(("old", "new"), CODE)
def test_all_else_asks_for_a_run(old: str, new: str, lecture: Path) -> None:
    data = recorded(lecture)
    assert old in BEFORE
    (lecture / "lec.py").write_text(BEFORE.replace(old, new))
    assert reworded(decode(data), find_target(str(lecture / "lec.py"))) is None


def test_what_cannot_be_parsed_asks_for_a_run(lecture: Path) -> None:
    data = recorded(lecture)
    for wrong in ("def main(", "def main():\n    x = 1  # @inpsect x"):
        (lecture / "lec.py").write_text(wrong)
        assert reworded(decode(data), find_target(str(lecture / "lec.py"))) is None
    (lecture / "lec.py").unlink()
    target = find_target(str(lecture / "helper.py"))
    assert reworded(decode(data), target) is None


# Data files -------------------------------------------------------------------------------------

READS = """
import csv
import pathlib
import os

def main():
    with open("table.csv") as table:
        rows = list(csv.reader(table))
    pathlib.Path("sub/more.txt").read_text()
    pathlib.Path("written.txt").write_text("x")
    open(os.devnull).close()
    assert rows
"""


@pytest.fixture
def reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "table.csv").write_text("a,b\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/more.txt").write_text("more")
    (tmp_path / "lec.py").write_text(READS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_files_that_are_read_are_in_the_document(reading: Path) -> None:
    document = decode(recorded(reading))
    assert list(document.data) == ["sub/more.txt", "table.csv"]
    assert all(document.data.values())
    (reading / "lec.py").write_text("def main():\n    x = 1\n")
    assert b'"data"' not in recorded(reading)


@pytest.mark.parametrize("change", ["other", "gone"])
def test_a_changed_data_file_makes_a_document_stale(change: str, reading: Path) -> None:
    target = find_target(str(reading / "lec.py"))
    path = reading / "out.json"
    path.write_bytes(recorded(reading))
    assert library.is_current(path, target)
    document = decode(path.read_bytes())
    assert reworded(document, target) is not None
    if change == "gone":
        (reading / "table.csv").unlink()
    else:
        (reading / "table.csv").write_text("a,c\n")
    assert not library.is_current(path, target)
    assert reworded(document, target) is None


def test_data_files_are_watched(reading: Path) -> None:
    document = decode(recorded(reading))
    sources = Sources(find_target(str(reading / "lec.py")))
    sources.follow(document.files, 2**63, document.data)
    assert not sources.changed()
    (reading / "sub/more.txt").write_text("even more")
    assert sources.changed()
    assert reading / "sub" in sources.folders()
