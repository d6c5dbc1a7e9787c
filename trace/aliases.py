"""The names under which lectures find the meter: one module, whichever of them they write."""

import sys
from importlib.util import find_spec

from . import costs
from .target import NAMES


def answer_to_all_names(*, only_if_free: bool = False) -> None:
    """Have `from trace.costs import measure` and `from lecture_trace.costs import measure` give
    this package's meter in this process.

    With `only_if_free` a name that leads to another copy of the package is left to that. The
    standard library's `trace` stays what it is: only `trace.costs`, which it lacks, is added. What
    a lecture starts as another program finds the name of the package that runs it, and no other.
    """
    for name in NAMES:
        if not (only_if_free and _leads_somewhere(name)):
            sys.modules[f"{name}.costs"] = costs


def _leads_somewhere(package: str) -> bool:
    try:
        return find_spec(f"{package}.costs") is not None
    except (ImportError, ValueError):  # no such package, or no package
        return False
