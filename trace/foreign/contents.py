"""Values as other tools write them, as values of our documents."""

import itertools
from typing import Any

from ..schema import Value

MAX_ELEMENTS = 200
MAX_ITEMS = 50
MAX_CHARACTERS = 2000
MAX_SAFE_INTEGER = 2**53 - 1
_EDGE = 3
"""Items kept at each end of an axis that is too long."""


def value_of_contents(written: Any) -> Value:
    """Return the value of what a tool wrote: with its type, or as plain JSON.

    >>> value_of_contents({"type": "list", "contents": [{"type": "int", "contents": 1}]})
    {'type': 'list', 'items': [{'type': 'int', 'value': 1}], 'length': 1}
    >>> value_of_contents([0.5])
    {'type': 'list', 'items': [{'type': 'float', 'value': 0.5}], 'length': 1}
    """
    if isinstance(written, dict) and "type" in written and "contents" in written:
        return _typed(written)
    return _plain(written, type(written).__name__)


def _typed(written: dict[str, Any]) -> Value:
    name = str(written["type"]).rpartition(".")[2]
    contents, shape = written["contents"], written.get("shape")
    if shape is not None and isinstance(contents, list | int | float | bool):
        return _tensor(name, contents, shape, str(written.get("dtype") or ""))
    is_object = "." in str(written["type"])
    if isinstance(contents, dict) and is_object:
        fields = itertools.islice(contents.items(), MAX_ITEMS)
        picture: Value = {
            "type": name,
            "fields": {key: value_of_contents(part) for key, part in fields},
        }
        return picture | ({"cut": True} if len(contents) > MAX_ITEMS else {})
    if isinstance(contents, str) and name != "str":
        return _text(contents, name)
    return _plain(contents, name)


def _plain(contents: Any, name: str) -> Value:
    if contents is None or isinstance(contents, bool | float):
        return {"type": name, "value": contents}
    if isinstance(contents, int):
        is_safe = abs(contents) <= MAX_SAFE_INTEGER
        return {"type": name, "value": contents} if is_safe else _text(str(contents), name)
    if isinstance(contents, str):
        picture: Value = {"type": name, "value": contents[:MAX_CHARACTERS]}
        if len(contents) > MAX_CHARACTERS:
            picture["length"] = len(contents)
            picture["cut"] = True
        return picture
    if isinstance(contents, list):
        picture = {
            "type": name,
            "items": [value_of_contents(item) for item in contents[:MAX_ITEMS]],
            "length": len(contents),
        }
    elif isinstance(contents, dict):
        entries = itertools.islice(contents.items(), MAX_ITEMS)
        picture = {
            "type": name,
            "entries": [[_plain(key, "str"), value_of_contents(part)] for key, part in entries],
            "length": len(contents),
        }
    else:
        return _text(str(contents), name)
    if len(contents) > MAX_ITEMS:
        picture["cut"] = True
    return picture


def _text(text: str, name: str) -> Value:
    picture: Value = {"type": name, "text": text[:MAX_CHARACTERS]}
    if len(text) > MAX_CHARACTERS:
        picture["length"] = len(text)
        picture["cut"] = True
    return picture


def _tensor(name: str, contents: Any, shape: list[int], dtype: str) -> Value:
    """A tensor: its elements, or of a large one those at the ends of each axis."""
    picture: Value = {"type": name, "dtype": dtype.removeprefix("torch."), "shape": shape}
    count = 1
    for size in shape:
        count *= size
    shown = [[*range(size)] for size in shape]
    if count > MAX_ELEMENTS:
        shown = [_ends(size) for size in shape]
        picture["shown"] = shown
        picture["cut"] = True
    picture["elements"] = [_element(contents, place) for place in itertools.product(*shown)]
    return picture


def _ends(size: int) -> list[int]:
    if size <= 2 * _EDGE:
        return [*range(size)]
    return [*range(_EDGE), *range(size - _EDGE, size)]


def _element(contents: Any, place: tuple[int, ...]) -> Any:
    for index in place:
        contents = contents[index]
    return contents if isinstance(contents, bool | int | float) else str(contents)
