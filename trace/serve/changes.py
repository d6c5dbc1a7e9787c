"""The files that a document was made from, and whether one of them has changed since."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from ..rewrite.prose import images_in
from ..schema import SourceFile
from ..target import Target

Stamp = tuple[int, int] | None
"""Time of the last change and size; None where there is no such file."""

_NEWER = (-1, -1)
"""The stamp of a file that was changed while the run that read it was going on."""


class Sources:
    """Before there is a document, and while there is none, all Python files that it might use."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._files: set[Path] | None = None
        self._stamps: dict[Path, Stamp] = {}

    def follow(
        self, files: list[SourceFile] | None, began_ns: int, data: Iterable[str] = ()
    ) -> None:
        """From now on, watch the files that a run used that began then; None: it told of none.
        `data`: other files that it read."""
        known = self._stamps
        root = self._target.root
        self._files = _files_of(files, root) if files is not None else None
        if self._files is not None:
            self._files |= {root / name for name in data}
        self._stamps = {
            file: known[file] if file in known else _stamp_at(file, began_ns)
            for file in self._current_files()
        }

    def remember(self) -> None:
        """Take note of how the files are now, because a run begins."""
        self._stamps = {file: _stamp(file) for file in self._current_files()}

    def changed(self) -> bool:
        """Tell whether a file is no longer as it was when the run began."""
        return self._stamps != {file: _stamp(file) for file in self._current_files()}

    def folders(self) -> set[Path]:
        """Return the folders in which something may change."""
        found = {file.parent for file in self._current_files()} | {self._target.folder}
        return {folder for folder in found if folder.is_dir()}

    def _current_files(self) -> set[Path]:
        if self._files is not None:
            return self._files
        is_package = self._target.folder != self._target.root
        pattern = "**/*.py" if is_package else "*.py"
        return set(self._target.folder.glob(pattern))


def _files_of(files: list[SourceFile], root: Path) -> set[Path]:
    """The sources, and the images that their prose names, those that are missing too."""
    found = set()
    for file in files:
        path = root / file.path
        images = (name for prose in file.prose for name in images_in(prose.text))
        found |= {
            path,
            *path.parent.glob("*.bib"),
            *(path.parent / unquote(name) for name in images),
        }
    return found


def _stamp(file: Path) -> Stamp:
    try:
        status = file.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _stamp_at(file: Path, began_ns: int) -> Stamp:
    stamp = _stamp(file)
    return _NEWER if stamp and stamp[0] > began_ns else stamp
