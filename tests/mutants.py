"""Small changes to the examples of the lecture, each of which a claim should notice.

Changed are arithmetic and comparison operators, numbers, the order of axes in patterns such as
`"b t d -> b d t"`, and the order of arguments. Left alone are claims, what has to be refused,
prose, annotations, calls that draw, and what does not run on this machine. Left alone are also
changes that say nothing about a claim, whatever it looks at:

- seeds: a claim that holds for one of them only would be luck;
- sizes of made-up data, their order, and how often something is tried: an example has to have some,
  and a claim that holds for any says more than one that does not;
- values that are worked out of others to be shown, and go into no claim;
- the order of arguments where the function does not care, and `2 + 2` for `2 * 2`.
"""

import ast
import copy
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
AXES = ("axis", "dim", "dim0", "dim1")
SEEDED = frozenset(("manual_seed", "derived_generator", "default_rng", "Random"))
# Made-up data of a size, and tries that are counted.
SIZED = frozenset(("empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "eye"))
SIZED |= {"view", "reshape", "range"}
PURE = frozenset(
    ("abs", "dict", "enumerate", "len", "list", "max", "min", "pow", "range", "round", "sorted")
)
PURE |= {"sum", "zip", "log", "log2", "log10", "sqrt", "exp", "prod"}
PARTS_OF_A_DICTIONARY = frozenset(("items", "keys", "values"))
SYMMETRIC = frozenset(
    ("max", "min", "maximum", "minimum", "isclose", "allclose", "equal", "hypot", "gcd", "mse_loss")
)
SYMMETRIC |= {"transpose"}


@dataclass(frozen=True)
class Mutant:
    """One change: the `number`-th that `mutations` finds in the module."""

    module: str
    definition: str
    number: int
    line: int
    before: str
    after: str

    @property
    def of_a_number(self) -> bool:
        """Whether another number is put in, and the computation stays."""
        return is_number(self.before)

    def __str__(self) -> str:
        file = self.module.replace(".", "/") + ".py"
        return f"{file}:{self.line} in {self.definition}: {self.before} -> {self.after}"


def is_number(code: str) -> bool:
    """Whether it is a number, also one that is written with operators, as 2**28 is."""
    [statement] = ast.parse(code).body
    parts_of_numbers = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
    return isinstance(statement, ast.Expr) and all(
        isinstance(node, parts_of_numbers) and not isinstance(getattr(node, "value", 0), str)
        for node in ast.walk(statement.value)
    )


@dataclass(frozen=True)
class Mutation:
    """A node of a syntax tree and what it would be changed to."""

    definition: str
    node: ast.AST
    changed: ast.AST

    def apply(self) -> None:
        """Change the tree that the node belongs to."""
        vars(self.node).update(vars(self.changed))


def calls(node: ast.AST, name: str) -> bool:
    """Whether a node calls `name`, or a method of that name."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name


def draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("figures.")


def is_refused(node: ast.AST) -> bool:
    """A block that has to end with an error, of which any change may be refused as well."""
    return isinstance(node, ast.With) and calls(node.items[0].context_expr, "refused")


def is_text(node: ast.AST) -> bool:
    """A docstring, or another string that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def parts(node: ast.AST, cuda: bool) -> Iterator[ast.AST]:
    """The children of a node that are example code."""
    skipped: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        skipped = [node.returns, *node.decorator_list]
    elif isinstance(node, ast.arg | ast.AnnAssign):
        skipped = [node.annotation]
    elif isinstance(node, ast.If) and asks_for_a_gpu(node.test):
        skipped = [*(node.orelse if cuda else node.body)]
    elif isinstance(node, ast.Assign):
        skipped = sizes_with_letters(node)
    elif isinstance(node, ast.Call):
        skipped = [*sizes_of_data(node)]
    for child in ast.iter_child_nodes(node):
        untouched = isinstance(child, ast.Assert | ast.Raise | ast.JoinedStr) or is_text(child)
        untouched = untouched or is_refused(child) or is_seed(child)
        if not (untouched or child in skipped or draws(child)):
            yield child


def asks_for_a_gpu(test: ast.AST) -> bool:
    return calls(test, "is_available") or calls(test, "gpu_is_at_least")


def is_seed(node: ast.AST) -> bool:
    """A call that makes a generator, or the seed that is handed to something."""
    if isinstance(node, ast.keyword):
        return node.arg == "seed"
    return any(calls(node, name) for name in SEEDED)


def is_size(node: ast.AST) -> bool:
    """A whole number, or a shape of such."""
    if isinstance(node, ast.Tuple):
        return all(map(is_size, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) is int


def sizes_of_data(call: ast.Call) -> Iterator[ast.AST]:
    """Whole numbers that say how large made-up data is, or how often something is tried."""
    if any(calls(call, name) for name in SIZED):
        yield from filter(is_size, call.args)


def sizes_with_letters(statement: ast.Assign) -> list[ast.AST | None]:
    """Sizes such as `B, T = 2, 3`, which go by the letters of the lecture."""
    [target] = statement.targets if len(statement.targets) == 1 else [None]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    letters = all(isinstance(name, ast.Name) and len(name.id) == 1 for name in names)
    upper = letters and all(name.id.isupper() or name.id == "n" for name in names)
    return [statement.value] if upper and is_size(statement.value) else []


def only_shown(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The values of names that are worked out of others and read by pictures alone, or by nobody.

    What stands in a `with` block may be there to be measured, so it is none of these.
    """
    in_blocks = {
        inner
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for inner in ast.walk(node)
    }
    assigned: dict[str, list[ast.Assign]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                name = target.id if isinstance(target, ast.Name) else ""
                assigned.setdefault(name, []).append(node)
    shown = {
        name
        for name, found in assigned.items()
        if name and all(node not in in_blocks and is_arithmetic(node.value) for node in found)
    }
    while True:
        drawn = {inner for value in _values(assigned, shown) for inner in ast.walk(value)}
        drawn |= {inner for node in ast.walk(function) if draws(node) for inner in ast.walk(node)}
        read = {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in drawn
        }
        if not shown & read:
            return _values(assigned, shown)
        shown -= read


def _values(assigned: dict[str, list[ast.Assign]], names: set[str]) -> list[ast.AST]:
    return [statement.value for name in names for statement in assigned[name]]


def is_arithmetic(value: ast.AST) -> bool:
    """Whether nothing is called but what works a value out of others."""
    return all(
        ast.unparse(node.func).removeprefix("math.") in PURE
        or any(calls(node, name) for name in PARTS_OF_A_DICTIONARY)
        or draws(node)
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
    )


def walk(node: ast.AST, cuda: bool, shown: Collection[ast.AST] = ()) -> Iterator[ast.AST]:
    """A node and the example code below it, in the order of the source."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        shown = {*shown, *only_shown(node)}
    yield node
    for child in parts(node, cuda) if not is_axis(node) else ():
        if child not in shown:
            yield from walk(child, cuda, shown)


def with_other_axes(pattern: str) -> str:
    """Exchange the first two names of the result in a pattern with an arrow."""
    before, arrow, result = pattern.partition("->")
    names = re.findall(r"[A-Za-z_]\w*", result)
    if len(names) < 2:
        return pattern
    exchanged = {names[0]: names[1], names[1]: names[0]}
    return before + arrow + re.sub(r"[A-Za-z_]\w*", lambda m: exchanged.get(m[0], m[0]), result)


def change_operator(node: ast.BinOp | ast.AugAssign) -> Iterator[None]:
    node.op = OPERATORS[type(node.op)]()
    yield


def change_sign(node: ast.UnaryOp) -> Iterator[None]:
    if isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
        yield


def change_comparison(node: ast.Compare) -> Iterator[None]:
    original = node.ops
    for place, operator in enumerate(original):
        node.ops = [*original]
        node.ops[place] = COMPARISONS[type(operator)]()
        yield


def change_constant(node: ast.Constant) -> Iterator[None]:
    value = node.value
    if type(value) is int:
        node.value = value + 1
        yield
    elif type(value) is float:
        node.value = 2 * value or 1.0
        yield
    elif type(value) is str and "->" in value:
        node.value = with_other_axes(value)
        yield


def is_axis(node: ast.AST) -> bool:
    """A keyword such as `dim=1`."""
    return (
        isinstance(node, ast.keyword)
        and node.arg in AXES
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    )


def change_axis(node: ast.keyword) -> Iterator[None]:
    """Take the axis before, which exists, so that the change is not just an error."""
    if is_axis(node):
        node.value = ast.Constant(abs(node.value.value - 1))
        yield


def change_arguments(node: ast.Call) -> Iterator[None]:
    original = node.args
    if any(calls(node, name) for name in (*SYMMETRIC, *SIZED)):
        return
    for place, pair in enumerate(itertools.pairwise(original)):
        if not any(isinstance(argument, ast.Starred) for argument in pair):
            node.args = [*original]
            node.args[place : place + 2] = reversed(pair)
            yield


CHANGES: dict[type[ast.AST], Callable[..., Iterator[None]]] = {
    ast.BinOp: change_operator,
    ast.AugAssign: change_operator,
    ast.UnaryOp: change_sign,
    ast.Compare: change_comparison,
    ast.Constant: change_constant,
    ast.Call: change_arguments,
    ast.keyword: change_axis,
}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Every other form of a node."""
    if type(node) in CHANGES:
        changed = copy.copy(node)
        for _ in CHANGES[type(node)](changed):
            if ast.unparse(changed) != ast.unparse(node) and not same_number(changed, node):
                yield copy.copy(changed)


def same_number(one: ast.AST, other: ast.AST) -> bool:
    """Whether both combine the same two numbers, and come to the same, as 2 * 2 and 2 + 2 do."""
    if not (isinstance(one, ast.BinOp) and isinstance(other, ast.BinOp)):
        return False
    numbers = [one.left, one.right, other.left, other.right]
    if not all(isinstance(n, ast.Constant) and type(n.value) in (int, float) for n in numbers):
        return False
    found, changed = (eval(ast.unparse(both)) for both in (one, other))
    return found == changed


def definition_of(statement: ast.stmt) -> str:
    """The name that a statement of a module defines, or nothing."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return ""


def mutations(tree: ast.Module, cuda: bool) -> Iterator[Mutation]:
    """All changes to a module's definitions."""
    for statement in tree.body:
        if not definition_of(statement):
            continue
        for node in walk(statement, cuda):
            for changed in changes(node):
                yield Mutation(definition_of(statement), node, changed)


def mutants(module: str, source: str, cuda: bool = False) -> list[Mutant]:
    """All mutants of a module."""
    return [
        Mutant(
            module,
            mutation.definition,
            number,
            mutation.node.lineno,  # type: ignore[attr-defined]
            ast.unparse(mutation.node),
            ast.unparse(mutation.changed),
        )
        for number, mutation in enumerate(mutations(ast.parse(source), cuda))
    ]


def mutated(mutant: Mutant, source: str, cuda: bool = False) -> ast.Module:
    """The module's tree with the mutant in it."""
    tree = ast.parse(source)
    chosen = next(itertools.islice(mutations(tree, cuda), mutant.number, None))
    chosen.apply()
    return ast.fix_missing_locations(tree)


# Which sections reach a definition.


def is_section(statement: ast.stmt) -> bool:
    """Whether it is a function without arguments that says nothing of what it returns."""
    return (
        isinstance(statement, ast.FunctionDef)
        and statement.returns is None
        and statement.name != "main"
        and not statement.name.startswith("_")
        and not ast.unparse(statement.args)
    )


def sections_of(source: str) -> list[str]:
    """The names of the sections of a module."""
    return [definition_of(one) for one in ast.parse(source).body if is_section(one)]


def imported_names(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """What `from ... import` binds: name to module and name there."""
    return {
        alias.asname or alias.name: (statement.module or "", alias.name)
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


@functools.cache
def uses(module: str, source: str) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """For each definition of a module, as (module, name), the definitions that it names."""
    tree = ast.parse(source)
    imported = imported_names(tree)
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for statement in tree.body:
        used = found.setdefault((module, definition_of(statement)), set())
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                used.add(imported.get(node.id, (module, node.id)))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                package, name = imported.get(node.value.id, ("", node.value.id))
                used.add((f"{package}.{name}", node.attr))
    return found


def sections_reaching(
    definition: tuple[str, str], sources: dict[str, str]
) -> list[tuple[str, str]]:
    """The sections that use a definition, itself included: of its module, else of others."""
    used = {
        key: names for module in sources for key, names in uses(module, sources[module]).items()
    }
    reaching, new = {definition}, {definition}
    while new:
        new = {user for user, names in used.items() if names & new} - reaching
        reaching |= new
    found = [
        (module, name)
        for module, source in sources.items()
        for name in sections_of(source)
        if (module, name) in reaching
    ]
    if definition in found:
        return [definition]
    return [section for section in found if section[0] == definition[0]] or found
