"""Documents as they travel: in a form that compresses better, and large ones in two parts.

`viewer/model/packing.js` makes the document again.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any

from ..events import steps_of
from ..schema import VERSION

_AROUND_LINES = re.compile(r"^[ \t]*(?:#+ ?)?|[ \t]+\Z")
_AROUND_TEXTS = re.compile(r'^(?:[rR]?""")?[ \n]*|[ \n]*(?:""")?\Z')
"""What stands around prose in a source; `packing.js` takes the same away."""
_LAGS = (1, 4)
"""A number may be stored as its difference to the one so many places before: a token has four."""
_EXACT = 2**52
"""Differences of smaller integers are exact in JavaScript."""

LARGE_BYTES = 500_000
"""A document from which on it travels in parts."""
TEXT, VALUES = ".text.json.gz", ".values.json.gz"
"""What the names of the parts end in: what one reads, and what was measured."""
_MEASURED = ("values", "locals", "readings", "effects", "costs", "memory", "uncounted")
"""Fields of a document that reading can begin without."""
_OF_THIS_VERSION = re.compile(rb'"version":\s*%d\b' % VERSION)
_BEGINNING = 200
"""Bytes within which a document says of what version it is."""
_COMING = {"type": "", "text": "\u2026"}
"""What stands in the place of a value until it comes."""


def parts_of(data: bytes) -> dict[str, bytes]:
    """Return a large document as compressed parts, by the ends of their names; none of others.

    The first is a document by itself, of a run in which nothing was measured: prose, code, and
    what ran. The second has the fields that the first lacks, and `files`: pairs of an index and a
    file of which nothing ran.
    """
    if len(data) < LARGE_BYTES or not _OF_THIS_VERSION.search(data, 0, _BEGINNING):
        return {}
    lecture = json.loads(data)
    said = {*lecture.get("said", {}).get("value", [])}
    text = slim(lecture)
    text |= {name: _empty(lecture[name]) for name in _MEASURED}
    text["values"] = [
        value if index in said else _COMING for index, value in enumerate(lecture["values"])
    ]
    measured = {name: lecture[name] for name in _MEASURED}
    measured["files"] = [
        [index, file]
        for index, file in enumerate(lecture["files"])
        if file["source"] != text["files"][index]["source"]
    ]
    return {TEXT: _compressed(text), VALUES: _compressed(measured)}


def is_large(path: Path) -> bool:
    """Tell whether a document that was written has parts, without reading it."""
    if path.stat().st_size < LARGE_BYTES:
        return False
    with path.open("rb") as file:
        return _OF_THIS_VERSION.search(file.read(_BEGINNING)) is not None


def _empty(field: Any) -> Any:
    """A list, table or null without what was measured; the columns of a table stay."""
    if isinstance(field, list):
        return []
    return field and {key: [] for key, column in field.items() if isinstance(column, list)}


def _compressed(lecture: dict[str, Any]) -> bytes:
    text = json.dumps(packed(lecture), separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(), mtime=0)


def slim(lecture: dict[str, Any]) -> dict[str, Any]:
    """Leave out what no page shows, and prose that `packing.js` reads from the source again."""
    statements = lecture["statements"]
    seen = {statements[number - 1][0] for number in steps_of(lecture["events"])}
    unseen = {"source": "", "prose": [], "tokens": [], "hidden": []}
    files = [
        _without_prose(file) if index in seen else {**file, **unseen}
        for index, file in enumerate(lecture["files"])
    ]
    return {**lecture, "files": files}


def _without_prose(file: dict[str, Any]) -> dict[str, Any]:
    """Replace prose by null where it is what its lines say."""
    lines = file["source"].split("\n")

    def slimmer(prose: dict[str, Any]) -> dict[str, Any]:
        texts = lines[prose["first_line"] - 1 : prose["last_line"]]
        said = "\n".join(_AROUND_LINES.sub("", text) for text in texts)
        is_said = _AROUND_TEXTS.sub("", said) == prose["text"]
        return {**prose, "text": None} if is_said else prose

    return {**file, "prose": [slimmer(prose) for prose in file["prose"]]}


def packed(value: Any) -> Any:
    """Return a value in a form that compresses better, with the same JSON types.

    Integers become differences: `[lag, first, ...]`, where lag 0 leaves them as they are. A table
    becomes its columns: `[true, column, ...]`; objects with the same keys become one object of
    columns: `[false, object]`. Other lists that begin with null, a number or a truth value begin
    with one more null.
    """
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    if not isinstance(value, list) or not value:
        return value
    if all(type(item) is int for item in value):
        return _differences(value)
    if _is_table(value):
        return [True, *(packed(list(column)) for column in zip(*value, strict=True))]
    if _are_alike(value):
        return [False, {key: packed([one[key] for one in value]) for key in value[0]}]
    mark = [None] if isinstance(value[0], int | float | None) else []
    return [*mark, *(packed(item) for item in value)]


def _is_table(rows: list[Any]) -> bool:
    return all(isinstance(row, list) and row and len(row) == len(rows[0]) for row in rows)


def _are_alike(values: list[Any]) -> bool:
    first = values[0]
    return bool(first) and all(isinstance(one, dict) and [*one] == [*first] for one in values)


def _differences(values: list[int]) -> list[int]:
    choices = [[0, *values]]
    if max(map(abs, values)) < _EXACT:
        for lag in _LAGS:
            before = [0] * lag + values
            differences = [value - one for value, one in zip(values, before, strict=False)]
            choices.append([lag, *differences])
    return min(choices, key=lambda choice: sum(map(abs, choice)))
