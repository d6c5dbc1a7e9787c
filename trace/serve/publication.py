"""A lecture for others: one file that opens anywhere, or a folder for any web server."""

import dataclasses
import glob
import json
import shutil
from pathlib import Path
from typing import Any

from ..document.beside import copy_beside, whole
from ..document.decoding import decode
from ..document.encoding import write
from ..errors import FAILED, HELD, UsageError
from ..terminal import complain, quoted
from . import library
from .afar import page_in_parts
from .comments import CODE, without_comments
from .course import NO_COURSE, Course
from .library import TIMES
from .one_file import one_file
from .overlay import address_name, frame_ancestors
from .packing import TEXT, VALUES, parts_of
from .plain import file_of, is_page_of, list_page, pages_of

_FOR_AUTHORS = ("live.js", "live.css", "unpack.js", "*.d.ts")
"""Files of the viewer that a published site does not need."""


_OUR_HEADERS = "# Written with the site; change this line to keep changes."
LARGE_BYTES = 10_000_000
"""A page of one file beyond which its size is said."""


@dataclasses.dataclass(frozen=True)
class Publication:
    """What `--html` and `--site` ask for."""

    html: Path | None
    site: Path | None
    course: Course = NO_COURSE
    frames: tuple[str, ...] = ()
    """Origins whose pages may show those of the site in a frame."""

    @property
    def is_wanted(self) -> bool:
        """Tell whether something is to be published."""
        return bool(self.html or self.site)

    def __str__(self) -> str:
        places = [library.shown(place) for place in (self.html, self.site) if place]
        return " and ".join(places)

    @property
    def word_about_size(self) -> str:
        """What is to be said of one file that is too large for a letter."""
        if self.html is None or (size_bytes := self.html.stat().st_size) <= LARGE_BYTES:
            return ""
        return f" {library.shown(self.html)} is {size_bytes / 1e6:.0f} MB, with all its pictures."

    def require_writable(self) -> None:
        """Raise UsageError if something else is in the way. Tested before the run."""
        if self.html:
            library.require_writable(self.html, "--html")
        if self.site:
            _require_site(self.site)
            library.require_writable(self.site / "index.html", "--site")

    def require_distinct(self, lectures: list[str], paths: list[Path]) -> None:
        """Raise UsageError if two documents would have one name."""
        for index, path in enumerate(paths):
            if path.name in [other.name for other in paths[:index]]:
                named = " and ".join(map(quoted, lectures))
                raise UsageError(f"of {named}, two would be {path.name}: rename one of the files.")

    def publish(self, paths: list[Path]) -> int:
        """Write what is asked for from these documents; return the exit status."""
        try:
            if self.html:
                write(one_file(whole(paths[0]), address_name(paths[0])), self.html)
            if self.site:
                write_site(self.site, paths, self.course)
                _write_headers(self.site, self.frames)
        except (OSError, shutil.Error) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            return complain(f"{self} could not be written: {reason}.", FAILED)
        return HELD

    def refuse(self, status: int) -> int:
        """Say that nothing is published, and why."""
        verb = "were" if self.html and self.site else "was"
        return complain(f"{self} {verb} not written, for the lecture failed.", status)


def _require_site(folder: Path) -> None:
    if not folder.exists() or (folder / "traces" / "index.json").is_file():
        return
    if folder.is_file() or any(folder.iterdir()):
        raise UsageError(
            f"{library.shown(folder)} is neither empty nor a site that was made with --site: "
            "choose another folder."
        )


