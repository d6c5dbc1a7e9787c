"""The command line: exit statuses, sentences, and what is written when."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recording import record
from tests.tracing import plain, shown
from trace.cli import MAX_SHOWN_DIFFERENCES, main
from trace.document.check import differences
from trace.document.decoding import decode
from trace.schema import VERSION
from trace.serve import library

ROOT = Path(__file__).parent.parent
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no such signals or terminals")


def command(capsys, *arguments):
    """Carry out a command; returns its exit status, stdout and stderr."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        status = ended.code
    return status, *capsys.readouterr()


@pytest.fixture
def lecture(tmp_path, capsys):
    """`lecture(source, "-q")` writes a lecture and traces it into `out.json` beside it."""

    def trace_it(source, *options):
        file = tmp_path / "lec.py"
        file.write_bytes(source if isinstance(source, bytes) else source.encode())
        return command(capsys, file, "-o", tmp_path / "out.json", *options)

    return trace_it


@pytest.fixture
def document(tmp_path):
    """`document()` reads what was written."""
    return lambda: json.loads((tmp_path / "out.json").read_bytes())


def process(*arguments, **keywords):
    """The tracer in a process of its own."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        **keywords,
    )


# Runs that end well, and runs that do not ------------------------------------------------------

# what happens -> the lecture, options, status, kind of failure, last line on stderr, closing line
RUNS = {
    "nothing": (
        "def main(): pass",
        [], 0, None, "", "lec: 1 step, 0 claims held in 0 checks, ",
    ),
    "claims are checked": (
        "def main():\n    for i in range(2):\n        assert i < 2",
        [], 0, None, "", "lec: 5 steps, 1 claim held in 2 checks, ",
    ),
    "sys.exit": (
        "import sys\ndef main(): sys.exit()",
        [], 0, None, "", "lec: 1 step, 0 claims held in 0 checks, ",
    ),
    "an exception": (
        "def main(): return 1 / 0",
        [], 1, "exception", "ZeroDivisionError: division by zero",
        "lec: 1 step, 0 claims held in 0 checks, ended by: exception, ",
    ),
    "a false claim": (
        "def main():\n    assert 1 == 1\n    assert 1 == 2, 'no'",
        [], 1, "claim", "AssertionError: no",
        "lec: 2 steps, 1 of 2 claims FAILED in 2 checks, ",
    ),
    "a claim that cannot be checked": (
        "def main():\n    assert 1 / 0",
        [], 1, "exception", "ZeroDivisionError: division by zero",
        "lec: 1 step, 1 of 1 claim FAILED in 1 check, ended by: exception, ",
    ),
    "a false claim that is caught": (
        "def main():\n    try: assert 1 == 5\n    except AssertionError: pass",
        [], 0, None, "", "lec: 3 steps, 1 of 1 claim FAILED in 1 check, ",
    ),
    "sys.exit with a status": (
        "import sys\ndef main(): sys.exit(3)",
        [], 1, "exit", "SystemExit: 3",
        "lec: 1 step, 0 claims held in 0 checks, ended by: exit, ",
    ),
    "sys.exit with a text": (
        "import sys\ndef main(): sys.exit('why')",
        [], 1, "exit", "SystemExit: why",
        "lec: 1 step, 0 claims held in 0 checks, ended by: exit, ",
    ),
    "too many steps": (
        "def main():\n    n = 0\n    while True:\n        n += 1  # @inspect n",
        ["--max-steps", "1000"], 1, "step limit", "LIMIT",
        "lec: 1,000 steps, 0 claims held in 0 checks, ended by: step limit, ",
    ),
    "a warning": (
        "def main():\n    x = 1  # @inspect y",
        [], 0, None, "warning: lec.py:2: y does not exist here.",
        "lec: 1 step, 0 claims held in 0 checks, ",
    ),
    "a warning that counts": (
        "def main():\n    x = 1  # @inspect y",
        ["--strict"], 1, None, "warning: lec.py:2: y does not exist here.",
        "lec: 1 step, 0 claims held in 0 checks, ",
    ),
    "an interrupt": (
        "def main(): raise KeyboardInterrupt",
        [], 130, "interrupt", "KeyboardInterrupt",
        "lec: 1 step, 0 claims held in 0 checks, ended by: interrupt, ",
    ),
}  # fmt: skip
LIMIT = """\
trace.errors.StepLimitReached: the lecture made more than 1,000 steps; raise --max-steps, or \
mark the call or function that runs so long with @stepover."""


# The limit may strike where Python tells of exceptions and goes on; then it strikes again.
STRIKES_TWICE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@STRIKES_TWICE
@pytest.mark.parametrize(
    ("source", "options", "status", "kind", "complaint", "closing"), RUNS.values(), ids=RUNS
)
def test_runs(source, options, status, kind, complaint, closing, lecture, document, tmp_path):
    """Whatever happens, the document is written up to there."""
    ended, stdout, stderr = lecture(source, *options)
    last_line = stderr.strip().rpartition("\n")[2]
    assert (ended, last_line) == (status, complaint.replace("LIMIT", LIMIT))
    assert stdout.startswith(closing)
    size = (tmp_path / "out.json").stat().st_size
    assert f" {size / 1000:.1f} kB in {tmp_path / 'out.json'}, " in stdout
    assert stdout.endswith(f"; see it: python -m trace {tmp_path / 'lec.py'} --serve\n")
    assert stdout.count("\n") == 1
    failure = document()["failure"]
    assert kind == (failure and failure["kind"])
    assert str(ROOT / "trace") not in stderr
    assert "\x1b" not in stdout + stderr


# Commands that cannot be carried out, sources that are wrong: one sentence, nothing is written.
LECTURES = {
    "lec.py": "open('ran', 'w')\ndef main(): open('ran', 'w')",
    "none.py": "x = 1",
    "number.py": "main = 1",
    "queue.py": "def main(): pass",
    "turtle.py": "def main(): pass",
    "two words.py": "def main(): pass",
    "notes.txt": "def main(): pass",
    "syntax.py": "def f():\n    pass\n\ndef main(:\n    pass",
    "indented.py": "def main():\n    x = 1\n      y = 2",
    "deep.py": "import syntax\ndef main(): pass",
    "missing.py": "x = 1\nimport no_such_module\ndef main(): pass",
    "name.py": "from math import no_such_name\ndef main(): pass",
    "raises.py": "def f(): return 1 / 0\nx = f()\ndef main(): pass",
    "typo.py": "def main():\n    x = 1  # @inpsect x",
    "zero.py": "def main():\n    x = '\0'",
    "cookie.py": "# coding: nonsense\ndef main(): pass",
    "pack/__init__.py": "1 / 0",
    "pack/lec.py": "def main(): pass",
    "folder.py/lec.py": "def main(): pass",
}
NO_MAIN = "has no function main(): define one without arguments; it is what the tracer calls."
ERRORS = [
    ([], 2, "name a lecture to run, such as lecture.main, or give --serve."),
    (["--nonsense"], 2, "unrecognized arguments: --nonsense; --help lists the options."),
    (["lec.py", "more.py"], 2, "--output takes one lecture: name one, or leave it out."),
    (["lec.py", "--max-steps", "0"], 2, "argument --max-steps: 0 is not one of 1 to 1,000,000,00"),
    (["lec.py", "--max-steps", "-5"], 2, "argument --max-steps: -5 is not one of "),
    (["lec.py", "--max-steps", "x"], 2, "argument --max-steps: invalid number value: 'x'; --help"),
    (["lec.py", "--port", "65536"], 2, "argument --port: 65536 is not one of 0 to 65,535; --help"),
    (["lec.py", "-o", "."], 2, "cannot write . (it is a folder): choose another place with -o."),
    (["lec.py", "-o", "lec.py/a.json"], 2, "cannot write lec.py/a.json ("),
    (["lec.py", "-o", "/proc/out.json"], 2, "cannot write /proc/out.json ("),
    (["none.py"], 2, f"none {NO_MAIN}"),
    (["number.py"], 2, f"number {NO_MAIN}"),
    (["queue.py"], 2, "queue.py has the name of a module Python already uses: rename the file."),
    (["two words.py"], 2, "two words.py cannot be imported: name the file like a Python id"),
    (["./notes.txt"], 2, "notes.txt cannot be imported: name the file like a Python identifier"),
    (["nothing.py"], 2, "there is no file nothing.py: give a lecture's path or module name."),
    (["folder.py"], 2, "folder.py is a folder: give the file in it that has a main()."),
    (["./pack"], 1, "pack.lec cannot be imported: pack/__init__.py:1: ZeroDivisionError: "),
    (["lec-1"], 2, "lec-1 is not a module name: write it as lecture.main."),
    (["lec."], 2, "lec. is not a module name: write it as lecture.main."),
    ([".lec"], 2, ".lec is not a module name: write it as lecture.main."),
    (["no_such"], 2, "there is no module no_such in the folder "),
    (["pack.no_such"], 2, "there is no module pack.no_such in the folder "),
    (["lec.no_such"], 2, "there is no module lec.no_such in the folder "),
    (["lec.lec"], 2, "there is no module lec.lec in the folder "),
    (["__main__"], 2, "there is no module __main__ in the folder "),
    (["turtle.py"], 2, "turtle.py has the name of a module Python already uses: rename the file."),
    (["queue"], 2, "queue belongs to Python or to the tracer: give a lecture's name."),
    (["json.tool"], 2, "json.tool belongs to Python or to the tracer: give a lecture's name."),
    (["trace.cli"], 2, "trace.cli belongs to Python or to the tracer: give a lecture's name."),
    (["syntax.py"], 1, "syntax.py:4: SyntaxError: "),
    (["indented.py"], 1, "indented.py:3: IndentationError: unexpected indent"),
    (["deep.py"], 1, "syntax.py:4: SyntaxError: "),
    (["cookie.py"], 1, "cookie.py:0: SyntaxError: "),
    (["missing.py"], 1, "missing cannot be imported: missing.py:2: ModuleNotFoundError: No module"),
    (["name.py"], 1, "name cannot be imported: name.py:1: ImportError: cannot import name 'no_su"),
    (["raises.py"], 1, "raises cannot be imported: raises.py:1: ZeroDivisionError: division by z"),
    (["typo.py"], 1, "typo.py:2: unknown directive @inpsect: did you mean @inspect?"),
    (["pack/lec.py"], 1, "pack.lec cannot be imported: pack/__init__.py:1: ZeroDivisionError: "),
    (["pack.lec"], 1, "pack.lec cannot be imported: pack/__init__.py:1: ZeroDivisionError: "),
    (["lec.py", "--check"], 2, "there is no document out.json to compare with: run without"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with lectures."""
    for name, source in LECTURES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("arguments", "status", "sentence"), ERRORS)
