"""Glances: what a name stands for, in a line's worth, read after each statement.

Nothing of the lecture's runs, so that a glance needs none of the care that a picture does
(`pictures.py`): what a value is, is asked of its type, and its parts are taken with the methods of
the built-in type. What is like another glance is kept once, so a glance is a number:

    >= 0    index of a picture of the recorder
    < 0     node number -1 - n of `Glances.nodes`
    None    no value: functions, modules and classes

Objects are told apart by a raw identity: positive, a number that is never used again, where weak
references tell whether an object still lives; negative, minus its address, where they cannot. Which
small number the document gives it is decided when it is built (`document/locals.py`).
"""

import collections
import decimal
import enum
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..own_builtins import use_own_builtins
from . import tensors
from .dataframes import at_a_glance
from .pictures import type_name
from .untracked import untrack

use_own_builtins(globals())

MAX_CHARACTERS = 200
"""Characters of a text; of a longer one the first ones are shown."""
MAX_ITEMS = 8
"""Items of a container, fields of an object; longer ones in others are shown by their length."""
MAX_INNER_CHARACTERS = 40
"""Characters of a text in a container."""
MAX_DEPTH = 3
"""Containers inside containers, the outermost included."""
MAX_PARTS = 17
"""Values inside one value, all levels together."""
MAX_SORTED = 1000
"""Items of a set that is shown; which come first is known only after sorting."""

Glance = int | None

_LEFT_OUT = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type),
    *(types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType),
)
_WRITTEN = (complex, range, slice, type(...), type(NotImplemented), decimal.Decimal)
"""Types whose `repr` is Python's own and short."""


class Node(NamedTuple):
    """One value with parts, or whose text is its own; equal nodes are kept once."""

    kind: str
    """`text`, `items`, `entries`, `fields`, `tensor`, or `object`: one whose parts are not
    shown."""
    type: str
    """Name of its class."""
    object: int = 0
    """Its raw identity, or 0."""
    length: int = -1
    """Of the original; -1 where there is none."""
    parts: tuple[Any, ...] = ()
    """Glances; of a mapping keys and values in turn, of fields names and values. Of a tensor the
    keys and values of its picture, of a text the text."""
    cut: bool = False
    """Whether parts are left out."""


class _Kind(NamedTuple):
    """What is asked of a class once, if its values have no text of their own and are no tensors."""

    cls: weakref.ref[type] | None
    """None where no weak references may be left."""
    base: Any
    """The built-in container that it is, or is made from; None: it is no container."""
    has_fields: bool
    """Whether its values are shown by their fields."""
    has_slots: bool


