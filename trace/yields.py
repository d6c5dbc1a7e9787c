"""`yield` and `yield from`, wrapped so that a generator's suspensions are noted."""

import ast
import copy
import typing

from .syntax import NEW_SCOPES, at, call, load


class _YieldMarker(ast.NodeTransformer):
    """Wraps `yield` and `yield from`, so that suspension and resumption are noted."""

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        self.generic_visit(node)
        node.value = call("@suspend", load("@a"), node.value or ast.Constant(None))
        return at(call("@resume", load("@a"), node), node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        self.generic_visit(node)
        node.value = at(call("@delegate", load("@a"), node.value), node.value)
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


def yields_of(node: ast.AST, inside: bool = False) -> bool:
    """Tell whether a statement yields: in its own expressions or, with `inside`, anywhere in it."""
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return True
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case) and not inside:
            continue
        if isinstance(node, NEW_SCOPES) and isinstance(child, ast.stmt):
            continue
        if not isinstance(child, ast.Lambda) and yields_of(child, inside):
            return True
    return False


def guarded(statements: list[ast.stmt]) -> ast.stmt:
    """An exception thrown in at a `yield` resumes the generator before anything else happens."""
    thrown = [ast.Expr(call("@thrown", load("@a"))), ast.Raise(None, None)]
    return ast.Try(statements, [ast.ExceptHandler(load("@BaseException"), None, thrown)], [], [])
