"""Each way to start the tool, in a process of its own, as one types it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.outside import copy_of_the_tool, tool

LECTURE = """\
def main():
    '''A title.'''
    x = helper(2)  # @inspect x
    assert x == 4


def helper(n):
    return n * 2
"""
FILES = {
    "mine/lec.py": LECTURE,
    "mine/wrong.py": "def main():\n    assert 1 == 2",
    "mine/raises.py": "def main():\n    1 / 0",
    "mine/exits.py": "import sys\ndef main():\n    sys.exit(3)",
    "mine/stops.py": "def main():\n    raise KeyboardInterrupt",
    "mine/long.py": "def main():\n    while True:\n        pass",
    "mine/typo.py": "def main():\n    x = 1  # @inpsect x",
    "mine/syntax.py": "def main(:",
    "mine/imports.py": "import no_such_module\ndef main(): pass",
    "mine/no_main.py": "x = 1",
    "mine/warns.py": "def main():\n    x = 1  # @inspect y",
    "mine/two.py": "import beside\ndef main():\n    beside.f()",
    "mine/beside.py": "def f():\n    return 1",
    "mine/timed.py": "import time\ndef main():\n    t = time.time()  # @timed @inspect t",
    "lecture/main.py": LECTURE,
    "lecture/__init__.py": "",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository of its own: the tool, a lecture that belongs to it, and lectures elsewhere."""
    folder = tmp_path_factory.mktemp("commands")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return copy_of_the_tool(folder)


@pytest.fixture
def run(repository):
    """`run("mine/lec.py", "-q")`: exit status, stdout, stderr."""
    python = {"cwd": repository, "folder": "-m", "PYTHONPATH": ""}
    return lambda *arguments: tool("trace", *arguments, **python)


def entries(shelf, index):
    listed = json.loads((shelf / index).read_text())["documents"]
    return {one["file"]: one for one in listed}


def test_a_lecture_of_the_repository(run, repository):
    status, stdout, stderr = run("lecture.main")
    assert (status, stderr) == (0, "")
    document = Path("viewer", "traces", "lecture.main.json")
    size = (repository / document).stat().st_size / 1000
    assert stdout.startswith(
        f"lecture.main: 3 steps, 1 claim held in 1 check, {size:.1f} kB in {document}"
    )
    assert stdout.endswith(" s; see it: python -m trace lecture.main --serve\n")
    assert (
        entries(repository / "viewer/traces", "index.json")["lecture.main.json"]["title"]
        == "A title"
    )


def test_a_lecture_anywhere_else(run, repository):
    status, _, stderr = run("mine/lec.py")
    assert (status, stderr) == (0, "")
    shelf = repository / "mine/.lecture-trace"
    assert entries(shelf, "index.json")["lec.json"]["claims"] == 1
    written = json.loads((shelf / "lec.json").read_bytes())
    assert written["module"] == "lec"