class Glances:
    """Takes the glances of one run."""

    def __init__(
        self, scalar: Callable[[object], int], own_modules: set[str], storages: Any
    ) -> None:
        self.nodes: list[Node] = []
        self._scalar = scalar
        """Gives the picture of a number, text, truth value or None."""
        self._own_modules = own_modules
        """Names of the lecture's modules: objects of their classes are shown by their fields."""
        self._storages = storages
        self._numbers: dict[object, int] = {}
        self._serials: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._kinds: dict[int, _Kind] = {}
        self._next_serial = itertools.count(1)
        self._has_references = True
        self._parts = 0

    def take(self, value: object) -> Glance:
        """Return the glance of what a name stands for."""
        if issubclass(type(value), _LEFT_OUT):
            return None
        self._parts = 0
        return self._take(value, ())

    def _take(self, value: Any, parents: tuple[int, ...]) -> int:
        """`parents`: addresses of what the value is in."""
        self._parts += 1
        cls = type(value)
        if cls is str:
            most = MAX_INNER_CHARACTERS if parents else MAX_CHARACTERS
            if len(value) <= most:
                return self._scalar(value)
            start = value[:MAX_INNER_CHARACTERS]
            return self._add(Node("text", "str", 0, len(value), (start,), True))
        if cls is int or cls is float or cls is bool or value is None:
            return self._scalar(value)
        kind = self._kinds.get(id(cls))
        if kind is None or kind.cls is None or kind.cls() is not cls:
            node = self._text(value, cls) or self._tensor(value, cls, len(parents))
            if node is not None:
                return self._add(node)
            kind = self._kinds[id(cls)] = self._kind(cls)
        if self._is_open(value, kind.base, parents):
            return self._add(self._open(value, cls, kind, parents))
        return self._add(self._closed(value, kind))

    def _kind(self, cls: type) -> _Kind:
        reference = _Reference(cls) if self._has_references else None
        has_slots = any(True for _ in _slots_of(cls))
        return _Kind(reference, _base_of(cls), self._has_fields(cls), has_slots)

    def _is_open(self, value: Any, base: Any, parents: tuple[int, ...]) -> bool:
        """Whether the parts of a value are shown here."""
        if id(value) in parents or len(parents) >= MAX_DEPTH or self._parts > MAX_PARTS:
            return False
        return not parents or base is None or base.__len__(value) <= MAX_ITEMS

    def _add(self, node: Node) -> int:
        # 0.0 and -0.0 are equal, and two tensors.
        key = (node, repr(node.parts)) if node.kind == "tensor" else node
        number = self._numbers.get(key)
        if number is None:
            self.nodes.append(node)
            number = self._numbers[key] = -len(self.nodes)
            untrack(node)
        return number

    # Values without parts -----------------------------------------------------------------------

    def _text(self, value: Any, cls: type) -> Node | None:
        """Return a node of a value that is shown by a text."""
        name = type_name(value)
        if cls is bytes or cls is bytearray:
            text = repr(bytes(value[: MAX_CHARACTERS // 4]))
            number = self._identity(value) if cls is bytearray else 0
            is_cut = len(value) > MAX_CHARACTERS // 4
            return Node("text", name, number, len(value), (text,), is_cut)
        if cls in _WRITTEN:
            return Node("text", name, 0, -1, (repr(value)[:MAX_CHARACTERS],))
        if issubclass(cls, _LEFT_OUT):
            return Node("text", name, 0, -1, (_qualified_name(value, cls)[:MAX_CHARACTERS],))
        if issubclass(cls, enum.Enum):
            return Node(
                "text", name, 0, -1, (f"{name}.{object.__getattribute__(value, '_name_')}",)
            )
        if issubclass(cls, BaseException):
            told = [one for one in _arguments(value) if type(one) in (str, int, float, bool)]
            text = ", ".join(map(str, told))[:MAX_CHARACTERS]
            return Node("text", name, self._identity(value), -1, (text,))
        if frame := at_a_glance(value, cls):
            return Node("text", name, self._identity(value), -1, (frame,))
        said = tensors.text_at_a_glance(value, cls)
        return None if said is None else Node("text", name, 0, -1, (said[:MAX_CHARACTERS],))

    def _tensor(self, value: Any, cls: type, depth: int) -> Node | None:
        picture = tensors.glance(value, cls, self._storages, whole=depth < 2)
        if picture is None:
            return None
        cut = picture.pop("cut", False)
        parts = tuple(itertools.chain.from_iterable(picture.items()))
        return Node("tensor", type_name(value), self._identity(value), -1, parts, cut)

    def _closed(self, value: Any, kind: _Kind) -> Node:
        """What is inside is shown elsewhere, or not at all."""
        name, base = type_name(value), kind.base
        if base is None:
            return Node("object", name, self._identity(value), cut=kind.has_fields)
        number = 0 if base in (tuple, frozenset) else self._identity(value)
        return Node("object", name, number, base.__len__(value), cut=True)

    # Values with parts --------------------------------------------------------------------------

    def _open(self, value: Any, cls: type, kind: _Kind, parents: tuple[int, ...]) -> Node:
        name, base, parents = type_name(value), kind.base, (*parents, id(value))
        number = 0 if base in (tuple, frozenset) else self._identity(value)
        if base is None:
            fields = self._fields_of(value, cls, kind.has_slots) if kind.has_fields else []
            if not fields:
                return Node("object", name, number)
            return self._fields(name, number, fields, parents)
        length = base.__len__(value)
        if base is dict:
            entries = itertools.islice(_entries(value, cls), MAX_ITEMS)
            kept = [self._take(part, parents) for entry in entries for part in entry]
            return Node("entries", name, number, length, tuple(kept), length > MAX_ITEMS)
        if base in (set, frozenset):
            items: Iterable[object] = self._members(value, base, length)[:MAX_ITEMS]
        elif base is tuple and (names := _said_by_class(cls, "_fields")):
            named = zip(names, tuple.__iter__(value), strict=False)
            return self._fields(name, number, [*named], parents)
        else:
            items = itertools.islice(base.__iter__(value), MAX_ITEMS)
        parts = tuple([self._take(item, parents) for item in items])
        return Node("items", name, number, length, parts, len(parts) < length)

    def _members(self, value: Any, base: Any, length: int) -> Sequence[object]:
        """The numbers and texts in a set, sorted: its own order differs from run to run."""
        if length > MAX_SORTED:
            return []
        plain = [item for item in base.__iter__(value) if type(item) in (int, float, str, bool)]
        return sorted(plain, key=lambda item: (type(item).__name__, item))

    def _fields(
        self, name: str, number: int, fields: list[tuple[str, Any]], parents: tuple[int, ...]
    ) -> Node:
        parts: list[str | int] = []
        for key, part in fields[:MAX_ITEMS]:
            parts += str(key), self._take(part, parents)
        return Node("fields", name, number, -1, tuple(parts), len(fields) > MAX_ITEMS)

    def _has_fields(self, cls: type) -> bool:
        """Whether an object is shown by its fields: not those of a library's class, which may be
        others in its next version."""
        torch: Any = sys.modules.get("torch")
        return (
            _module_of(cls) in self._own_modules
            or cls is types.SimpleNamespace
            or _said_by_class(cls, "__match_args__") is not None
            or (torch is not None and issubclass(cls, torch.nn.Module))
        )

    def _fields_of(self, value: Any, cls: type, has_slots: bool) -> list[tuple[str, Any]]:
        fields = plain_attributes(value, cls, has_slots=has_slots)
        if _module_of(cls) in self._own_modules:
            own = [*fields.items()]
            if len(own) > MAX_ITEMS:  # what is for others to see comes first
                own.sort(key=lambda field: str(field[0]).startswith("_"))
            return own
        described = _said_by_class(cls, "__dataclass_fields__")
        names: Iterable[str]
        if described is not None:
            names = [name for name, field in described.items() if field.repr]
        else:  # of a torch module and a namespace all
            names = _said_by_class(cls, "__match_args__") or fields
        return [(name, fields[name]) for name in names if name in fields]

    def attribute(self, value: object, name: str) -> Glance:
        """Return the glance of a plain attribute of an object; None where it has none."""
        fields = plain_attributes(value, type(value))
        return self.take(fields[name]) if name in fields else None

    # Identity -----------------------------------------------------------------------------------

    def _identity(self, value: Any) -> int:
        known = self._serials.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        if not self._has_references:
            return -id(value)
        try:
            known = _Reference(value), next(self._next_serial)
        except TypeError:
            return -id(value)
        untrack(known[0])
        untrack(known)
        self._serials[id(value)] = known
        return known[1]

    def give_up_references(self) -> None:
        """Leave no weak reference to an object, for a lecture that counts them. Where an object is
        out of sight for a while, nothing tells that it is the same when it is seen again."""
        self._has_references = False
        self._serials.clear()
        self._kinds.clear()


class _Reference(weakref.ref[Any]):
    """Not the plain one, of which an object has only one, shared with the lecture."""

    __slots__ = ()


# A class is asked itself: a class of classes may answer as it likes.
_MRO = type.__dict__["__mro__"].__get__
_DICT = type.__dict__["__dict__"].__get__
_DICT_OFFSET = type.__dict__["__dictoffset__"].__get__
_MODULE = type.__dict__["__module__"].__get__


def _module_of(cls: type) -> object:
    """Return the name of the module of a class, which may be anything."""
    name = _MODULE(cls)
    return name if type(name) is str else None


def _said_by_class(cls: type, name: str) -> Any:
    """Return a plain attribute of a class or of one that it is made from, or None."""
    return next((_DICT(base)[name] for base in _MRO(cls) if name in _DICT(base)), None)


def _qualified_name(value: Any, cls: type) -> str:
    if issubclass(cls, type):  # whose metaclass may say something else
        return str(type.__dict__["__qualname__"].__get__(value))
    return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))


def _arguments(error: BaseException) -> tuple[object, ...]:
    arguments: tuple[object, ...] = BaseException.__dict__["args"].__get__(error)
    return arguments


def _base_of(cls: type) -> Any:
    """Return the built-in container that a class is, or is made from."""
    for base in (list, tuple, dict, set, frozenset, collections.deque):
        if issubclass(cls, base):
            return base
    return None


def _entries(value: Any, cls: type) -> Iterable[tuple[object, object]]:
    ordered = collections.OrderedDict
    return ordered.items(value) if issubclass(cls, ordered) else dict.items(value)


_MODULE_PARTS = dict.fromkeys(("_parameters", "_buffers", "_modules")).keys()


def plain_attributes(value: object, cls: type, *, has_slots: bool = True) -> dict[str, Any]:
    """Return what an object has in its own dict and slots; of a torch module its parameters, its
    buffers and the modules in it in place of what torch keeps. Runs nothing of its class."""
    found: dict[str, Any] = {}
    if _DICT_OFFSET(cls) and (own := own_dict(value, cls)) is not None:
        if own.keys() >= _MODULE_PARTS:
            found = {name: part for name, part in own.items() if _is_own_attribute(name)}
            for part in _MODULE_PARTS:
                found |= own[part]
        else:
            found = dict(own)
    for name, slot in _slots_of(cls) if has_slots else ():
        try:
            found[name] = slot.__get__(value)
        except AttributeError:
            continue
    return found


def own_dict(value: object, cls: type) -> dict[str, Any] | None:
    """Return the dict that an object has; None where its class has something else in that place,
    such as a property, which would run."""
    for base in _MRO(cls):
        found = _DICT(base).get("__dict__")
        if found is not None:
            is_real = type(found) in (types.GetSetDescriptorType, types.MemberDescriptorType)
            return found.__get__(value) if is_real else None
    return None


def _slots_of(cls: type) -> Iterator[tuple[str, Any]]:
    for base in _MRO(cls):
        for name, slot in _DICT(base).items():
            if type(slot) is types.MemberDescriptorType and _module_of(base) != "builtins":
                yield name, slot


def _is_own_attribute(name: str) -> bool:
    return not name.startswith("_") and name not in ("training", "call_super_init")
