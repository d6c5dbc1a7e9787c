"""Claims that cannot fail, found in the sources of the lecture.

A claim has to compare something that ran with something derived in another way. Where each side
can be traced back to numbers written in the same function, the claim restates them. So a claim is
hollow if

- all sides of an equality are the same expression, once names that are bound to sums and products
  of numbers stand for these;
- nothing in it comes from a call of code that computes, and it is no arithmetic with cited numbers
  either: an operation on at least one name in capitals (`6 * GPT3_PARAMETERS`). To compare a cited
  number with itself, with a literal or with another one shows how it was typed.

Builtins such as `len` and `round` hand on what they are given and compute nothing themselves.
"""

import ast
import copy
import re
from collections.abc import Iterator, Mapping

Sources = frozenset[str]
"""Where a value comes from: `RAN`, `CITED`, both or, for literals, neither."""
RAN = "ran"
CITED = "cited"
WRITTEN: Sources = frozenset()
TRANSPARENT = frozenset(
    re.split(
        r"\s+",
        """
    abs all any bool dict enumerate float int isinstance len list max min pow range reversed round
    set sorted str sum tuple type zip items keys values get math.isclose math.log2 math.log10
    math.log math.sqrt math.ceil math.floor math.prod math.hypot math.exp
    """,
    )
)

PURE = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)


def hollow_claims(source: str) -> Iterator[tuple[str, int, str]]:
    """Yield function, line and fault of each hollow claim in a module."""
    module = ast.parse(source)
    outer = _Scope(module.body, {})
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef):
            scope = _Scope(function.body, outer.sources, _parameters(function))
            for claim in ast.walk(function):
                if isinstance(claim, ast.Assert) and (fault := scope.fault_of(claim.test)):
                    yield function.name, claim.lineno, fault


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


