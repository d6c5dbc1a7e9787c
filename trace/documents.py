"""Where documents lie, and the index that tells the viewer of them."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .encoding import write
from .errors import UsageError
from .target import Target

REPOSITORY = Path(__file__).resolve().parents[1]
VIEWER = REPOSITORY / "viewer"
TRACES = VIEWER / "traces"


def default_path(target: Target) -> Path:
    """Return where the document of a lecture is written unless told otherwise."""
    return TRACES / f"{target.module}.json"


def shown(path: Path) -> str:
    """Return a path as messages show it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def require_writable(path: Path) -> None:
    """Raise UsageError if no file can be written there. Tested before the run."""
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot write {shown(path)} ({error.strerror}): choose another place with -o."
        ) from None


def read(path: Path) -> bytes:
    """Return the bytes of a written document. Raises UsageError if there is none."""
    try:
        return path.read_bytes()
    except OSError:
        raise UsageError(
            f"there is no document {shown(path)} to compare with: run without --check first."
        ) from None


def is_current(path: Path, target: Target) -> bool:
    """Tell whether the sources in a written document equal those on disk."""
    try:
        files = json.loads(path.read_bytes())["files"]
        sources = [(target.root / file["path"], file["source"]) for file in files]
        return all(file.read_text(encoding="utf-8") == source for file, source in sources)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def update_index(path: Path, target: Target) -> None:
    """List a document that lies among the viewer's: lectures of ours in `index.json`, which is
    committed, others in `index.local.json`, which is not."""
    if path.resolve().parent != TRACES:
        return
    ours = target.root == REPOSITORY
    index = TRACES / ("index.json" if ours else "index.local.json")
    entries = [entry for entry in _entries(index) if entry["file"] != path.name]
    entries = [entry for entry in entries if (TRACES / entry["file"]).exists()]
    entries.append(entry_of(path))
    entries.sort(key=lambda entry: str(entry["file"]))
    write(json.dumps({"documents": entries}, indent=1).encode() + b"\n", index)


def entry_of(path: Path) -> dict[str, Any]:
    """Return the line of an index for a document."""
    document = json.loads(path.read_bytes())
    held = document["claims"]["held"]
    return {
        "file": path.name,
        "module": document["module"],
        "title": document["title"],
        "steps": sum(event > 0 for event in document["events"]),
        "claims": len(set(document["claims"]["statement"])),
        "held": len(held) - held.count(False),
        "failed": document["failure"] is not None,
    }


def _entries(index: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads(index.read_bytes())["documents"])
    except (OSError, ValueError, KeyError):
        return []
