"""Bounded pictures of Python values.

`Snapshots.take(value)` returns a `schema.Value`: plain data that shows the value as it is now, cut
to the limits below and marked as cut. What a value is, is asked of its type, never of the value;
code of its own class runs within bounds (`bounds.py`), and what it does wrong is its picture.
"""

import collections
import contextlib
import dataclasses
import enum
import itertools
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from ..own_builtins import use_own_builtins
from ..schema import Value
from . import tensors
from .bounds import MAX_PICTURE_SECONDS, TooSlow, bounded, is_interruption
from .drawings import drawing_of, figure_of_axes
from .rasters import png_of

use_own_builtins(globals())

MAX_CHARACTERS = 2000
"""Characters of a text, or of a `repr`."""
MAX_ITEMS = 50
"""Items of a list, tuple, set or mapping; fields of an object."""
MAX_DEPTH = 12
"""Containers inside containers."""
MAX_PARTS = 1000
"""Values inside one value, all levels together."""
MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that JavaScript holds exactly."""

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+")
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
_CONTAINERS = (dict, list, tuple, collections.deque, set, frozenset)


class Snapshots:
    """Makes the pictures of one run; storages and addresses get small numbers in order.

    >>> Snapshots().take([1, "two"])["items"]
    [{'type': 'int', 'value': 1}, {'type': 'str', 'value': 'two'}]
    """

    def __init__(self) -> None:
        self._addresses: dict[str, int] = {}
        self.storages = tensors.StorageNumbers()
        self._parts = 0

    def take(self, value: object) -> Value:
        """Return the picture of a value. Never raises."""
        self._parts = 0
        return self._value(value, 0, ())

    def _value(self, value: Any, depth: int, parents: tuple[int, ...]) -> Value:
        name = type_name(value)
        self._parts += 1
        if self._parts > MAX_PARTS:
            return {"type": name, "cut": True}
        try:
            if scalar := _scalar(value, name):
                return scalar
            if tensors.is_tensor(value):
                return self._array(value)
            if id(value) in parents:
                return {"type": name, "text": "... (contains itself)", "cut": True}
            return self._compound(value, name, depth, (*parents, id(value)))
        except TooSlow as error:
            return {"type": name, "error": f"not shown: {error}"}
        except BaseException as error:
            if is_interruption(error):
                raise  # the author's, or the step limit
            message = self.without_addresses(f"{type(error).__name__}: {_message(error)}")
            return {"type": name, "error": message[:MAX_CHARACTERS]}

    def _compound(self, value: Any, name: str, depth: int, parents: tuple[int, ...]) -> Value:
        cls = type(value)
        if issubclass(cls, _NAMED) and not hasattr(cls, "_repr_svg_"):
            return {"type": name, "text": str(getattr(value, "__qualname__", "?"))}
        if issubclass(cls, types.ModuleType):
            return {"type": name, "text": str(value.__name__)}  # its repr has a path
        picture = drawing_of(value, cls, name)
        if picture is not None:
            return picture

        def inner(part: object) -> Value:
            if depth >= MAX_DEPTH and not _scalar(part, ""):
                return {"type": type_name(part), "cut": True}
            return self._value(part, depth + 1, parents)

        said = _said_by(value, cls)
        if said is not None:
            return {**inner(said), "type": name}
        fields = _fields_of(value, cls)
        if fields is not None:
            return _with_fields(fields, name, inner)
        parts = _parts_of(value, cls)
        if parts is not None:
            return _with_parts(parts, cls, name, inner)
        return self._text(value, name)

    def _text(self, value: Any, name: str) -> Value:
        cls = type(value)
        own_text: Any = cls.__repr__
        says = str if own_text is object.__repr__ and is_of_library(cls) else repr
        with bounded(*(_LIBRARY_BOUNDS if is_of_library(cls) else ())):
            text = str.__str__(says(value))
        text = self.without_addresses(text)
        if len(text) > MAX_CHARACTERS:
            return {"type": name, "text": text[:MAX_CHARACTERS], "length": len(text), "cut": True}
        return {"type": name, "text": text}

    def without_addresses(self, text: str) -> str:
        """Replace each memory address in a text by #1, #2, ..."""
        return _ADDRESS.sub(lambda match: self.number(match[0]), text)

    def _array(self, value: Any) -> Value:
        picture = tensors.snapshot(value, self.storages)
        if drawn := png_of(value):
            picture["png"], picture["every"] = drawn
        if picture.get("dtype") == "object" and "elements" in picture:
            if figure := figure_of_axes(value):
                return figure
            picture["elements"] = [self._element(item) for item in picture["elements"]]
        return picture

    def _element(self, item: object) -> bool | int | float | str:
        if isinstance(item, bool | int | float | str):
            return item
        with bounded():
            text = str.__str__(str(item))
        return self.without_addresses(text)[:MAX_CHARACTERS]

    def number(self, address: str) -> str:
        """Return #1 for the first address of a run, #2 for the second, ..."""
        return f"#{self._addresses.setdefault(address, len(self._addresses) + 1)}"


def type_name(value: object) -> str:
    """Return the name of a value's class."""
    return str(_QUALNAME(type(value))).rpartition(".<locals>.")[2]


