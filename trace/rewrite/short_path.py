"""The short path: what a lecture's table of contents leaves of it when only marked sections run.

The table of contents is `main` and the functions that it calls by name, on a line and without
arguments (`part.main()`), as far as they lead to a section with the mark. In those functions such
calls that lead to none are taken out, before anything runs; whatever else stands there, and all
that the sections call, stays.
"""

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..own_builtins import use_own_builtins
from .directives import Comment
from .source import Source
from .syntax import Function, first_line, header_end

use_own_builtins(globals())

_HEADING = re.compile(r"#\s*#")

_Place = tuple[Path, str]
"""A function: its file and its name."""


class ShortPath:
    """Which functions of a lecture lead to a section with a mark, such as `core`."""

    def __init__(self, main_file: Path, root: Path, mark: str) -> None:
        self.root = root
        self.mark = mark
        self._modules: dict[Path, _Module | None] = {}
        self._leads: dict[_Place, bool] = {}
        self.exists = self._leads_on((main_file, "main"))
        """Whether there is any such section."""
        self._contents: set[_Place] = set()
        self._visit((main_file, "main"))

    def cut(self, source: Source, file: Path) -> None:
        """Take what is not on the path out of a file's tables of contents, and hide it in Read."""
        for function in source.tree.body:
            if isinstance(function, Function) and (file, function.name) in self._contents:
                gone = [call for call in function.body if not self._stays(file, call)]
                function.body = [child for child in function.body if child not in gone]
                source.directives.hidden_lines += _hidden_with(gone, function, source)

    def _visit(self, place: _Place) -> None:
        """Add a function to the tables of contents, and those that it calls and that lead on."""
        module = self._module(place[0])
        function = module.functions.get(place[1]) if module else None
        if module is None or function is None or place in self._contents or self._is_marked(place):
            return
        self._contents.add(place)
        for called in map(self._called(place[0]), function.body):
            if called is not None and self._leads_on(called):
                self._visit(called)

    def _stays(self, file: Path, statement: ast.stmt) -> bool:
        called = self._called(file)(statement)
        return called is None or self._leads_on(called)

    def _leads_on(self, place: _Place) -> bool:
        """Tell whether a function is marked, or calls one that leads on."""
        if place not in self._leads:
            self._leads[place] = self._is_marked(place)  # also while it is looked at
            module = self._module(place[0])
            function = module.functions.get(place[1]) if module else None
            calls = map(self._called(place[0]), function.body if function else [])
            self._leads[place] |= any(called and self._leads_on(called) for called in calls)
        return self._leads[place]

    def _is_marked(self, place: _Place) -> bool:
        module = self._module(place[0])
        return module is not None and place[1] in module.marked(self.mark)

    def _called(self, file: Path) -> Callable[[ast.stmt], _Place | None]:
        """Return what finds the function that a statement calls, if it does no more."""

        def find(statement: ast.stmt) -> _Place | None:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or call.args or call.keywords:
                return None
            return self._resolved(file, ast.unparse(call.func).split("."))

        return find

    def _resolved(self, file: Path, names: list[str], depth: int = 0) -> _Place | None:
        """Find a function by its dotted name, through imports of modules and of names."""
        module = self._module(file)
        if module is None or depth > len(self._modules) + 1:
            return None
        [first, *rest] = names
        if first in module.functions:
            return None if rest else (file, first)
        path = module.imported.get(first)
        if path is None:
            return None
        return self._found([*path, *rest], depth)

    def _found(self, path: list[str], depth: int) -> _Place | None:
        """Find the function of a full dotted name: the longest module, and what is left in it."""
        for length in range(len(path) - 1, 0, -1):
            stem = self.root.joinpath(*path[:length])
            for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
                if file.is_file():
                    return self._resolved(file, path[length:], depth + 1)
        return None

    def _module(self, file: Path) -> "_Module | None":
        if file not in self._modules:
            self._modules[file] = _read(file, self.root)
        return self._modules[file]


def marked_functions(file: Path, mark: str) -> frozenset[str]:
    """Return the names of a file's functions that have a mark at the end of their `def` line."""
    module = _read(file, file.parent)
    return module.marked(mark) if module else frozenset()


def _read(file: Path, root: Path) -> "_Module | None":
    try:
        text = file.read_text(encoding="utf-8")
        return _Module(ast.parse(text), text.split("\n"), file, root)
    except (OSError, SyntaxError, ValueError):  # said when it is imported
        return None


class _Module:
    """The functions of a file, and what its imports call what."""

    def __init__(self, tree: ast.Module, lines: list[str], file: Path, root: Path) -> None:
        self.lines = lines
        self.functions = {node.name: node for node in tree.body if isinstance(node, Function)}
        package = file.relative_to(root).parent.parts
        self.imported = {
            name: path for node in ast.walk(tree) for name, path in _imports(node, package)
        }

    def marked(self, mark: str) -> frozenset[str]:
        says = re.compile(rf"#.*@{mark}\b")
        return frozenset(
            name
            for name, function in self.functions.items()
            if any(
                map(says.search, self.lines[function.lineno - 1 : header_end(function, self.lines)])
            )
        )


def _imports(node: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Yield the names that an import binds, each with the full path of what it is."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name.split(".")
            yield (alias.asname, whole) if alias.asname else (whole[0], whole[:1])
    elif isinstance(node, ast.ImportFrom):
        above = list(package[: len(package) - node.level + 1]) if node.level else []
        base = [*above, *(node.module.split(".") if node.module else ())]
        for alias in node.names:
            yield alias.asname or alias.name, [*base, alias.name]


def _hidden_with(gone: list[ast.stmt], function: Function, source: Source) -> list[int]:
    """Return the lines of what was taken out, and of the comments about nothing else."""
    hidden = {line for child in gone for line in _lines_of(child)}
    statements = sorted([*function.body, *gone], key=first_line)
    blocks = list(_blocks_of_comments(source, _lines_of(function)))
    headings = [block[0].line for block in blocks if _HEADING.match(block[0].text)]
    for block in blocks:
        below = [child for child in statements if first_line(child) > block[0].line]
        if block[0].line in headings:  # it is about all that follows up to the next heading
            end = next((line for line in headings if line > block[0].line), math.inf)
            about = [child for child in below if first_line(child) < end]
        else:
            about = below[:1]
        if about and all(child in gone for child in about):
            hidden.update(comment.line for comment in block)
    return sorted(hidden)


def _lines_of(statement: ast.stmt) -> range:
    return range(first_line(statement), (statement.end_lineno or statement.lineno) + 1)


def _blocks_of_comments(source: Source, lines: range) -> Iterator[list[Comment]]:
    """Yield the comments on lines of their own, those below each other together."""
    comments = [one for one in source.comments if one.own_line and one.line in lines]
    for _, block in itertools.groupby(enumerate(comments), lambda pair: pair[1].line - pair[0]):
        yield [comment for _, comment in block]
