"""Record the lecture, up to three times where a claim about seconds fails.

`python -m tests.recording -q -o again.json` hands its arguments on to the tracer. Other programs
use the processor too, so what a clock showed once decides nothing. Sections have as many tries
where they are test cases (`tests/sections.py`).
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def record(
    arguments: Sequence[str | Path], lecture: str | Path = "lecture.main", tries: int = 3
) -> tuple[int, str]:
    """Run the tracer, and return the status and the standard error of the last try."""
    command = [sys.executable, "-m", "trace", lecture, *arguments]
    for _ in range(tries):
        run = subprocess.run(
            command, cwd=ROOT, stderr=subprocess.PIPE, text=True, encoding="utf-8", check=False
        )
        if not is_about_seconds(run.stderr):
            break
    return run.returncode, run.stderr


def is_about_seconds(complaint: str) -> bool:
    """Whether a run ended with a traceback whose innermost line is an assert marked `@timed`."""
    lines = re.findall(
        r"^    (assert\b.*)$", complaint.partition("AssertionError")[0], re.MULTILINE
    )
    return bool(lines) and "@timed" in lines[-1].partition("#")[2]


if __name__ == "__main__":
    status, complaint = record(sys.argv[1:])
    sys.stderr.write(complaint)
    sys.exit(status)
