"""The bytes of a document, and how they reach the disk."""

import dataclasses
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..schema import OPTIONAL, Columns, Document


def encode(document: Document) -> bytes:
    """Return the bytes of a document: one line for each top-level field or item of a table."""
    lines = []
    for name, value in _without_paths(_plain(document)).items():
        if name == "events":  # by far the longest list, and its repr is the fastest way
            lines.append(f"{_json(name)}:{repr(value).replace(' ', '')}")
        elif isinstance(value, list) and value and not isinstance(value[0], int):
            items = ",\n".join(_json(item) for item in value)
            lines.append(f"{_json(name)}:[\n{items}\n]")
        elif isinstance(value, Columns):
            columns = ",\n".join(
                f"{_json(key)}:{_json(column)}" for key, column in vars(value).items()
            )
            lines.append(f"{_json(name)}:{{\n{columns}\n}}")
        else:
            lines.append(f"{_json(name)}:{_json(value)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def _plain(document: Document) -> dict[str, Any]:
    """The document as dicts, lists and columns, `format` and `version` first."""
    shallow = {field.name: getattr(document, field.name) for field in dataclasses.fields(document)}
    for name in OPTIONAL:
        value = shallow[name]
        if not any(vars(value).values() if isinstance(value, Columns) else value):
            del shallow[name]
    return {"format": shallow.pop("format"), "version": shallow.pop("version"), **shallow}


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=vars)


def _without_paths(plain: dict[str, Any]) -> dict[str, Any]:
    """Replace this machine's folders in every text that a run can put there."""
    folders = {str(Path.home()): "~", tempfile.gettempdir(): "<tmp>", sys.prefix: "<python>"}
    folders |= {str(Path.cwd()): "."}
    folders.pop("/", None)
    pattern = re.compile("|".join(map(_as_path, sorted(folders, key=len, reverse=True))))

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            shorter = pattern.sub(lambda match: folders[match[0]], value)
            return _RANDOM_NAME.sub("<tmp>/tmp...", shorter)
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        return value

    for name in ("values", "output", "warnings", "failure"):
        plain[name] = clean(plain[name])
    return plain


_RANDOM_NAME = re.compile(r"<tmp>/tmp[a-z0-9_]{8}(?![\w-])")
"""What the module `tempfile` makes; names for a purpose keep them."""


def _as_path(folder: str) -> str:
    """A pattern for a folder where it is one: neither `/root` nor `/tmp` are in `tree/root/tmpfs`.
    A longer one is found behind anything, such as `-I`."""
    begin = r"(?<![\w.])" if folder.count(os.sep) == 1 else ""
    return rf"{begin}{re.escape(folder)}(?![\w-])"


def write(data: bytes, path: Path) -> None:
    """Write a file under a temporary name beside it, then rename it. What is no file, such as
    `/dev/null` or a pipe, is written into, and a link stays one."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
