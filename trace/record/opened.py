"""Which files beside it a lecture reads: when one of them changes, its document is out of date."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd")
_watching: list[set[str]] = []
_hooked: list[bool] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watching:
        return
    path, _, flags = arguments
    if type(path) is str and not flags & (os.O_WRONLY | os.O_RDWR):
        _watching[-1].add(path)


@contextlib.contextmanager
def opened_files() -> Iterator[set[str]]:
    """Give the paths of the files that are opened for reading inside, as they are named there."""
    if not _hooked:  # a hook stays for good
        _hooked.append(True)
        sys.addaudithook(_hook)
    _watching.append(set())
    try:
        yield _watching[-1]
    finally:
        _watching.pop()


def data_files(paths: set[str], folder: Path, root: Path) -> list[str]:
    """Return those of these files that are data of a lecture in this folder, relative to the root,
    with forward slashes."""
    found = set()
    for path in paths:
        file = Path(path).absolute()
        if folder in file.parents and file.suffix not in _CODE and file.is_file():
            parts = file.relative_to(folder).parts
            if not any(part.startswith((".", "__")) or part == "site-packages" for part in parts):
                found.add(file.relative_to(root).as_posix())
    return sorted(found)
