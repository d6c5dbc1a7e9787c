"""Run the tool as somebody does whose lecture lies outside the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "trace"


def run(command, cwd, **environment):
    """Run a command of words; returns its exit status, stdout and stderr."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return finished.returncode, finished.stdout, finished.stderr


def tool(*arguments, cwd, options=(), folder=TOOL, **environment):
    """`python path/to/trace ARGUMENTS`; returns its exit status, stdout and stderr."""
    return run([sys.executable, *options, folder, *arguments], cwd, **environment)


def copy_of_the_tool(folder: Path) -> Path:
    """Copy what a lecture elsewhere needs of the repository, without the documents there."""
    for name in ("trace", "viewer"):
        unwanted = shutil.ignore_patterns("__pycache__", "*.json")
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    return folder
