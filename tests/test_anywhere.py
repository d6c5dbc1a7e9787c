"""Lectures outside the repository, and the tool started from there: `python path/to/trace`."""

import json
import runpy
import shutil
import subprocess
import sys

import pytest

from tests.outside import ROOT, TOOL, copy_of_the_tool, run, tool
from tests.tracing import claims

LECTURE = """\
def main():
    total = sum(range(10))  # @inspect total
    assert total == 45
"""
UTF8 = """\
def main():
    '''Größe, λ, 語, 🙂.'''
    größe = "λ 語 🙂"  # @inspect größe
    assert größe[0] == "λ"
"""


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)


def traced(place, lecture, *options, **keywords):
    """Trace a lecture from its folder; returns its document."""
    keywords = {"cwd": place, **keywords}
    status, _, stderr = tool(lecture, "-o", "out.json", *options, **keywords)
    assert (status, stderr) == (0, "")
    return json.loads((keywords["cwd"] / "out.json").read_bytes())


# options of Python, its environment
WAYS = [
    ([], {}),
    (["-P"], {}),
    (["-I"], {}),
    (["-O"], {}),
    (["-S"], {}),
    ([], {"PYTHONSAFEPATH": "1"}),
    ([], {"PYTHONPATH": str(TOOL)}),
]


@pytest.mark.parametrize(("options", "environment"), WAYS)
def test_the_folder_is_started_from_anywhere(options, environment, tmp_path):
    write(tmp_path, {"lec.py": LECTURE})
    assert traced(tmp_path, "lec.py", options=options, **environment)["module"] == "lec"


def test_it_runs_without_what_is_installed_and_without_a_line_about_it(tmp_path):
    write(tmp_path, {"lec.py": LECTURE})
    status, stdout, stderr = tool("lec.py", "-o", "out.json", cwd=tmp_path, options=["-S"])
    assert (status, stderr) == (0, "")
    command = f"python {TOOL} lec.py --serve"
    assert stdout.endswith(f"; see it: {command}\n")


def test_messages_give_the_command_as_it_has_to_be_typed(tmp_path):
    folder = tmp_path / "the tool" / "trace"
    shutil.copytree(TOOL, folder, ignore=shutil.ignore_patterns("__pycache__"))
    write(tmp_path, {"my lectures/lec.py": LECTURE})
    command = 'python "the tool/trace" "my lectures/lec.py"'
    arguments = ["my lectures/lec.py", "-o", "out.json"]
    _, stdout, _ = tool(*arguments, cwd=tmp_path, folder="the tool/trace")
    assert stdout.endswith(f"; see it: {command} --serve\n")
    write(tmp_path, {"my lectures/lec.py": LECTURE.replace("45", "45.0")})
    _, _, stderr = tool(*arguments, "--check", cwd=tmp_path, folder="the tool/trace")
    assert stderr.endswith(f"write it anew with {command} -o out.json\n")
    _, _, stderr = tool("--nix", cwd=tmp_path, folder="the tool/trace")
    assert stderr.startswith('python "the tool/trace": unrecognized arguments: --nix;')


def test_the_folder_may_have_another_name(tmp_path):
    shutil.copytree(TOOL, tmp_path / "tracer", ignore=shutil.ignore_patterns("__pycache__"))
    write(tmp_path, {"lec.py": LECTURE})
    assert traced(tmp_path, "lec.py", folder=tmp_path / "tracer")["failure"] is None


def test_without_an_argument_for_it_the_document_lies_beside_the_lecture(tmp_path):
    repository = copy_of_the_tool(tmp_path / "repository")
    write(tmp_path, {"one/lec.py": LECTURE, "two/lec.py": LECTURE.replace("45", "45.0")})
    for folder in ("one", "two"):
        lecture = tmp_path / folder / "lec.py"
        status, stdout, stderr = tool(lecture, cwd=tmp_path, folder=repository / "trace")
        assert (status, stderr) == (0, "")
        shelf = tmp_path / folder / ".lecture-trace"
        assert f" in {(shelf / 'lec.json').relative_to(tmp_path)}, " in stdout
        made = {path.name for path in shelf.iterdir()}
        assert made == {"lec.json", "index.json", ".gitignore"}
    for folder in ("one", "two"):  # neither has overwritten the other
        lecture = tmp_path / folder / "lec.py"
        check = [lecture, "--check", "-q"]
        assert tool(*check, cwd=tmp_path, folder=repository / "trace") == (0, "", "")
    assert list((repository / "viewer/traces").iterdir()) == []


def test_git_leaves_the_documents_beside_a_lecture_out(tmp_path):
    write(tmp_path, {"lec.py": LECTURE})
    run(["git", "init", "--quiet"], tmp_path)
    assert tool("lec.py", "-q", cwd=tmp_path) == (0, "", "")
    assert (tmp_path / ".lecture-trace/lec.json").is_file()
    assert run(["git", "status", "--short"], tmp_path)[1] == "?? lec.py\n"


