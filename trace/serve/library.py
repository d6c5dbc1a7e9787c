"""Where documents lie, and the index that tells the viewer of them."""

import glob
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..document.beside import write_beside
from ..document.data import fingerprints
from ..document.decoding import decode
from ..document.encoding import write
from ..document.summary import Summary
from ..errors import UsageError
from ..schema import VERSION, Document
from ..target import IS_INSTALLED, PACKAGE, Target
from ..target import VIEWER as VIEWER
from .course import NO_COURSE, course_of

REPOSITORY = PACKAGE.parent
"""What the package lies in: the repository, or the folder of installed packages."""
TRACES = VIEWER / "traces"
"""The documents of the repository's own lectures."""
AUTHORS = ".lecture-trace"
"""The folder for the documents of other lectures, beside those."""
INDEXES = ("index.json", "index.local.json")
"""Lists of documents: those that are committed, and others."""
TIMES = ".times.json"
"""What the name of a file with seconds ends in, instead of `.json`."""

_SUMMARIES: dict[Path, tuple[tuple[int, int] | None, Summary]] = {}
"""Time of the last change and size of documents that were written or read, and their summaries: a
document may have megabytes, and is asked for whenever documents are listed."""


def default_path(target: Target, path: str = "") -> Path:
    """Return where the document of a lecture, or of a path through it, is written unless told
    otherwise."""
    return shelf_of(target) / f"{target.module}{path and f'.{path}'}.json"


def shelf_of(target: Target) -> Path:
    """Return the folder that the documents of a lecture and of its neighbours lie in."""
    return TRACES if _is_ours(target) else target.root / AUTHORS


def shelf_here() -> Path:
    """Return the folder with the documents to show where no lecture is named. Raises UsageError."""
    here = Path.cwd() / AUTHORS
    if (here / "index.json").is_file():
        return here
    if IS_INSTALLED:
        raise UsageError("no lecture was run in this folder yet: name one.")
    return TRACES


def _is_ours(target: Target) -> bool:
    return target.root == REPOSITORY and not IS_INSTALLED


def _is_shelf(folder: Path) -> bool:
    return folder == TRACES or folder.name == AUTHORS


def shown(path: Path) -> str:
    """Return a path as messages show it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def require_writable(path: Path, option: str = "-o") -> None:
    """Raise UsageError if no file can be written there. Tested before the run."""
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        if path.name in INDEXES and _is_shelf(path.resolve().parent):
            raise FileExistsError(17, "it is the list of documents")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write {shown(path)} ({error.strerror}): choose another place with {option}."
        ) from None


def looks_writable(path: Path) -> bool:
    """Tell, without a trace, whether a file could be written there."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    return folder.is_dir() and os.access(folder, os.W_OK)


def read(path: Path, bytes_of: Callable[[Path], bytes] = Path.read_bytes) -> tuple[bytes, Document]:
    """Return the bytes and a document of this version. Raises UsageError if there is none."""
    if not path.exists():
        raise UsageError(
            f"there is no document {shown(path)} to compare with: run without --check first."
        )
    try:
        data = bytes_of(path)
        document = decode(data)
        if document.version == VERSION:
            return data, document
        reason = f"it is of version {document.version} and not {VERSION}"
    except FileNotFoundError as error:
        reason = f"{shown(Path(error.filename))} is missing"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except ValueError as error:
        reason = str(error)
    raise UsageError(
        f"{shown(path)} is no document to compare with ({reason}): run without --check to write "
        "it anew."
    )


def save(
    data: bytes, path: Path, summary: Summary, files: Mapping[str, bytes] = MappingProxyType({})
) -> None:
    """Write a document of which this is the summary, and the files beside it; git leaves out what
    can be made again."""
    write(data, path)
    write_beside(path, files)
    if path.parent.name == AUTHORS and not (path.parent / ".gitignore").exists():
        write(b"*\n", path.parent / ".gitignore")
    _SUMMARIES[path.resolve()] = stamp(path), summary


def summary_of(path: Path) -> Summary:
    """Return the summary of a written document; it is read only if it is not known yet."""
    found = stamp(path)
    known, summary = _SUMMARIES.get(path.resolve(), (None, None))
    if summary is None or known != found:
        summary = Summary.of(decode(path.read_bytes()))
        _SUMMARIES[path.resolve()] = found, summary
    return summary


def stamp(path: Path) -> tuple[int, int] | None:
    """Return the time of the last change and the size of a file, if it is there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def is_current(path: Path, target: Target) -> bool:
    """Tell whether a written document is of a whole run of this lecture from the same sources."""
    try:
        _, document = read(path)
        if document.module != target.module or document.failure is not None:
            return False
        if document.data != fingerprints(list(document.data), target.root):
            return False
        return all(
            importlib.util.decode_source((target.root / file.path).read_bytes()) == file.source
            for file in document.files
        )
    except (UsageError, OSError, ValueError, SyntaxError):
        return False


def update_index(path: Path, target: Target) -> None:
    """List a document that lies among others: in `index.json`, but what is not the repository's
    and lies there all the same in `index.local.json`, which is not committed."""
    shelf = path.resolve().parent
    if not _is_shelf(shelf):
        return
    is_foreign = shelf == TRACES and not _is_ours(target)
    index = shelf / INDEXES[is_foreign]
    entries = [entry for entry in entries_of(index) if entry["file"] != path.name]
    entries = [entry for entry in entries if (shelf / entry["file"]).exists()]
    entries.append(entry_of(path))
    for entry in entries:  # browsers print an error where a file is asked for in vain
        entry.pop("times", None)
        entry.pop("machines", None)
        if (shelf / entry["file"]).with_suffix(TIMES).exists():
            entry["times"] = True
        if labels := machines_beside(shelf / entry["file"]):
            entry["machines"] = labels
    entries.sort(key=lambda entry: str(entry["file"]))
    course = NO_COURSE if is_foreign else course_of(target.root)
    write(json.dumps(course.index(entries), indent=1).encode() + b"\n", index)


def machines_beside(path: Path) -> list[str]:
    """Return the labels of times from other machines: `NAME.LABEL.times.json` beside a document.

    Labels are of letters, digits and hyphens; a document `NAME.LABEL.json` has times of its own.
    """
    labels = (
        times.name.removeprefix(f"{path.stem}.").removesuffix(TIMES)
        for times in path.parent.glob(f"{glob.escape(path.stem)}.*{TIMES}")
    )
    return sorted(
        label
        for label in labels
        if label.replace("-", "").isalnum()
        and not path.with_name(f"{path.stem}.{label}.json").exists()
    )


def entry_of(path: Path) -> dict[str, Any]:
    """Return the line of an index for a document."""
    summary = summary_of(path)
    return {
        "file": path.name,
        "module": summary.module,
        "title": summary.title,
        "steps": summary.steps,
        "claims": summary.claims,
        "held": summary.held,
        "failed": summary.failure is not None,
    }


def entries_of(index: Path) -> list[dict[str, Any]]:
    """Return the lines of an index, none if it cannot be read."""
    try:
        return list(json.loads(index.read_bytes())["documents"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
