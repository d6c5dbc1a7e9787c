"""The compiler pass: from a lecture's syntax tree to one that reports to the recorder.

A pure function from `ast` to `ast`. Before each statement of a function stands one call that notes
the statement's number; around it stands what its directives need. Every function keeps its body
twice, as written and recording, and chooses on entry.

Inserted names begin with `@`, which no source can spell; `inserted.py` says where they live:

    @step(n)       note an event (`events.py`): statement n runs; -k, 0: a function begins, ends
    @watch         whether there may be a reason not to record; if so, these are asked for:
    @off           true while nothing is to be recorded
    @compiling()   whether torch compiles: recording would be wrong
    @threads, @elsewhere()   whether there are other threads, and whether this is one of them
    @map, @pick, @chain, @first, @repeat   wrap the iterator of a `for`, to note n each time that an
                   item is asked for after the first time
    @inspect(s, v) read the value of inspection site s;  @unbound(s): it has none
    @clear(s)      take it off the display
    @skip(), @unskip(keep)                       around `@stepover`
    @loud(@quiet(n), v), @quiet_items(v), @quiet_manager(v), @settle(n)    around the header of
                   statement n that is stepped over: what it is evaluated to; it may have raised
    @claim(n), @operand(i, v), @address(i, v), @held(), @failed(), @claimed()   around `assert`;
                   @second(x, v) is v: what an assert says is evaluated after its outcome is noted
    @a = @activation(), @suspend(a, v), @resume(a, v), @thrown(a), @delegate(a, i)
    @awaiting(a, x), @aiter(a, n, x), @acontext(a, x)    for what is left and resumed
    @next(wait)    how often to pass reading r of all names of a function before it: 0, it is now
    @read(r, ...)  read names that have a value;  @more(v), @gone(): one that may have none
    @returns[f][r](None, v)   if f, read what a function returns; it is v
    @gettrace() is @outer   whether the lecture has no trace function of its own
    @caught()      an `except` begins, and what it caught shows what it would show without us
    @NameError, @BaseException   Python's own, whatever the lecture calls by these names
    @unreadable    what reading names may end with: there is room for the lecture alone, or
                   somebody has emptied the cell of a variable

Locations are copied, so that tracebacks and debuggers see the author's file.
"""

import ast
import contextlib
import copy
import functools
import symtable
from collections.abc import Callable

from ..events import EXIT
from ..own_builtins import use_own_builtins
from .directives import Marks
from .inserted import bring_home, call, load, note
from .joints import Joints
from .numbering import Numbering
from .quotes import quotes_of
from .rows import AssertionRow, Site, Tables
from .source import Source
from .syntax import (
    ITER_IS_BLAMED,
    Function,
    Scope,
    SourceLines,
    at,
    block_depth,
    blocks_of,
    declarations_of,
    docstring_of,
    give_places,
    is_declaration,
)
from .yields import guarded, mark_yields, yields_of

use_own_builtins(globals())

MAX_NESTED_COPIES = 4
"""How deep functions inside functions keep a recording body in the as-written copy of the outer
one; each level doubles the code."""

MAX_BLOCK_DEPTH = 13
"""Blocks inside each other in a function that is recorded. Python allows 20, and ours are among
them: around the function, a `@stepover`, an `assert`, a `yield`, what is read, what is skipped."""


def instrument(source: Source, tables: Tables, *, reads_locals: bool = False) -> ast.Module:
    """Return the recording version of a module; adds its path and rows to `tables`.

    With `reads_locals` all names are read after each statement.

    >>> tables = Tables()
    >>> tree = instrument(Source("one.py", "def main():\\n    x = 1\\n    y = 2"), tables)
    >>> import re  # statement 1, the first of its function, is implied by its entry
    >>> print(re.sub(r"'\\\\x00[0-9a-f]+(.*?)'|__@__[.]", r"\\1", ast.unparse(tree.body[1])))
    def main():
        if @watch and (@off or @compiling() or (@threads and @elsewhere())):
            x = 1
            y = 2
        else:
            @step(-1)
            try:
                x = 1
                @step(2)
                y = 2
            finally:
                @step(0)
    >>> [row.first_line for row in tables.statements]
    [2, 3]
    """
    numbers = Numbering(source, tables)
    numbers.below(source.tree)
    joints = Joints(tables, numbers) if reads_locals else None
    rewritten = _Rewriting(source, tables, numbers, joints).module()
    bring_home(rewritten.body)
    give_places(rewritten)
    return rewritten


