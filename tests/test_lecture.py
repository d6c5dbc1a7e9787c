"""The lecture as a test suite: `pytest -m lecture`, or `pytest -k` and the name of a section."""

import contextlib
import inspect
import multiprocessing.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import lecture
from lecture.syllabus import MISTAKES, OPEN_GROUPS, PARTS, TOPICS
from tests import sections
from trace.rewrite.short_path import marked_functions

ROOT = Path(__file__).parent.parent
SECTIONS = sections.find_sections(lecture)
SOURCES = {section.__name__: inspect.getsource(section) for section in SECTIONS}
FILES = sorted((ROOT / "lecture").rglob("*.py"))
CONTENTS = sorted((ROOT / "lecture").glob("part*/contents.py"))

# How many topics M1, M2, ... have, and how many common mistakes there are in all.
TOPICS_OF_GROUPS = (
    *(7, 6, 10, 10, 6, 13, 8, 4, 8, 18, 12, 7, 5, 4),
    *(12, 10, 10, 11, 4, 5, 2, 5, 12, 3, 7, 5, 8, 1),
)
MISTAKES_IN_ALL = 48
# Topics that say what others measure.
SHARING_A_CLAIM = (
    *("M1.1", "M1.7", "M6.13", "M12.7", "M18.1"),
    *("M20.1", "M23.8", "M25.1", "M25.6"),
)


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Files written beside the caller or under the system's temporary folder end up here."""
    multiprocessing.util.get_temp_dir()  # for its sockets, until Python ends: not in here
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def case_of(section):
    """A section as a test case: `pytest -m core` runs those of the short path."""
    is_core = section.__name__ in marked_functions(Path(inspect.getsourcefile(section)), "core")
    marks = [pytest.mark.core] if is_core else []
    return pytest.param(section, id=section.__name__, marks=marks)


@pytest.mark.lecture
@pytest.mark.parametrize("section", list(map(case_of, SECTIONS)))
def test_section(section, empty_folder):
    sections.run_with_its_clocks(section)
    assert list(empty_folder.rglob("*")) == [], "the section leaves files behind"


@pytest.mark.parametrize(
    ("failures", "raised"), [(0, False), (2, False), (3, True)], ids=["none", "two", "three"]
)
def test_a_claim_about_seconds_has_three_tries(failures, raised):
    runs = []

    def section():
        runs.append(None)
        assert len(runs) > failures  # @timed

    with pytest.raises(AssertionError) if raised else contextlib.nullcontext():
        sections.run_with_its_clocks(section)
    assert len(runs) == min(failures + 1, 3)


def test_any_other_claim_has_one_try():
    runs = []

    def section():
        runs.append(None)
        assert len(runs) > 1  # a comment, and no clock

    with pytest.raises(AssertionError):
        sections.run_with_its_clocks(section)
    assert len(runs) == 1


def test_there_are_sections_and_their_names_are_unique():
    assert SECTIONS
    assert len(SOURCES) == len(SECTIONS)


def test_every_section_has_a_title_a_claim_and_few_lines():
    faults = {name: list(sections.faults_of_a_section(SOURCES[name])) for name in SOURCES}
    assert {name: found for name, found in faults.items() if found} == {}


def test_who_speaks_has_a_note_for_each_section_of_the_short_path():
    core = [case.id for case in map(case_of, SECTIONS) if case.marks]
    assert len(core) > 30
    assert [name for name in core if sections.without_notes(SOURCES[name]) == SOURCES[name]] == []


def test_the_syllabus_counts_as_it_should():
    groups = [f"M{group}" for group in range(1, len(TOPICS_OF_GROUPS) + 1)]
    assert list(TOPICS) == [
        f"{group}.{number}"
        for group, count in zip(groups, TOPICS_OF_GROUPS, strict=True)
        for number in range(1, count + 1)
    ]
    assert [group for part in PARTS.values() for group in part] == groups
    assert set(OPEN_GROUPS) <= set(groups)
    assert set(MISTAKES) <= set(groups)
    assert len({mistake for ids in MISTAKES.values() for mistake in ids}) == MISTAKES_IN_ALL


def test_every_topic_has_its_section_and_claim():
    sources = list(SOURCES.values())
    faults = sections.faults_of_the_topics(sources, TOPICS, OPEN_GROUPS, SHARING_A_CLAIM)
    assert list(faults) == []


def test_every_common_mistake_has_its_section():
    sources = list(SOURCES.values())
    assert list(sections.faults_of_the_mistakes(sources, MISTAKES, OPEN_GROUPS)) == []


