"""docs/guide.md is followed word for word with the tool as it is installed, and what it says is so.

`GUIDE_PYTHON=python3.13 pytest tests/test_guide.py -k Followed` follows it on another Python, but
for what needs PyTorch or Altair.
"""

import ast
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import urllib.request
from pathlib import Path

import pytest

from tests.installing import Installed
from tests.outside import ROOT, run
from tests.readme import blocks
from trace.costs import Cost
from trace.options import Options
from trace.record.drawings import METHODS
from trace.record.markup import MAX_BODY_ROWS
from trace.record.pictures import MAX_CHARACTERS, MAX_ITEMS
from trace.record.tensors import MAX_ELEMENTS
from trace.rewrite.directives import DIRECTIVES

GUIDE = ROOT / "docs/guide.md"
TEXT = GUIDE.read_text(encoding="utf-8")
MAX_LINES = 460
MAX_PICTURE_BYTES = 50_000
INSTALL = "python -m pip install "
PYTHON = os.environ.get("GUIDE_PYTHON", sys.executable)
LARGE = {"torch", "numpy", "altair", "pandas", "matplotlib"}
"""What is not installed for these tests: on our own Python it is there."""


def steps(text=TEXT):
    """What the guide tells to do, in its order: pairs of language and text."""
    return re.findall(r"^```(python|ini|toml|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def chapter(title):
    """What stands under a heading of the second level."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


class Reader:
    """Somebody who follows the guide in a folder, with an environment of their own."""

    def __init__(self, place):
        self.folder = place / "lectures"
        self.folder.mkdir()
        self.environment = Installed(place / "environment", PYTHON)

    def words(self, command):
        """The words of a command, with the programs of the environment."""
        name, *others = shlex.split(command)
        assert name in ("python", "lecture-trace")
        return [self.environment.command(name), *others]

    def follow(self, language, text):
        """Do one step of the guide."""
        if language == "sh":
            for command in text.splitlines():
                self.carry_out(command)
            return
        name = re.match(r"# (\S+)\n", text)[1]
        (self.folder / name).write_text(text, encoding="utf-8")
        if language == "python" and self.has(imported(text)):
            self.succeed(f"lecture-trace {name} --strict")

    def has(self, names):
        """Whether all of these can be had: what is large only with our own Python."""
        return sys.executable == PYTHON or not names & LARGE

    def carry_out(self, command):
        if command.startswith(INSTALL):
            self.install(*shlex.split(command.removeprefix(INSTALL)))
        elif "--watch" in command:
            see(self.words(command), self.folder)
        else:
            self.succeed(command)

    def install(self, *names):
        if not LARGE & {*names}:
            self.environment.install("-c", ROOT / "constraints.txt", *names)
        elif self.has(LARGE):
            self.environment.see(Path(sysconfig.get_path("purelib")))

    def succeed(self, command):
        status, stdout, stderr = run(self.words(command), self.folder)
        assert (status, stderr) == (0, ""), f"{command}\n{stdout}{stderr}"


def imported(source):
    """The names of the modules that a source imports."""
    nodes = ast.walk(ast.parse(source))
    return {one.name for node in nodes if isinstance(node, ast.Import) for one in node.names}


def see(words, folder):
    """Start a server, fetch what it serves, and press Ctrl-C."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    process = subprocess.Popen(
        [*map(str, words), "--port", "0"],
        cwd=folder,
        env=environment | {"BROWSER": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        said = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)[0]
        assert "3 claims held" in process.stdout.readline()
        for path in ("", "traces/my_lecture.json"):
            with urllib.request.urlopen(address + path) as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder of somebody who has followed the guide."""
    reader = Reader(tmp_path_factory.mktemp("guide"))
    for language, text in steps():
        reader.follow(language, text)
    return reader.folder


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there")
class TestFollowed:
    def test_all_of_it_succeeds_and_leaves_only_what_it_names(self, followed):
        made = {path.name for path in followed.iterdir()} - {"__pycache__", ".pytest_cache"}
        assert [name for name in made if name not in TEXT and Path(name).suffix != ".svg"] == []
        assert {"my_lecture.html", "site", "my_lecture.json"} <= made

    def test_the_file_holds_the_lecture(self, followed):
        assert "Adding up the first numbers" in (followed / "my_lecture.html").read_text("utf-8")

    def test_the_site_lists_both_lectures(self, followed):
        traces = {path.name for path in (followed / "site/traces").iterdir()}
        assert traces == {"index.json", "my_lecture.json", "claims.json"}

    def test_a_false_claim_reads_as_it_says(self, followed, tmp_path):
        source = (followed / "my_lecture.py").read_text(encoding="utf-8")
        (tmp_path / "my_lecture.py").write_text(source.replace("11 / 2", "11 / 3"), "utf-8")
        options = ["-o", f"pythonpath={ROOT}", "-p", "trace.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", *options, "--lecture", "my_lecture.py"]
        status, stdout, _ = run(command, tmp_path)
        assert status == 1
        for line in blocks("text", chapter("Test"))[0].splitlines():
            assert f"{line}\n" in stdout


def test_steps_are_found():
    text = "```python\n# a.py\n```\n```text\nno\n```\n```sh\npython a.py\n```\n"
    assert steps(text) == [("python", "# a.py\n"), ("sh", "python a.py\n")]
    assert len(steps()) > 10


def test_it_is_short():
    assert len(TEXT.splitlines()) <= MAX_LINES


def test_its_pictures_are_there_and_small():
    pictures = re.findall(r"\]\((\w+\.png)\)", TEXT)
    assert len(pictures) == 3
    for name in pictures:
        assert (GUIDE.parent / name).stat().st_size <= MAX_PICTURE_BYTES


def test_what_it_installs_is_pinned():
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    named = " ".join(re.findall(rf"^{INSTALL}(.*)$", TEXT, re.MULTILINE)).split()
    assert named[0] == '"lecture-trace[watch]"'
    assert named[1:] == ["altair", "pandas", "matplotlib", "torch", "numpy", "pytest"]
    assert [name for name in named[1:] if f"\n{name}==" not in constraints] == []
    assert "\nwatchfiles==" in constraints


def test_its_table_lists_every_directive():
    table = chapter("What is recorded")
    assert set(re.findall(r"^\| `# @(\w+)", table, re.MULTILINE)) == set(DIRECTIVES)


def test_the_limits_are_those_of_the_tool():
    assert f"texts after {MAX_CHARACTERS:,} characters" in TEXT
    assert f"containers after {MAX_ITEMS} items" in TEXT
    assert f"more than {MAX_ELEMENTS}\nelements" in TEXT
    assert f"After {Options.max_steps:,} steps" in TEXT


def test_the_ways_to_draw_are_those_that_are_looked_for():
    methods = {"_repr_mimebundle_", *(method for method, _ in METHODS)}
    assert set(re.findall(r"`(_repr_\w+_)`", TEXT)) == methods
    assert f"tables of more than {MAX_BODY_ROWS} rows are cut" in " ".join(TEXT.split())


def test_what_it_says_the_meter_has_is_there():
    named = re.findall(r"`(\w+_(?:bytes|flops)|seconds|uncounted)`", chapter("Costs"))
    assert len(named) == 8
    assert [name for name in named if not hasattr(Cost(), name)] == []


def test_the_options_it_names_are_there():
    listed = run([sys.executable, "trace", "--help"], ROOT)[1]
    ours = [line for line in TEXT.splitlines() if "trace" in line or "`--" in line]
    named = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", "\n".join(ours)))
    others = {"--trace", "--count", "--report", "--listfuncs", "--trackcalls", "--lecture"}
    assert {name for name in named - others if not re.search(rf"{name}\b", listed)} == set()


# a start that misses -> its error, as the guide quotes it
MISSES = [
    ["-m", "lecture_trace", "my_lecture.py"],
    ["-c", "from trace.costs import measure"],
    ["-m", "trace", "my_lecture.py"],
    ["-m", "pytest", "--lecture", "my_lecture.py"],
]


@pytest.mark.parametrize("miss", MISSES)
def test_it_explains_the_messages_that_are_not_ours(miss, tmp_path):
    _, stdout, stderr = run([sys.executable, *miss], tmp_path)
    quoted = re.findall(r"^\| `(.*?)` \|", chapter("When it does not start"), re.MULTILINE)
    assert len(quoted) == len(MISSES)
    assert sum(message in stdout + stderr for message in quoted) == 1, stdout + stderr
