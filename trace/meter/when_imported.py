"""To be told when a module has been imported."""

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..own_builtins import use_own_builtins

use_own_builtins(globals())


@contextlib.contextmanager
def when_imported(name: str, then: Callable[[], object]) -> Iterator[None]:
    """Call `then` as soon as the module `name` is imported inside the block; at once if it was
    before."""
    if name in sys.modules:
        then()
        yield
        return
    finder = _Finder(name, then)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds nothing by itself: lets the others find the module, and wraps its loader."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self.name = name
        self.then = then
        self._searching = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name or self._searching:
            return None
        self._searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader)
        return spec

    def _wrap(self, loader: Loader) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                self.then()

        loader.exec_module = exec_module  # type: ignore[method-assign]
