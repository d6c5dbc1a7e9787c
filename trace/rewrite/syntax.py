"""Small questions to a syntax tree."""

import ast
import dis
import re
import typing
from collections.abc import Iterator
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.ClassDef
NEW_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


_LINE_ENDS = re.compile(rb"(?<=\n)|(?<=\r)(?!\n)")


class SourceLines:
    """A source split into lines once; `ast.get_source_segment` does it again for each segment."""

    def __init__(self, source: str) -> None:
        self._lines = _LINE_ENDS.split(source.encode())  # a syntax tree counts columns in bytes

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the source of a node."""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode()


def children_of(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, but for contexts such as `ast.Load`: in a third of the
    time of `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


def nodes_in(*parts: ast.AST) -> list[ast.AST]:
    """Return nodes and all below them, as `ast.walk` does.

    >>> [type(node).__name__ for node in nodes_in(ast.parse("a = b").body[0])]
    ['Assign', 'Name', 'Name']
    """
    found = [*parts]
    for node in found:  # which grows
        found += children_of(node)
    return found


def give_places(tree: ast.AST) -> None:
    """Give nodes without a place that of the node around them, as `ast.fix_missing_locations`. A
    node that stands in two places has its own."""
    known: set[ast.AST] = set()
    left: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while left:
        node, around = left.pop()
        if node in known:
            continue
        known.add(node)
        if "lineno" in node._attributes:
            if not hasattr(node, "lineno"):
                _give_place(node, around)
            around = node
        left += [(child, around) for child in children_of(node)]


def _give_place(node: Any, around: Any) -> None:
    if around is None:
        node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = 1, 1, 0, 0
        return
    node.lineno, node.end_lineno = around.lineno, around.end_lineno
    node.col_offset, node.end_col_offset = around.col_offset, around.end_col_offset


def first_line(statement: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    if not decorators:
        return statement.lineno
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def header_end(statement: ast.stmt, source_lines: list[str]) -> int:
    """Return the last line of a statement, or of its header if it is a compound one."""
    blocks = blocks_of(statement)
    if not blocks:
        return statement.end_lineno or statement.lineno
    below = first_line(blocks[0][0])
    if isinstance(statement, ast.Match):
        below = statement.cases[0].pattern.lineno
    line = max(statement.lineno, below - 1)
    while line > statement.lineno and source_lines[line - 1].lstrip()[:1] in ("", "#"):
        line -= 1
    return line


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the non-empty blocks of a compound statement in the order of the source."""
    if type(statement) in _WITHOUT_BLOCKS:
        return []
    blocks = [getattr(statement, "body", [])]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    blocks += [getattr(statement, "orelse", []), getattr(statement, "finalbody", [])]
    return [block for block in blocks if block]


_WITHOUT_BLOCKS = frozenset(
    kind for kind in ast.stmt.__subclasses__() if not {"body", "cases"} & {*kind._fields}
)
_BLOCKS_OF_PYTHON = (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar)


def block_depth(statements: list[ast.stmt]) -> int:
    r"""Return how many of Python's blocks, such as loops, lie inside each other at most; those of
    functions inside do not count.

    >>> block_depth(ast.parse("for x in y:\n  with a, b:\n    pass").body)
    3
    """
    deepest = 0
    for statement in statements:
        own = 0
        if isinstance(statement, _BLOCKS_OF_PYTHON):
            own = 1 + hasattr(statement, "handlers")  # a handler, or what comes at last, is another
        elif isinstance(statement, ast.With | ast.AsyncWith):
            own = len(statement.items)
        if not isinstance(statement, NEW_SCOPES):
            inside = max(map(block_depth, blocks_of(statement)), default=0)
            deepest = max(deepest, own + inside)
    return deepest


def is_declaration(statement: ast.stmt) -> bool:
    """Tell whether a statement only says where names live; it is no step."""
    return isinstance(statement, ast.Global | ast.Nonlocal)


def declarations_of(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the `global` and `nonlocal` statements of a function, not of those inside it."""
    for statement in statements:
        if is_declaration(statement):
            yield statement
        elif not isinstance(statement, NEW_SCOPES):
            for block in blocks_of(statement):
                yield from declarations_of(block)


def docstring_of(scope: ast.AST) -> list[ast.stmt]:
    """Return the docstring of a function, class or module as a list of one statement or none."""
    body: list[ast.stmt] = getattr(scope, "body", [])
    match body:
        case [ast.Expr(ast.Constant(str())) as docstring, *_]:
            return [docstring]
    return []


Node = typing.TypeVar("Node", bound=ast.AST)


def at(node: Node, origin: ast.AST) -> Node:
    """Give a new node the location of the code it stands for."""
    return node if hasattr(node, "lineno") else ast.copy_location(node, origin)


def _is_iter_blamed() -> bool:
    """Tell where a traceback points when a `for` has nothing to iterate over: Python 3.11 points to
    the whole statement, later ones to the iterable."""
    instructions = dis.get_instructions(compile("for a in b: pass", "", "exec"))
    places = [
        i.positions.col_offset for i in instructions if i.opname == "GET_ITER" and i.positions
    ]
    return places == [len("for a in ")]


ITER_IS_BLAMED = _is_iter_blamed()
