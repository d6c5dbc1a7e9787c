"""Imports the lecture's modules through the compiler pass, and nothing else.

Modules are chosen by file. Rewritten bytecode never reaches the pycache.
"""

import ast
import fnmatch
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import LectureError
from ..own_builtins import use_own_builtins
from ..rewrite.inserted import HOME, with_constants
from ..rewrite.instrument import instrument
from ..rewrite.prose import misread_docstrings
from ..rewrite.quotes import quotes_elsewhere
from ..rewrite.rows import Tables
from ..rewrite.short_path import ShortPath
from ..rewrite.source import Source
from ..target import is_own
from .recorder import Recorder
from .untracked import untrack_data

use_own_builtins(globals())

MAX_TREE_DEPTH = 20_000
"""Calls inside calls while a file is rewritten: each `elif` and each `+` of a sum is a level."""

_COUNTS_WEAK_REFERENCES = re.compile(r"\bgetweakref|\.__weakref__\b")
"""What a source says that asks for the weak references to an object."""


@dataclass
class Scope:
    """Which files are traced."""

    root: Path
    """The folder the lecture is imported from; paths in the document are relative to it."""
    folder: Path
    """Files in and below this folder are traced (of a single file: those beside it)."""
    include: Sequence[str] = ()
    """If given, only paths relative to `root` that match one of these patterns."""
    exclude: Sequence[str] = ()
    """Never paths that match one of these."""
    only: Callable[[Path], bool] | None = None
    """If given, and `include` is not, only files of which this is true."""

    def covers(self, file: Path) -> bool:
        """Tell whether a source file is traced."""
        if not is_own(file, self.folder):
            return False
        relative = file.relative_to(self.root).as_posix()
        if self.only and not self.include and not self.only(file):
            return False
        if self.include and not any(fnmatch.fnmatch(relative, glob) for glob in self.include):
            return False
        return not any(fnmatch.fnmatch(relative, glob) for glob in self.exclude)


@dataclass(eq=False)  # `sys.meta_path` holds what can be hashed
class LectureFinder(importlib.abc.MetaPathFinder):
    """Finds the traced modules; `files` lists those that were imported, in order."""

    scope: Scope
    tables: Tables
    recorder: Recorder
    path: ShortPath | None = None
    """Takes what is not on it out of the tables of contents."""
    files: list[Source] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    _compiled: dict[str, tuple[bytes, types.CodeType]] = field(default_factory=dict)
    """By file, for modules that are loaded anew: statements keep their numbers."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Take the spec that Python would use, with our loader for traced files."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        file = Path(spec.loader.path).resolve()
        if not self.scope.covers(file):
            return None
        spec.loader = _LectureLoader(fullname, spec.loader.path, self)
        self.modules.append(fullname)
        self.recorder.own_modules.add(fullname)
        return spec

    def compile(self, data: bytes, file: str) -> types.CodeType:
        """Compile one traced file; raises SyntaxError as Python does, or LectureError."""
        known = self._compiled.get(file)
        if known is not None and known[0] == data:
            return known[1]
        limit, collects = sys.getrecursionlimit(), gc.isenabled()
        gc.disable()  # or it would look at a growing tree again and again, a third of the time
        sys.setrecursionlimit(max(limit, MAX_TREE_DEPTH))
        try:
            code = self._compile(data, file)
            self._compiled[file] = data, code
            return code
        except (RecursionError, MemoryError):
            raise LectureError(f"{Path(file).name}: its code is nested too deeply.") from None
        finally:
            sys.setrecursionlimit(limit)
            if collects:
                gc.enable()

    def _compile(self, data: bytes, file: str) -> types.CodeType:
        try:
            tree = ast.parse(data, file)
            compile(tree, file, "exec", dont_inherit=True)  # the author's own errors come first
            text = importlib.util.decode_source(data)
        except UnicodeDecodeError as error:  # in a comment, which compiling does not read
            line = data.count(b"\n", 0, error.start) + 1
            raise LectureError(f"{Path(file).name}:{line} is not UTF-8: save it as such.") from None
        except (ValueError, SyntaxError) as error:
            if getattr(error, "filename", None):
                raise
            reason = f"{type(error).__name__}: {error}"  # such as null bytes, which have no place
            raise LectureError(f"{Path(file).name}: {reason}.") from None
        name = Path(file).resolve().relative_to(self.scope.root).as_posix()
        # What is wrong with a directive, another tool does not mind.
        complaints = self.tables.warnings if self.scope.only else None
        source = Source(name, text, tree, complaints)
        if self.path:
            self.path.cut(source, Path(file).resolve())
        self.tables.warnings.extend(misread_docstrings(source))
        self.tables.warnings.extend(quotes_elsewhere(source))
        self.files.append(source)
        if _COUNTS_WEAK_REFERENCES.search(text):
            self.recorder.glances.give_up_references()
        rows = [table for table in vars(self.tables).values() if isinstance(table, list)]
        counts = [len(table) for table in rows]
        rewritten = instrument(source, self.tables, reads_locals=self.recorder.reads_locals)
        untrack_data(source, *(table[count:] for table, count in zip(rows, counts, strict=True)))
        self.recorder.prepare_readings()
        with warnings.catch_warnings():  # the author has seen those of the source already
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(rewritten, file, "exec", dont_inherit=True, optimize=0)
        return with_constants(code, self.recorder.constant)

    def replaced_functions(self) -> Iterator[str]:
        """Name the functions that a decorator recompiled: their calls are not seen."""
        for row in self.tables.functions:
            path = self.tables.paths[row.file]
            function: object = sys.modules.get(self.modules[row.file])
            for name in row.name.split("."):
                function = _unwrapped(_static(function, name))
            code = getattr(function, "__code__", None)
            if isinstance(code, types.CodeType) and self._is_foreign(code, path):
                yield (
                    f"{path}:{row.line}: a decorator replaced the code of {row.name}: its steps "
                    "are not recorded."
                )

    def _is_foreign(self, code: types.CodeType, path: str) -> bool:
        here = Path(code.co_filename).as_posix().endswith(path)
        return here and HOME not in code.co_names

    def forget(self) -> None:
        """Take the traced modules out of `sys.modules`; others will import them unchanged."""
        for name in self.modules:
            sys.modules.pop(name, None)


def _static(owner: object, name: str) -> object:
    try:
        return inspect.getattr_static(owner, name, None)
    except Exception:  # its class of classes answers as it likes
        return None


def _unwrapped(function: Any) -> object:
    try:
        return inspect.unwrap(function)
    except Exception:  # it wraps itself, or its class answers as it likes
        return None


class _LectureLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, finder: LectureFinder) -> None:
        super().__init__(fullname, path)
        self._finder = finder

    def exec_module(self, module: types.ModuleType) -> None:
        """Module-level code is not recorded, nor what it calls."""
        self._finder.recorder.skip()
        try:
            super().exec_module(module)
        finally:
            self._finder.recorder.unskip()

    def get_code(self, fullname: str) -> types.CodeType:
        return self._finder.compile(self.get_data(self.path), self.path)