_QUALNAME = type.__dict__["__qualname__"].__get__
"""Asks the class itself: a class of classes may answer as it likes."""


def is_of_library(cls: type) -> bool:
    """Tell whether a class is of an installed library, whose code may take its time."""
    file = getattr(sys.modules.get(str(cls.__module__)), "__file__", None) or ""
    return any(folder in file for folder in ("site-packages", "dist-packages"))


_LIBRARY_BOUNDS = (None, MAX_PICTURE_SECONDS)


def _message(error: BaseException) -> str:
    try:
        with bounded():
            return str.__str__(str(error))
    except BaseException:
        return "(its message cannot be shown)"


def _scalar(value: Any, name: str) -> Value | None:
    """Return the picture of a value without parts."""
    cls = type(value)
    if value is None or cls is bool:
        return {"type": name, "value": value}
    if cls is int:
        return _integer(value, name)
    if cls is float:
        finite = value - value == 0
        return {"type": name, "value": value} if finite else {"type": name, "text": repr(value)}
    if cls is str:
        picture: Value = {"type": name, "value": value[:MAX_CHARACTERS]}
        if len(value) > MAX_CHARACTERS:
            picture |= {"type": name, "length": len(value), "cut": True}
        return picture
    if cls in (bytes, bytearray):
        shown = MAX_CHARACTERS // 4  # each byte may take four characters
        picture = {"type": name, "text": repr(bytes(value[:shown])), "length": len(value)}
        if len(value) > shown:
            picture["cut"] = True
        return picture
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.generic):
        return tensors.numpy_scalar(value)
    if issubclass(cls, enum.Enum):
        return {"type": name, "text": f"{name}.{value._name_}"}
    return None


def _integer(value: int, name: str) -> Value:
    if abs(value) <= MAX_SAFE_INTEGER:
        return {"type": name, "value": value}
    if value.bit_length() > 4 * MAX_CHARACTERS:  # its decimal digits would take too long
        return {"type": name, "text": f"integer of {value.bit_length()} bits", "cut": True}
    return {"type": name, "text": str(value)}


def _said_by(value: Any, cls: type) -> object:
    """Return what an object of the lecture says that it is best shown by, or None."""
    for method in ("__lectrace__", "asdict"):
        if callable(getattr(cls, method, None)) and not isinstance(value, tuple):
            # It may be asked before its `__init__` has run.
            with contextlib.suppress(AttributeError), bounded(None, MAX_PICTURE_SECONDS):
                said: object = getattr(value, method)()
                return said
    return None


def _parts_of(value: Any, cls: type) -> tuple[int, list[Any]] | None:
    """Return the length and the first items of a container, without its class's own code.

    Of a set all items: which are the first is known only after sorting.
    """
    base: Any = next((base for base in _CONTAINERS if issubclass(cls, base)), None)
    own_text: Any = cls.__repr__
    if base is None or (base is tuple and own_text is not tuple.__repr__):
        return None  # such as torch.Size, which says best itself what it is
    length = base.__len__(value)
    if base in (set, frozenset):
        return length, list(base.__iter__(value)) if length <= MAX_PARTS else []
    items = base.items(value) if base is dict else base.__iter__(value)
    return length, list(itertools.islice(items, MAX_ITEMS))


def _with_parts(
    parts: tuple[int, list[Any]], cls: type, name: str, inner: Callable[[object], Value]
) -> Value:
    length, kept = parts
    picture: Value = {"type": name, "length": length}
    if issubclass(cls, dict):
        picture["entries"] = [[inner(key), inner(item)] for key, item in kept]
    elif issubclass(cls, set | frozenset):
        # The order of a set differs from run to run; that of the texts of its pictures does not.
        picture["items"] = sorted(map(inner, kept), key=repr)[:MAX_ITEMS]
    else:
        picture["items"] = [inner(item) for item in kept]
    if length > MAX_ITEMS:
        picture["cut"] = True
    return picture


def _fields_of(value: Any, cls: type) -> dict[str, object] | None:
    """Return the named parts of a value that is best shown by them."""
    torch = sys.modules.get("torch")
    with bounded():
        if torch is not None and issubclass(cls, torch.nn.Module):
            count = sum(parameter.numel() for parameter in value.parameters())
            return {"parameters": count, **value._parameters, **value._buffers, **value._modules}
        if dataclasses.is_dataclass(cls):
            names = [field.name for field in dataclasses.fields(cls) if field.repr]
            return {name: getattr(value, name) for name in names if hasattr(value, name)}
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return dict(zip(cls._fields, tuple.__iter__(value), strict=False))
    own_text: Any = cls.__repr__
    if own_text is object.__repr__ and cls.__dictoffset__:  # it says nothing: show what it holds
        own_str: Any = cls.__str__
        if own_str is not object.__str__ and is_of_library(cls):
            return None
        fields = object.__getattribute__(value, "__dict__")
        public = {key: part for key, part in fields.items() if str(key)[:1] != "_"}
        return public if public or not fields else None
    return None


def _with_fields(fields: dict[str, object], name: str, inner: Callable[[object], Value]) -> Value:
    kept = list(fields.items())[:MAX_ITEMS]
    picture: Value = {"type": name, "fields": {str(key): inner(part) for key, part in kept}}
    if len(kept) < len(fields):
        picture["cut"] = True
    return picture
