"""Images, sound and films that prose names by a path: they travel in the document."""

import base64
import urllib.parse
from collections.abc import Callable, Iterable
from pathlib import Path

from ..rewrite.prose import images_in, images_never_shown
from ..schema import Asset, Prose, SourceFile

MAX_ASSET_BYTES = 2_000_000
"""Larger images are left out, with a warning."""
MAX_MEDIA_BYTES = 10_000_000
"""The same of sound and films."""

_IMAGE_TYPES = {
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""What the viewer shows; the same on every system."""
_MEDIA_TYPES = {
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".ogv": "video/ogg",
    ".wav": "audio/wav",
    ".webm": "video/webm",
}
TYPES = _IMAGE_TYPES | _MEDIA_TYPES
"""What the viewer shows or plays, by the end of a file's name."""


class _NotShown(Exception):
    """Why an image is left out."""


def embedded_images(files: list[SourceFile], root: Path) -> tuple[dict[str, Asset], list[str]]:
    """Return the images that prose names by a path relative to its source file, by that path, and
    warnings of those that cannot be shown."""
    assets: dict[str, Asset] = {}
    warnings: list[str] = []
    for file in files:
        for complaint, line in found_in_prose(images_never_shown, file.prose):
            warnings.append(f"{file.path}:{line}: the image {complaint}")
        for name, line in found_in_prose(images_in, file.prose):
            try:
                asset = _asset((root / file.path).parent.resolve(), name)
                if assets.setdefault(name, asset) != asset:
                    raise _NotShown(f"is not the {name} of another file: rename it.")
            except _NotShown as reason:
                warnings.append(f"{file.path}:{line}: the image {name} {reason}")
    return assets, warnings


def found_in_prose(
    find: Callable[[str], Iterable[str]], blocks: list[Prose]
) -> Iterable[tuple[str, int]]:
    """Yield what is found in prose, each once, with the line where it stands first."""
    lines: dict[str, int] = {}
    for block in blocks:
        for found in find(block.text):
            name = found.split()[0] if found else ""
            above = block.text[: max(0, block.text.find(name))].count("\n")
            lines.setdefault(found, min(block.first_line + above, block.last_line))
    return lines.items()


def _asset(folder: Path, name: str) -> Asset:
    file = (folder / urllib.parse.unquote(name)).resolve()
    mime = TYPES.get(file.suffix.lower())
    if mime is None:
        raise _NotShown(f"is of no known kind: {', '.join(TYPES)}.")
    if folder not in file.parents or not file.is_file():
        raise _NotShown("is not in the folder of the source file.")
    most_bytes = MAX_MEDIA_BYTES if file.suffix.lower() in _MEDIA_TYPES else MAX_ASSET_BYTES
    if file.stat().st_size > most_bytes:
        raise _NotShown(f"is larger than {most_bytes:,} bytes.")
    return Asset(mime=mime, base64=base64.b64encode(file.read_bytes()).decode("ascii"))
