"""`--new FILE`: the lecture to begin with."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.outside import ROOT, TOOL, run, tool
from trace.cli import main
from trace.serve.new import EXAMPLE

WITHOUT_PACKAGES = ["-S"]


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A folder with a new lecture, and what was said."""
    folder = tmp_path_factory.mktemp("lectures")
    return folder, tool("--new", "my_lecture.py", cwd=folder)


def document(folder, options=()):
    """Run the new lecture; returns its document."""
    status, _, stderr = tool(
        "my_lecture.py", "-o", "out.json", "--strict", cwd=folder, options=options
    )
    assert (status, stderr) == (0, "")
    return json.loads((folder / "out.json").read_bytes())


def test_it_writes_a_lecture_and_its_picture_and_says_how_to_see_it(new):
    folder, (status, stdout, stderr) = new
    assert (status, stderr) == (0, "")
    assert {path.name for path in folder.glob("my_*")} == {"my_lecture.py", "my_lecture.svg"}
    command = "trace my_lecture.py --serve --watch --open\n"
    assert stdout.startswith("my_lecture.py is yours to change; see it: python ")
    assert stdout.endswith(command)


@pytest.mark.parametrize("options", [[], WITHOUT_PACKAGES], ids=["torch", "without torch"])
def test_it_shows_what_a_page_can_have(new, options):
    if not options:
        pytest.importorskip("torch")
    found = document(new[0], options)
    prose = "".join(row["text"] for row in found["files"][0]["prose"])
    assert r"\frac{n (n + 1)}{2}" in prose
    assert "*Markdown*" in prose
    assert list(found["assets"]) == ["my_lecture.svg"]
    names = {found["names"][name] for name in found["inspections"]["name"]}
    assert {"number", "total", "chart"} <= names
    assert any("svg" in value for value in found["values"])
    claims = 3 if options else 4
    assert found["claims"]["held"] == [True] * claims
    assert (found["costs"] is None) is bool(options)


def test_the_tensor_shows_its_cost(new):
    pytest.importorskip("torch")
    found = document(new[0])
    assert sum(found["costs"]["other_flops"]) == 100 + 1  # the sum, and the claim about it


def test_it_is_also_a_program(new):
    assert run([sys.executable, "my_lecture.py"], new[0]) == (0, "", "")


def test_another_name_is_taken_up(tmp_path):
    assert main(["--new", str(tmp_path / "größe.py"), "--quiet"]) == 0
    source = (tmp_path / "größe.py").read_text(encoding="utf-8")
    assert "(größe.svg)" in source
    assert "my_lecture" not in source


def test_it_is_the_same_in_every_locale(tmp_path):
    status, _, stderr = tool(
        "--new", "my_lecture.py", cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert (status, stderr) == (0, "")
    assert (tmp_path / "my_lecture.py").read_bytes() == EXAMPLE.read_bytes()


# what is there, the name asked for -> the sentence
REFUSED = [
    ("my_lecture.py", "my_lecture.py", "my_lecture.py is there already: choose another name."),
    ("my_lecture.svg", "my_lecture.py", "my_lecture.svg is there already: choose another name."),
    ("", "lectures/first.py", "there is no folder lectures: make it first."),
    ("lectures", "lectures/first.py", "there is no folder lectures: make it first."),
    ("", "random.py", "random.py has the name of a module Python already uses: rename the file."),
    ("", "trace.py", "trace.py has the name of a module Python already uses: rename the file."),
    ("", "my-lecture.py", "my-lecture.py cannot be imported by others: name the file"),
    ("", "my_lecture", "my_lecture cannot be imported: name the file like a Python"),
    ("", "", ". cannot be imported: name the file like a Python"),
]


@pytest.mark.parametrize(("present", "name", "sentence"), REFUSED)
def test_it_refuses_in_one_sentence(present, name, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if present:
        (tmp_path / present).write_text("mine")
    assert main(["--new", name]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith(f"python -m trace: {sentence}")
    assert len(stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [present][: bool(present)]
    assert not present or (tmp_path / present).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path, capsys):
    (tmp_path / "first.py").symlink_to(tmp_path / "elsewhere.py")
    assert main(["--new", str(tmp_path / "first.py")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["first.py"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, capsys):
    opened = Path.open

    def refuse(path, mode="r", *others, **options):
        if mode == "x":
            raise PermissionError(13, "Permission denied")
        return opened(path, mode, *others, **options)

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert main(["--new", str(tmp_path / "first.py")]) == 2
    assert "first.svg (Permission denied): choose another place." in capsys.readouterr().err


# what stands beside --new -> the sentence
TOO_MUCH = [
    (["mine.py"], "--new takes the one name behind it: leave out mine.py."),
    (["--serve", "--open"], "--new only writes a file to begin with: leave out --serve."),
    (["--check"], "--new only writes a file to begin with: leave out --check."),
]


@pytest.mark.parametrize(("arguments", "sentence"), TOO_MUCH)
def test_it_does_nothing_else(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--new", "first.py", *arguments]) == 2
    assert capsys.readouterr() == ("", f"python -m trace: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def course(tmp_path):
    """The folder that `--new-course` writes."""
    status, stdout, stderr = tool("--new-course", "my course", cwd=tmp_path)
    assert (status, stderr) == (0, "")
    assert stdout.endswith("is yours to change; see it: python " + f'{TOOL} "my course" --serve\n')
    return tmp_path / "my course"


def test_a_course_has_two_lectures_their_tests_and_a_workflow(course):
    files = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    workflow = ".github/workflows/pages.yml"
    assert files == {"counting.py", "halving.py", "lecture.toml", "pytest.ini", workflow}
    commands = re.findall(r"- run: (.*)", (course / workflow).read_text(encoding="utf-8"))
    assert commands[0] == "python -m pip install lecture-trace pytest"
    assert commands[1:] == ["python -m pytest", "lecture-trace . --site site"]


def test_what_the_workflow_of_a_course_does_succeeds(course):
    plugin = ["-o", f"pythonpath={ROOT}", "-p", "trace.pytest_plugin", "-p", "no:cacheprovider"]
    status, stdout, _ = run([sys.executable, "-m", "pytest", *plugin], course)
    assert (status, "4 of 4 claims were checked" in stdout) == (0, True)
    assert tool(".", "--site", "site", "--strict", "-q", cwd=course) == (0, "", "")
    index = json.loads((course / "site/traces/index.json").read_bytes())
    assert index["course"]["title"] == "A course"
    found = [(one["file"], one["group"], one["failed"]) for one in index["documents"]]
    week = "First week"
    assert found == [("counting.json", week, False), ("halving.json", week, False)]


# what is there, what else is said -> the sentence
NO_COURSES = [
    ("c/mine.py", ["--new-course", "c"], "c is there already and not empty: choose another name."),
    ("c", ["--new-course", "c"], "c is there already and not empty: choose another name."),
    ("", ["--new-course", "c", "a.py"], "--new-course takes one name: leave out a.py."),
    ("", ["--new-course", "c", "--new", "a.py"], "--new-course only writes a folder to begin with"),
]


@pytest.mark.parametrize(("present", "arguments", "sentence"), NO_COURSES)
def test_a_course_replaces_nothing(present, arguments, sentence, tmp_path):
    if present:
        (tmp_path / present).parent.mkdir(exist_ok=True)
        (tmp_path / present).write_text("mine")
    before = set(tmp_path.rglob("*"))
    status, stdout, stderr = tool(*arguments, cwd=tmp_path)
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"python {TOOL}: {sentence}")
    assert set(tmp_path.rglob("*")) == before
