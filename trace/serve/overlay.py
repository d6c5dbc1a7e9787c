"""What is served besides the files of the viewer: a document from elsewhere, and lists with it."""

import contextlib
import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..document.beside import FILES
from ..options import HOST
from . import library
from .course import NO_COURSE, Course
from .library import TIMES
from .news import Bulletin

_LIVE = """\
<link rel="stylesheet" href="live.css">
<script type="module" src="views/live.js" data-recorded="{recorded}"></script>
</template>"""


@dataclass(frozen=True)
class Shown:
    """What is served: the viewer, the documents on a shelf, and others as if they lay there."""

    document: Path | None = None
    """The one that the page shows first."""
    bulletin: Bulletin | None = None
    """News of the document, if pages are to follow it."""
    host: str = HOST
    allowed_hosts: tuple[str, ...] = ()
    """Other names by which a browser may call us: `*.example.org` for all below it."""
    shelf: Path | None = None
    """Where the documents lie, unless it is among the viewer's files."""
    others: tuple[Path, ...] = ()
    course: Course = NO_COURSE
    frames: tuple[str, ...] = ()
    """Origins whose pages may show ours in a frame."""

    @property
    def folder(self) -> Path:
        """Return the folder that is served as `traces/`."""
        return self.shelf or library.TRACES

    def place_of(self, parts: tuple[str, ...]) -> tuple[Path, Path]:
        """Return the file of an address below `traces/`, and the folder that it has to be in."""
        for path in self.elsewhere:
            if parts[:1] == (f"{address_name(path)}{FILES}",):
                folder = path.with_suffix(FILES)
                return folder, folder.joinpath(*parts[1:])
        return self.folder, self.folder.joinpath(*parts)

    @property
    def elsewhere(self) -> list[Path]:
        """Return the documents that do not lie on the shelf."""
        named = [self.document, *self.others] if self.document else [*self.others]
        return [path for path in named if path.resolve().parent != self.folder]


def frame_ancestors(origins: Sequence[str]) -> str:
    """Return the policy that lets pages of these origins show ours in a frame.

    >>> frame_ancestors(["https://example.org"])
    "frame-ancestors 'self' https://example.org"
    """
    return " ".join(("frame-ancestors 'self'", *origins))


def address_name(path: Path) -> str:
    """Return the name of a document as the viewer's addresses may hold it.

    >>> address_name(Path("out/my lecture (2).json"))
    'my-lecture--2-'
    """
    return "".join(sign if _is_allowed(sign) else "-" for sign in path.stem)


def _is_allowed(sign: str) -> bool:
    """Tell whether a name in an address may have this sign: those of Python's names, and `.-`."""
    return sign in ".-" or f"_{sign}".isidentifier()


def extra_files(shown: Shown) -> dict[str, Callable[[], bytes]]:
    """What is served besides the folder, or in place of what is there."""
    extra: dict[str, Callable[[], bytes]] = {
        "/traces/index.json": lambda: _listing_of_shelf(shown),
        "/traces/index.local.json": lambda: _listing_of_others(shown),
    }
    for path in shown.elsewhere:
        name = address_name(path)
        extra[f"/traces/{name}.json"] = path.read_bytes
        extra[f"/traces/{name}{TIMES}"] = path.with_suffix(TIMES).read_bytes
    for place, file in shown.course.files.items():
        extra[f"/{place}"] = file.read_bytes
    if shown.bulletin:
        page = functools.partial(_page_with_news, shown.bulletin)
        extra["/"] = extra["/index.html"] = page
    return extra


def _listing_of_shelf(shown: Shown) -> bytes:
    """The index of the shelf, without documents that others stand in for."""
    return json.dumps(shown.course.index(_entries(shown, "index.json"))).encode()


def _listing_of_others(shown: Shown) -> bytes:
    """What is not committed, and the documents that lie elsewhere and are there."""
    entries = _entries(shown, "index.local.json")
    for path in shown.elsewhere:
        with contextlib.suppress(OSError):
            entries.append({**library.entry_of(path), "file": f"{address_name(path)}.json"})
    return json.dumps({"documents": entries}).encode()


def _entries(shown: Shown, index: str) -> list[dict[str, Any]]:
    replaced = [f"{address_name(path)}.json" for path in shown.elsewhere]
    entries = library.entries_of(shown.folder / index)
    return [entry for entry in entries if not replaced or entry["file"] not in replaced]


def _page_with_news(bulletin: Bulletin) -> bytes:
    """The viewer's page, with the part that listens to the news."""
    page = (library.VIEWER / "index.html").read_text(encoding="utf-8")
    live = _LIVE.format(recorded=bulletin.notice.get("recorded", ""))
    return page.replace("</template>", live).encode()
