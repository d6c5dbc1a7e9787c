"""The next run of a lecture, begun in advance: a process that has imported what takes long, and
waits for the lecture to change.

It imports nothing that the lecture would not import first of all, too, and runs nothing else of it:
so the document is the one of a run that begins only then.
"""

import argparse
import ast
import contextlib
import importlib
import itertools
import os
import sys
from collections.abc import Iterator

from ..target import Target, file_of
from ..terminal import own_command
from .process import Run

SLOW = frozenset({"torch", "numpy", "pandas", "matplotlib"})
"""Libraries whose import takes long and is the same whoever asks for it."""
PACKAGE_NAMES = frozenset({"trace", "lecture_trace"})
"""The names by which a lecture knows us."""


def wait_for_turn(modules: list[str]) -> bool:
    """Import modules and wait for a line on stdin; tell whether it came."""
    for name in modules:
        with contextlib.suppress(Exception):  # the lecture will meet it, and it is told there
            importlib.import_module(name)
    asked = os.read(0, 1)
    # A lecture finds what it finds in a run that did not wait: nothing to read.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return bool(asked)


def imported_first(source: str) -> list[str]:
    """Return the slow modules that a program imports before it does anything else.

    What stands below may depend on more than the modules: on the environment, for one, which a
    line between two imports may set.

    >>> imported_first("import os\\nimport torch.nn as nn\\nfrom numpy import array\\nx = 1")
    ['torch.nn', 'numpy']
    >>> imported_first("import os\\nos.environ['A'] = '1'\\nimport torch")
    []
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    names = []
    for name in _leading_imports(tree.body):
        root = name.partition(".")[0]
        if root in SLOW:
            names.append(name)
        elif root not in sys.stdlib_module_names and root not in PACKAGE_NAMES:
            break
    return names


def _leading_imports(body: list[ast.stmt]) -> Iterator[str]:
    tried = (one.body if isinstance(one, ast.Try) else [one] for one in body)
    for statement in itertools.chain.from_iterable(tried):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            yield statement.module
        elif not _is_text(statement):
            return


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_Key = tuple[list[str], list[str]]
"""The command of a run, and the modules that it imports first."""


class Standby:
    """A process that waits for the next run of one lecture, if that may gain something."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._key: _Key = ([], [])
        self._wanted: tuple[Target, argparse.Namespace, str] | None = None

    def want(self, target: Target, options: argparse.Namespace, lecture: str) -> None:
        """From now on, it is this lecture that is likely to run next."""
        self._wanted = target, options, lecture

    def prepare(self) -> None:
        """Begin to import what that lecture imports first, unless a process does; let go of any
        other that waits."""
        if self._wanted is None:
            return
        target, options, lecture = self._wanted
        self._wanted = None
        self.end()
        self._key = _key(target, options, lecture)
        if modules := self._key[1]:
            options = argparse.Namespace(**{**vars(options), "stand_by": modules})
            self._run = Run(own_command(options, lecture), is_waiting=True)

    def take(self, target: Target, options: argparse.Namespace, lecture: str) -> Run | None:
        """Return the run that waits for this, begun, or None: then begin one."""
        run, self._run = self._run, None
        if run is None:
            return None
        if self._key == _key(target, options, lecture) and run.begin():
            return run
        run.stop()
        return None

    def end(self) -> None:
        """Let go of what waits."""
        if self._run:
            self._run.stop()
        self._run = None


def _key(target: Target, options: argparse.Namespace, lecture: str) -> _Key:
    """Return the command and what the lecture imports first: the run that waits is the one that is
    wanted if both are still the same. A lecture with modules of these names beside it, or one that
    is timed, begins afresh."""
    try:
        modules = imported_first(file_of(target).read_text(encoding="utf-8"))
    except (OSError, UnicodeError):
        modules = []
    roots = {name.partition(".")[0] for name in modules}
    is_own = any(list(target.root.glob(f"{root}*")) for root in roots)
    return own_command(options, lecture), [] if is_own or options.time else modules
