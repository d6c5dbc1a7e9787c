"""Which statements of a lecture only say something, what each of their executions said, and what
stands in the way of saying it in a comment."""

import ast
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ..rewrite.numbering import Numbering
from ..rewrite.rows import Tables
from ..rewrite.source import Source
from ..rewrite.syntax import Function, blocks_of
from ..said.paragraphs import PARAGRAPH
from ..schema import Document, Value

_CHANGES = {
    *("next", "pop", "popleft", "popitem", "append", "extend", "add", "remove", "send"),
    *("readline", "write"),
}
"""Functions and methods whose calls may change what comes later."""
MOST_TURNS = 12
"""How many turns of a loop that does more than to speak the page shows below each other."""


@dataclass
class Spoken:
    """What a run tells of the statements of its lecture."""

    executions: dict[ast.stmt, list[list[Value]]] = field(default_factory=dict)
    """What each execution said, of the statements that only say something."""
    reasons: dict[ast.stmt, str] = field(default_factory=dict)
    """Why some of them stay calls."""
    unfolded: set[ast.stmt] = field(default_factory=set)
    """Loops in which something is said and that do more, of which the page shows each turn."""


def spoken_in(source: Source, document: Document) -> Spoken:
    """Return what the statements of a source said in the run of which this is the document."""
    numbers = Numbering(source, Tables())
    numbers.below(source.tree)
    file = [file.path for file in document.files].index(source.path)
    rows = [number for number, row in enumerate(document.statements, 1) if row.file == file]
    statement_of = {rows[number - 1]: one for one, number in numbers.statements.items()}
    functions = [number for number, row in enumerate(document.functions, 1) if row.file == file]
    function_of = {functions[number - 1]: one for one, number in numbers.functions.items()}
    run = _Run(document)
    spoken = Spoken()
    prose = {block.first_line for block in document.files[file].prose if block.kind == "call"}
    for number, statement in statement_of.items():
        executions = run.said.get(number, [])
        is_prose = isinstance(statement, ast.Expr) and len(executions) == run.executions[number]
        if executions and isinstance(statement, ast.Return | ast.Assign):
            if statement.lineno in prose:
                spoken.executions[statement] = executions
                spoken.reasons[statement] = "it returns or assigns a value, too"
        elif executions and is_prose:
            spoken.executions[statement] = executions
            if number in run.entering:
                spoken.reasons[statement] = "it calls functions of the lecture"
            elif _changes(statement):
                spoken.reasons[statement] = "what it computes changes what comes later"
    folded = {function_of.get(one) for one in _folded(run, statement_of, function_of)}
    places = _Places(spoken, run, {one: number for number, one in statement_of.items()})
    inner = {
        one
        for function in function_of.values()
        for one in ast.walk(function)
        if one is not function
    }
    for called, function in function_of.items():
        around = "its function is called within an expression" if function in folded else ""
        around = "its function is inside another" if function in inner else around
        body = getattr(function, "body", [])
        places.look(body, around)
        for statement in body:
            said = spoken.executions.get(statement)
            if said is not None and len(said) < run.entered[called]:
                spoken.reasons.setdefault(statement, "it is not said each time")
    return spoken


