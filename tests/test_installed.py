"""The tool as it is installed: under another name, with its viewer, and nothing besides."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import trace
from tests.installing import Installed, pack, packed, wheel
from tests.outside import ROOT, run, tool
from trace.serve.comments import without_comments

MAX_BYTES = 1_330_000
LIBRARIES = Path(sysconfig.get_path("purelib"))
LECTURE = """\
from {name}.costs import measure


def main():
    with measure() as cost:
        pass
    assert cost.matmul_flops == 0
"""
WITH_TORCH = """\
import torch
from lecture_trace.costs import measure
from trace.costs import measure as measure_again


def main():
    assert measure is measure_again
    a, b = torch.ones(2, 3), torch.ones(3, 5)
    with measure() as cost, measure_again() as again:
        c = a @ b
    assert cost.matmul_flops == again.matmul_flops == 60
"""


def names(archive):
    with zipfile.ZipFile(archive) as files:
        return files.namelist()


def test_it_is_small():
    for file in packed().iterdir():
        assert file.stat().st_size <= MAX_BYTES


def test_it_has_the_tracer_and_the_viewer_and_no_lecture():
    inside = {name for name in names(wheel()) if ".dist-info/" not in name}
    here = {"trace": "lecture_trace", "viewer": "lecture_trace/viewer"}
    listed = subprocess.run(
        ["git", "ls-files", *here], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    left_out = re.compile(r"viewer/traces/|.*\.d\.ts$")
    ours = [name for name in listed if not left_out.match(name) and (ROOT / name).exists()]
    expected = {re.sub(r"^\w+", lambda found: here[found[0]], name) for name in ours}
    new = [name for name in inside - expected if not is_new(name)]
    assert (expected - inside, new) == (set(), [])


def test_the_wheel_has_the_viewer_without_its_comments():
    module = "viewer/early.js"
    with zipfile.ZipFile(wheel()) as files:
        code = files.read(f"lecture_trace/{module}").decode()
    assert code == without_comments((ROOT / module).read_text(encoding="utf-8"))
    with tarfile.open(next(packed().glob("*.tar.gz"))) as archive:
        source = next(file for file in archive if file.name.endswith(module))
        assert archive.extractfile(source).read() == (ROOT / module).read_bytes()


def is_new(name):
    """Whether a file of the wheel lies here, though it is not committed yet."""
    place = re.sub(r"^lecture_trace/(viewer/)?", lambda found: found[1] or "trace/", name)
    return (ROOT / place).is_file()


def test_the_archive_of_sources_gives_the_same_wheel(tmp_path):
    with tarfile.open(next(packed().glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    pack(next(tmp_path.iterdir()), tmp_path / "again", "wheel")
    again = next((tmp_path / "again").glob("*.whl"))
    assert again.read_bytes() == wheel().read_bytes()


def test_it_needs_nothing_but_what_is_asked_for():
    with zipfile.ZipFile(wheel()) as files:
        name = next(name for name in files.namelist() if name.endswith("/METADATA"))
        facts = message_from_bytes(files.read(name))
    assert (facts["Name"], facts["Version"]) == ("lecture-trace", trace.__version__)
    needs = facts.get_all("Requires-Dist")
    assert needs
    assert [need for need in needs if "extra ==" not in need] == []
    assert facts.get_all("Provides-Extra") == ["torch", "watch"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment with the tool, and what cannot be written is the tool."""
    found = Installed(tmp_path_factory.mktemp("bare") / "environment")
    found.install("--no-index", "--no-deps", wheel())
    package = found.site / "lecture_trace"
    for path in [package, *package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return found


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """An environment with the tool, and with what these tests have: PyTorch, pytest."""
    found = Installed(tmp_path_factory.mktemp("full") / "environment")
    found.install("--no-index", "--no-deps", wheel())
    found.see(LIBRARIES)
    return found


# how it is started -> how it calls itself
STARTS = {
    "lecture-trace": ([], "lecture-trace"),
    "python -m lecture_trace": (["-m", "lecture_trace"], "python -m lecture_trace"),
    "python -P -m lecture_trace": (["-P", "-m", "lecture_trace"], "python -m lecture_trace"),
}


def start(environment, options):
    return [environment.python, *options] if options else [environment.command("lecture-trace")]


@pytest.mark.parametrize("safe", ["", "1"])
@pytest.mark.parametrize(("options", "name"), STARTS.values(), ids=STARTS)
def test_each_way_to_start_it(options, name, safe, bare, tmp_path):
    (tmp_path / "lec.py").write_text("def main():\n    assert 1 == 1\n")
    command = start(bare, options)
    status, stdout, stderr = run([*command, "lec.py"], tmp_path, PYTHONSAFEPATH=safe)
    assert (status, stderr) == (0, "")
    assert stdout.endswith(f" s; see it: {name} lec.py --serve\n")
    made = {path.name for path in (tmp_path / ".lecture-trace").iterdir()}
    assert made == {"lec.json", "index.json", ".gitignore"}
    options = ["--html", "lec.html", "--site", "site", "--if-changed"]
    assert run([*command, "lec.py", *options], tmp_path, PYTHONSAFEPATH=safe)[0] == 0
    assert "<title>lec</title>" in (tmp_path / "lec.html").read_text(encoding="utf-8")
    assert (tmp_path / "site/traces/lec.json").is_file()
    assert run([*command, "--nix"], tmp_path)[2].startswith(f"{name}: unrecognized arguments")


def test_where_nothing_was_run_there_is_nothing_to_serve(bare, tmp_path):
    status, _, stderr = run([*start(bare, []), "--serve"], tmp_path)
    assert status == 2
    assert stderr == "lecture-trace: no lecture was run in this folder yet: name one.\n"


def test_it_says_its_version(bare, tmp_path):
    said = run([*start(bare, []), "--version"], tmp_path)
    assert said == (0, f"lecture-trace {trace.__version__}\n", "")


def test_the_documents_are_those_of_the_repository(bare, tmp_path):
    shutil.copy(ROOT / "tests/samples/values.py", tmp_path)
    assert run([*start(bare, []), "values.py", "-q"], tmp_path) == (0, "", "")
    there = (tmp_path / ".lecture-trace/values.json").read_bytes()
    assert tool("values.py", "-q", cwd=tmp_path) == (0, "", "")
    assert (tmp_path / ".lecture-trace/values.json").read_bytes() == there


@pytest.mark.parametrize("name", ["lecture_trace", "trace"])
def test_the_meter_is_there_under_both_names(name, bare, tmp_path):
    (tmp_path / "lec.py").write_text(LECTURE.format(name=name))
    for command in (start(bare, []), start(bare, ["-m", "lecture_trace"])):
        assert run([*command, "lec.py", "-q"], tmp_path) == (0, "", "")
    assert tool("lec.py", "-q", cwd=tmp_path) == (0, "", "")


def test_a_lecture_with_the_installed_meter_is_also_a_program(bare, tmp_path):
    source = LECTURE.format(name="lecture_trace") + "\n\nmain()\nprint('done')\n"
    (tmp_path / "lec.py").write_text(source)
    assert run([bare.python, "lec.py"], tmp_path) == (0, "done\n", "")


def test_it_is_one_meter(full, tmp_path):
    (tmp_path / "lec.py").write_text(WITH_TORCH)
    for command in (start(full, []), [full.python, ROOT / "trace"]):
        assert run([*command, "lec.py", "-q", "-o", "out.json"], tmp_path) == (0, "", "")
        document = json.loads((tmp_path / "out.json").read_bytes())
        assert 60 in document["costs"]["matmul_flops"]


CHILDREN = """\
import multiprocessing
from lecture_trace.costs import measure

def square(number):
    with measure():
        return number * number

def main():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        squares = pool.map(square, [2, 3])
    assert squares == [4, 9]
"""


def test_processes_that_a_lecture_starts_find_it_too(bare, tmp_path):
    (tmp_path / "lec.py").write_text(CHILDREN)
    for options in ([], ["-m", "lecture_trace"]):
        assert run([*start(bare, options), "lec.py", "-q"], tmp_path) == (0, "", "")


def test_the_standard_library_keeps_its_module(bare, tmp_path):
    source = "import trace\nfrom trace.costs import measure\n"
    (tmp_path / "lec.py").write_text(f"{source}def main():\n    assert trace.Trace\n")
    assert run([*start(bare, []), "lec.py", "-q"], tmp_path) == (0, "", "")


BOTH = "def one(): assert 1 == 1\ndef two(): assert 2 == 2\n"
CHECKED = "2 of 2 claims were checked"


# how pytest is told of the plugin, beside the one that is installed
PLUGINS = {
    "not at all": [],
    "by its name": ["-p", "lecture_trace.pytest_plugin"],
    "of the repository": ["-o", f"pythonpath={ROOT}", "-p", "trace.pytest_plugin"],
}


@pytest.mark.parametrize("options", PLUGINS.values(), ids=PLUGINS)
def test_pytest_finds_the_plugin_once(options, full, tmp_path):
    source = f"from lecture_trace.costs import measure\n{BOTH}"
    (tmp_path / "lec.py").write_text(source)
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    for more in (["--lecture", "lec.py", "."], ["."]):
        command = [full.python, "-m", "pytest", *options, *more]
        status, stdout, stderr = run(command, tmp_path)
        assert status == 0, stdout + stderr
        assert ("3 passed" if "--lecture" in more else "1 passed") in stdout
        assert stdout.count(CHECKED) == ("--lecture" in more)


def test_it_tests_that_a_document_is_current(full, tmp_path):
    (tmp_path / "lec.py").write_text("def main():\n    assert 1 == 1\n")
    assert run([*start(full, []), "lec.py", "-q", "-o", "lec.json"], tmp_path) == (0, "", "")
    command = [full.python, "-m", "pytest", "--lecture", "lec.py", "--lecture-check", "lec.json"]
    status, stdout, _ = run(command, tmp_path)
    assert (status, "2 passed" in stdout) == (0, True)
    (tmp_path / "lec.py").write_text("def main():\n    assert 2 == 2\n")
    status, stdout, _ = run(command, tmp_path)
    assert status == 1
    assert "write it anew with python -m lecture_trace " in stdout


def test_the_tests_of_the_repository_take_no_notice_of_it(full, tmp_path):
    """Their `trace` stays the repository's."""
    command = [full.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_older.py"]
    status, stdout, stderr = run(command, ROOT)
    assert status == 0, stdout + stderr


def commands(workflow):
    """The lines that a workflow runs."""
    text = (ROOT / f".github/workflows/{workflow}.yml").read_text(encoding="utf-8")
    return re.findall(r"^ +(?:- )?(?:run: )(?!\|)(.+)$", text, re.MULTILINE)


def test_what_is_released_is_of_the_version_that_the_tag_names():
    test = commands("release")[1]
    assert test.startswith("test ")
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for tag, status in ((f"v{trace.__version__}", 0), ("v0.0.9", 1)):
        assert run(["sh", "-c", test], ROOT, GITHUB_REF_NAME=tag, **path)[0] == status