def test_errors(arguments, status, sentence, folder, capsys):
    before = set(folder.rglob("*"))
    output = [] if "-o" in arguments else ["-o", "out.json"]
    ended, stdout, stderr = command(capsys, *arguments, *output)
    assert (ended, stdout) == (status, "")
    assert stderr.startswith(f"python -m trace: {sentence}")
    assert stderr.count("\n") == 1
    assert str(ROOT) not in stderr
    assert set(folder.rglob("*")) == before


# what fails while the lecture is imported, or before main() begins -> status, place
IMPORTS = [
    ("import sys\nsys.exit(3)\ndef main(): pass", 1, "lec.py:2: SystemExit: 3"),
    ("import json\njson.loads('{')\ndef main(): pass", 1, "lec.py:2: JSONDecodeError: "),
    ("x = 1\nraise SyntaxError('mine')\ndef main(): pass", 1, "lec.py:2: SyntaxError: mine"),
    ("def main():\n    x = '\0'", 1, "lec.py"),
    ("def main(x): pass", 2, "main"),
    ("async def main(): pass", 2, "main() of lec is asynchronous: let an ordinary main() run it"),
    ("def main(): yield", 2, "main() of lec has a yield"),
]


@pytest.mark.parametrize(("source", "status", "place"), IMPORTS)
def test_errors_of_imports_name_the_lecture(source, status, place, lecture):
    ended, stdout, stderr = lecture(source)
    assert (ended, stdout, stderr.count("\n")) == (status, "", 1)
    assert place in stderr


