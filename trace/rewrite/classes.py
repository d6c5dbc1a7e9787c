"""Inserted names in the bodies of classes.

There a name is looked up first in what `__prepare__` of the class of classes has returned, which
may log it or have an answer for every name. Inside a function it is not.
"""

import ast
import typing

from ..own_builtins import use_own_builtins
from .syntax import Function, at

use_own_builtins(globals())


def out_of_reach_of_classes(tree: ast.Module) -> ast.Module:
    """Replace each inserted name in a class body by `(lambda: name)()`; changes the tree.

    >>> tree = out_of_reach_of_classes(ast.parse("class A: x = step(len)"))
    >>> print(ast.unparse(tree))  # only names that begin with @ are inserted ones
    class A:
        x = step(len)
    """
    return typing.cast(ast.Module, _Hiding().visit(tree))


class _Hiding(ast.NodeTransformer):
    def __init__(self) -> None:
        self.in_class_body = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not self.in_class_body or not node.id.startswith("@"):
            return node
        nothing = ast.arguments([], [], None, [], [], None, [])
        return at(ast.Call(ast.Lambda(nothing, node), [], []), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return typing.cast(ast.ClassDef, self._with_body(node, in_class_body=True))

    def visit_FunctionDef(self, node: Function) -> Function:
        return typing.cast(Function, self._with_body(node, in_class_body=False))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return typing.cast(ast.Lambda, self._with_body(node, in_class_body=False))

    def _with_body(self, node: ast.AST, in_class_body: bool) -> ast.AST:
        """Visit what is evaluated outside of a body (decorators, defaults), then the body."""
        outer = self.in_class_body
        for name, value in ast.iter_fields(node):
            self.in_class_body = in_class_body if name == "body" else outer
            if isinstance(value, list):
                value[:] = [
                    self.visit(part) if isinstance(part, ast.AST) else part for part in value
                ]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        self.in_class_body = outer
        return node
