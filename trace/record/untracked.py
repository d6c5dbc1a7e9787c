"""What Python's collector of garbage need not look at: there may be millions of them, and it would
look at each again and again. Nothing in them leads back to them."""

import ctypes
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


_UNTRACK = ctypes.pythonapi.PyObject_GC_UnTrack
_AS_OBJECT = ctypes.py_object
