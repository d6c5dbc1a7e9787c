"""docs/guide.md is followed word for word, and what it says of the tool is so."""

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.outside import ROOT, copy_of_the_tool, run
from tests.readme import blocks
from trace.costs import Cost
from trace.options import Options
from trace.record.pictures import _PICTURES, MAX_CHARACTERS, MAX_ITEMS
from trace.record.tensors import MAX_ELEMENTS
from trace.rewrite.directives import DIRECTIVES

GUIDE = ROOT / "docs/guide.md"
TEXT = GUIDE.read_text(encoding="utf-8")
MAX_LINES = 320
MAX_PICTURE_BYTES = 50_000
INSTALL = "python -m pip install "


def steps(text=TEXT):
    """What the guide tells to do, in its order: pairs of language and text."""
    return re.findall(r"^```(python|ini|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def chapter(title):
    """What stands under a heading of the second level."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def words(command):
    """The words of a command, with this Python for `python`."""
    name, *others = shlex.split(command)
    assert name == "python"
    return [sys.executable, *others]


def follow(language, text, folder):
    """Do one step of the guide."""
    if language == "sh":
        for command in text.splitlines():
            carry_out(command, folder)
        return
    name = re.match(r"# (\S+)\n", text)[1]
    (folder / name).write_text(text, encoding="utf-8")
    if language == "python":
        succeed(f"python ../tracer/trace {name} --strict", folder)


def carry_out(command, folder):
    if "--serve" in command:
        see(command, folder)
    elif not command.startswith(INSTALL):
        succeed(command, folder)


def succeed(command, folder):
    status, stdout, stderr = run(words(command), folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert (status, stderr) == (0, ""), f"{command}\n{stdout}{stderr}"


def see(command, folder):
    """Start a server, fetch what it serves, and press Ctrl-C."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    process = subprocess.Popen(
        [*words(command), "--port", "0"],
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
        assert "4 claims held" in process.stdout.readline()
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
    place = tmp_path_factory.mktemp("guide")
    copy_of_the_tool(place / "tracer")
    lectures = place / "lectures"
    lectures.mkdir()
    for language, text in steps():
        follow(language, text, lectures)
    return lectures


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
    assert len(named) == 5
    assert [name for name in named if f"\n{name}==" not in constraints] == []


def test_its_table_lists_every_directive():
    table = chapter("What is recorded")
    assert set(re.findall(r"^\| `# @(\w+)", table, re.MULTILINE)) == set(DIRECTIVES)


def test_the_limits_are_those_of_the_tool():
    assert f"texts after {MAX_CHARACTERS:,} characters" in TEXT
    assert f"containers after {MAX_ITEMS} items" in TEXT
    assert f"more than {MAX_ELEMENTS}\nelements" in TEXT
    assert f"After {Options.max_steps:,} steps" in TEXT


def test_the_ways_to_draw_are_those_that_are_looked_for():
    assert set(re.findall(r"`(_repr_\w+_)`", TEXT)) == {method for method, _ in _PICTURES}


def test_what_it_says_the_meter_has_is_there():
    named = re.findall(r"`(\w+_(?:bytes|flops)|seconds|uncounted)`", chapter("Costs"))
    assert len(named) == 7
    assert [name for name in named if not hasattr(Cost(), name)] == []


def test_the_options_it_names_are_there():
    listed = run([sys.executable, "trace", "--help"], ROOT)[1]
    ours = [line for line in TEXT.splitlines() if "trace" in line or "`--" in line]
    named = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", "\n".join(ours)))
    others = {"--trace", "--count", "--report", "--listfuncs", "--trackcalls", "--lecture"}
    assert {name for name in named - others if not re.search(rf"{name}\b", listed)} == set()


# a start that misses -> its error, as the guide quotes it
MISSES = [
    ["-m", "trace", "my_lecture.py"],
    ["-c", "from trace.costs import measure"],
    [ROOT, "my_lecture.py"],
    ["-m", "pytest", "-p", "trace.pytest_plugin"],
]


@pytest.mark.parametrize("miss", MISSES)
def test_it_explains_the_messages_that_are_not_ours(miss, tmp_path):
    _, stdout, stderr = run([sys.executable, *miss], tmp_path)
    quoted = re.findall(r"^\| `(.*?)` \|", chapter("When it does not start"), re.MULTILINE)
    assert len(quoted) == len(MISSES)
    assert sum(message in stdout + stderr for message in quoted) == 1, stdout + stderr
