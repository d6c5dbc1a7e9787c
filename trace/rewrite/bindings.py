"""Which names a function has, and what its statements may do to them. Nothing here runs anything.

What is said is said for all types of values: a name alone is harmless, `a + b` may run a method.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..own_builtins import use_own_builtins
from .syntax import NEW_SCOPES, Function, blocks_of, children_of, nodes_in

use_own_builtins(globals())

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SELF = "self"
"""What methods call their first parameter."""


@dataclass
class Variables:
    """The names of one function that are read after its statements."""

    parameters: list[str] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    """All names, in the order in which the source first mentions them."""
    free: set[str] = field(default_factory=set)
    """Those that belong to a function around it, or are declared `global`."""
    shared: set[str] = field(default_factory=set)
    """Those that other code may bind while the function waits."""
    deleted: set[str] = field(default_factory=set)
    """Those that any code in it may unbind."""


def parameters_of(function: Function | ast.Lambda) -> list[str]:
    """Return the names of all parameters in the order of the source."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, arguments.vararg]
    parameters += [*arguments.kwonlyargs, arguments.kwarg]
    return [parameter.arg for parameter in parameters if parameter]


def variables_of(function: Function, around: list[Function]) -> Variables:
    """Return the names of a function inside other functions, given from the outermost."""
    found = Variables(parameters_of(function))
    found.names = dict.fromkeys(found.parameters)
    declared = _declared(function)
    mentions = list(_mentions(function.body))
    own = {*found.parameters, *(name for name, use in mentions if use != "read")} - {*declared}
    for name, use in mentions:
        if use == "bound" and name in own:
            found.names[name] = None
    elsewhere = _names_around(around)
    for name, _ in mentions:
        is_free = name in elsewhere and name not in own and declared.get(name) != "global"
        if is_free or name in declared:
            found.names[name] = None
            found.free.add(name)
    for inner in _functions_in(function.body):
        found.shared |= {n for n, kind in _declared(inner).items() if kind == "nonlocal"} & own
    for name in found.free:
        if declared.get(name) == "global" or any(_may_rebind(one, name) for one in around):
            found.shared.add(name)
    nodes = nodes_in(*function.body)
    found.deleted = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)
    } | {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    return found


def _may_rebind(function: Function, name: str) -> bool:
    """Tell whether a variable of a function may be bound while functions inside it wait."""
    goes_on = isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes_in(function)
    )
    return goes_on or any(name in _declared(inner) for inner in _functions_in(function.body))


def _names_around(around: list[Function]) -> set[str]:
    names: set[str] = set()
    for function in around:
        declared = _declared(function)
        names |= set(parameters_of(function))
        names |= {n for n, use in _mentions(function.body) if use == "bound"} - {*declared}
        names -= {name for name, kind in declared.items() if kind == "global"}
    return names


def _functions_in(statements: list[ast.stmt]) -> Iterator[Function]:
    for node in nodes_in(*statements):
        if isinstance(node, Function):
            yield node


def _declared(function: Function) -> dict[str, str]:
    """Names that a function declares `global` or `nonlocal`."""
    found: dict[str, str] = {}
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            kind = "global" if isinstance(node, ast.Global) else "nonlocal"
            found |= dict.fromkeys(node.names, kind)
        elif not isinstance(node, NEW_SCOPES):
            todo += children_of(node)
    return found


_Use = Literal["read", "bound", "defined"]
"""Of a name; defined: by `def`, `class` or `import`."""


def _mentions(statements: Iterable[ast.AST]) -> list[tuple[str, _Use]]:
    """Return the names of a function's own scope with their use; names that only functions, classes
    and comprehensions inside it use are not its own."""
    found: list[tuple[str, _Use]] = []
    for statement in statements:
        _add_own_names(statement, frozenset(), found)
    return found


def _add_own_names(node: ast.AST, inner: frozenset[str], found: list[tuple[str, _Use]]) -> None:
    """`inner`: names of the comprehensions around the node."""
    if isinstance(node, ast.Name):
        if node.id not in inner:
            found.append((node.id, "read" if isinstance(node.ctx, ast.Load) else "bound"))
    elif isinstance(node, ast.NamedExpr):
        found.append((node.target.id, "bound"))  # also out of a comprehension
        _add_own_names(node.value, inner, found)
    elif isinstance(node, NEW_SCOPES):
        if not isinstance(node, ast.Lambda):
            found.append((node.name, "defined"))
        for part in _evaluated_outside(node):
            _add_own_names(part, inner, found)
    elif isinstance(node, _COMPREHENSIONS):
        parts = nodes_in(*(one.target for one in node.generators))
        inner |= {part.id for part in parts if isinstance(part, ast.Name)}
        for child in children_of(node):
            _add_own_names(child, inner, found)
    else:
        if isinstance(node, _BIND_BY_FIELD):
            use: _Use = "defined" if isinstance(node, ast.alias) else "bound"
            found += [(name, use) for name in _bound_by_field(node)]
        for child in children_of(node):
            _add_own_names(child, inner, found)


_BIND_BY_FIELD = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.alias)


def _evaluated_outside(node: ast.AST) -> list[ast.AST]:
    """The parts of a function or class that its surroundings evaluate."""
    parts: list[ast.AST] = [*getattr(node, "decorator_list", ())]
    parts += [*getattr(node, "bases", ()), *getattr(node, "keywords", ())]
    arguments = getattr(node, "args", None)
    if arguments is not None:
        parts += [*arguments.defaults, *(one for one in arguments.kw_defaults if one)]
    return parts