def test_the_output_is_tested_before_the_run(lecture, tmp_path):
    (tmp_path / "out.json").mkdir()
    status, _, stderr = lecture(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef main(): pass")
    assert status == 2
    assert "it is a folder" in stderr
    assert not (tmp_path / "ran").exists()
    (tmp_path / "out.json").rmdir()
    assert lecture(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef main(): pass")[0] == 0
    assert (tmp_path / "ran").exists(), "such a run would have been seen"


def test_missing_folders_are_made(tmp_path, capsys):
    (tmp_path / "lec.py").write_text("def main(): pass")
    output = tmp_path / "new/folder/out.json"
    assert command(capsys, tmp_path / "lec.py", "-o", output)[0] == 0
    assert json.loads(output.read_bytes())["module"] == "lec"


# Tracebacks -------------------------------------------------------------------------------------

CHAINED = """\
import contextlib

def main():
    try:
        with context():
            list(outer())
    except ValueError as error:
        raise ExceptionGroup("all", [KeyError("second"), error]) from raised()

@contextlib.contextmanager
def context():
    try:
        yield
    finally:
        print("left")

def outer():
    assert (yield from inner()) == 1

def inner():
    yield 0
    raise ValueError("first")

def raised():
    try:
        import broken
    except ZeroDivisionError as error:
        return error
"""


def test_a_traceback_is_the_one_that_python_prints(lecture, tmp_path):
    (tmp_path / "broken.py").write_text("def f(): assert [].index(1) / 0\ntry: f()\nfinally: 1 / 0")
    status, _, stderr = lecture(CHAINED)
    assert status == 1
    plainly = "import sys; sys.path.insert(0, sys.argv[1]); import lec; lec.main()"
    with process("-c", plainly, tmp_path) as run:
        expected = run.communicate()[1]
    started = '  |   File "<string>", line 1, in <module>\n'
    assert expected.count(started) == 1
    assert stderr == expected.replace(started, "")


# Interrupts, terminals, options of Python -------------------------------------------------------

WAITING = """\
import time
def main():
    for i in range(3):  # @inspect i
        print("ready", flush=True), time.sleep(30)
"""


@POSIX
@pytest.mark.parametrize("options", [[], ["--serve"]])
def test_ctrl_c_ends_the_run_and_what_was_recorded_is_written(options, document, tmp_path):
    (tmp_path / "lec.py").write_text(WAITING)
    with process("-m", "trace", tmp_path / "lec.py", "-o", tmp_path / "out.json", *options) as run:
        assert run.stdout.readline() == "ready\n"
        run.send_signal(signal.SIGINT)
        stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == 130
    assert stdout.startswith("lec: 2 steps, 0 claims held in 0 checks, ended by: interrupt, ")
    assert stdout.count("\n") == 1
    assert stderr.endswith("\nKeyboardInterrupt\n")
    assert str(ROOT) not in stderr
    assert document()["failure"]["kind"] == "interrupt"
    assert shown(document()) == [(3, "i", 0)]


@POSIX
def test_ctrl_c_while_it_is_imported(tmp_path):
    (tmp_path / "lec.py").write_text(WAITING.replace("def main():", "if 1:").replace("@", ""))
    with process("-m", "trace", tmp_path / "lec.py", "-o", tmp_path / "out.json") as run:
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=120) == ("", "")
    assert run.returncode == 130
    assert not (tmp_path / "out.json").exists()


ENDLESS = """\
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
def main():
    while True:
        pass
"""


@POSIX
def test_the_step_limit_is_not_outrun(document, tmp_path):
    """A loop that makes steps faster than they can be counted; its memory is limited."""
    (tmp_path / "lec.py").write_text(ENDLESS)
    command = ["-m", "trace", tmp_path / "lec.py", "-o", tmp_path / "out.json"]
    with process(*command, "--max-steps", "10") as run:
        try:
            run.communicate(timeout=120)
        finally:
            run.kill()
    assert run.returncode == 1
    assert document()["failure"]["kind"] == "step limit"


@STRIKES_TWICE
def test_what_happens_after_the_limit_is_not_in_the_document(lecture, document):
    """When a run stops that is too long depends on the clock."""
    lecture(RUNS["too many steps"][0], "--max-steps", "100")
    values = document()["values"]
    shown = [values[index]["value"] for index in document()["inspections"]["value"]]
    assert shown == list(range(1, 50))


def test_claims_are_checked_even_where_python_leaves_asserts_out(document, tmp_path):
    (tmp_path / "lec.py").write_text("def main(): assert 1 == 2")
    with process("-O", "-m", "trace", tmp_path / "lec.py", "-o", tmp_path / "out.json") as run:
        assert "1 of 1 claim FAILED" in run.communicate()[0]
    assert run.returncode == 1
    assert document()["claims"]["held"] == [False]


SLOW = "import time\ndef main(): time.sleep(0.2)"


@POSIX
def test_progress_is_shown_on_a_terminal(lecture, monkeypatch):
    import pty

    reader, writer = pty.openpty()

    def said_until(end):
        said = b""
        while not said.endswith(end):
            said += terminal.read(1000)
        return said

    with os.fdopen(reader, "rb", buffering=0) as terminal, os.fdopen(writer, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert lecture(SLOW)[0] == 0
        print("end", file=stderr, flush=True)
        line = rb"\rlec: 1 step, 0 claims, 0 s\x1b\[K"
        progress = re.compile(rb"(" + line + rb")+\r\x1b\[Kend\r\n")  # wiped away in the end
        assert progress.fullmatch(said_until(b"end\r\n"))
        assert lecture(SLOW, "-q")[0] == 0
        print("end", file=stderr, flush=True)
        assert said_until(b"end\r\n") == b"end\r\n"


def test_no_progress_is_shown_elsewhere(lecture):
    status, stdout, stderr = lecture(SLOW)
    assert (status, stderr) == (0, "")
    assert "\x1b" not in stdout
    assert "\r" not in stdout


# Options ----------------------------------------------------------------------------------------

FAILING = "def main():\n    x = 1  # @inspect y\n    assert x == 2"


def test_quiet_says_nothing_but_errors(lecture):
    assert lecture("def main(): pass", "-q") == (0, "", "")
    status, stdout, stderr = lecture(FAILING, "-q")
    assert (status, stdout) == (1, "")
    assert stderr.startswith("warning: lec.py:2: y does not exist here.\nTraceback (most recent")


def test_json_summary(lecture, tmp_path):
    status, stdout, _ = lecture(FAILING, "--json")
    summary = json.loads(stdout)
    assert status == 1
    assert summary.pop("seconds") >= 0
    assert summary == {
        "lecture": "lec",
        "document": str(tmp_path / "out.json"),
        "steps": 2,
        "claims": 1,
        "occurrences": 1,
        "failed": 1,
        "bytes": (tmp_path / "out.json").stat().st_size,
        "failure": "claim",
    }
    assert json.loads(lecture("def main(): pass", "--json", "-q")[1])["failure"] is None


def test_verbose_lists_the_traced_files(lecture, tmp_path):
    (tmp_path / "beside_it.py").write_text("def f(): pass")
    source = "import json\nimport beside_it\ndef main(): beside_it.f()"
    assert lecture(source, "-v")[2] == "traced lec.py\ntraced beside_it.py\n"
    assert lecture(source)[2] == ""


# the limit -> whether a lecture of 21 steps, which ends at once, stays within it
LIMITS = [
    (22, True),
    (21, True),
    (20, False),
]


@pytest.mark.parametrize(("limit", "within"), LIMITS)
def test_max_steps(limit, within, lecture, document):
    source = "def main():\n    for i in range(10):\n        i"
    status, _, _ = lecture(source, "--max-steps", str(limit))
    assert (status == 0) == within
    assert (document()["failure"] is None) == within
    assert sum(event > 0 for event in document()["events"]) == min(limit, 21)


def test_no_costs(lecture, document):
    pytest.importorskip("torch")
    source = "import torch\ndef main(): torch.ones(2, 2) @ torch.ones(2, 2)"
    lecture(source)
    assert sum(document()["costs"]["matmul_flops"]) == 16
    lecture(source, "--no-costs")
    assert document()["costs"] is None


def test_verbose_names_what_was_not_counted(lecture):
    pytest.importorskip("torch")
    source = "import torch\ndef main():\n    for i in range(2): torch.linalg.qr(torch.ones(2, 2))"
    stderr = lecture(source, "-v")[2].splitlines()
    assert stderr == ["traced lec.py", "not counted: aten.linalg_qr, 2 calls"]


@pytest.fixture
def package(tmp_path):
    """A package with two modules, one of which imports the other relatively."""
    sources = {
        "pack/__init__.py": "def main(): pass",
        "pack/first.py": "from .inner.second import f\ndef main(): f()",
        "pack/inner/__init__.py": "def main(): pass",
        "pack/inner/second.py": "from .. import main\ndef f(): pass",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "pack"]:
        del sys.modules[name]


PACKAGE = ["pack/__init__.py", "pack/first.py", "pack/inner/__init__.py", "pack/inner/second.py"]
SCOPES = [
    ([], PACKAGE),
    (["--exclude", "*/second.py"], PACKAGE[:3]),
    (["--exclude", "*second*", "--exclude", "*/__init__.py"], PACKAGE[1:2]),
    (["--include", "pack/first.py"], PACKAGE[1:2]),
    (["--include", "*.py", "--exclude", "pack/inner/*"], PACKAGE[:2]),
]


@pytest.mark.parametrize(("options", "files"), SCOPES)
def test_which_files_are_traced(options, files, package, document, capsys):
    assert command(capsys, package / "pack/first.py", "-o", package / "out.json", *options)[0] == 0
    assert sorted(file["path"] for file in document()["files"]) == files


# how the lecture is named, seen from the folder of the package -> module, traced files
NAMES = [
    ("pack/first.py", "pack.first", PACKAGE),
    ("./pack/../pack/first.py", "pack.first", PACKAGE),
    ("pack.first", "pack.first", PACKAGE),
    ("pack.inner.second", "pack.inner.second", [PACKAGE[0], *PACKAGE[2:]]),
    ("pack.inner", "pack.inner", [PACKAGE[0], PACKAGE[2]]),
    ("pack", "pack", PACKAGE[:1]),
    ("pack/__init__.py", "pack", PACKAGE[:1]),
    ("folder.alone", "folder.alone", ["folder/alone.py"]),
    ("folder/alone.py", "alone", ["alone.py"]),
    ("folder/01-alone.py", "01-alone", ["01-alone.py"]),
]


@pytest.mark.parametrize(("name", "module", "files"), NAMES)
def test_how_a_lecture_is_named(name, module, files, package, document, capsys, monkeypatch):
    (package / "folder").mkdir()
    for file in ("alone.py", "01-alone.py"):
        (package / "folder" / file).write_text("def main(): pass")
    monkeypatch.chdir(package)
    monkeypatch.syspath_prepend(package)
    before = set(sys.modules)
    status, _, stderr = command(capsys, name, "-o", "out.json")
    assert (status, stderr) == (0, "")
    assert document()["module"] == module
    assert sorted(file["path"] for file in document()["files"]) == files
    assert {
        name for name in set(sys.modules) - before if name.startswith(("pack", "al", "01"))
    } == set()


# Files of the viewer, and good documents that stay good -----------------------------------------


@pytest.fixture
def traces(tmp_path, monkeypatch):
    """The documents of lectures in this folder, and another one for those of the repository."""
    (tmp_path / "viewer").mkdir()
    monkeypatch.setattr(library, "TRACES", tmp_path.resolve() / "viewer" / "traces")
    return tmp_path.resolve() / ".lecture-trace"


def entries(index):
    return json.loads(index.read_text())["documents"]


@pytest.mark.parametrize("ours", [True, False])
def test_documents_are_listed_beside_them(ours, traces, tmp_path, capsys, monkeypatch):
    if ours:
        monkeypatch.setattr(library, "REPOSITORY", tmp_path.resolve())
        traces = library.TRACES
    for name in ("second", "first"):
        source = f'"""The {name}\n\nMore."""\ndef main():\n    assert 1'
        (tmp_path / f"{name}.py").write_text(source)
        assert command(capsys, tmp_path / f"{name}.py", "-q") == (0, "", "")
    index = traces / "index.json"
    others = set() if ours else {".gitignore"}
    made = {file.name for file in traces.iterdir()}
    assert made == {"first.json", "second.json", index.name} | others
    assert entries(index)[0] == {
        "file": "first.json",
        "module": "first",
        "title": "The first",
        "steps": 1,
        "claims": 1,
        "held": 1,
        "failed": False,
    }
    assert [entry["file"] for entry in entries(index)] == ["first.json", "second.json"]
    (traces / "second.json").unlink()
    (tmp_path / "first.py").write_text("def main(): 1 / 0")
    assert command(capsys, tmp_path / "first.py", "-q")[0] == 1
    assert [(entry["file"], entry["failed"]) for entry in entries(index)] == [("first.json", True)]


def test_a_document_just_written_is_not_read_again(traces, tmp_path, capsys, monkeypatch):
    (tmp_path / "first.py").write_text("def main(): pass")
    with monkeypatch.context() as patch:
        patch.setattr(library, "Summary", None)  # reading would fail
        assert command(capsys, tmp_path / "first.py", "-q") == (0, "", "")
        assert library.summary_of(traces / "first.json").steps == 1
    other = (traces / "first.json").read_bytes().replace(b'"title":"first"', b'"title":"other"')
    (traces / "first.json").write_bytes(other)  # by another process
    assert library.summary_of(traces / "first.json").title == "other"


def test_the_index_says_which_documents_have_times(traces, tmp_path, capsys):
    """A page asks for no file that is not there: browsers print an error for each."""
    for name, options in [("first", ["--time"]), ("second", [])]:
        (tmp_path / f"{name}.py").write_text("def main(): pass")
        command(capsys, tmp_path / f"{name}.py", *options)
    index = traces / "index.json"
    assert [entry.get("times") for entry in entries(index)] == [True, None]
    (traces / "first.times.json").unlink()
    command(capsys, tmp_path / "second.py")
    assert [entry.get("times") for entry in entries(index)] == [None, None]


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"documents": null}'])
def test_a_damaged_index_is_written_anew(damage, traces, tmp_path, capsys):
    traces.mkdir()
    (traces / "index.json").write_text(damage)
    (tmp_path / "lec.py").write_text("def main(): pass")
    assert command(capsys, tmp_path / "lec.py", "-q") == (0, "", "")
    assert [entry["file"] for entry in entries(traces / "index.json")] == ["lec.json"]


def test_what_is_put_among_the_documents_of_the_repository_is_not_committed(
    traces, tmp_path, capsys
):
    (tmp_path / "lec.py").write_text("def main(): pass")
    document = library.TRACES / "lec.json"
    assert command(capsys, tmp_path / "lec.py", "-q", "-o", document) == (0, "", "")
    listed = entries(library.TRACES / "index.local.json")
    assert [entry["file"] for entry in listed] == ["lec.json"]
    assert not (library.TRACES / "index.json").exists()


def test_no_document_takes_the_place_of_an_index(traces, tmp_path, capsys):
    (tmp_path / "index.py").write_text("def main(): pass")
    status, _, stderr = command(capsys, tmp_path / "index.py")
    assert status == 2
    assert stderr.endswith("(it is the list of documents): choose another place with -o.\n")
    assert not traces.exists()


@pytest.mark.parametrize("step", ["write_bytes", "replace"])
def test_a_good_document_is_never_replaced_by_half_of_one(step, lecture, tmp_path, monkeypatch):
    lecture("def main(): assert 1")
    good = (tmp_path / "out.json").read_bytes()
    write = Path.write_bytes

    def fail(path, data):
        if step == "write_bytes":
            write(path, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, step, fail)
        (tmp_path / "lec.py").write_text("def main(): pass")
        status = main([str(tmp_path / "lec.py"), "-o", str(tmp_path / "out.json")])
    assert status == 1
    assert {file.name for file in tmp_path.iterdir()} - {"__pycache__"} == {"lec.py", "out.json"}
    assert (tmp_path / "out.json").read_bytes() == good


def test_a_failing_write_is_said_in_one_sentence(lecture, tmp_path, monkeypatch):
    def fail(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(library, "update_index", fail)
    sentence = f"{tmp_path / 'out.json'} could not be written: No space left on device."
    assert lecture("def main(): pass") == (1, "", f"python -m trace: {sentence}\n")


# --if-changed -----------------------------------------------------------------------------------

NOTING = "open({log!r}, 'a').write('i')\ndef main(): open({log!r}, 'a').write('m')\n"


@pytest.fixture
def runs(tmp_path, capsys):
    """`runs()` traces `lec.py` if it changed, and tells whether it ran."""
    log = tmp_path / "log"
    (tmp_path / "beside.py").write_text("def f(): pass\n")
    (tmp_path / "lec.py").write_text("import beside\n" + NOTING.format(log=str(log)))

    def trace_it():
        log.write_text("")
        arguments = [tmp_path / "lec.py", "-o", tmp_path / "out.json", "--if-changed"]
        status, stdout, stderr = command(capsys, *arguments)
        assert (status, stderr) == (0, "")
        assert stdout.startswith(str(tmp_path / "out.json")) == (log.read_text() == "")
        return log.read_text() == "im"

    assert trace_it(), "there was no document"
    assert not trace_it()
    return trace_it


def edit(path, old, new):
    path.write_text(path.read_text().replace(old, new))


# what happens -> in which file, what there is replaced by what, whether that is a change
EDITS = {
    "nothing": ("lec.py", "", "", False),
    "its time": ("lec.py", "main", "main", False),
    "the source": ("lec.py", "def main", "# Prose.\ndef main", True),
    "a file it imports": ("beside.py", "def f", "def g", True),
    "the document is cut off": ("out.json", '"failure":null\n}', "", True),
    "it is of a run that failed": ("out.json", '"failure":null', '"failure":{}', True),
    "it is of another version": ("out.json", f'"version":{VERSION}', '"version":0', True),
    "it is of another lecture": ("out.json", '"module":"lec"', '"module":"other"', True),
    "it lacks a field": ("out.json", '"module":"lec",\n', "", True),
}  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "is_change"), EDITS.values(), ids=EDITS)
def test_it_runs_if_something_changed(name, old, new, is_change, runs, tmp_path):
    edit(tmp_path / name, old, new)
    assert runs() == is_change
    assert not runs()


