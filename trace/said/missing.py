"""Packages that a lecture imports and that are not here: it runs up to where it needs them.

A lecture of another tool often imports what only one of its sections uses, such as a compiler for a
GPU. In place of such a package stands something that can be imported, and be what decorators and
classes are made with; whatever `main()` does with it is the error that the import would have been.
"""

import ast
import sys
import types
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any


class Absent(types.ModuleType):
    """Stands for a package that is not here, and for all that is in it."""

    def __init__(self, name: str, is_used: "IsUsed") -> None:
        super().__init__(name)
        vars(self).update(__path__=[], _is_used=is_used)

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return self._part()

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """A decorator leaves its function as it is."""
        part = self._part()
        is_decorator = len(arguments) == 1 and not more and callable(arguments[0])
        return arguments[0] if is_decorator and not isinstance(arguments[0], Absent) else part

    def __getitem__(self, _: Any) -> "Absent":
        return self._part()

    def __or__(self, _: Any) -> "Absent":
        """As a type in a signature."""
        return self._part()

    __ror__ = __or__

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[type, ...]:
        """As a base of a class."""
        self._part()
        return (object,)

    def _part(self) -> "Absent":
        if vars(self)["_is_used"]():
            package = self.__name__.partition(".")[0]
            raise ModuleNotFoundError(f"No module named '{package}'", name=package)
        return self


class IsUsed:
    """Whether `main()` runs, and not the imports of the lecture any more."""

    def __init__(self, file: Path) -> None:
        self._file = str(file)

    def __call__(self) -> bool:
        """Look for the lecture's module among the open calls."""
        return not any(map(self.is_lecture, _open_calls()))

    def is_lecture(self, frame: types.FrameType) -> bool:
        """Whether it is the lecture's module that runs in a call."""
        code = frame.f_code
        return code.co_name == "<module>" and code.co_filename == self._file


def _open_calls() -> Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe(1)
    while frame:
        yield frame
        frame = frame.f_back


def _importer() -> types.FrameType | None:
    """The call that asks for a module, behind those of the import system."""
    calls = (frame for frame in _open_calls() if frame.f_code.co_filename != __file__)
    return next((one for one in calls if "importlib" not in one.f_code.co_filename), None)


class AbsentFinder(MetaPathFinder, Loader):
    """Comes last: finds what the lecture itself imports on its top level, and nobody has found."""

    def __init__(self, file: Path, modules: list[str], missing: dict[str, str]) -> None:
        self._names = _needed(file)
        self._is_used = IsUsed(file)
        self._absent: set[str] = set()
        self._modules = modules  # what was put into `sys.modules`
        self._missing = missing

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find what is not here."""
        package = name.partition(".")[0]
        importer = _importer()
        # Others ask whether it is there, and can do without.
        is_asked = importer is not None and self._is_used.is_lecture(importer)
        if not is_asked or package not in self._names:
            return None
        if "." in name and package not in self._absent:
            return None
        self._absent.add(package)
        self._modules.append(name)
        self._missing[package] = "is not installed: the lecture ends where it needs it"
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Make the stand-in."""
        return Absent(spec.name, self._is_used)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""


def _needed(file: Path) -> set[str]:
    """The packages that a file imports on its top level without asking whether they are there, and
    that are no modules of its folder."""
    found: set[str] = set()
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return {name for name in found if not file.with_name(f"{name}.py").exists()}