# What else lies beside the lecture: names that we, Python or others use as well.
NEIGHBOURS = {
    "lec.py": """\
import values, cli, costs, lecture.main, tests, benchmarks
def main():
    found = [values.x, cli.x, costs.x, lecture.main.x, tests.x, benchmarks.x]
    assert found == [1, 2, 3, 4, 5, 6]
""",
    "values.py": "x = 1",
    "cli.py": "x = 2",
    "costs.py": "x = 3",
    "lecture/__init__.py": "",
    "lecture/main.py": "x = 4\ndef main(): assert x == 4",
    "tests/__init__.py": "x = 5",
    "benchmarks.py": "x = 6",
    "trace.py": "raise SystemExit('not this one')",
    "__main__.py": "raise SystemExit('nor this one')",
}


def test_its_neighbours_are_its_own(tmp_path):
    write(tmp_path, NEIGHBOURS)
    document = traced(tmp_path, "lec.py")
    assert [row[1] for row in claims(document)] == [True]


@pytest.mark.parametrize("lecture", ["lecture.main", "lecture/main.py", "./lecture/main.py"])
def test_a_package_of_the_same_name_as_ours_is_theirs(lecture, tmp_path):
    write(tmp_path, NEIGHBOURS)
    document = traced(tmp_path, lecture)
    assert document["module"] == "lecture.main"
    assert [file["path"] for file in document["files"]][-1] == "lecture/main.py"
    assert len(document["claims"]["held"]) == 1


PACKAGE = {
    "course/__init__.py": "",
    "course/main.py": "from course.deep import sums\ndef main():\n    sums.section()\n",
    "course/deep/__init__.py": "",
    "course/deep/sums.py": """\
from .. import numbers
def section():
    '''![A dot](dot.svg) ![The same](pictures/größe.svg)'''
    assert numbers.one == 1
""",
    "course/numbers.py": "one = 1",
    "course/deep/dot.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "course/deep/pictures/größe.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
}
# from where, the lecture
PACKAGE_STARTS = [
    ("", "course.main"),
    ("", "course/main.py"),
    ("course", "main.py"),
    ("course/deep", "../main.py"),
]


@pytest.mark.parametrize(("folder", "lecture"), PACKAGE_STARTS)
def test_a_package_with_its_own_images(folder, lecture, tmp_path):
    write(tmp_path, PACKAGE)
    document = traced(tmp_path, lecture, cwd=tmp_path / folder)
    assert document["module"] == "course.main"
    assert {file["path"] for file in document["files"]} >= {"course/main.py", "course/deep/sums.py"}
    assert list(document["assets"]) == ["dot.svg", "pictures/größe.svg"]
    assert document["warnings"] == []


def test_the_meter_is_there_with_and_without_torch(tmp_path):
    source = """\
from trace.costs import measure
def main():
    with measure() as cost:
        {work}
    assert cost.matmul_flops == {flops}
"""
    work = "import torch; torch.ones(2, 3) @ torch.ones(3, 5)"
    write(
        tmp_path,
        {
            "plain.py": source.format(work="pass", flops=0),
            "tensors.py": source.format(work=work, flops=2 * 2 * 3 * 5),
        },
    )
    assert traced(tmp_path, "plain.py", options=["-S"])["claims"]["held"] == [True]
    pytest.importorskip("torch")
    document = traced(tmp_path, "tensors.py")
    assert document["claims"]["held"] == [True]
    assert sum(document["costs"]["matmul_flops"]) == 60


# what UTF-8 can be kept from us by
LOCALES = [
    {"LC_ALL": "C"},
    {"PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"},
]


@pytest.mark.parametrize("locale", LOCALES)
def test_in_every_locale_the_document_is_the_same(locale, tmp_path):
    write(tmp_path, {"lec.py": UTF8})
    expected = traced(tmp_path, "lec.py")
    assert expected["title"] == "Größe, λ, 語, 🙂"
    assert traced(tmp_path, "lec.py", **locale) == expected
    assert tool("lec.py", "-o", "out.json", "--check", cwd=tmp_path, **locale)[0] == 0


# the encoding of stdout -> the name of the lecture as it is written there
ENCODINGS = [
    ("utf-8", "größe_λ"),
    ("ascii:strict", r"gr\xf6\xdfe_\u03bb"),
]


