"""What Python's collector of garbage need not look at: there may be millions of them, and it would
look at each again and again. Nothing in them leads back to them."""

import ast
import ctypes
import gc
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())


def untrack(thing: object) -> None:
    """Let the collector not look at something."""
    _UNTRACK(_AS_OBJECT(thing))


def untracked_list() -> list[Any]:
    """Return a list for numbers."""
    numbers: list[Any] = []
    untrack(numbers)
    return numbers


def untrack_data(*things: object) -> None:
    """Let the collector not look at containers, syntax trees and objects of our own classes, nor at
    such that they hold. There must be no way back to them, or they stay for good."""
    todo = [*things]
    while todo:
        thing = todo.pop()
        if gc.is_tracked(thing) and _is_data(type(thing)):
            untrack(thing)
            todo += gc.get_referents(thing)


def _is_data(cls: type) -> bool:
    # Not every type's objects may be untracked: some take for granted that they are tracked when
    # they end, such as generators.
    return cls in _CONTAINERS or issubclass(cls, ast.AST) or cls.__module__.startswith(_OWN)


_CONTAINERS = frozenset([list, tuple, dict, set, frozenset])
_OWN = __name__.partition(".")[0] + "."
_UNTRACK = ctypes.pythonapi.PyObject_GC_UnTrack
_AS_OBJECT = ctypes.py_object