def test_it_runs_if_a_file_is_gone(runs, tmp_path):
    edit(tmp_path / "lec.py", "import beside\n", "")
    (tmp_path / "beside.py").unlink()
    assert runs()
    (tmp_path / "out.json").unlink()
    assert runs()


def test_whether_it_changed_is_told_without_what_the_lecture_imports(tmp_path, capsys):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/__init__.py").write_text("import numpy")
    (tmp_path / "pack/lec.py").write_text("import numpy\ndef main(): pass")
    arguments = [tmp_path / "pack/lec.py", "-o", tmp_path / "out.json", "--if-changed"]
    assert "1 step," in command(capsys, *arguments)[1]
    start = "import sys\nfrom trace.cli import main\nmain(sys.argv[1:])\n"
    ask = "print({'numpy', 'torch', 'pack'} & {*sys.modules})\n"
    with process("-c", start + ask, *arguments) as run:
        assert run.communicate() == (f"{tmp_path / 'out.json'} is current.\nset()\n", "")


def test_the_document_is_served_whether_it_changed_or_not(lecture, monkeypatch):
    served = []
    monkeypatch.setattr(
        "trace.serve.server.serve", lambda shown, **options: served.append(shown.document.name)
    )
    for source, status in (("pass", 0), ("pass", 0), ("1 / 0", 1)):
        assert lecture(f"def main(): {source}", "--serve", "--if-changed")[0] == status
    assert served == ["out.json"] * 3