class _Run:
    """The events of a document, by statement."""

    def __init__(self, document: Document) -> None:
        self.executions: Counter[int] = Counter()
        self.said: dict[int, list[list[Value]]] = defaultdict(list)
        """What the executions said that said something, by statement."""
        self.entering: set[int] = set()
        """Statements that call functions that are recorded."""
        self.entered: Counter[int] = Counter()
        """How often each function was called."""
        self.calls: set[tuple[int, int]] = set()
        """Statements, or 0, and the functions that they call."""
        self.turns: Counter[int] = Counter()
        """How often the statement ran at most in one call."""
        self.speaking: set[int] = set()
        """Statements that said something themselves or in calls."""
        by_step: dict[int, list[Value]] = defaultdict(list)
        for step, value in zip(document.said.step, document.said.value, strict=True):
            by_step[step].append(document.values[value])
        steps = self._replay(document.events, {*by_step})
        for step, values in by_step.items():
            if values[0]["type"] != PARAGRAPH:
                self.said[steps[step]].append(values)

    def _replay(self, events: list[int], speaking: set[int]) -> list[int]:
        """Go through the calls; return the statements of the steps. `speaking`: steps."""
        steps: list[int] = []
        open_calls: list[Counter[int]] = []
        current: list[int] = [0]
        for event in events:
            if event > 0:
                steps.append(event)
                self.executions[event] += 1
                current[-1] = event
                if len(steps) - 1 in speaking:
                    self.speaking |= {*current}
                open_calls[-1][event] += 1
                self.turns[event] = max(self.turns[event], open_calls[-1][event])
            elif event < 0:
                self.calls.add((current[-1], -event))
                self.entered[-event] += 1
                self.entering.add(current[-1])
                open_calls.append(Counter())
                current.append(0)
            else:
                open_calls.pop()
                current.pop()
        return steps


def _folded(
    run: _Run, statement_of: dict[int, ast.stmt], function_of: dict[int, ast.stmt]
) -> set[int]:
    """Functions that are called as a part of a statement: the article folds such calls away."""
    found = set()
    for caller, called in run.calls:
        function, statement = function_of.get(called), statement_of.get(caller)
        if caller and isinstance(function, Function):
            match statement:
                case ast.Expr(ast.Call(ast.Name(name) | ast.Attribute(attr=name))):
                    is_whole = name == function.name
                case _:
                    is_whole = False
            if not is_whole:
                found.add(called)
    return found


class _Places:
    """Finds why statements stay calls from where they stand."""

    def __init__(self, spoken: Spoken, run: _Run, number_of: dict[ast.stmt, int]) -> None:
        self.spoken = spoken
        self.run = run
        self.number_of = number_of

    def look(self, statements: list[ast.stmt], reason: str, in_turns: bool = False) -> None:
        """Look at a block. `reason`: what holds for all of it; `in_turns`: whether the page shows
        each turn of the loop around it."""
        for statement in statements:
            if statement in self.spoken.executions:
                if reason:
                    self.spoken.reasons.setdefault(statement, reason)
            elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
                self._look_into_loop(statement, reason)
            elif not isinstance(statement, Function | ast.ClassDef):
                for block in blocks_of(statement):
                    missing = not in_turns and self._is_left_out(statement, block)
                    self.look(block, reason or ("it is not said each time" * missing), in_turns)

    def _look_into_loop(self, loop: ast.For | ast.AsyncFor | ast.While, reason: str) -> None:
        turns = max(self.run.turns[self.number_of[one]] for one in loop.body)
        only_speaks = all(one in self.spoken.executions for one in loop.body)
        is_unfolded = turns > 1 and not only_speaks and self._says_something(loop)
        if is_unfolded and (turns > MOST_TURNS or loop.orelse):
            reason = reason or "it is said in many turns of a loop that does more"
        elif is_unfolded:
            self.spoken.unfolded.add(loop)
        self.look([*loop.body, *loop.orelse], reason, in_turns=is_unfolded)

    def _says_something(self, loop: ast.stmt) -> bool:
        return any(
            self.number_of.get(node) in self.run.speaking
            for node in ast.walk(loop)
            if isinstance(node, ast.stmt)
        )

    def _is_left_out(self, statement: ast.stmt, block: list[ast.stmt]) -> bool:
        """Whether a block of a statement was left out by some of its executions."""
        executed = self.run.executions[self.number_of[statement]]
        return isinstance(statement, ast.If | ast.Match | ast.Try) and any(
            len(self.spoken.executions[one]) < executed
            for one in block
            if one in self.spoken.executions
        )


def _changes(statement: ast.stmt) -> bool:
    """Tell whether a statement may do more than to say something."""
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return True
        if isinstance(node, ast.Call):
            name = (
                node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            )
            if name in _CHANGES:
                return True
    return False
