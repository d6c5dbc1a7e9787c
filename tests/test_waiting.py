"""Whatever of ours imports torch first has said how its threads wait for each other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

RUN_UNTIL_TORCH_IS_IMPORTED = """
import os, runpy, sys

class EndOfImports:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
            os.write(1, " ".join(os.environ.get(name, "nothing") for name in names).encode())
            os._exit(0)

sys.meta_path.insert(0, EndOfImports())
module, *sys.argv[1:] = sys.argv[1:]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""

PROGRAMS = {
    "lecture.main": [],
    "lecture.train": [],
    "lecture.accounting": ["--help"],
    "benchmarks.metering": [],
    "pytest": ["-s", "--collect-only", "tests/test_transformer.py"],
    "trace": ["lecture.main"],
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("set_before", "there"),
    [
        ({}, "PASSIVE 5000"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE nothing"),
        ({"GOMP_SPINCOUNT": "7"}, "PASSIVE 7"),
    ],
)
def test_it_is_said_how_threads_wait_before_torch_is_imported(program, set_before, there):
    command = [sys.executable, "-c", RUN_UNTIL_TORCH_IS_IMPORTED, program, *PROGRAMS[program]]
    ours = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    finished = subprocess.run(
        command, cwd=ROOT, env=environment | set_before, capture_output=True, text=True
    )
    assert finished.stdout.endswith(there), finished.stderr