# false claim -> what its sides were, the last line on stderr
SIDES = [
    ("assert x == 2 * 3", "x = 1, 2 * 3 = 6"),
    ("assert x == 2 and y == 3", "x = 1"),
    ("assert 2 < x < 3", "x = 1"),
    ("assert y == (x, [x], 'b')", "y = (1, [2, 'a']), (x, [x], 'b') = (1, [1], 'b')"),
    ("assert x in list(range(2, 60))", ", 50, 51, ...]"),
    ("assert x == 'long' * 90", "x = 1, 'long' * 90 = '" + "long" * 49 + "..."),
    ("assert 1 == 2", "AssertionError"),
]


@pytest.mark.parametrize(("claim", "sides"), SIDES)
def test_a_false_claim_shows_what_its_sides_were(claim, sides, lecture):
    stderr = lecture(f"def main():\n    x, y = 1, (1, [2, 'a'])\n    {claim}")[2]
    assert stderr.splitlines()[-1].endswith(sides)


# --check ----------------------------------------------------------------------------------------


def test_check_compares_and_writes_nothing(lecture, document, tmp_path):
    lecture("def main():\n    x = 1  # @inspect x")
    good, anew = document(), f"python -m trace {tmp_path / 'lec.py'} -o {tmp_path / 'out.json'}"
    current = f"{tmp_path / 'out.json'} is current.\n"
    assert lecture("def main():\n    x = 1  # @inspect x", "--check") == (0, current, "")
    assert lecture("def main():\n    x = 1  # @inspect x", "--check", "-q") == (0, "", "")
    status, stdout, stderr = lecture("def main():\n    x = 2  # @inspect x", "--check")
    assert (status, stdout) == (1, "")
    assert stderr.splitlines() == [
        "lec.py:2: the source was `x = 1  # @inspect x`, is now `x = 2  # @inspect x`.",
        "lec.py:2: of x, 1 is now 2.",
        f"{tmp_path / 'out.json'} is not current: write it anew with {anew}",
    ]
    assert document() == good


