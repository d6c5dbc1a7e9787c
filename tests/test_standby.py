"""The run that waits: it imports what the lecture imports first of all, and gives its document."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trace.arguments import parse
from trace.serve import standby
from trace.serve.process import Run
from trace.serve.standby import Standby, imported_first
from trace.target import find_target
from trace.terminal import own_command

ROOT = Path(__file__).parent.parent
IMPORTED = {
    "import torch": ["torch"],
    '"""About."""\nfrom __future__ import annotations\nimport torch.nn as nn, math': ["torch.nn"],
    "from lecture_trace.costs import measure\nfrom numpy import array": ["numpy"],
    "try:\n    import torch\nexcept ImportError:\n    torch = None\nimport numpy": [
        "torch",
        "numpy",
    ],
    "try:\n    x = 1\n    import torch\nfinally:\n    pass": [],
    "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch": [],
    "import settings\nimport torch": [],
    "from . import settings\nimport torch": [],
    "def main():\n    import torch": [],
    "if False:\n    import torch": [],
    "import torchaudio\nimport torch": [],
    "import (": [],
}
LECTURE = """
import sys

import numpy as np


def main():
    found = "numpy" in sys.modules and sys.stdin.read() == ""  # @inspect found
    number = np.random.default_rng(0).integers({limit})  # @inspect number
    assert found
"""
WITH_TORCH = """
import torch
import torch.nn as nn

from trace.costs import measure


def main():
    torch.manual_seed(0)
    layer = nn.Linear(4, 3)
    numbers = torch.randn(2, 4)  # @inspect numbers
    with measure() as cost:
        result = layer(numbers)  # @inspect result
    result.sum().backward()
    weight = layer.weight  # @inspect weight.grad
    assert cost.matmul_flops == 2 * 2 * 4 * 3
"""


@pytest.mark.parametrize("source", IMPORTED)
def test_only_what_nothing_precedes_is_imported_in_advance(source):
    assert imported_first(source) == IMPORTED[source]


def options_of(lecture, output, *more):
    return parse([str(lecture), "-q", "-o", str(output), *more])


def recorded(lecture, output, *more):
    """The document of a run that begins afresh."""
    command = own_command(options_of(lecture, output, *more), str(lecture))
    subprocess.run(command, cwd=ROOT, check=True)
    return output.read_bytes()


def waited(lecture, output, change=lambda: None):
    """The run of a lecture that waited and was changed then, or None if another has to begin."""
    options, target = options_of(lecture, output), find_target(str(lecture))
    one = Standby()
    one.want(target, options, str(lecture))
    one.prepare()
    change()
    return one.take(target, options, str(lecture))


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(ROOT / "trace"), *sys.argv[1:]])


@pytest.mark.parametrize("source", [LECTURE.format(limit=10), WITH_TORCH])
def test_it_gives_the_document_of_a_run_that_begins_afresh(source, tmp_path):
    if "torch" in source:
        pytest.importorskip("torch")
    lecture, output = tmp_path / "own.py", tmp_path / "own.json"
    lecture.write_text("import numpy\ndef main():\n    pass\n" if "torch" not in source else source)
    run = waited(lecture, output, lambda: lecture.write_text(source))
    assert run is not None and run.ended.wait(100)
    warm = output.read_bytes()
    assert json.loads(warm)["failure"] is None
    output.unlink()
    assert warm == recorded(lecture, output)


def test_another_begins_where_the_imports_have_changed(tmp_path):
    lecture = tmp_path / "own.py"
    lecture.write_text(LECTURE.format(limit=10))
    assert waited(lecture, tmp_path / "o.json", lambda: lecture.write_text("x = 1")) is None
    (tmp_path / "numpy.py").write_text("")
    assert waited(lecture, tmp_path / "o.json") is None


def test_one_that_nobody_takes_ends(tmp_path):
    lecture = tmp_path / "own.py"
    lecture.write_text(LECTURE.format(limit=10))
    options = options_of(lecture, tmp_path / "o.json", "--stand-by", "numpy")
    command = own_command(options, str(lecture))
    waiting = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
    time.sleep(0.2)
    assert waiting.poll() is None
    waiting.stdin.close()  # as when the program that watches is gone
    assert waiting.wait(100) == 130
    assert not (tmp_path / "o.json").exists()
    run = Run(command, is_waiting=True)
    run.stop()
    assert run.ended.is_set() and not run.begin()


def test_a_timed_lecture_does_not_wait(tmp_path):
    lecture = tmp_path / "own.py"
    lecture.write_text(LECTURE.format(limit=10))
    options = options_of(lecture, tmp_path / "o.json", "--time")
    assert standby._key(find_target(str(lecture)), options, str(lecture))[1] == []
