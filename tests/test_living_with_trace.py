"""`trace` is also a module of the standard library: which of the two runs, and what is said.

Each row runs in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STDLIB_SAYS = "error: must specify one of --trace, --count, --report, --listfuncs, or --trackcalls"
DEPENDENCIES = (
    "altair, einops, hypothesis, jaxtyping, jsonschema, numpy, playwright.sync_api, pytest, torch,"
    " typeguard"
)
TORCH_FREE = """\
def main():
    total = sum(range(10))  # @inspect total
    assert total == 45
"""


def run(*arguments, cwd=ROOT, **environment):
    """Run this Python; returns its exit status, stdout and stderr."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return finished.returncode, finished.stdout, finished.stderr


def test_at_the_root_ours_runs():
    status, stdout, stderr = run("-m", "trace", "--help")
    assert (status, stderr) == (0, "")
    assert "--check" in stdout


@pytest.mark.parametrize("how", ["elsewhere", "-P", "PYTHONSAFEPATH"])
def test_otherwise_the_standard_library_answers(how, tmp_path):
    options = ["-P"] if how == "-P" else []
    environment = {"PYTHONSAFEPATH": "1"} if how == "PYTHONSAFEPATH" else {}
    folder = tmp_path if how == "elsewhere" else ROOT
    status, _, stderr = run(*options, "-m", "trace", "lecture.main", cwd=folder, **environment)
    assert status == 2
    assert stderr.rstrip().endswith(STDLIB_SAYS)


# what is started, from where -> the command its one sentence gives
WRONG_STARTS = [
    ("trace/__main__.py", ".", f'python "{ROOT / "trace"}" my_lecture.py'),
    ("__main__.py", "trace", f'python "{ROOT / "trace"}" my_lecture.py'),
    ("lecture/main.py", ".", "python -m lecture.main"),
]


@pytest.mark.parametrize(("file", "folder", "command"), WRONG_STARTS)
def test_a_file_started_directly_names_the_right_command(file, folder, command):
    status, stdout, stderr = run(file, cwd=ROOT / folder)
    assert (status, stdout) == (2, "")
    assert command in stderr
    assert len(stderr.splitlines()) == 1, stderr


def test_without_an_init_file_the_standard_library_would_win(tmp_path):
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace/__main__.py").write_text("print('ours')")
    assert STDLIB_SAYS in run("-m", "trace", cwd=tmp_path)[2]
    (tmp_path / "trace/__init__.py").touch()
    assert run("-m", "trace", cwd=tmp_path) == (0, "ours\n", "")


def test_no_file_of_ours_replaces_another_module_of_the_standard_library():
    names = {path.stem for path in (ROOT / "trace").glob("*.py")} - {"__init__", "__main__"}
    assert names & sys.stdlib_module_names == set()


def imported_by(statement):
    """Whether `trace` is among the modules that a statement imports, under -P."""
    status, stdout, stderr = run(
        "-P", "-c", f"{statement}; import sys; print('trace' in sys.modules)"
    )
    assert status == 0, stderr
    return stdout == "True\n"


def test_no_dependency_imports_the_other_trace():
    assert not imported_by(f"import {DEPENDENCIES}")


def test_an_import_of_the_other_trace_would_be_seen():
    assert imported_by("import trace")


def test_an_import_from_the_wrong_module_is_loud():
    status, _, stderr = run("-P", "-c", "from trace.costs import measure")
    assert status == 1
    assert "'trace' is not a package" in stderr


COLLECT = ["tests/test_chromium.py", "--collect-only", "-q", "-p", "no:cacheprovider"]


# the folder, the option, the environment in which pytest is started
PLAIN_PYTEST = [
    (".", [], {}),
    ("tests", [], {}),
    (".", ["-P"], {}),
    (".", [], {"PYTHONSAFEPATH": "1"}),
]


@pytest.mark.parametrize(("folder", "options", "environment"), PLAIN_PYTEST)
def test_pytest_finds_ours_without_help(folder, options, environment):
    start = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    file = os.path.relpath(ROOT / COLLECT[0], ROOT / folder)
    status, stdout, stderr = run(
        *options, "-c", start, file, *COLLECT[1:], cwd=ROOT / folder, **environment
    )
    assert status == 0, stdout + stderr


def test_pytest_refuses_when_the_other_trace_was_imported_first():
    start = "import sys, trace, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    status, _, stderr = run("-P", "-c", start, *COLLECT)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "`trace` is the standard library's (" in stderr
    assert "trace.py)" in stderr


LOADED = """\
import runpy, sys
sys.argv = ["trace", *sys.argv[1:]]
try:
    runpy.run_module("trace", run_name="__main__", alter_sys=True)
except SystemExit as ended:
    status = ended.code
print("status", status or 0, *sorted({"numpy", "torch"} & set(sys.modules)))
"""


def traced(tmp_path, source):
    """Trace a lecture; returns the exit status and the big modules that were loaded, as text."""
    lecture = tmp_path / "small.py"
    lecture.write_text(source)
    status, stdout, stderr = run("-c", LOADED, lecture, "-q", "-o", tmp_path / "small.json")
    assert status == 0, stderr
    return stdout.splitlines()[-1]


def test_a_lecture_without_torch_is_traced_without_torch(tmp_path):
    assert traced(tmp_path, TORCH_FREE) == "status 0"


def test_a_lecture_with_numpy_would_be_told_apart(tmp_path):
    assert traced(tmp_path, "import numpy\n" + TORCH_FREE) == "status 0 numpy"