def test_check_of_a_lecture_that_fails_as_before(lecture):
    lecture(FAILING)
    status, stdout, stderr = lecture(FAILING, "--check")
    assert (status, stdout.endswith("is current.\n")) == (1, True)
    assert stderr.endswith("AssertionError\nx = 1\n")


def test_check_with_strict_says_why_it_fails(lecture):
    lecture("def main():\n    x = 1  # @inspect y")
    status, _, stderr = lecture("def main():\n    x = 1  # @inspect y", "--check", "--strict")
    assert (status, stderr) == (1, "warning: lec.py:2: y does not exist here.\n")


def test_check_does_not_list_hundreds_of_differences(lecture):
    source = "def main():\n    for i in range(100):\n        x = i + {}  # @inspect x"
    lecture(source.format(0))
    stderr = lecture(source.format(1), "--check")[2].splitlines()
    assert len(stderr) == MAX_SHOWN_DIFFERENCES + 2
    assert stderr[-2] == "... and 81 more differences"


HEAD = f'{{"format": "lecture-trace", "version": {VERSION}'
# what lies there -> what is said about it
DAMAGES = {
    "": "it is not complete JSON",
    "{": "it is not complete JSON",
    "\udcff": "it is not complete JSON",
    "[]": "it is no recorded lecture",
    '{"format": "other"}': "it is no recorded lecture",
    '{"format": "lecture-trace", "version": 0}': f"it is of version 0 and not {VERSION}",
    HEAD + "}": "it lacks the field 'module'",
}


