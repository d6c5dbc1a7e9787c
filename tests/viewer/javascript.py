"""Runs the viewer's pure modules without a browser, in the Node.js that Playwright brings along."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "NODE_NO_WARNINGS": "1"}


def node() -> str:
    """The program: part of the package, so that nothing else need be installed."""
    import playwright

    name = "node.exe" if sys.platform == "win32" else "node"
    return str(Path(playwright.__file__).parent / "driver" / name)


class Modules:
    """A process that answers what `answers.js` knows to ask of the modules."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [node(), str(HERE / "answers.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env=ENVIRONMENT,
        )

    def __call__(self, question: str, *arguments: Any) -> Any:
        """Ask; numbers that JSON does not hold come back as null."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([question, arguments]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "node has ended"}')
        assert "error" not in answer, answer["error"]
        return answer["found"]

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def run_tests(file: Path, document: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of one file; they read the small lecture from `document`."""
    return subprocess.run(
        [node(), "--test", "--test-reporter=spec", str(file)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**ENVIRONMENT, "SMALL_LECTURE": str(document)},
    )
