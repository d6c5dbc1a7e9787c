"""Bounded pictures of Python values.

`snapshot(value)` returns a `schema.Value`: plain data that shows the value as it is now, cut to the
limits below and marked as cut. Nothing a value's own class does can break the run: what raises
becomes part of the picture.
"""

import base64
import dataclasses
import enum
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, cast

from . import tensors
from .schema import Value

MAX_CHARACTERS = 2000
"""Characters of a text, or of a `repr`."""
MAX_ITEMS = 50
"""Items of a list, tuple, set or mapping; fields of an object."""
MAX_DEPTH = 5
"""Containers inside containers."""
MAX_PICTURE_CHARACTERS = 1_000_000
"""Characters of a picture a value draws of itself."""
MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that JavaScript holds exactly."""

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+")


class Snapshots:
    """Makes the pictures of one run; storages and addresses get small numbers in order."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.storages = tensors.StorageNumbers()

    def take(self, value: object) -> Value:
        """Return the picture of a value. Never raises."""
        return self._value(value, 0, ())

    def without_addresses(self, text: str) -> str:
        """Replace each memory address in a text by #1, #2, ..."""
        return _ADDRESS.sub(
            lambda match: f"#{self._numbers.setdefault(match[0], len(self._numbers) + 1)}", text
        )

    def _value(self, value: Any, depth: int, parents: tuple[int, ...]) -> Value:
        try:
            return self._guarded(value, depth, parents)
        except Exception as error:  # whatever the value's own class does wrong is its picture
            message = self.without_addresses(f"{type(error).__name__}: {error}")
            return {"type": type_name(value), "error": message[:MAX_CHARACTERS]}

    def _guarded(self, value: Any, depth: int, parents: tuple[int, ...]) -> Value:
        name = type_name(value)
        if isinstance(value, enum.Enum):
            return {"type": name, "text": f"{name}.{value.name}"}
        if scalar := _scalar(value, name):
            return scalar
        if tensors.is_tensor(value):
            return tensors.snapshot(value, self.storages)
        if picture := _picture(value, name):
            return picture
        if id(value) in parents:
            return {"type": name, "text": "... (contains itself)", "cut": True}
        if depth >= MAX_DEPTH and isinstance(value, tuple | list | set | frozenset | Mapping):
            return {"type": name, "length": len(value), "cut": True}
        inner = lambda part: self._value(part, depth + 1, (*parents, id(value)))  # noqa: E731
        return self._compound(value, name, inner)

    def _compound(self, value: Any, name: str, inner: Callable[[object], Value]) -> Value:
        fields = _fields(value)
        if fields is not None:
            kept = dict(list(fields.items())[:MAX_ITEMS])
            picture: Value = {"type": name, "fields": {key: inner(v) for key, v in kept.items()}}
            return {**picture, "cut": True} if len(kept) < len(fields) else picture
        draws_itself_as: Any = type(value).__repr__
        if draws_itself_as in (tuple.__repr__, list.__repr__):
            return _counted({"type": name, "items": [inner(i) for i in value[:MAX_ITEMS]]}, value)
        if isinstance(value, set | frozenset):
            items = sorted((inner(item) for item in value), key=repr)[:MAX_ITEMS]
            return _counted({"type": name, "items": items}, value)
        if draws_itself_as is dict.__repr__:
            pairs = list(value.items())[:MAX_ITEMS]
            entries = [[inner(key), inner(item)] for key, item in pairs]
            return _counted({"type": name, "entries": entries}, value)
        return self._text(value, name)

    def _text(self, value: Any, name: str) -> Value:
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
            return {"type": name, "text": getattr(value, "__qualname__", "?")}
        text = self.without_addresses(repr(value))
        if len(text) > MAX_CHARACTERS:
            return {"type": name, "text": text[:MAX_CHARACTERS], "length": len(text), "cut": True}
        return {"type": name, "text": text}


def type_name(value: object) -> str:
    """Return the name of a value's class."""
    return type(value).__qualname__.rpartition(".<locals>.")[2]


def _scalar(value: Any, name: str) -> Value | None:
    """Return the picture of a value without parts."""
    if value is None or value is True or value is False:
        return {"type": name, "value": value}
    if type(value) is int:
        return _integer(value, name)
    if type(value) is float:
        finite = value - value == 0
        return {"type": name, "value": value} if finite else {"type": name, "text": repr(value)}
    if type(value) is str:
        if len(value) > MAX_CHARACTERS:
            return _counted({"type": name, "value": value[:MAX_CHARACTERS]}, value)
        return {"type": name, "value": value}
    if isinstance(value, bytes | bytearray):
        shown = repr(bytes(value[: MAX_CHARACTERS // 4]))
        picture: Value = {"type": name, "text": shown, "length": len(value)}
        return {**picture, "cut": True} if len(value) > MAX_CHARACTERS // 4 else picture
    return None


def _integer(value: int, name: str) -> Value:
    if abs(value) <= MAX_SAFE_INTEGER:
        return {"type": name, "value": value}
    if value.bit_length() > 4 * MAX_CHARACTERS:  # its decimal digits would take too long
        return {"type": name, "text": f"integer of {value.bit_length()} bits", "cut": True}
    return {"type": name, "text": str(value)}


def _counted(picture: Value, value: Any) -> Value:
    """Add the length of the original, and the mark when less is shown."""
    shown = picture.get("items") or picture.get("entries") or picture.get("value") or ()
    picture["length"] = len(value)
    if len(shown) < len(value):  # type: ignore[arg-type]
        picture["cut"] = True
    return picture


def _fields(value: Any) -> dict[str, object] | None:
    """Return the named parts of a dataclass instance or named tuple."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.repr]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=False))
    return None


def _picture(value: Any, name: str) -> Value | None:
    """Return what a value draws of itself, if it does."""
    cls = type(value)
    if cls.__module__.startswith("altair.") and hasattr(cls, "to_dict"):
        return {"type": name, "vega": _plain_spec(value.to_dict())}
    for method, key in _PICTURES:
        if not isinstance(value, type) and hasattr(cls, method):
            drawn = getattr(value, method)()
            if isinstance(drawn, tuple):  # (data, metadata) in IPython's protocol
                drawn = drawn[0]
            if isinstance(drawn, bytes):
                drawn = base64.b64encode(drawn).decode("ascii")
            if drawn is not None and len(drawn) <= MAX_PICTURE_CHARACTERS:
                return cast(Value, {"type": name, key: drawn})
    return None


_PICTURES = (("_repr_svg_", "svg"), ("_repr_markdown_", "markdown"), ("_repr_png_", "png"))


def _plain_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart without the part of its configuration that only sets the default size."""
    return {key: part for key, part in spec.items() if key != "config"}