class _Scope:
    """The names of a function, and where their values come from."""

    def __init__(
        self, body: list[ast.stmt], outer: Mapping[str, Sources], parameters: list[str] = ()
    ) -> None:
        self.sources: dict[str, Sources] = dict(outer)
        self.sources |= dict.fromkeys(parameters, frozenset((RAN,)))
        self.definitions: dict[str, list[ast.expr | None]] = {}
        for _ in range(3):  # until what a loop hands from one turn to the next has gone round
            self.definitions.clear()
            for statement in body:
                self._bind(statement, in_loop=False)

    def fault_of(self, test: ast.expr) -> str:
        """Say why a claim cannot fail, or nothing."""
        comparisons = [node for node in ast.walk(test) if isinstance(node, ast.Compare)]
        if any(map(self._says_one_thing_twice, comparisons)):
            return "both sides are the same expression"
        found = self.sources_of(test)
        if RAN in found:
            return ""
        if CITED not in found:
            return "nothing in it ran, and no cited number is in it"
        if not self._computes_with_cited(test):
            return "it restates a cited number"
        return ""

    def sources_of(self, expression: ast.AST) -> Sources:
        """Tell where the value of an expression comes from."""
        if isinstance(expression, ast.Name):
            own = self.sources.get(expression.id)
            return own if own is not None else _of_foreign_name(expression.id)
        if isinstance(expression, ast.Call):
            return self._sources_of_call(expression)
        if isinstance(expression, ast.Attribute):
            if expression.attr.isupper():
                return frozenset((CITED,))
            if ast.unparse(expression).startswith("torch.backends."):
                return frozenset((RAN,))  # a setting of the library
        inner = [self.sources_of(child) for child in ast.iter_child_nodes(expression)]
        return WRITTEN.union(*inner)

    def _sources_of_call(self, call: ast.Call) -> Sources:
        name = ast.unparse(call.func)
        inner = [self.sources_of(child) for child in (*call.args, *call.keywords)]
        if isinstance(call.func, ast.Attribute):
            inner.append(self.sources_of(call.func.value))
            if call.func.attr in TRANSPARENT:
                name = call.func.attr
        return WRITTEN.union(*inner) if name in TRANSPARENT else frozenset((RAN,))

    # What names are bound to -------------------------------------------------------------------

    def _bind(self, statement: ast.stmt, *, in_loop: bool) -> None:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._bind_assignment(statement, in_loop)
        elif isinstance(statement, ast.For):
            self._meet(statement.target, self.sources_of(statement.iter))
        elif isinstance(statement, ast.With):
            for item in statement.items:
                if item.optional_vars:
                    self._meet(item.optional_vars, frozenset((RAN,)))
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            self._meet(ast.Name(statement.name), WRITTEN)
            for node in ast.walk(statement):
                if isinstance(node, ast.Nonlocal):
                    for name in node.names:
                        self._meet(ast.Name(name), frozenset((RAN,)))
            return
        elif isinstance(statement, ast.ExceptHandler) and statement.name:
            self._meet(ast.Name(statement.name), frozenset((RAN,)))
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                self._meet(ast.Name(alias.asname or alias.name), _of_foreign_name(alias.name))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            self._bind_changed(statement.value)
        self._bind_inner_names(statement)
        loops = in_loop or isinstance(statement, ast.For | ast.While)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for inner in getattr(statement, field, []):
                self._bind(inner, in_loop=loops)

    def _bind_assignment(
        self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, in_loop: bool
    ) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        found = self.sources_of(statement.value) if statement.value else WRITTEN
        if isinstance(statement, ast.AugAssign) and in_loop:
            found |= {RAN}  # a loop that counts
        for target in targets:
            pairs = [(target, statement.value)]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = list(zip(target.elts, statement.value.elts, strict=False))
            for name, value in pairs:
                whole = isinstance(name, ast.Name) and not isinstance(statement, ast.AugAssign)
                of_value = self.sources_of(value) | found if len(pairs) == 1 else None
                self._meet(name, of_value or self.sources_of(value), value if whole else None)

    def _bind_changed(self, call: ast.Call) -> None:
        """What is called for what it does changes what it is called on, or with."""
        inner = [self.sources_of(argument) for argument in call.args]
        if not isinstance(call.func, ast.Attribute):
            changed, found = call.args, frozenset((RAN,))
        elif call.func.attr in ("append", "extend", "add", "update", "appendleft"):
            changed, found = [call.func.value], WRITTEN.union(*inner)
        else:
            changed, found = [call.func.value, *call.args], frozenset((RAN,))
        for name in changed:
            self._meet(name, found)

    def _bind_inner_names(self, statement: ast.stmt) -> None:
        """Bind what comprehensions run over and `:=` names."""
        for node in ast.walk(statement):
            if isinstance(node, ast.comprehension):
                self._meet(node.target, self.sources_of(node.iter))
            elif isinstance(node, ast.NamedExpr):
                self._meet(node.target, self.sources_of(node.value))
            elif isinstance(node, ast.Lambda):
                for argument in node.args.args:
                    self._meet(ast.Name(argument.arg), frozenset((RAN,)))

    def _meet(self, target: ast.expr, found: Sources, value: ast.expr | None = None) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.sources[node.id] = self.sources.get(node.id, WRITTEN) | found
                self.definitions.setdefault(node.id, []).append(value)

    # Forms of a claim ---------------------------------------------------------------------------

    def _says_one_thing_twice(self, comparison: ast.Compare) -> bool:
        sides = {ast.dump(self._spelled_out(side, PURE)) for side in _sides(comparison)}
        differing = (ast.NotEq, ast.IsNot, ast.Lt, ast.Gt)  # nan != nan
        return len(sides) == 1 and not any(isinstance(by, differing) for by in comparison.ops)

    def _spelled_out(
        self, expression: ast.expr, kinds: tuple[type[ast.AST], ...] = (ast.AST,), depth: int = 4
    ) -> ast.expr:
        """Put what a name is bound to in its place, if it is bound once and to such nodes."""
        scope = self

        class Spell(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                bound = scope.definitions.get(node.id, [])
                if len(bound) != 1 or bound[0] is None or not depth:
                    return node
                if not all(isinstance(inner, kinds) for inner in ast.walk(bound[0])):
                    return node
                return scope._spelled_out(bound[0], kinds, depth - 1)

        return Spell().visit(copy.deepcopy(expression))

    def _computes_with_cited(self, test: ast.expr) -> bool:
        spelled = self._spelled_out(test)
        operations = (node for node in ast.walk(spelled) if isinstance(node, ast.BinOp))
        return any(CITED in self.sources_of(operation) for operation in operations)


def _sides(comparison: ast.Compare) -> list[ast.expr]:
    return [comparison.left, *comparison.comparators]


def _of_foreign_name(name: str) -> Sources:
    """Names in capitals are cited numbers; others that are not bound are functions and types."""
    return frozenset((CITED,)) if name.isupper() else WRITTEN