@pytest.mark.parametrize(("damage", "reason"), DAMAGES.items())
def test_check_with_something_that_is_no_document(damage, reason, lecture, tmp_path):
    (tmp_path / "out.json").write_bytes(damage.encode(errors="surrogateescape"))
    said = f"{tmp_path / 'out.json'} is no document to compare with ({reason}): run without --check"
    status, stdout, stderr = lecture("def main(): pass", "--check")
    assert (status, stdout) == (2, "")
    assert stderr == f"python -m trace: {said} to write it anew.\n"


def test_a_document_that_is_current_is_read_once(lecture, monkeypatch):
    lecture("def main(): pass")
    reads = []
    for module in ("trace.cli", "trace.serve.library"):
        monkeypatch.setattr(
            f"{module}.decode", lambda data, module=module: reads.append(module) or decode(data)
        )
    for source, modules in (("pass", []), ("1", ["trace.cli"] * 2)):
        reads.clear()
        lecture(f"def main(): {source}", "--check")
        assert reads == ["trace.serve.library", *modules]


# Sources as Python reads them -------------------------------------------------------------------

LINE = "    line = sys._getframe().f_lineno  # @inspect line"
SOURCES = {
    "not ASCII": f"import sys\n# é 变 😀\ndef main():\n    é = '😀'\n{LINE}\n".encode(),
    "CRLF": f"import sys\r\n\r\ndef main():\r\n{LINE}\r\n".encode(),
    "CRLF in a string": f"import sys\r\ndef main():\r\n    '''a\r\nb'''\r\n{LINE}\r\n".encode(),
    "CR": f"import sys\r\rdef main():\r{LINE}\r".encode(),
    "a byte order mark": f"import sys\ndef main():\n{LINE}\n".encode("utf-8-sig"),
    "Latin-1": f"# coding: latin-1\nimport sys\ndef main():\n    é = 'é'\n{LINE}".encode("latin-1"),
    "a form feed": f"import sys\n\x0c\ndef main():\n    '\x0c'\n{LINE}\n".encode(),
    "line separators": f"import sys\n# \u2028\ndef main():\n    '\u2029\x85'\n{LINE}".encode(),
    "vertical tabs and others": f"import sys\ndef main():\n    '\x0b\x1c\x1d\x1e'\n{LINE}".encode(),
    "a continued line": f"import sys\ndef main():\n    1 + \\\n        2\n{LINE}".encode(),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_lines_are_those_of_python(source, lecture, document):
    status, _, stderr = lecture(source)
    assert (status, stderr) == (0, "")
    assert lecture(source, "--if-changed")[1].endswith("out.json is current.\n")
    assert lecture(source, "--check")[0] == 0
    values, rows = document()["values"], document()["inspections"]
    (line,) = [plain(values[value]) for value in rows["value"]]
    assert [row[0] for row in shown(document())] == [line]
    lines = document()["files"][0]["source"].split("\n")
    assert lines[line - 1] == LINE
    assert [number for number, text in enumerate(lines, 1) if text == LINE] == [line]


# The lecture itself -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_lecture_is_reproducible_and_its_published_document_current(tmp_path, monkeypatch):
    """Where the environment is that of the published document, both runs gave the same bytes."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # of test processes that share the cores
    assert record(["-q", "-o", tmp_path / "again"]) == (0, "")
    published = (library.TRACES / "lecture.main.json").read_bytes()
    again = (tmp_path / "again").read_bytes()
    old, new = decode(published), decode(again)
    assert differences(old, new) == [], "`make trace` writes it anew"
    assert (published == again) == (old.environment == new.environment)


@pytest.mark.parametrize(
    ("mark", "failures", "runs", "status"),
    [("@timed", 0, 1, 0), ("@timed", 2, 3, 0), ("@timed", 3, 3, 1), ("seconds", 1, 1, 1)],
)
def test_only_a_claim_about_seconds_is_recorded_anew(mark, failures, runs, status, tmp_path):
    path = tmp_path / "lec.py"
    path.write_text(
        "from pathlib import Path\n\ndef main():\n    runs = Path(__file__).parent / 'runs'\n"
        "    runs.write_text(runs.read_text() + '.' if runs.exists() else '.')\n"
        f"    assert len(runs.read_text()) > {failures}  # {mark}\n"
    )
    found, complaint = record(["-q", "-o", tmp_path / "document"], lecture=path)
    assert (found, len((tmp_path / "runs").read_text())) == (status, runs)
    assert ("AssertionError" in complaint) == bool(status), complaint


@pytest.mark.parametrize(("set_before", "there"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_of_torch_wait_without_spinning(set_before, there, lecture, document, monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if set_before:
        monkeypatch.setenv("OMP_WAIT_POLICY", set_before)
    source = "import os\n\ndef main():\n    print(os.environ['OMP_WAIT_POLICY'])"
    lecture(source)
    assert document()["output"][0]["text"].split() == [there]
