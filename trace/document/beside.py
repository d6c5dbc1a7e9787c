"""Pictures that would make a document large: they lie beside it, in files named by their content.

What is embedded stands as text in the JSON, so that a reader waits for it before the first line.
"""

import base64
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..said.media import Media
from ..schema import Asset, Document
from .encoding import write
from .images import TYPES

MAX_EMBEDDED_CHARACTERS = 50_000
"""Of a picture within the JSON: as SVG, or in base64."""
FILES = ".files"
"""End of the name of the folder with the pictures of a document."""

_DRAWN = {"svg": ".svg", "png": ".png", "jpeg": ".jpg"}
"""Fields of a value with a picture, and what its file ends in."""


def assets_of(media: Media) -> dict[str, Asset]:
    """Return the images that a lecture has shown by calling, by the name under which its prose
    finds them."""
    return {
        name: Asset(mime=TYPES[Path(name).suffix], base64=base64.b64encode(data).decode("ascii"))
        for name, data in media.files.items()
        if Path(name).suffix in TYPES
    }


def moved_out(document: Document) -> dict[str, bytes]:
    """Take large pictures out of a document; return them by the names of their files."""
    files: dict[str, bytes] = {}

    def moved(data: bytes, suffix: str) -> str:
        name = hashlib.sha256(data).hexdigest()[:16] + suffix
        files[name] = data
        return name

    for name, asset in document.assets.items():
        text = asset.get("base64", "")
        if len(text) > MAX_EMBEDDED_CHARACTERS:
            suffix = next(end for end, mime in TYPES.items() if mime == asset["mime"])
            document.assets[name] = Asset(
                mime=asset["mime"], file=moved(base64.b64decode(text), suffix)
            )
    for value in _with_parts(document.values):
        for field, suffix in _DRAWN.items():
            if len(value.get(field, "")) > MAX_EMBEDDED_CHARACTERS:
                text = value[field]
                data = text.encode() if field == "svg" else base64.b64decode(text)
                _replace(value, field, "file", moved(data, suffix))
    return files


def write_beside(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the pictures of a document beside it; those of an earlier one go."""
    folder = path.with_suffix(FILES)
    for stale in folder.glob("*"):
        if stale.name not in files:
            stale.unlink()
    for name, content in files.items():
        write(content, folder / name)


def copy_beside(path: Path, published: Path) -> None:
    """Copy the pictures that lie beside a document; none of others stay."""
    folder = published.with_suffix(FILES)
    shutil.rmtree(folder, ignore_errors=True)
    if path.with_suffix(FILES).is_dir():
        shutil.copytree(path.with_suffix(FILES), folder)


def whole(path: Path) -> bytes:
    """Return a document with the pictures that lie beside it."""
    data = path.read_bytes()
    folder = path.with_suffix(FILES)
    if not folder.is_dir():
        return data
    document = json.loads(data)
    for asset in document["assets"].values():
        if name := asset.pop("file", None):
            asset["base64"] = _in_base64(folder / name)
    for value in _with_parts(document["values"]):
        if name := value.get("file"):
            file = folder / name
            field = next(field for field, suffix in _DRAWN.items() if suffix == file.suffix)
            picture = file.read_text("utf-8") if field == "svg" else _in_base64(file)
            _replace(value, "file", field, picture)
    return json.dumps(document).encode()


def _replace(value: Any, old: str, new: str, content: str) -> None:
    """Put another field in the place of one."""
    fields = [(new, content) if key == old else (key, part) for key, part in value.items()]
    value.clear()
    value.update(fields)


def _in_base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode("ascii")


def _with_parts(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Values and the values in them."""
    left = [*values]
    while left:
        value = left.pop()
        yield value
        left += value.get("items", ())
        left += value.get("fields", {}).values()
        left += (part for pair in value.get("entries", ()) for part in pair)