def test_the_contents_call_every_section_once():
    sources = [contents.read_text(encoding="utf-8") for contents in CONTENTS]
    assert list(sections.faults_of_the_contents(sources, SOURCES)) == []


def test_parts_are_called_in_the_order_of_their_folders():
    main = (ROOT / "lecture/main.py").read_text(encoding="utf-8")
    called = [name for name in sections.calls_of_main(main) if name.endswith(".main")]
    folders = [contents.parent.name for contents in CONTENTS]
    assert called == [f"{folder.partition('_')[2]}.main" for folder in folders]
    assert called == [f"{part.lower()}.main" for part in PARTS]


@pytest.mark.parametrize("contents", CONTENTS, ids=[path.parent.name for path in CONTENTS])
def test_chapters_are_called_in_the_order_of_their_files(contents):
    calls = sections.calls_of_main(contents.read_text(encoding="utf-8"))
    files = [path.stem for path in sorted(contents.parent.glob("m*.py"))]
    called = list(dict.fromkeys(call.partition(".")[0] for call in calls))
    assert called == [name for name in files if name in called]
    without_sections = set(files) - set(called)
    assert all(name.endswith(("_figures", "_answers", "_words")) for name in without_sections)


@pytest.mark.parametrize("contents", CONTENTS, ids=[path.parent.name for path in CONTENTS])
def test_sections_are_called_in_the_order_of_their_file(contents):
    calls = sections.calls_of_main(contents.read_text(encoding="utf-8"))
    for file in sorted(contents.parent.glob("m*.py")):
        called = [name.partition(".")[2] for name in calls if name.startswith(f"{file.stem}.")]
        standing = re.findall(r"^def (\w+)\(\):", file.read_text("utf-8"), re.MULTILINE)
        assert [name for name in standing if name in SOURCES] == called


def test_sections_stand_in_the_chapter_of_their_topics():
    for section in SECTIONS:
        group = "M" + re.search(r"\.m0*(\d+)", section.__module__)[1]
        topics = sections.topics_named(SOURCES[section.__name__])
        assert not topics or group in {topic.partition(".")[0] for topic in topics}, section


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_the_lecture_imports_only_the_meter_from_the_tracer(path):
    assert sections.foreign_imports(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_chapters_are_imported_by_the_contents_only(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    if path not in (*CONTENTS, ROOT / "lecture/main.py"):
        assert sections.chapters_imported(module, path.read_text(encoding="utf-8")) == []


def test_the_lecture_runs_plainly_part_by_part_and_ends_with_one_line(tmp_path):
    """Its sections run as tests above; here the parts only say that they are called."""
    needed = ("__init__.py", "main.py", "lib/__init__.py", "lib/ranks.py")
    for path in (*(ROOT / "lecture" / name for name in needed), *CONTENTS):
        copied = tmp_path / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        stands_in = path in CONTENTS
        copied.write_text(
            "def main(): print(__name__)" if stands_in else path.read_text(encoding="utf-8"),
            encoding="utf-8",
        )
    command = [sys.executable, "-m", "lecture.main"]
    finished = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    assert finished.returncode == 0, finished.stderr
    *parts, last = finished.stdout.splitlines()
    assert parts == [f"lecture.{path.parent.name}.contents" for path in CONTENTS]
    assert re.fullmatch(r"the lecture ran in [\d.]+ s", last)


MADE_UP = '''\
def main():
    six_is_seven()


def six_is_seven():  # M1.1
    """Six is seven."""
    product = 2 * 3
    assert product == 7


def files_are_left():
    """A file is left behind."""
    open("left", "w").close()
'''


SYLLABUS = "TOPICS = {'M1.1': 'Numbers'}\nPARTS, MISTAKES, OPEN_GROUPS = {}, {}, ()\n"


def test_a_false_claim_shows_both_sides_and_a_file_left_behind_is_seen(tmp_path):
    shutil.copytree(ROOT / "trace", tmp_path / "trace")
    for folder in ("tests", "lecture"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    for name in (
        "tests/conftest.py",
        "tests/sections.py",
        "tests/test_lecture.py",
        "pyproject.toml",
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "lecture/main.py").write_text(MADE_UP)
    (tmp_path / "lecture/syllabus.py").write_text(SYLLABUS)
    command = [sys.executable, "-m", "pytest", "-m", "lecture", "-p", "no:cacheprovider"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert "assert 6 == 7" in finished.stdout
    assert "the section leaves files behind" in finished.stdout
    assert "2 failed" in finished.stdout
