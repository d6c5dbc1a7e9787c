"""What readers on other machines get: large documents in parts, and texts compressed."""

import functools
import gzip
import hashlib
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..document.decoding import decode
from . import library
from .comments import CODE, without_comments
from .course import NO_COURSE
from .overlay import Shown, address_name
from .packing import TEXT, VALUES, is_large, parts_of
from .plain import file_of, pages_of

_PART = re.compile(rf"/traces/(.+)({re.escape(TEXT)}|{re.escape(VALUES)})")
_TEXTS = (".js", ".css", ".html", ".json", ".svg")
_PAGES = ("/", ".html")
_LOCK = threading.Lock()
"""Two readers who ask for the parts of a document at once wait for one computation."""


@dataclass(frozen=True)
class Parcel:
    """An answer that was made smaller."""

    data: bytes
    is_coded: bool
    """The browser takes it apart; else the page does."""

    @property
    def tag(self) -> str:
        """Return what tells this content from another."""
        return f'"{hashlib.sha256(self.data).hexdigest()[:32]}"'


def parcel(shown: Shown, path: str, file: Path, read: Callable[[], bytes] | None) -> Parcel | None:
    """Return what is sent for an address instead of a file, or of what `read` returns. Raises
    OSError."""
    if found := _PART.fullmatch(path):
        document = _documents(shown).get(found[1])
        part = _parts(document).get(found[2]) if document else None
        return None if part is None else Parcel(part, is_coded=False)
    if path.endswith(_PAGES) and not shown.bulletin and (page := _page(shown, path)):
        return Parcel(gzip.compress(page.encode(), mtime=0), is_coded=True)
    if not path.endswith(_TEXTS):
        return None
    if read is not None:
        return Parcel(gzip.compress(read(), mtime=0), is_coded=True)
    stamp = library.stamp(file)
    return Parcel(_compressed(file, stamp), is_coded=True) if stamp and file.is_file() else None


def _page(shown: Shown, path: str) -> str | None:
    """The viewer's page, or a plain one of a lecture or of a chapter."""
    documents = _documents(shown)
    page = page_in_parts(
        (library.VIEWER / "index.html").read_text(encoding="utf-8"),
        [name for name, place in documents.items() if is_large(place)],
    )
    if path in ("/", "/index.html"):
        return page
    file = path.removeprefix("/")
    for name, document in documents.items():
        if file.startswith(f"{name}."):
            with _LOCK:
                pages = _pages_of_file(name, document, library.stamp(document), page)
            if file in pages:
                return pages[file]
    return None


@functools.lru_cache(maxsize=8)
def _pages_of_file(name: str, document: Path, _stamp: object, page: str) -> dict[str, str]:
    try:
        return pages_of(name, decode(document.read_bytes()), page, NO_COURSE)
    except ValueError:  # what is wrong with it, the viewer says
        return {}


def page_in_parts(page: str, names: Iterable[str]) -> str:
    """Return the viewer's page, told which documents come in parts."""
    return page.replace("<html ", f'<html data-parts="{" ".join(names)}" ', 1)


def prepare(shown: Shown) -> None:
    """Make the parts of the documents that are shown, before somebody waits for them."""
    for document in _documents(shown).values():
        if is_large(document):
            _parts(document)
            _page(shown, f"/{file_of(address_name(document))}")


def _documents(shown: Shown) -> dict[str, Path]:
    """The documents that are served, by the names that addresses have for them."""
    listed = [
        shown.folder / str(entry["file"])
        for index in library.INDEXES
        for entry in library.entries_of(shown.folder / index)
    ]
    return {address_name(path): path for path in [*listed, *shown.elsewhere] if path.is_file()}


def _parts(document: Path) -> dict[str, bytes]:
    with _LOCK:
        return _parts_of_file(document, library.stamp(document))


@functools.lru_cache(maxsize=8)
def _parts_of_file(document: Path, _stamp: object) -> dict[str, bytes]:
    return parts_of(document.read_bytes())


@functools.lru_cache(maxsize=1000)
def _compressed(file: Path, _stamp: object) -> bytes:
    data = file.read_bytes()
    if file.suffix in CODE and library.VIEWER / "vendor" not in file.parents:
        data = without_comments(data.decode()).encode()
    return gzip.compress(data, mtime=0)
