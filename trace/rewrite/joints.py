"""Between the statements of a function: what reads all of its names there.

A reading stands before each statement and at the end of bodies, so that it sees what the statement
before it did, however that ended; where nothing can have changed, there is none.
"""

import ast
import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from ..own_builtins import use_own_builtins
from .bindings import SELF, Variables
from .flow import Flow, Reach
from .inserted import call, load, load_wait, note
from .numbering import Numbering
from .rows import Facts, Reading, Tables
from .syntax import NEW_SCOPES, Function, at, blocks_of, docstring_of

use_own_builtins(globals())


class _Scope(NamedTuple):
    """A function whose body is being rewritten."""

    function: Function
    variables: Variables
    flow: Flow
    is_still: set[ast.stmt]
    """Statements before which nothing can have changed."""
    addresses: frozenset[str]
    is_harmless: bool
    """Whether nothing in it can have changed anything when it raises."""


class Joints:
    """Makes the readings of one module."""

    def __init__(self, tables: Tables, numbers: Numbering) -> None:
        self.tables = tables
        self.numbers = numbers
        self._scopes: list[_Scope] = []

    @contextlib.contextmanager
    def of(self, function: Function) -> Iterator[None]:
        """Inside, statements are those of this function."""
        variables = self.numbers.variables[function]
        own = [s for s in _own_statements(function.body) if s in self.numbers.statements]
        scope = _Scope(
            function,
            variables,
            Flow.of(function, variables),
            set(),
            frozenset().union(*(self._facts(s).writes for s in own if self._facts(s).has_address)),
            not any(self._facts(s).has_effect or self._facts(s).binds for s in own),
        )
        self._mark_still(scope, function.body[len(docstring_of(function)) :], is_still=True)
        self._scopes.append(scope)
        yield
        self._scopes.pop()

    def _facts(self, statement: ast.stmt) -> Facts:
        return self.tables.facts[self.numbers.statements[statement] - 1]

    def _mark_still(self, scope: _Scope, block: list[ast.stmt], *, is_still: bool) -> None:
        """Find the statements before which nothing can have changed since the reading before."""
        for statement in block:
            if is_still:
                scope.is_still.add(statement)
            number = self.numbers.statements.get(statement)
            facts = self._facts(statement) if number else Facts(has_effect=False)
            is_still = not (facts.has_effect or facts.binds)
            if isinstance(statement, NEW_SCOPES):
                is_still = is_still and not isinstance(statement, ast.ClassDef)
                continue
            for inner in blocks_of(statement):
                begins = isinstance(statement, ast.Try | ast.TryStar) and inner is statement.body
                self._mark_still(scope, inner, is_still=begins and is_still)
            is_still = is_still and not blocks_of(statement)

    # What stands where --------------------------------------------------------------------------

    def at_start(self) -> list[ast.stmt]:
        """Read the arguments."""
        scope = self._scopes[-1]
        certain = frozenset(scope.variables.parameters) - scope.flow.variables.deleted
        possible = frozenset(scope.variables.parameters) | scope.variables.free
        return self._reading(Reach(certain, possible), is_entry=True)

    def before(self, statement: ast.stmt) -> list[ast.stmt]:
        """Read what the statement before did."""
        scope = self._scopes[-1]
        return [] if statement in scope.is_still else self._reading(scope.flow.before[statement])

    def after_body(self, statement: ast.stmt) -> list[ast.stmt]:
        """Read, at the end of the body of a loop or a `with`, what its last statement did."""
        reach = self._scopes[-1].flow.after_body.get(statement)
        return [] if reach is None else self._reading(reach)

    def at_end(self) -> list[ast.stmt]:
        """Read what the last statement of the function did."""
        end = self._scopes[-1].flow.end
        return [] if end is None else self._reading(end)

    def when_raised(self) -> list[ast.stmt]:
        """Read what was done until an exception ended the function."""
        scope = self._scopes[-1]
        if scope.is_harmless:
            return []
        certain = frozenset(scope.variables.parameters) - scope.flow.uncertain
        return self._reading(Reach(certain, frozenset(scope.flow.possible)))

    def returning(self, changed: ast.Return, statement: ast.stmt, number: int) -> list[ast.stmt]:
        """Read what a function returns, and what finding that out did."""
        if changed.value is not None:
            self.tables.returns.append(number)
            index = ast.Constant(len(self.tables.returns) - 1)
            hooks = ast.Subscript(load("@returns"), _is_not_followed(), ast.Load())
            hook = ast.Subscript(hooks, index, ast.Load())
            value = ast.Call(hook, [ast.Constant(None), changed.value], [])
            changed.value = at(value, changed.value)
        flow, facts = self._scopes[-1].flow, self._facts(statement)
        is_still = not facts.has_effect and not facts.binds
        if is_still or statement in flow.handling:  # which unbinds a name after any reading here
            return [changed]
        after = self._reading(flow.before[statement])
        return [ast.Try([changed], [], [], after)] if after else [changed]

    def _reading(self, reach: Reach, *, is_entry: bool = False) -> list[ast.stmt]:
        scope = self._scopes[-1]
        certain = [name for name in scope.variables.names if name in reach.certain]
        possible = [name for name in scope.variables.names if name in reach.possible]
        perhaps = [name for name in possible if name not in reach.certain]
        attributes: list[str] = []
        if scope.variables.parameters[:1] == [SELF] == certain[:1]:
            attributes = sorted(name for name in reach.possible if name.startswith(f"{SELF}."))
        if not certain and not perhaps:
            return []
        index = len(self.tables.readings)
        self.tables.readings.append(
            Reading(
                function=self.numbers.functions[scope.function],
                names=(*certain, *attributes, *perhaps),
                attributes=tuple(name.removeprefix(f"{SELF}.") for name in attributes),
                is_entry=is_entry,
                addresses=scope.addresses,
            )
        )
        body: list[ast.stmt] = [
            ast.Expr(call("@read", ast.Constant(index), *(load(name) for name in certain)))
        ]
        for name in perhaps:
            missing = ast.ExceptHandler(load("@NameError"), None, [note("@gone")])
            body.append(ast.Try([ast.Expr(call("@more", load(name)))], [missing], [], []))
        is_now = ast.UnaryOp(ast.Not(), call("@next", load_wait(index)))
        is_due = ast.BoolOp(ast.And(), [is_now, _is_not_followed()])
        due = ast.If(is_due, body, [])
        unread = ast.ExceptHandler(load("@unreadable"), None, [ast.Pass()])
        return [ast.Try([due], [unread], [], [])]


def _is_not_followed() -> ast.expr:
    """Whether the lecture has no trace function of its own, which would see what reads names."""
    return ast.Compare(call("@gettrace"), [ast.Is()], [load("@outer")])


def _own_statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a function, those inside others too, not those of functions in it."""
    for statement in block:
        yield statement
        if not isinstance(statement, NEW_SCOPES):
            for inner in blocks_of(statement):
                yield from _own_statements(inner)
