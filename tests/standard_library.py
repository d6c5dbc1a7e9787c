"""Python's own tests, run plainly and under the recorder: `python -m tests.standard_library`.

Nobody here wrote them, and they know what Python does better than we. Each module is copied beside
a small lecture that runs its tests, which is run as Python runs it and under the recorder, in two
processes with a time limit; then outcomes are compared, test by test. Differences that have a
reason stand in `known_differences.toml`; any other one ends this with status 1.

Names of modules may be given (`test_bool test_generators`); else those that the file chooses are
tried, and with `--all` each that is one file, also those that need a network or a display.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from tests import installed_packages

ROOT = Path(__file__).parent.parent
KNOWN = tomllib.loads((Path(__file__).parent / "known_differences.toml").read_text())
SECONDS = 60
"""How long one run of a module may take; a traced one ten times as long as a plain one."""
MAX_STEPS = 20_000_000
TRIES = 3
"""How often a module is run in each of the two ways while its tests end differently."""

LECTURE = """
import json, os, unittest
import {module}

class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcomes = {{}}

    def startTest(self, test):
        super().startTest(test)
        self.outcomes[test.id()] = "passed"

    def addError(self, test, error):
        self.outcomes[test.id()] = f"error: {{error[0].__name__}}: {{error[1]}}"[:500]

    def addFailure(self, test, error):
        self.outcomes[test.id()] = f"failed: {{error[1]}}"[:500]

    def addSubTest(self, test, subtest, error):
        if error:
            self.addError(test, error)

    def addSkip(self, test, reason):
        self.outcomes[test.id()] = "skipped"

def main():
    outcomes = Outcomes()
    unittest.defaultTestLoader.loadTestsFromModule({module}).run(outcomes)
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(outcomes.outcomes, file)
"""


@dataclass
class Compared:
    """What became of the tests of one module."""

    module: str
    tests: int = 0
    trouble: str = ""
    """Why there is nothing to compare."""
    different: list[str] = field(default_factory=list)
    known: int = 0


@dataclass
class Runs:
    """What became of the tests of one module, run some times in one way.

    A test that ends now so and now so, when nobody looks, says nothing of those who look: it
    differs only if it never ends traced as it ended plainly once.
    """

    how: str
    outcomes: list[dict[str, str]] = field(default_factory=list)
    """Of each run, by test."""
    trouble: str = ""
    """Why the last run has no outcomes."""

    def add(self, found: dict[str, str] | str) -> None:
        """Add a run."""
        self.trouble = found if isinstance(found, str) else ""
        if not isinstance(found, str):
            self.outcomes.append(found)

    def of(self, test: str) -> dict[str, str]:
        """Return how a test ended: passed, failed, ..., and what it said then."""
        ends = [run.get(test, "not run") for run in self.outcomes]
        return {end.partition(":")[0]: _line(end) for end in ends}


def folder_of_tests() -> Path | None:
    """Where this Python keeps its own tests; some installations leave them out."""
    spec = find_spec("test")
    found = spec and spec.submodule_search_locations
    folder = Path(found[0]) if found else None
    return folder if folder and (folder / "test_bool.py").exists() else None


def outcomes(command: list[str], folder: Path, seconds: float) -> dict[str, str] | str:
    """Run a command; return what it found by test, or what was wrong with it."""
    result = folder / "outcomes.json"
    result.unlink(missing_ok=True)
    environment = os.environ | {"OUTCOMES": str(result), "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"took more than {seconds:.0f} s"
    if not result.exists():
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"ended with status {done.returncode}"
    return dict(json.loads(result.read_text()))


def prepare(module: str, folder: Path) -> Path:
    """Copy a test module into a folder, and write the lecture that runs it; returns its file."""
    tests = folder_of_tests()
    assert tests is not None
    shutil.copy(tests / f"{module}.py", folder)
    lecture = folder / f"runs_{module}.py"
    lecture.write_text(LECTURE.format(module=module))
    return lecture


def compare(module: str) -> Compared:
    """Run a module, or a package, plainly and traced, and compare; what differs is tried again."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        is_package = module in installed_packages.packages()
        lecture = (installed_packages if is_package else sys.modules[__name__]).prepare(
            module, folder
        )
        plain, traced = Runs("plainly"), Runs("traced")
        start = f"import {lecture.stem} as lecture; lecture.main()"
        tool = [sys.executable, str(ROOT / "trace"), lecture.name, "-o", "out.json", "--quiet"]
        tool += [f"--max-steps={MAX_STEPS}"]
        for _ in range(TRIES):
            (folder / "out.json").unlink(missing_ok=True)
            plain.add(outcomes([sys.executable, "-c", start], folder, SECONDS))
            traced.add(outcomes(tool, folder, 10 * SECONDS) if plain.outcomes else {})
            document = folder / "out.json"
            written = document.read_text() if document.exists() else ""
            if plain.outcomes and not written:
                traced.trouble = traced.trouble or "wrote no document"
            elif is_package and not traced.trouble and f'"{module}/' not in written:
                traced.trouble = "was not recorded"
            found = differences(module, plain, traced)
            if found.trouble or not found.different:
                break
    return found


def differences(module: str, plain: Runs, traced: Runs) -> Compared:
    for runs in (plain, traced):
        if runs.trouble:
            return Compared(module, trouble=f"{runs.how}, it {runs.trouble}")
    known = KNOWN.get(module, {})
    different, forgiven = [], 0
    names = set().union(*plain.outcomes, *traced.outcomes)
    if not names:
        return Compared(module, trouble="has no tests")
    for test in sorted(names):
        before, after = plain.of(test), traced.of(test)
        if before.keys().isdisjoint(after):
            if any(fnmatchcase(test.rpartition(".")[2], name) for name in known):
                forgiven += 1
            else:
                told = [" or ".join(kinds.values()) for kinds in (before, after)]
                different.append(f"{test}: plainly {told[0]}, traced {told[1]}")
    return Compared(module, len(names), different=different, known=forgiven)


def _line(outcome: str) -> str:
    return outcome.partition("\n")[0]


def all_modules(tests: Path) -> list[str]:
    """All test modules that are one file, without those of which nothing can be compared."""
    return sorted({file.stem for file in tests.glob("test_*.py")} - KNOWN["left_out"].keys())


def main() -> int:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="such as test_generators, or a package")
    parser.add_argument("--all", action="store_true", help="try all of them")
    options = parser.parse_args()
    tests = folder_of_tests()
    packages = installed_packages.packages()
    if tests is None:
        print("This Python was installed without its own tests; packages alone are compared.")
    chosen = options.modules or (all_modules(tests) if tests and options.all else KNOWN["chosen"])
    present = [module for module in chosen if tests and (tests / f"{module}.py").exists()]
    present += [name for name in packages if name in options.modules or not options.modules]
    found = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(compare, present):
            found.append(one)
            for line in [*one.different, *([f"{one.module}: {one.trouble}"] * bool(one.trouble))]:
                print(line, flush=True)
    totals = Counter(tests=sum(one.tests for one in found))
    totals.update(known=sum(one.known for one in found))
    different = sum(len(one.different) for one in found)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    print(
        f"Python {version}: {len(found)} modules and packages, {totals['tests']:,} tests; "
        f"{different} differ, {totals['known']} more for a known reason."
    )
    return 1 if different or any("traced" in one.trouble for one in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
