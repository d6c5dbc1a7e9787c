"""Files that a lecture names: beside it, in its caches, or, if that is wanted, downloaded."""

import contextlib
import hashlib
import re
import shutil
import urllib.parse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_MEDIA_BYTES = 6_000_000
"""Larger files are named and not shown."""
DOWNLOAD_SECONDS = 20
CACHE = Path("var/files")
"""Where such lectures keep what they have downloaded, seen from their folder."""


def is_address(name: str) -> bool:
    """Tell whether a name is the address of something elsewhere."""
    return name.startswith(("http://", "https://"))


def cache_names(url: str, kind: str) -> Iterator[Path]:
    """The files in which the known tools keep what lies at an address."""
    name = re.sub(r"[^\w_-]+", "_", url)
    digest = hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
    stem = f"{kind}-{digest}-{name}"
    yield CACHE / (stem + Path(urllib.parse.urlparse(url).path).suffix)
    yield CACHE / stem
    suffix = Path(url.split("?")[0]).suffix or ".bin"
    digest = hashlib.sha256(url.encode()).hexdigest()[:20]
    yield Path.home() / ".cache" / "lectrace" / f"{kind}-{digest}{suffix}"


def download(url: str, file: Path) -> None:
    """Fetch what lies at an address into a file. Raises OSError."""
    import urllib.request  # takes a tenth of the smallest run

    file.parent.mkdir(parents=True, exist_ok=True)
    request = urllib.request.Request(url, headers={"User-Agent": "Mozilla/5.0 lecture-trace"})
    part = file.with_name(file.name[-100:] + ".part")
    with urllib.request.urlopen(request, timeout=DOWNLOAD_SECONDS) as answer, part.open("wb") as f:
        shutil.copyfileobj(answer, f)
    part.replace(file)


@dataclass
class Media:
    """The files that a lecture has shown, by the name under which its prose finds them."""

    downloads: bool = False
    folders: tuple[Path, ...] = (Path(),)
    """Where paths may begin; the working folder is the lecture's while it runs."""
    files: dict[str, bytes] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """What could not be shown, and why."""

    def name_of(self, place: str, kind: str) -> str | None:
        """Return the name of what lies at a path or an address; None if it cannot be shown."""
        data = self._data(place, kind)
        if data is None:
            return None
        suffix = Path(urllib.parse.urlparse(place).path).suffix.lower()
        return self.keep(data, suffix)

    def keep(self, data: bytes, suffix: str) -> str:
        """Keep the content of a file; return its name, which is made of the content."""
        name = hashlib.sha256(data).hexdigest()[:16] + _suffix_of(data, suffix)
        self.files[name] = data
        return name

    def _data(self, place: str, kind: str) -> bytes | None:
        file = self._file(place, kind)
        try:
            if file is None:
                raise FileNotFoundError
            if file.stat().st_size > MAX_MEDIA_BYTES:
                self.missing[place] = f"is larger than {MAX_MEDIA_BYTES:,} bytes"
                return None
            return file.read_bytes()
        except OSError:
            wanted = is_address(place) and not self.downloads
            hint = ": --download fetches it" if wanted else ""
            self.missing.setdefault(place, f"is not here{hint}")
            return None

    def _there(self, names: Iterable[str | Path]) -> Path | None:
        files = (folder / name for name in names for folder in self.folders)
        return next((file for file in files if file.is_file()), None)

    def _file(self, place: str, kind: str) -> Path | None:
        if not is_address(place):
            plain = urllib.parse.unquote(place.partition("?")[0])  # as a page may write it
            return self._there((place, plain, plain.lstrip("/"))) or Path(place)
        if file := self._there(cache_names(place, kind)):
            return file
        if self.downloads:
            file = next(cache_names(place, kind))
            with contextlib.suppress(OSError):
                download(place, file)
                return file
        return None


_BEGINNINGS = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"GIF8": ".gif",
    b"RIFF": ".webp",
    b"BM": ".bmp",
}


def _suffix_of(data: bytes, suffix: str) -> str:
    """What a file is, by what it begins with: addresses and names are often wrong."""
    for beginning, known in _BEGINNINGS.items():
        if data.startswith(beginning):
            return known
    return ".svg" if b"<svg" in data[:1000] else suffix
