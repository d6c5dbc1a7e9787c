"""Which names of a function have a value where: certainly, or perhaps.

What is certain is passed to the recorder at once, what is not is tried name by name. A name that
anything in the function can unbind is never certain, nor is one that other code may bind.
"""

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from ..own_builtins import use_own_builtins
from .bindings import Header, Variables, bound_by
from .syntax import Function, nodes_in

use_own_builtins(globals())


class Reach(NamedTuple):
    """What is known of a place."""

    certain: frozenset[str]
    """Names that have a value there."""
    possible: frozenset[str]
    """Names that may have one, those included; `self.x` among them."""


@dataclass
class Flow:
    """What is known before each statement, and at the end of blocks."""

    variables: Variables
    before: dict[ast.stmt, Reach] = field(default_factory=dict)
    after_body: dict[ast.stmt, Reach | None] = field(default_factory=dict)
    """At the end of the body of a loop or a `with`, by that statement; None: never reached."""
    end: Reach | None = None
    """At the end of the function."""
    handling: set[ast.stmt] = field(default_factory=set)
    """Statements of handlers with a name, which is unbound when they are left."""
    possible: set[str] = field(default_factory=set)
    """Names that may have a value somewhere; `self.x` among them."""
    _handlers: int = 0

    def __post_init__(self) -> None:
        self.uncertain = self.variables.deleted | self.variables.free

    @classmethod
    def of(cls, function: Function, variables: Variables) -> "Flow":
        """Follow a function from its beginning to its end."""
        flow = cls(variables)
        flow.possible = {*variables.parameters, *variables.free}
        start = frozenset(variables.parameters) - flow.uncertain
        end = flow._block(function.body, start)
        flow.end = None if end is None else flow._reach(end)
        return flow

    def _reach(self, certain: frozenset[str]) -> Reach:
        return Reach(certain, frozenset(self.possible))

    def _block(self, block: list[ast.stmt], certain: frozenset[str]) -> frozenset[str] | None:
        """Return what is certain at the end of a block; None where it is never reached."""
        after: frozenset[str] | None = certain
        for statement in block:
            reached = certain if after is None else after
            self.before[statement] = self._reach(reached)
            if self._handlers:
                self.handling.add(statement)
            after = self._statement(statement, reached)
        return after

    def _bind(self, certain: frozenset[str], *targets: ast.AST | None) -> frozenset[str]:
        """Add the names that targets bind."""
        names = {
            node.id
            for target in targets
            if target is not None
            for node in nodes_in(target)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return certain | (names - self.uncertain)

    def _statement(self, statement: ast.stmt, certain: frozenset[str]) -> frozenset[str] | None:
        """Return what is certain after a statement; None if it does not go on behind it."""
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            return self._loop(statement, certain)
        self.possible |= bound_by(Header(statement)).keys()
        match statement:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return None
            case ast.Assign():
                return self._bind(certain, *statement.targets)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return self._bind(certain, target)
            case ast.AugAssign(target=target):
                return self._bind(certain, target)
            case ast.If():
                body = self._block(statement.body, certain)
                return _meet(body, self._block(statement.orelse, certain))
            case ast.With() | ast.AsyncWith():
                inside = self._bind(certain, *(item.optional_vars for item in statement.items))
                self._body(statement, statement.body, inside)
                return certain  # it may have swallowed an exception
            case ast.Try() | ast.TryStar():
                return self._try(statement, certain)
            case ast.Match():
                ends = [self._block(case.body, certain) for case in statement.cases]
                return _meet(certain, *ends)
        return certain

    def _body(self, statement: ast.stmt, body: list[ast.stmt], certain: frozenset[str]) -> None:
        end = self._block(body, certain)
        self.after_body[statement] = None if end is None else self._reach(end)

    def _loop(
        self, loop: ast.For | ast.AsyncFor | ast.While, certain: frozenset[str]
    ) -> frozenset[str]:
        for node in _statements_in(loop):
            self.possible |= bound_by(Header(node)).keys()
            self.possible |= _handled(node)
        target = None if isinstance(loop, ast.While) else loop.target
        self._body(loop, loop.body, self._bind(certain, target))
        self._block(loop.orelse, certain)
        return certain

    def _try(self, statement: ast.Try | ast.TryStar, certain: frozenset[str]) -> "_Certain":
        body = self._block(statement.body, certain)
        ends: list[_Certain] = []
        for handler in statement.handlers:
            self.possible |= {handler.name} if handler.name else set()
            self._handlers += bool(handler.name)
            ends.append(self._block(handler.body, certain))
            self._handlers -= bool(handler.name)
        if statement.orelse:
            body = self._block(statement.orelse, certain if body is None else body)
        after = _meet(body, *ends)
        if not statement.finalbody:
            return after
        final = self._block(statement.finalbody, certain)
        return None if after is None or final is None else after | final


_Certain = frozenset[str] | None


def _meet(*ends: _Certain) -> _Certain:
    """Return what is certain wherever it came from."""
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None


def _handled(statement: ast.stmt) -> set[str]:
    return {one.name for one in getattr(statement, "handlers", ()) if one.name}


def _statements_in(loop: ast.stmt) -> list[ast.stmt]:
    """The statements inside a loop and itself; more than its own scope's do no harm."""
    return [node for node in nodes_in(loop) if isinstance(node, ast.stmt)]