def _bound_by_field(node: ast.AST) -> list[str]:
    """Names that a node binds without a `Name` in the tree."""
    match node:
        case ast.ExceptHandler(name=str(name)):
            return [name]
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.alias():
            name = node.asname or node.name.partition(".")[0]
            return [] if name == "*" else [name]
    return []


# What a statement does --------------------------------------------------------------------------


def header_of(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement that run when it runs itself, without its blocks."""
    if isinstance(statement, NEW_SCOPES):
        return _evaluated_outside(statement)
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return [statement.annotation]  # it binds nothing
    if isinstance(statement, ast.Match):
        cases = [part for case in statement.cases for part in (case.pattern, case.guard) if part]
        return [statement.subject, *cases]
    if not blocks_of(statement):
        return children_of(statement)
    return [
        child
        for child in children_of(statement)
        if not isinstance(child, ast.stmt | ast.ExceptHandler)
    ]


class Header:
    """What of a statement runs when it runs itself, not what is inside its blocks: looked at once
    for all that is asked of it."""

    def __init__(self, statement: ast.stmt) -> None:
        self.statement = statement
        self.parts = header_of(statement)
        self.nodes_of_parts = [nodes_in(part) for part in self.parts]
        self.nodes = [node for nodes in self.nodes_of_parts for node in nodes]


def bound_by(header: Header) -> dict[str, None]:
    """Return the names that a statement may bind or unbind; `self.x` for an attribute of `self`.

    >>> list(bound_by(Header(ast.parse("a, self.b[0], self.c = (d := 1), 2, 3").body[0])))
    ['a', 'self.c', 'd']
    """
    found: dict[str, None] = {}
    if isinstance(header.statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found[header.statement.name] = None
    for part, nodes in zip(header.parts, header.nodes_of_parts, strict=True):
        found |= dict.fromkeys(name for name, use in _mentions([part]) if use != "read")
        found |= dict.fromkeys(_attributes_of_self(nodes))
    return found


def _attributes_of_self(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            match node:
                case ast.Attribute(ast.Name(id), attribute, ast.Store() | ast.Del()) if id == SELF:
                    yield f"{SELF}.{attribute}"


def written_by(header: Header) -> set[str]:
    """Return the names whose objects a statement may change by what it says itself, and those it
    binds: `a` in `a[0] = 1`, `a.b = 1` and `a.append(1)`."""
    found = {name.partition(".")[0] for name in bound_by(header)}
    for node in header.nodes:
        base: ast.AST | None = None
        if isinstance(node, ast.Subscript | ast.Attribute):
            base = None if isinstance(node.ctx, ast.Load) else node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name):
            found.add(base.id)
    return found


def read_by(header: Header) -> set[str]:
    """Return the names that a statement reads, those inside lambdas too."""
    changes = isinstance(header.statement, ast.AugAssign)  # which reads its target
    return {
        node.id
        for node in header.nodes
        if isinstance(node, ast.Name) and (changes or isinstance(node.ctx, ast.Load))
    }


_CLOCKS = frozenset(
    name + unit
    for name in ("perf_counter", "monotonic", "process_time", "thread_time", "time")
    for unit in ("", "_ns")
) - {"time"} | {"now", "utcnow", "today", "getpid"}


def reads_clock(header: Header) -> bool:
    """Tell whether a statement asks one of Python's clocks."""
    for node in header.nodes:
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name("time") | ast.Attribute(ast.Name("time"), "time"):
                    return True
                case ast.Name(name) | ast.Attribute(_, name) if name in _CLOCKS:
                    return True
    return False


def has_address(header: Header) -> bool:
    """Tell whether a statement asks for a number that differs from run to run."""
    return any(
        isinstance(node, ast.Call) and any(map(_is_address, (node.func, *node.args)))
        for node in header.nodes
    )


def _is_address(node: ast.AST) -> bool:
    match node:
        case ast.Name("id" | "hash") | ast.Attribute(_, "data_ptr"):
            return True
    return False


_HARMLESS = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Lambda, ast.expr_context),
    *(ast.Pass, ast.Break, ast.Continue, ast.Return, ast.Assign, ast.Try, ast.TryStar),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.IfExp, ast.NamedExpr, ast.Expr, ast.Delete),
)


def has_effect(header: Header) -> bool:
    """Tell whether a statement itself may change what is in an object: all but a few can.

    >>> [has_effect(Header(ast.parse(source).body[0])) for source in ("a = b, [c]", "a += b")]
    [False, True]
    """
    statement = header.statement
    if not isinstance(statement, _HARMLESS) or getattr(statement, "decorator_list", None):
        return True
    return any(map(_may_run, header.parts))


def _may_run(node: ast.AST) -> bool:
    if isinstance(node, ast.Lambda):
        return any(_may_run(part) for part in _evaluated_outside(node))
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
        return True  # it iterates
    if isinstance(node, ast.Compare):
        if not all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return True
        return any(map(_may_run, [node.left, *node.comparators]))
    if isinstance(node, ast.IfExp):
        return _may_run(node.body) or _may_run(node.orelse) or not _is_truth(node.test)
    if not isinstance(node, _HARMLESS):
        return True
    return any(map(_may_run, children_of(node)))


def _is_truth(test: ast.expr) -> bool:
    """Tell whether an expression gives True or False, and runs nothing to find out."""
    return isinstance(test, ast.Compare) and not _may_run(test)
