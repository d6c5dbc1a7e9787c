"""`yield`, `yield from` and `await`, wrapped so that suspensions are noted."""

import ast
import copy
import typing

from ..own_builtins import use_own_builtins
from .inserted import call, load
from .syntax import NEW_SCOPES, at, children_of

use_own_builtins(globals())


class _YieldMarker(ast.NodeTransformer):
    """Wraps what can leave a function in the middle of an expression."""

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        self.generic_visit(node)
        node.value = call("@suspend", load("@a"), node.value or ast.Constant(None))
        return at(call("@resume", load("@a"), node), node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        self.generic_visit(node)
        node.value = at(call("@delegate", load("@a"), node.value), node.value)
        return node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        self.generic_visit(node)
        node.value = at(call("@awaiting", load("@a"), node.value), node.value)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        if node.is_async:
            iterator = call("@aiter", load("@a"), ast.Constant(0), node.iter)
            node.iter = at(iterator, node.iter)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.GeneratorExp:
        """Only its first iterable is evaluated here; what asks for its items is wrapped itself."""
        node.generators[0].iter = self.visit(node.generators[0].iter)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


_Statement = typing.TypeVar("_Statement", bound=ast.stmt)


def mark_yields(changed: _Statement, original: ast.stmt) -> _Statement:
    """Wrap the yields in the header of `changed`, a shallow copy of `original`."""
    if not yields_of(original):
        return changed
    for name, value in ast.iter_fields(changed):
        if isinstance(value, ast.expr):
            setattr(changed, name, _YieldMarker().visit(copy.deepcopy(value)))
        elif isinstance(value, list) and value and isinstance(value[0], _HEADER_PARTS):
            setattr(changed, name, [_YieldMarker().visit(copy.deepcopy(part)) for part in value])
    return changed


_HEADER_PARTS = (ast.expr, ast.withitem, ast.keyword)
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_BLOCK_PARTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def yields_of(node: ast.AST, inside: bool = False) -> bool:
    """Tell whether a statement can be left and resumed: in its own expressions or, with `inside`,
    anywhere in it."""
    if isinstance(node, _YIELDS) or (isinstance(node, ast.comprehension) and node.is_async):
        return True
    if isinstance(node, ast.GeneratorExp):
        return yields_of(node.generators[0].iter, inside)
    for child in children_of(node):
        if isinstance(child, _BLOCK_PARTS) and (not inside or isinstance(node, NEW_SCOPES)):
            continue
        if not isinstance(child, ast.Lambda) and yields_of(child, inside):
            return True
    return False


def guarded(statements: list[ast.stmt]) -> ast.stmt:
    """An exception thrown in at a `yield` resumes the generator before anything else happens."""
    thrown = [ast.Expr(call("@thrown", load("@a"))), ast.Raise(None, None)]
    return ast.Try(statements, [ast.ExceptHandler(load("@BaseException"), None, thrown)], [], [])
