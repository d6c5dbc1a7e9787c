"""Python's built-in functions as they were when the tracer was imported.

A lecture may put others in their place, which are not meant for us. A function looks up built-in
names in what its module has under `__builtins__` when the function is made; so a module that runs
inside a lecture calls `use_own_builtins(globals())` before its first function.
"""

import builtins
from typing import Any

OWN_BUILTINS = dict(vars(builtins))


def use_own_builtins(module: dict[str, Any]) -> None:
    """Let the functions that a module makes from here on use them."""
    module["__builtins__"] = OWN_BUILTINS
