"""What is served besides the files of the viewer: a document from elsewhere, and lists with it."""

import contextlib
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..options import HOST
from . import library
from .library import TIMES
from .news import Bulletin

_LIVE = """\
<link rel="stylesheet" href="live.css">
<script type="module" src="views/live.js" data-recorded="{recorded}"></script>
</template>"""


@dataclass(frozen=True)
class Shown:
    """What is served: the viewer with its documents, and one of the author's."""

    document: Path | None = None
    bulletin: Bulletin | None = None
    """News of the document, if pages are to follow it."""
    host: str = HOST


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
    local = library.TRACES / "index.local.json"
    extra: dict[str, Callable[[], bytes]] = {
        "/traces/index.local.json": lambda: _listing(local, shown.document)
    }
    if shown.document and shown.document.resolve().parent != library.TRACES:
        name = address_name(shown.document)
        times = shown.document.with_suffix(TIMES)
        extra["/traces/index.json"] = lambda: _listing_without(f"{name}.json")
        extra[f"/traces/{name}.json"] = shown.document.read_bytes
        extra[f"/traces/{name}{TIMES}"] = times.read_bytes
    if shown.bulletin:
        page = functools.partial(_page_with_news, shown.bulletin)
        extra["/"] = extra["/index.html"] = page
    return extra


def _listing(index: Path, document: Path | None) -> bytes:
    """The local index; with the document, if that lies elsewhere and is there."""
    entries = library.entries_of(index)
    if document and document.resolve().parent != library.TRACES:
        name = f"{address_name(document)}.json"
        entries = [entry for entry in entries if entry["file"] != name]
        with contextlib.suppress(OSError):
            entries.append({**library.entry_of(document), "file": name})
    return json.dumps({"documents": entries}).encode()


def _listing_without(name: str) -> bytes:
    """The committed index without a document that another one stands in for."""
    entries = library.entries_of(library.TRACES / "index.json")
    others = [entry for entry in entries if entry["file"] != name]
    return json.dumps({"documents": others}).encode()


def _page_with_news(bulletin: Bulletin) -> bytes:
    """The viewer's page, with the part that listens to the news."""
    page = (library.VIEWER / "index.html").read_text(encoding="utf-8")
    live = _LIVE.format(recorded=bulletin.notice.get("recorded", ""))
    return page.replace("</template>", live).encode()