# arguments -> exit status, what stdout and stderr hold
COMMANDS = [
    (["mine/lec.py", "-o", "out.json"], 0, "kB in out.json, ", ""),
    (["mine/lec.py", "-o", "out.json", "--check"], 0, "out.json is current.\n", ""),
    (["mine/lec.py", "-o", "out.json", "--if-changed"], 0, "out.json is current.\n", ""),
    (["mine/lec.py", "-o", "out.json", "--is-current"], 0, "out.json is current.\n", ""),
    (
        ["mine/two.py", "-o", "out.json", "--is-current"],
        1,
        "",
        "out.json is not current: python -m",
    ),
    (
        ["mine/two.py", "-o", "out.json", "--is-current", "--serve", "--site", "no"],
        1,
        "",
        "trace: out.json is not current: python -m trace mine/two.py -o out.json\n",
    ),
    (["--is-current", "--serve"], 2, "", "name a lecture to run"),
    (
        ["mine/lec.py", "--is-current", "--if-changed"],
        2,
        "",
        "--is-current runs nothing: leave out --if",
    ),
    (["mine/two.py", "-o", "out.json", "--check"], 1, "", "out.json is not current: write it anew"),
    (
        ["mine/lec.py", "-o", "none.json", "--check"],
        2,
        "",
        "there is no document none.json to comp",
    ),
    (["mine/lec.py", "-q"], 0, "", ""),
    (["mine/two.py", "-v"], 0, "2 steps", "traced two.py\ntraced beside.py\n"),
    (["mine/lec.py", "--json"], 0, '"lecture": "lec", "document": ', ""),
    (["mine/lec.py", "--no-costs"], 0, "3 steps", ""),
    (["mine/timed.py", "--time"], 0, "1 step", ""),
    (["mine/two.py", "--exclude", "beside.py"], 0, "two: 1 step", ""),
    (["mine/two.py", "--include", "beside.py"], 0, "two: 1 step", ""),
    (["mine/warns.py"], 0, "1 step", "warning: warns.py:2: y does not exist here.\n"),
    (["mine/warns.py", "--strict"], 1, "1 step", "warning: warns.py:2: y does not exist here.\n"),
    (
        ["mine/long.py", "--max-steps", "50"],
        1,
        "50 steps",
        "made more than 50 steps; raise --max-s",
    ),
    (["mine/wrong.py"], 1, "1 of 1 claim FAILED", "AssertionError"),
    (["mine/raises.py"], 1, "ended by: exception", "ZeroDivisionError: division by zero"),
    (["mine/exits.py"], 1, "ended by: exit", "SystemExit: 3"),
    (["mine/typo.py"], 1, "", "typo.py:2: unknown directive @inpsect: did you mean @inspect?"),
    (["mine/syntax.py"], 1, "", "python -m trace: syntax.py:1: SyntaxError: "),
    (["mine/imports.py"], 1, "", "imports cannot be imported: imports.py:1: ModuleNotFoundError: "),
    (["mine/stops.py"], 130, "ended by: interrupt", "KeyboardInterrupt"),
    (["mine/no_main.py"], 2, "", "python -m trace: no_main has no function main(): define one wit"),
    (["no.such"], 2, "", "there is no module no.such in the folder "),
    (["--no-such-option"], 2, "", "unrecognized arguments: --no-such-option; --help lists the opt"),
    ([], 2, "", "name a lecture to run, such as lecture.main, or give --serve."),
    (["mine/lec.py", "-o", "mine"], 2, "", "cannot write mine (it is a folder): choose another pl"),
    (["--help"], 0, "Exit status: 0 done; 1 the lecture failed", ""),
]


@pytest.mark.parametrize(("arguments", "status", "said", "complaint"), COMMANDS)
def test_what_it_says_and_how_it_ends(arguments, status, said, complaint, run):
    ended, stdout, stderr = run(*arguments)
    assert (ended, said in stdout, complaint in stderr) == (status, True, True), stdout + stderr
    assert (stdout == "", stderr == "") == (said == "", complaint == "")
    assert "\x1b" not in stdout + stderr


def test_time_is_kept_beside_the_document(run, repository):
    assert run("mine/timed.py", "--time", "-q") == (0, "", "")
    traces = repository / "mine/.lecture-trace"
    assert len(json.loads((traces / "timed.times.json").read_bytes())["seconds"]) == 1
    assert b"time.time()" in (traces / "timed.json").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to end it with")
@pytest.mark.parametrize("option", ["--serve", "--watch"])
def test_it_is_served_on_a_free_port_and_the_browser_is_told(option, repository, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "trace", "mine/lec.py", option, "--open", "--port", port]
        environment = {**os.environ, "DISPLAY": ":0", "BROWSER": str(browser)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=repository, env=environment, **pipes) as process:
            words = ""
            while not words.startswith("serving "):
                words = process.stdout.readline()
                assert words, process.stderr.read()
            address = words.split()[1]
            assert urllib.request.urlopen(address).status == 200
            if option == "--watch":
                process.stdout.readline()
            for _ in range(100):
                if (tmp_path / "opened").exists() and (tmp_path / "opened").read_text():
                    break
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0
    assert stderr == f"port {port} is busy: taking {address.split(':')[2].partition('/')[0]}\n"
    assert (tmp_path / "opened").read_text() == f"{address}\n"