def write_site(folder: Path, paths: list[Path], course: Course = NO_COURSE) -> None:
    """Write the viewer and documents into a folder; documents that are there already stay.

    The documents are listed in the order in which they are named, new ones at the end; those that a
    course puts into groups before the others.
    """
    ignored = shutil.ignore_patterns("traces", ".*", *_FOR_AUTHORS)
    shutil.copytree(library.VIEWER, folder, ignore=ignored, copy_function=_copy, dirs_exist_ok=True)
    for place, file in course.files.items():
        write(file.read_bytes(), folder / place)
    (folder / ".nojekyll").touch()  # GitHub Pages takes the files as they are
    traces = folder / "traces"
    index = traces / "index.json"
    entries = {entry["file"]: entry for entry in library.entries_of(index)}
    for path in paths:
        name = f"{address_name(path)}.json"
        data = path.read_bytes()
        write(data, traces / name)
        _write_parts(data, traces / name)
        entries[name] = {**library.entry_of(path), "file": name}
        copy_beside(path, traces / name)
        if _copy_times(path, traces / name):
            entries[name]["times"] = True
        for label in (labels := library.machines_beside(path)):
            times = path.with_suffix(f".{label}{TIMES}")
            write(times.read_bytes(), (traces / name).with_suffix(f".{label}{TIMES}"))
        if labels:
            entries[name]["machines"] = labels
    named = [f"{address_name(path)}.json" for path in paths]
    following = iter(named)  # in the places that they had
    order = [next(following) if name in named else name for name in entries]
    listed = [entries[name] for name in order if (traces / name).is_file()]
    write(json.dumps(course.index(listed), indent=1).encode() + b"\n", index)
    _write_pages(folder, [f"{address_name(path)}.json" for path in paths], listed, course)


def _write_headers(folder: Path, frames: tuple[str, ...]) -> None:
    """Write what servers are to send with each page, in the form that Netlify and Cloudflare read,
    unless the author has written it."""
    place = folder / "_headers"
    if not place.exists() or place.read_text(encoding="utf-8").startswith(_OUR_HEADERS):
        policy = f"/*\n  Content-Security-Policy: {frame_ancestors(frames)}\n"
        write(f"{_OUR_HEADERS}\n{policy}".encode(), place)


def _write_pages(
    folder: Path, new: list[str], listed: list[dict[str, Any]], course: Course
) -> None:
    """Write the viewer's page, and plain pages of these documents."""
    traces = folder / "traces"
    in_parts = [place.name.removesuffix(TEXT) for place in sorted(traces.glob(f"*{TEXT}"))]
    page = page_in_parts((library.VIEWER / "index.html").read_text(encoding="utf-8"), in_parts)
    for file in new:
        name = file.removesuffix(".json")
        for stale in folder.glob(f"{glob.escape(name)}*.html"):
            if is_page_of(name, stale.read_text(encoding="utf-8")):
                stale.unlink()
        document = decode((traces / file).read_bytes())
        for place, text in pages_of(name, document, page, course).items():
            write(text.encode(), folder / place)
    titles = {file_of(entry["file"].removesuffix(".json")): entry["title"] for entry in listed}
    fronts = {file: title for file, title in titles.items() if (folder / file).is_file()}
    if len(listed) == 1 and fronts:
        write((folder / next(iter(fronts))).read_bytes(), folder / "index.html")
    else:
        write(list_page(page, fronts, course).encode(), folder / "index.html")


def _write_parts(data: bytes, published: Path) -> None:
    """Write the parts of a document beside it, if it has any."""
    parts = parts_of(data)
    for ending in (TEXT, VALUES):
        place = published.with_name(f"{published.stem}{ending}")
        if ending in parts:
            write(parts[ending], place)
        else:
            place.unlink(missing_ok=True)


def _copy(source: str, target: str) -> None:
    """Copy a file of the viewer, our own code without comments."""
    path = Path(source)
    if path.suffix in CODE and library.VIEWER / "vendor" not in path.parents:
        write(without_comments(path.read_text(encoding="utf-8")).encode(), Path(target))
    else:
        shutil.copy2(source, target)


def _copy_times(path: Path, published: Path) -> bool:
    """Copy the seconds that lie beside a document, if there are any; tell whether there are."""
    times = path.with_suffix(TIMES)
    if not times.is_file():
        published.with_suffix(TIMES).unlink(missing_ok=True)
        return False
    write(times.read_bytes(), published.with_suffix(TIMES))
    return True
