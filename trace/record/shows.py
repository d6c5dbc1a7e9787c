"""`plt.show()` and its like: in a lecture, what would open a window is shown on the page.

Nothing opens, and as after closing the windows, the figures of pyplot are closed.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..meter.when_imported import when_imported
from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_METHODS = (
    ("matplotlib.figure", "Figure", "figure"),
    ("PIL.Image", "Image", "image"),
    ("plotly.basedatatypes", "BaseFigure", "figure"),
)
"""Module, class whose method `show` opens a window, and what is shown."""

Show = Callable[[object, str], None]


@contextlib.contextmanager
def shown_on_the_page(show: Show) -> Iterator[None]:
    """Inside, call `show` with each figure and its name where it would open a window."""
    undo: list[Callable[[], None]] = []

    def replace(holder: Any, name: str, by: Callable[..., None]) -> None:
        undo.append(functools.partial(setattr, holder, name, getattr(holder, name)))
        setattr(holder, name, functools.wraps(getattr(holder, name))(by))

    def replace_method(module: str, cls: str, name: str) -> None:
        replace(
            getattr(sys.modules[module], cls), "show", lambda value, *_, **__: show(value, name)
        )

    def replace_pyplot() -> None:
        pyplot: Any = sys.modules["matplotlib.pyplot"]
        replace(pyplot, "show", lambda *_, **__: _show_all(pyplot, show))

    with contextlib.ExitStack() as stack:
        stack.enter_context(when_imported("matplotlib.pyplot", replace_pyplot))
        for module, cls, name in _METHODS:
            then = functools.partial(replace_method, module, cls, name)
            stack.enter_context(when_imported(module, then))
        try:
            yield
        finally:
            for restore in reversed(undo):
                restore()


def _show_all(pyplot: Any, show: Show) -> None:
    for place, number in enumerate(pyplot.get_fignums()):
        show(pyplot.figure(number), f"figure {place + 1}" if place else "figure")
    pyplot.close("all")
