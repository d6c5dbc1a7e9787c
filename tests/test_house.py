"""The measures of the house, on made-up parts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.house import circles, floors, python_graph, rooms_of, viewer_graph

# what imports what -> floors, the sets of modules in a circle
GRAPHS = [
    ({}, 0, []),
    ({"a": set()}, 1, []),
    ({"a": {"b"}, "b": {"c"}, "c": set()}, 3, []),
    ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, 2, [{"a", "b"}]),
    ({"a": {"b", "c"}, "b": {"c"}, "c": {"b"}}, 2, [{"b", "c"}]),
]


def test_floors_and_circles():
    for graph, number, found in GRAPHS:
        assert (floors(graph), circles(graph)) == (number, found)


def test_imports_of_python_are_seen_wherever_they_stand(tmp_path):
    room = tmp_path / "part/room"
    room.mkdir(parents=True)
    (tmp_path / "part/__init__.py").write_text("")
    (room / "__init__.py").write_text("from .one import x")
    (room / "one.py").write_text(
        "import os\ndef f():\n    from ..top import y\n    from .. import top"
    )
    (tmp_path / "part/top.py").write_text("from part.room import one\nimport json")
    (tmp_path / "part/low.py").write_text("if __name__ == '__main__':\n    import part.top")
    graph = python_graph(tmp_path, "part")
    assert graph == {
        "part": set(),
        "part.low": set(),
        "part.room": {"part.room.one"},
        "part.room.one": {"part.top"},
        "part.top": {"part.room.one"},
    }
    assert circles(graph) == [{"part.room.one", "part.top"}]
    assert rooms_of(graph, ".") == {"part": set(), "low": set(), "room": {"top"}, "top": {"room"}}


def test_imports_of_the_viewer_are_seen_dynamic_ones_too(tmp_path):
    (tmp_path / "viewer/model").mkdir(parents=True)
    (tmp_path / "viewer/vendor").mkdir()
    (tmp_path / "viewer/main.js").write_text('import { a } from "viewer/model/a.js";\n')
    (tmp_path / "viewer/model/a.js").write_text('const b = () => import("./b.js");\n')
    (tmp_path / "viewer/model/b.js").write_text('import "preact";\nexport * from "../main.js";\n')
    (tmp_path / "viewer/vendor/c.js").write_text('import "viewer/main.js";\n')
    graph = viewer_graph(tmp_path)
    assert graph["main.js"] == {"model/a.js"}
    assert graph["model/a.js"] == {"model/b.js"}
    assert graph["model/b.js"] == {"main.js"}
    assert graph.keys() == {"main.js", "model/a.js", "model/b.js"}
    assert circles(graph) == [{"main.js", "model/a.js", "model/b.js"}]
    assert rooms_of(graph, "/") == {"main.js": {"model"}, "model": {"main.js"}}


MEASURING = sorted(
    path.stem
    for path in (Path(__file__).parent.parent / "benchmarks").glob("*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8")
)
REFUSED = {
    "house /nowhere": "/nowhere is no folder",
    "house tests": "is no checkout of this project: it lacks trace, lecture, tests, benchmarks",
    "metering --rounds 3": "unrecognized arguments: --rounds 3",
    "viewer speed": "speed is no measurement: bytes, scrolling",
    "viewer --lecture nothing.json": "there is no file nothing.json",
    "floors --json nowhere/floors.json": "no file can be written as nowhere/floors.json",
    "accelerator --json tests": "no file can be written as tests",
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{arguments[0]}", *arguments[1:]]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env=os.environ | environment,
    )


@pytest.mark.parametrize("program", MEASURING)
def test_every_program_says_what_it_measures_and_measures_nothing(program):
    finished = run(program, "--help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.startswith(f"usage: python -m benchmarks.{program} ")


@pytest.mark.parametrize("given", REFUSED)
def test_what_cannot_be_measured_is_refused_in_a_sentence(given):
    finished = run(*given.split())
    assert finished.returncode == 2
    assert REFUSED[given] in finished.stderr
    assert "Traceback" not in finished.stderr


def test_without_node_the_house_is_not_measured(tmp_path):
    finished = run("house", PATH=str(tmp_path))
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "in Node.js, which is not here" in finished.stderr
