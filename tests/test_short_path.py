"""The short path: which calls of a table of contents are taken out, and what is hidden then."""

import json
import textwrap

import pytest

from tests.outside import run as run_program
from tests.outside import tool
from tests.test_pytest_plugin import PLUGIN, PYTEST
from trace.document.build import build
from trace.errors import UsageError
from trace.options import Options
from trace.record.run import record
from trace.target import find_target

SECTIONS = """
def one():
    assert 1 + 1 == 2

def two():  # M1.2 @core
    helper()

def helper():
    assert 2 + 2 == 4

def three(  # a header of several lines
):  # @core
    assert 3 + 3 == 6
"""

# name: the files beside sections.py -> the functions that run, and the lines of Read in talk.py
CASES = {
    "calls in main": (
        {"talk.py": "from sections import one, two\n\ndef main():\n    one()\n    two()\n"},
        ["main", "two", "helper"],
        [5],
    ),
    "through a module, under another name": (
        {
            "talk.py": "import sections as s\nfrom sections import three as last\n"
            "def main():\n    s.one()\n    s.two()\n    last()\n"
        },
        ["main", "two", "helper", "three"],
        [5, 6],
    ),
    "through parts, some of which lead nowhere": (
        {
            "talk.py": "import part, other\ndef main():\n    part.main()\n    other.main()\n",
            "part.py": "import sections\ndef main():\n    sections.one()\n    sections.two()\n",
            "other.py": "import sections\ndef main():\n    sections.one()\n",
        },
        ["main", "main", "two", "helper"],
        [3],
    ),
    "what has arguments, and what is no section, stays": (
        {
            "talk.py": "from sections import *\nfrom sections import one, two\n"
            "def main():\n    seed = int(2)\n    print(seed)\n    one()\n    two()\n    list()\n"
        },
        ["main", "two", "helper"],
        [4, 5, 7, 8],
    ),
    "comments go with what they are about": (
        {
            "talk.py": """\
            from sections import one, three, two
            def main():
                # ## A heading
                # of two sections
                one()
                # About the second.
                two()
                # ## A heading of one that goes
                # About it.
                one()
                # ## And of one that stays

                # About it.
                one()
                three()
            """
        },
        ["main", "two", "helper", "three"],
        [3, 4, 6, 7, 11, 15],
    ),
    "a section that is called from a section stays whole": (
        {
            "talk.py": "from sections import one, two\n"
            "def main():\n    both()\ndef both():  # @core\n    one()\n    two()\n"
        },
        ["main", "both", "one", "two", "helper"],
        [3, 5, 6],
    ),
}


@pytest.fixture
def document(tmp_path):
    def write(files):
        for name, text in {"sections.py": SECTIONS, **files}.items():
            (tmp_path / name).write_text(textwrap.dedent(text))
        target = find_target(str(tmp_path / "talk.py"))
        return build(record(target, Options(path="core")))

    return write


def lines_in_read(document, name):
    """The lines of the functions of a file that are not hidden, nor empty."""
    index, file = next(pair for pair in enumerate(document.files) if pair[1].path == name)
    hidden = {line for first, last in file.hidden for line in range(first, last + 1)}
    hidden |= {line for line in range(1, file.source.count("\n") + 1) if line not in prose(file)}
    bodies = [
        range(function.line + 1, function.end_line + 1)
        for function in document.functions
        if function.file == index
    ]
    texts = file.source.split("\n")
    return [line for body in bodies for line in body if line not in hidden and texts[line - 1]]


def prose(file):
    """Lines of code, and those of comments that the document has as prose."""
    texts = file.source.split("\n")
    shown = {
        line
        for block in file.prose
        for line in range(block.first_line, block.last_line + 1)
        if line not in {at for first, last in file.hidden for at in range(first, last + 1)}
    }
    return shown | {line for line, text in enumerate(texts, 1) if not text.lstrip().startswith("#")}


def entered(document):
    return [document.functions[-event - 1].name for event in document.events if event < 0]


@pytest.mark.parametrize(("files", "functions", "lines"), CASES.values(), ids=CASES)
def test_what_runs_and_what_is_shown(document, files, functions, lines):
    found = document(files)
    assert found.failure is None
    assert entered(found) == functions
    assert lines_in_read(found, "talk.py") == lines


def test_a_lecture_without_such_sections_says_so(document):
    with pytest.raises(UsageError, match="talk has no path of its own with @core: put # @core"):
        document({"talk.py": "from sections import one\ndef main():\n    one()\n"})


def test_functions_that_call_each_other(document):
    found = document(
        {
            "talk.py": "def main():\n    one()\n    two()\n"
            "def one():\n    two()\ndef two():\n    one() if False else last()\n    last()\n"
            "def last():  # @core\n    assert 1 < 2\n"
        }
    )
    assert entered(found).count("last") == 4


def test_a_bridge_begins_a_block_of_its_own(document):
    text = "def main():  # @core\n    # Words.\n    # @bridge It holds.\n    x = 1\n"
    said = [(prose.kind, prose.text) for prose in document({"talk.py": text}).files[0].prose]
    assert said == [("comment", "Words."), ("bridge", "It holds.")]


def test_a_bridge_is_prose_of_its_own_kind(document):
    text = "def main():  # @core\n    # @bridge Without the proof:\n    # it holds.\n    x = 1\n"
    [prose] = document({"talk.py": text}).files[0].prose
    assert (prose.kind, prose.text) == ("bridge", "Without the proof:\nit holds.")


def test_the_command_writes_a_document_of_its_own(tmp_path):
    (tmp_path / "sections.py").write_text(SECTIONS)
    (tmp_path / "talk.py").write_text(CASES["calls in main"][0]["talk.py"])
    status, stdout, stderr = tool("talk.py", "--path", "core", cwd=tmp_path)
    assert (status, stderr) == (0, "")
    assert "1 claim held" in stdout
    document = json.loads((tmp_path / ".lecture-trace" / "talk.core.json").read_text())
    assert document["title"] == "talk, the short path"
    assert not (tmp_path / ".lecture-trace" / "talk.json").exists()
    assert tool("talk.py", "--path", "core", "--check", cwd=tmp_path)[0] == 0
    assert tool("talk.py", "--check", cwd=tmp_path)[0] == 2


def test_pytest_chooses_it(tmp_path):
    (tmp_path / "sections.py").write_text(SECTIONS)
    (tmp_path / "talk.py").write_text(CASES["calls in main"][0]["talk.py"])
    command = [*PYTEST, *PLUGIN, "-q", "--lecture", "talk.py", "-m", "core"]
    status, stdout, _ = run_program(command, tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert (status, "2 passed, 2 deselected" in stdout) == (0, True), stdout
