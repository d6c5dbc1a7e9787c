"""The README says what is so."""

import re
import subprocess
import sys

import pytest

from tests.readme import ROOT, TEXT, blocks, section

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guide.md"]


def python(*arguments, cwd=ROOT):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def test_headings_and_blocks_are_found():
    text = "# A\n```sh\none\n```\n## B\ntwo\n# C\nthree\n```sh\nfour\n```\n"
    assert blocks("sh", text) == ["one\n", "four\n"]
    assert section("A", text) == "```sh\none\n```\n## B\ntwo\n"
    assert section("B", text) == "two\n"


def targets(text):
    return set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_the_targets_it_names_exist(page):
    named = targets((ROOT / page).read_text(encoding="utf-8"))
    assert named <= set(re.findall(r"^([a-z]+):.*##", MAKEFILE, re.MULTILINE))


def test_a_target_that_does_not_exist_would_be_seen():
    assert targets("`make nothing`\nmake haste\nwe make do") == {"nothing", "haste"}


def test_the_plain_commands_are_those_of_the_makefile():
    expanded = MAKEFILE.replace("$(BIN)", "$(VENV)/bin").replace("$(VENV)", ".venv")
    expanded = expanded.replace("$(LECTURE)", "lecture.main").replace("$(PYTHON)", "python3")
    lines = [
        line.partition("#")[0].strip()
        for line in blocks("sh", section("Without make"))[0].splitlines()
    ]
    commands = [
        line for line in lines if "-m" in line and "venv .venv" not in line and " pip " not in line
    ]
    assert len(commands) == 4
    assert [command for command in commands if command not in expanded] == []


def test_the_options_it_names_are_those_there_are():
    listed = python("-m", "trace", "--help").stdout
    for option in set(re.findall(r"`(--?[a-z-]+)", section("`python -m trace`"))) - {"-P"}:
        assert re.search(rf"(?<![\w-]){option}\b", listed), f"{option} is no option"


def test_the_message_from_elsewhere_is_quoted_word_for_word(tmp_path):
    said = python("-m", "trace", "lecture.main", cwd=tmp_path).stderr
    # Python 3.14 begins with `python -m trace` instead of the file's name.
    assert said.endswith(
        blocks("text", section("Started somewhere else"))[0].removeprefix("trace.py")
    )


def test_the_lecture_it_shows_runs_and_is_short(tmp_path):
    shown = blocks("python")[0]
    assert len(shown.splitlines()) <= 20
    assert python("-m", "tests.readme", tmp_path / "mine.py").returncode == 0
    assert (tmp_path / "mine.py").read_text(encoding="utf-8") == shown
    traced = python("-m", "trace", tmp_path / "mine.py", "-o", tmp_path / "mine.json")
    assert traced.returncode == 0, traced.stderr
    assert (tmp_path / "mine.json").exists()


def test_the_folders_it_names_are_there():
    named = re.findall(r"^(\w+)/ ", blocks("text", section("Where things are"))[0], re.MULTILINE)
    assert len(named) == 6
    assert [name for name in named if not (ROOT / name).is_dir()] == []


def links(text):
    """Where links and pictures lead within the repository; code is no prose."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    return [target for target in found if "://" not in target]


@pytest.mark.parametrize("page", PAGES)
def test_the_files_it_links_to_are_there(page):
    file = ROOT / page
    found = links(file.read_text(encoding="utf-8"))
    assert [target for target in found if not (file.parent / target).exists()] == []


def test_links_are_found():
    assert links("[a](b.md#c) ![d](e.png) [f](https://g)\n```\n[h](i)\n```\n") == ["b.md", "e.png"]
    assert "LICENSE" in links(TEXT)


@pytest.mark.parametrize("page", PAGES)
def test_the_sections_it_names_exist(page):
    named = re.findall(r"pytest\s-k\s(\w+)`", (ROOT / page).read_text(encoding="utf-8"))
    lecture = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "lecture").rglob("*.py"))
    assert [name for name in named if f"def {name}()" not in lecture] == []