@pytest.mark.parametrize(("encoding", "name"), ENCODINGS)
def test_names_that_stdout_cannot_write_are_no_error(encoding, name, tmp_path):
    write(tmp_path, {"größe/größe_λ.py": UTF8})
    arguments = ["größe/größe_λ.py", "-o", "語/λ.json"]
    status, stdout, stderr = tool(*arguments, cwd=tmp_path, PYTHONIOENCODING=encoding)
    assert (status, stderr) == (0, "")
    assert stdout.startswith(f"{name}: 2 steps, 1 claim held")
    assert (tmp_path / "語/λ.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_a_name_that_the_locale_cannot_read_is_said_in_one_sentence(tmp_path):
    write(tmp_path, {"größe.py": UTF8})
    status, stdout, stderr = tool("größe.py", cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert (status, stdout) == (2, "")
    assert stderr.endswith(".py is no name in this locale: set PYTHONUTF8=1.\n")


@pytest.mark.parametrize(
    "source",
    [
        UTF8.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + UTF8.encode(),
        b"# coding: cp1252\ndef main():\n    '''Gr\xf6\xdfe.'''\n",
    ],
    ids=["line ends of Windows", "a mark in front", "an encoding it names"],
)
def test_a_source_may_come_from_any_editor(source, tmp_path):
    write(tmp_path, {"lec.py": source})
    document = traced(tmp_path, "lec.py")
    assert document["title"].startswith("Größe")
    assert "\r" not in document["files"][0]["source"]


CHILDREN = """\
import multiprocessing
from trace.costs import measure

def square(number):
    with measure():
        return number * number

def main():
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        squares = pool.map(square, [2, 3])
    assert squares == [4, 9]
"""


def test_its_child_processes_find_it_and_the_meter(tmp_path):
    write(tmp_path, {"lec.py": CHILDREN})
    assert traced(tmp_path, "lec.py")["claims"]["held"] == [True]


def test_a_file_of_the_tool_says_what_to_start_instead(tmp_path):
    status, stdout, stderr = tool("lec.py", cwd=tmp_path, folder=TOOL / "__main__.py")
    assert (status, stdout) == (2, "")
    sentence = f'Start the folder, not a file in it: python "{TOOL}" my_lecture.py\n'
    assert stderr == sentence


def test_an_old_python_is_told_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(TOOL / "__main__.py"))
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "Python 3.11 or newer is needed: start it with such a Python.\n"
    )


# a command from elsewhere that misses -> what it says, in its last line
MISSES = [
    (["nix.py"], "there is no file nix.py: give a lecture's path or module name."),
    (["nix"], "there is no module nix in the folder "),
    (["trace"], "trace belongs to Python or to the tracer: give a lecture's name."),
    (["lec"], "lec has no function main(): define one without arguments; it is what "),
    (["."], ". is a folder without lectures: no file in it has a main()."),
    (["empty/"], "empty is a folder without lectures: no file in it has a main()."),
    (["--draft", "folder/lec.py"], "--draft says how to publish: give --site or --html, too."),
    ([], "name a lecture to run, such as lecture.main, or give --serve."),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISSES)
def test_every_miss_is_one_sentence(arguments, sentence, tmp_path):
    write(tmp_path, {"lec.py": "x = 1", "folder/lec.py": LECTURE, "empty/test_lec.py": LECTURE})
    status, stdout, stderr = tool(*arguments, cwd=tmp_path)
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"python {TOOL}: {sentence}")
    assert len(stderr.splitlines()) == 1


def test_a_file_that_hides_pytorch_is_named(tmp_path):
    write(tmp_path, {"lec.py": LECTURE, "torch.py": "x = 1"})
    said = f"python {TOOL}: the folder {tmp_path.name} has a torch.py, which hides PyTorch"
    for lecture in ("lec.py", "torch.py", "lec"):
        status, _, stderr = tool(lecture, cwd=tmp_path)
        assert (status, stderr) == (2, f"{said}: rename that file.\n")


def test_a_comment_that_is_not_utf_8_is_named(tmp_path):
    write(tmp_path, {"lec.py": (LECTURE + "\n# caf").encode() + b"\xe9"})
    status, _, stderr = tool("lec.py", cwd=tmp_path)
    assert status == 1
    assert stderr.startswith(f"python {TOOL}: lec.py:5")
    # From Python 3.14 on it reads comments, too, and says so in its own words.
    said = "Non-UTF-8 code" if sys.version_info >= (3, 14) else "is not UTF-8: save it as such.\n"
    assert said in stderr


def test_at_the_root_the_folder_is_the_same_as_the_module(tmp_path):
    write(tmp_path, {"lec.py": LECTURE})
    for start in (["-m", "trace"], ["trace"]):
        command = [sys.executable, *start, tmp_path / "lec.py", "-q", "-o", tmp_path / "out.json"]
        assert subprocess.run(command, cwd=ROOT).returncode == 0
        data = (tmp_path / "out.json").read_bytes()
        assert len(json.loads(data)["claims"]["held"]) == 1


# a folder of an environment beside the lecture
ENVIRONMENTS = [".venv/lib/python3.11/site-packages", "env/Lib/site-packages", "x/dist-packages"]


@pytest.mark.parametrize("folder", ENVIRONMENTS)
def test_what_is_installed_beside_it_is_not_of_the_lecture(folder, tmp_path):
    source = f"""\
import pathlib, sys
sys.path.append(str(pathlib.Path(__file__).parent / "{folder}"))
import installed
def main():
    assert installed.three() == 3
"""
    write(tmp_path, {"lec.py": source, f"{folder}/installed.py": "def three(): return 3"})
    document = traced(tmp_path, "lec.py")
    assert [file["path"] for file in document["files"]] == ["lec.py"]
    lecture = {"site-packages/lec.py": LECTURE}  # a lecture may itself be installed
    write(tmp_path, lecture)
    assert len(traced(tmp_path, "site-packages/lec.py")["files"]) == 1