_WITH_END = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
"""Statements after whose body something else runs before the next statement."""


class _Rewriting:
    """Makes the recording version of one module."""

    def __init__(
        self, source: Source, tables: Tables, numbers: Numbering, joints: Joints | None
    ) -> None:
        self.joints = joints
        self.source = source
        self.code = SourceLines(source.without_comments())
        self.directives = source.directives
        self.quotes = quotes_of(source)
        self.tables = tables
        self.numbers = numbers
        self.scopes: list[Scope] = []  # functions and classes around the current statement
        self.suspend: list[bool] = []  # whether anything in them is left and resumed
        self.copies = 0  # as-written copies around the current statement

    def module(self) -> ast.Module:
        """Module-level code runs as written; only the functions in it change."""
        return ast.Module(self._as_written(self.source.tree.body), self.source.tree.type_ignores)

    def _as_written(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements that are not recorded themselves, but may hold functions that are."""
        return [self._outside(child) for child in statements if not self._is_hoisted(child)]

    def _outside(self, statement: ast.stmt) -> ast.stmt:
        if isinstance(statement, Function):
            return self._function(statement)
        if not blocks_of(statement):
            return statement
        changed = copy.copy(statement)
        self._in_scope(changed, self._as_written)
        return changed

    def _in_scope(
        self, changed: ast.stmt, rewrite: Callable[[list[ast.stmt]], list[ast.stmt]]
    ) -> None:
        """Rewrite all blocks of a compound statement, which is a copy."""
        if isinstance(changed, ast.ClassDef):
            self.scopes.append(changed)
        for name in ("body", "orelse", "finalbody"):
            if getattr(changed, name, None):
                setattr(changed, name, rewrite(getattr(changed, name)) or [ast.Pass()])
        for name in ("handlers", "cases"):
            if hasattr(changed, name):
                clauses = [copy.copy(clause) for clause in getattr(changed, name)]
                for clause in clauses:
                    clause.body = rewrite(clause.body) or [ast.Pass()]
                setattr(changed, name, clauses)
        if isinstance(changed, ast.ClassDef):
            self.scopes.pop()

    def _is_hoisted(self, statement: ast.stmt) -> bool:
        """`global` and `nonlocal` of a function move above its two bodies."""
        return bool(self.scopes) and self._in_function() and is_declaration(statement)

    def _function(self, function: Function) -> Function:
        """Docstring and declarations, then a choice: the body as written, or recording."""
        changed = copy.copy(function)
        docstring = docstring_of(function)
        body = function.body[len(docstring) :]
        self.scopes.append(function)
        self.copies += 1
        written = self._as_written(body) if self.copies <= MAX_NESTED_COPIES else body
        self.copies -= 1
        if self._marks(function).stepover:
            recording = _skipping(written or [ast.Pass()])
        else:
            with self.joints.of(function) if self.joints else contextlib.nullcontext():
                recording = self._recording(function, body)
        self.scopes.pop()
        if block_depth(body) > MAX_BLOCK_DEPTH:
            changed.body = [
                *docstring,
                *declarations_of(body),
                *self._unrecorded(function, written),
            ]
            return changed
        choice = at(ast.If(_as_written_is_right(), written or [ast.Pass()], recording), function)
        changed.body = [*docstring, *declarations_of(body), choice]
        return changed

    def _unrecorded(self, function: Function, written: list[ast.stmt]) -> list[ast.stmt]:
        self.tables.warnings.append(
            f"{self.source.path}:{function.lineno}: {function.name} has more than "
            f"{MAX_BLOCK_DEPTH} blocks inside each other: its steps are not recorded."
        )
        return [at(ast.Expr(load("@off")), function), *written]  # the mark of a function of ours

    def _recording(self, function: Function, body: list[ast.stmt]) -> list[ast.stmt]:
        number = -self.numbers.functions[function]
        start: list[ast.stmt] = [note("@step", number)]
        suspends = any(yields_of(statement, inside=True) for statement in body)
        self.suspend.append(suspends)
        if suspends or isinstance(function, ast.AsyncFunctionDef):
            start.append(ast.Assign([ast.Name("@a", ast.Store())], call("@activation")))
        arguments = self._readings(self._marks(function), number)
        recorded = self._block(body)
        self.suspend.pop()
        if not arguments and recorded and body[0] in self.numbers.statements:
            recorded = self._without_first_step(function, body[0], recorded)
        if self.joints:
            start_reading, end_reading = self.joints.at_start(), self.joints.at_end()
            recorded = [
                *start_reading,
                *recorded,
                *(at(part, function.body[-1]) for part in end_reading),
            ]
        recorded = [*arguments, *recorded] or [ast.Pass()]
        raised = self.joints.when_raised() if self.joints else []
        handlers = [ast.ExceptHandler(load("@BaseException"), None, [*raised, ast.Raise()])]
        return [*start, ast.Try(recorded, handlers if raised else [], [], [note("@step", EXIT)])]

    def _without_first_step(
        self, function: Function, first: ast.stmt, recorded: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Entering a function implies its first step, unless that is a loop's evaluated header."""
        if isinstance(first, ast.While) or first in self.directives.blocks:
            return recorded
        number = self.numbers.statements[first]
        self.tables.first_steps[self.numbers.functions[function]] = number
        return recorded[1:]

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A block of recorded statements; marks on a line such as `else:` are read first."""
        marks = self.directives.blocks.get(statements[0]) if statements else None
        result = self._readings(marks, self._enclosing(statements[0])) if marks else []
        for statement in statements:
            if not self._is_hoisted(statement):
                quotes = self._quotes(statement)
                result += self._before(statement)
                recorded = self._statement(statement)
                # After a statement nothing runs that leaves the block: what is below its step.
                ends = isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)
                place = 1 if ends else len(recorded)
                result += [*recorded[:place], *quotes, *recorded[place:]]
        return result

    def _quotes(self, statement: ast.stmt) -> list[ast.stmt]:
        """Statements that read the names in the prose above a statement."""
        number = self.numbers.statements.get(statement, 0)
        result: list[ast.stmt] = []
        for quote in self.quotes.get(statement, ()) if number else ():
            first, *attributes = quote.name.split(".")
            row = (self.numbers.file, quote.line, quote.mark, quote.form)
            mangled = tuple(self._private_prefix(part) + part for part in attributes)
            timed = self._marks(statement).timed
            site = self._site(Site(number, quote.name, timed, False, mangled, row))
            read = ast.Expr(call("@inspect", ast.Constant(site), load(first)))
            missing = ast.ExceptHandler(load("@NameError"), None, [note("@unbound", site)])
            result.append(at(ast.Try([read], [missing], [], []), statement))
        return result

    def _before(self, statement: ast.stmt) -> list[ast.stmt]:
        """What reads the names of a function after whatever ran before a statement."""
        if self.joints is None or not self._in_function():
            return []
        return [at(part, statement) for part in self.joints.before(statement)]

    def _in_function(self) -> bool:
        return isinstance(self.scopes[-1], Function)

    def _enclosing(self, statement: ast.stmt) -> int:
        """Number of the compound statement around a numbered statement."""
        number = self.numbers.statements.get(statement, 0)
        return self.tables.statements[number - 1].enclosing + 1

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """What records one statement: its step, itself, and what its marks ask for."""
        number = self.numbers.statements.get(statement)
        if number is None:  # a docstring, or a declaration in a class
            return [statement]
        marks = self._marks(statement)
        changed = self._changed(statement, number, marks)
        suspends = self._yields(statement)
        if suspends:
            changed = [guarded(changed)]
        if marks.stepover and _has_quiet_header(statement):
            changed = [ast.Try(changed, [], [], [note("@settle", number)])]
        elif marks.stepover and not isinstance(statement, Function):
            changed = _skipping(changed, keep=suspends or bool(blocks_of(statement)))
        if not blocks_of(statement) or isinstance(statement, ast.ClassDef):
            after = self._readings(marks, number)
            changed = [ast.Try(changed, [], [], after)] if after else changed
        if not isinstance(statement, ast.While):  # its header notes each evaluation
            changed = [note("@step", number), *changed]
        return [at(part, statement) for part in changed]

    def _yields(self, statement: ast.stmt) -> bool:
        """Whether a statement can be left and resumed; most functions have none of that kind."""
        return self.suspend[-1] and yields_of(statement)

    def _changed(self, statement: ast.stmt, number: int, marks: Marks) -> list[ast.stmt]:
        if isinstance(statement, Function):
            function = self._function(statement)
            return [mark_yields(function, statement) if self._yields(statement) else function]
        if isinstance(statement, ast.Assert):
            return self._assert(copy.copy(statement), number, marks)
        changed = copy.copy(statement)
        if self._yields(statement):
            changed = mark_yields(changed, statement)
        if isinstance(changed, ast.Return) and (marks.inspect or marks.inspect_all):
            site = ast.Constant(self._site(Site(number, "return", marks.timed)))
            changed.value = at(
                call("@inspect", site, changed.value or ast.Constant(None)),
                changed.value or changed,
            )
        if isinstance(changed, ast.Return) and self.joints:
            return self.joints.returning(changed, statement, number)
        if blocks_of(statement):
            self._in_scope(changed, self._block)
            for handler in getattr(changed, "handlers", ()):
                handler.body = [at(note("@caught"), handler), *handler.body]
            if isinstance(changed, _WITH_END) and self.joints and self._in_function():
                after = self.joints.after_body(statement)
                changed.body += [at(part, changed.body[-1]) for part in after]
            self._header(changed, number, marks)
        return [changed]

    def _header(self, changed: ast.stmt, number: int, marks: Marks) -> None:
        """Note each evaluation of a compound statement's header, and read what its marks name."""
        if marks.stepover and _has_quiet_header(changed):
            _quieten(changed, number)
        # Loops evaluate their header again and again. Of a `for` the first time is the step noted
        # before the statement, each further one is noted when its iterator is asked for an item;
        # a `while` notes all of them with its condition.
        if isinstance(changed, ast.For):
            later = call("@map", load("@step"), call("@repeat", ast.Constant(number)))
            ticks = call("@chain", load("@first"), later)
            noted = call("@map", load("@pick"), ticks, changed.iter)
            changed.iter = at(noted, changed.iter if ITER_IS_BLAMED else changed)
        if isinstance(changed, ast.AsyncFor):
            noted = call("@aiter", load("@a"), ast.Constant(number), changed.iter)
            changed.iter = at(noted, changed.iter)
        if isinstance(changed, ast.AsyncWith):
            for item in changed.items:  # deep copies, since they hold an implicit await
                manager = call("@acontext", load("@a"), item.context_expr)
                item.context_expr = at(manager, item.context_expr)
        if isinstance(changed, ast.While):
            either = ast.BoolOp(ast.Or(), [call("@step", ast.Constant(number)), changed.test])
            changed.test = at(either, changed.test)
        # What marks name is read as soon as the header has been evaluated, which is at the start of
        # whichever block comes next. For a `match` that fits no case there is none: one is added.
        if isinstance(changed, ast.ClassDef) or not marks.reads:
            return
        if isinstance(changed, ast.Match):
            if not _catches_all(changed.cases[-1]):
                changed.cases.append(ast.match_case(ast.MatchAs(), None, [ast.Pass()]))
            for case in changed.cases:
                case.body = [*self._readings(marks, number), *case.body]
            return
        for name in ("body", "orelse"):
            if name == "body" or isinstance(changed, ast.If | ast.While):
                block = [*self._readings(marks, number), *getattr(changed, name)]
                setattr(changed, name, block)

    def _marks(self, statement: ast.stmt) -> Marks:
        return self.directives.statements.get(statement, Marks())

    def _site(self, site: Site) -> int:
        self.tables.sites.append(site)
        return len(self.tables.sites) - 1

    def _readings(self, marks: Marks, number: int) -> list[ast.stmt]:
        """Statements that read what `@inspect` names and clear what `@clear` names."""
        result: list[ast.stmt] = []
        names = dict.fromkeys(marks.inspect, False)
        if marks.inspect_all:
            names |= {name: True for name in self._all_names() if name not in names}
        for name, optional in names.items():
            first, *attributes = name.split(".")
            mangled = tuple(self._private_prefix(part) + part for part in attributes)
            site = self._site(Site(number, name, marks.timed, optional, mangled))
            root = load(first)
            read = ast.Expr(call("@inspect", ast.Constant(site), root))
            missing = ast.ExceptHandler(load("@NameError"), None, [note("@unbound", site)])
            result.append(ast.Try([read], [missing], [], []))
        for name in [*marks.clear, *(["*"] if marks.clear_all else [])]:
            result.append(note("@clear", self._site(Site(number, name))))
        return result

    @functools.cached_property
    def locals(self) -> dict[tuple[str, int], list[str]]:
        """The local names of every function and class by its name and line. Only a bare `@inspect`
        asks for them, and finding them takes parsing the source again."""
        return _local_names(self.source.text, self.source.path)

    def _all_names(self) -> list[str]:
        scope = self.scopes[-1]
        prefix = self._private_prefix("__private")
        names = self.locals.get((scope.name, scope.lineno), [])
        return [
            name.removeprefix(prefix) if name.startswith(f"{prefix}__") else name for name in names
        ]

    def _private_prefix(self, name: str) -> str:
        """Return what Python puts before a name such as `__private` inside a class."""
        classes = [
            scope.name.lstrip("_") for scope in self.scopes if isinstance(scope, ast.ClassDef)
        ]
        private = name.startswith("__") and not name.endswith("__")
        return f"_{classes[-1]}" if private and classes and classes[-1] else ""

    def _assert(self, changed: ast.Assert, number: int, marks: Marks) -> list[ast.stmt]:
        """Pass each operand through `@operand`; the condition keeps its shape, and with it the
        place that a traceback points to."""
        operands: list[str] = []
        text = self._text(changed.test)
        changed.test = self._condition(changed.test, operands)
        self.tables.assertions[number] = AssertionRow(text, operands, marks.timed, marks.predict)
        if changed.msg is not None:
            changed.msg = at(call("@second", call("@failed"), changed.msg), changed.msg)
        asserted: ast.stmt = mark_yields(changed, changed)
        if yields_of(changed):
            asserted = guarded([asserted])
        body = [asserted, note("@held")]
        return [note("@claim", number), ast.Try(body, [], [], [note("@claimed")])]

    def _condition(self, test: ast.expr, operands: list[str]) -> ast.expr:
        changed = copy.copy(test)
        match changed:
            case ast.Compare():
                changed.left = self._operand(changed.left, operands)
                changed.comparators = [self._operand(c, operands) for c in changed.comparators]
            case ast.BoolOp():
                changed.values = [self._condition(value, operands) for value in changed.values]
            case ast.UnaryOp(op=ast.Not()):
                changed.operand = self._condition(changed.operand, operands)
            case ast.Call():
                changed.args = [self._argument(argument, operands) for argument in changed.args]
                changed.keywords = [copy.copy(keyword) for keyword in changed.keywords]
                for keyword in changed.keywords:
                    keyword.value = self._argument(keyword.value, operands)
            case _:
                return self._operand(test, operands)
        return changed

    def _argument(self, argument: ast.expr, operands: list[str]) -> ast.expr:
        """Arguments that are literals, or whose value says nothing, are left as they are."""
        silent = (ast.Constant, ast.Starred, ast.GeneratorExp, ast.Lambda)
        return argument if isinstance(argument, silent) else self._operand(argument, operands)

    def _operand(self, operand: ast.expr, operands: list[str]) -> ast.expr:
        index = ast.Constant(len(operands))
        operands.append(self._text(operand))
        recorder = "@address" if _is_address(operand) else "@operand"
        return at(call(recorder, index, operand), operand)

    def _text(self, expression: ast.expr) -> str:
        """Source of an expression on one line."""
        return " ".join(self.code.segment(expression).replace("\\\n", " ").split())


def _as_written_is_right() -> ast.expr:
    """`@watch and (@off or @compiling() or @threads and @elsewhere())`."""
    elsewhere = ast.BoolOp(ast.And(), [load("@threads"), call("@elsewhere")])
    reasons = ast.BoolOp(ast.Or(), [load("@off"), call("@compiling"), elsewhere])
    return ast.BoolOp(ast.And(), [load("@watch"), reasons])


def _skipping(statements: list[ast.stmt], keep: bool = True) -> list[ast.stmt]:
    """Without recording; unless `keep`, what was noted all the same is dropped."""
    return [note("@skip"), ast.Try(statements, [], [], [note("@unskip", int(keep))])]


_HEADERS = {ast.If: "test", ast.While: "test", ast.For: "iter", ast.Match: "subject"}
"""Where the header of a compound statement has its expression."""


def _has_quiet_header(statement: ast.stmt) -> bool:
    """Tell whether `@stepover` on a statement is for its header alone. A header that can be left
    and resumed would leave with recording switched off; what has none has nothing to step over."""
    return isinstance(statement, (*_HEADERS, ast.With)) and not yields_of(statement)


def _quieten(changed: ast.stmt, number: int) -> None:
    """Evaluate the header of a statement, which is a copy, without recording what it calls."""

    def quiet(expression: ast.expr) -> ast.expr:
        begin = call("@quiet", ast.Constant(number))
        return at(call("@loud", begin, expression), expression)

    if isinstance(changed, ast.With):
        changed.items = [copy.copy(item) for item in changed.items]
        for item in changed.items:
            manager = call("@quiet_manager", quiet(item.context_expr))
            item.context_expr = at(manager, item.context_expr)
        return
    name = _HEADERS[type(changed)]
    expression = quiet(getattr(changed, name))
    if isinstance(changed, ast.For):
        expression = at(call("@quiet_items", expression), expression)
    setattr(changed, name, expression)


def _is_address(operand: ast.expr) -> bool:
    """Tell whether an operand is a number that differs from run to run."""
    match operand:
        case ast.Call(ast.Name("id" | "hash")) | ast.Call(ast.Attribute(_, "data_ptr")):
            return True
    return False


def _catches_all(case: ast.match_case) -> bool:
    return case.guard is None and _fits_all(case.pattern)


def _fits_all(pattern: ast.pattern | None) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return _fits_all(pattern.patterns[-1])
    return pattern is None or (isinstance(pattern, ast.MatchAs) and _fits_all(pattern.pattern))


def _local_names(source: str, path: str) -> dict[tuple[str, int], list[str]]:
    found: dict[tuple[str, int], list[str]] = {}
    tables = [symtable.symtable(source, path, "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found[table.get_name(), table.get_lineno()] = [
            symbol.get_name()
            for symbol in table.get_symbols()
            if (symbol.is_local() or symbol.is_free()) and symbol.get_name().isidentifier()
        ]
    return found
