"""From the bytes of a document back to a `Document`."""

import dataclasses
import functools
import json
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

from ..schema import FORMAT, VERSION, Columns, Document, Quotes, Said

_Reader = Callable[[Any], Any]


def decode(data: bytes) -> Document:
    """Return the document that was written as these bytes. Raises ValueError where there is none.

    Columns are the lists that JSON gives, so that a document of some megabytes is read about as
    fast as its JSON. One of an older version gets the fields of this one; `Document.version` still
    tells.
    """
    try:
        plain = json.loads(data)
    except ValueError:
        raise ValueError("it is not complete JSON") from None
    return from_json(plain)


def from_json(plain: Any) -> Document:
    """Return the document that a JSON value describes; the two share their lists. Raises
    ValueError where it describes none."""
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ValueError("it is no recorded lecture")
    version = plain.get("version")
    if version not in (1, VERSION):
        raise ValueError(f"it is of version {version} and not {VERSION}")
    read = _reader_of(Document)
    assert read
    try:
        latest = _from_version_1(plain) if version == 1 else plain
        return typing.cast(Document, read({**_NOTHING, **latest}))
    except KeyError as error:
        raise ValueError(f"it lacks the field {error}") from None
    except (AttributeError, TypeError) as error:
        raise ValueError(f"its fields are not what they should be: {error}") from None


_NOTHING: dict[str, Any] = {"quotes": vars(Quotes()), "data": {}, "said": vars(Said())}
"""What fields are that were left out."""


def _from_version_1(plain: dict[str, Any]) -> dict[str, Any]:
    """Add what version 2 has more, as far as version 1 tells. It names the operators that were not
    counted, and not where; nor does it tell what ran on device `meta`, or what names stood for."""
    functions = [
        {**function, "marks": re.findall(r"[^\s,;]+", function["labels"]), "shared": []}
        for function in plain["functions"]
    ]
    costs = plain["costs"]
    if costs is not None:
        rows = zip(costs["operator"], costs["calls"], strict=True)
        names, uncounted = plain["names"], plain["uncounted"]
        calls = [count if names[operator] in uncounted else 0 for operator, count in rows]
        costs = {**costs, "uncounted": calls, "meta": [0] * len(calls)}
    return {
        **plain,
        "functions": functions,
        "costs": costs,
        "statements": [[*row, []] for row in plain["statements"]],
        "locals": {"event": [], "at": [], "name": [], "value": []},
        "readings": [],
        "effects": [],
    }


@functools.cache
def _reader_of(annotation: Any) -> _Reader | None:
    """Return what makes a value of this type of a JSON value; None: the JSON value is one."""
    if dataclasses.is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        return functools.partial(
            _object, annotation, {name: _reader_of(hint) for name, hint in hints.items()}
        )
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        return lambda row: annotation(*row)
    read = next(filter(None, map(_reader_of, typing.get_args(annotation))), None)
    if read and typing.get_origin(annotation) is list:
        return lambda rows: [read(row) for row in rows]
    if read:  # or null
        return lambda plain: None if plain is None else read(plain)
    return None


def _object(cls: Any, readers: Mapping[str, _Reader | None], plain: dict[str, Any]) -> Any:
    fields = {name: read(plain[name]) if read else plain[name] for name, read in readers.items()}
    if issubclass(cls, Columns) and len({len(column) for column in fields.values()}) != 1:
        raise ValueError(f"the columns of {cls.__name__} are not of one length")
    return cls(**fields)
