"""Which claims of a lecture its test cases reach."""

import ast
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

_REACHED = "@reached"
"""A name that no source can contain."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Claims(importlib.abc.MetaPathFinder):
    """Imports the files of lectures so that their claims tell when they are reached, and show
    their sides as those of tests do."""

    def __init__(self, files: Iterable[Path], config: pytest.Config) -> None:
        ordered = list(files)
        self._files = set(ordered)
        self._names = {name for file in ordered for name in (file.stem, file.parent.name)}
        self._config = config
        self.reached: set[str] = set()
        """File and line of each."""
        self.all = [self.place(file, line) for file in ordered for line, _ in claims_of(file)]

    def place(self, file: Path, line: int) -> str:
        """Return how a claim is called, here and in other processes of the same tests."""
        root = self._config.rootpath
        shown = file.relative_to(root) if file.is_relative_to(root) else file
        return f"{shown.as_posix()}:{line}"

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Take the spec that Python would use, with our loader for files of lectures."""
        if fullname.rpartition(".")[2] not in self._names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin or Path(spec.origin).resolve() not in self._files:
            return None
        spec.loader = _Loader(fullname, spec.origin, self)
        return spec

    def compile(self, data: bytes, path: str) -> types.CodeType:
        """Compile one file; raises SyntaxError as Python does."""
        tree = _Marking(self, Path(path).resolve()).visit(ast.parse(data, path))
        if self._config.getoption("assertmode") != "plain":
            rewrite_asserts(tree, data, path, self._config)
        return compile(tree, path, "exec", dont_inherit=True)

    def install(self) -> None:
        """Have files of lectures imported by this finder from now on."""
        sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Leave the import system as it was."""
        sys.meta_path.remove(self)

    def __str__(self) -> str:
        missed = [place for place in self.all if place not in self.reached]
        checked = f"{len(self.all) - len(missed)} of {len(self.all)} claims were checked"
        return f"{checked}; not reached: {', '.join(missed)}" if missed else checked


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, claims: Claims) -> None:
        super().__init__(fullname, path)
        self._claims = claims

    def exec_module(self, module: types.ModuleType) -> None:
        vars(module)[_REACHED] = self._claims.reached.add
        super().exec_module(module)

    def get_code(self, fullname: str) -> types.CodeType:
        return self._claims.compile(self.get_data(self.path), self.path)


class _Marking(ast.NodeTransformer):
    """Writes, before each claim in a function, a call that notes where it stands."""

    def __init__(self, claims: Claims, file: Path) -> None:
        self._claims = claims
        self._file = file
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self.visit_FunctionDef(node)  # type: ignore[arg-type]
        return node

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        if not self._depth:
            return [node]
        place = ast.Constant(self._claims.place(self._file, node.lineno))
        mark = ast.Expr(ast.Call(ast.Name(_REACHED, ast.Load()), [place], []))
        for part in ast.walk(mark):
            ast.copy_location(part, node)
        return [mark, node]


def claims_of(file: Path) -> Iterator[tuple[int, bool]]:
    """Yield the line of each claim in a function, and whether that is plainly a section: what a
    decorator makes of a function cannot be seen. Of what is no Python there are none."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # said when it is imported
        return
    for function in _outer_functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                yield node.lineno, _is_plainly_a_section(function)


def _outer_functions(node: ast.AST) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _outer_functions(child)


def _is_plainly_a_section(function: _Function) -> bool:
    has_parameters = next(ast.iter_child_nodes(function.args), None) is not None
    begins_only = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    return (
        isinstance(function, ast.FunctionDef)
        and function.name != "main"
        and not function.name.startswith("_")
        and not function.decorator_list
        and not has_parameters
        and not begins_only
    )
