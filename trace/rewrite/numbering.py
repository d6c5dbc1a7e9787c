"""Numbers the functions and statements of a module in the order of the source."""

import ast
import re

from ..own_builtins import use_own_builtins
from ..schema import Function as FunctionRow
from ..schema import Statement, StatementKind
from .bindings import (
    Header,
    Variables,
    bound_by,
    has_address,
    has_effect,
    parameters_of,
    read_by,
    reads_clock,
    variables_of,
    written_by,
)
from .directives import FUNCTION_MARKS, READ_MARKS
from .rows import Facts, Tables
from .source import Source
from .syntax import (
    Function,
    Scope,
    children_of,
    docstring_of,
    first_line,
    header_end,
    is_declaration,
)

use_own_builtins(globals())

_KINDS: dict[str, StatementKind] = {
    "Assign": "assign",
    "AugAssign": "assign",
    "AnnAssign": "assign",
    "For": "for",
    "AsyncFor": "for",
    "With": "with",
    "AsyncWith": "with",
    "Try": "try",
    "TryStar": "try",
    "FunctionDef": "def",
    "AsyncFunctionDef": "def",
    "Import": "import",
    "ImportFrom": "import",
    "While": "while",
    "If": "if",
    "Match": "match",
    "ClassDef": "class",
    "Delete": "delete",
    "Assert": "assert",
    "Return": "return",
    "Raise": "raise",
    "Pass": "pass",
    "Break": "break",
    "Continue": "continue",
    "TypeAlias": "type",
}


def statement_kind(statement: ast.stmt) -> StatementKind:
    """Return the kind of a statement as the document names it."""
    if isinstance(statement, ast.Expr):
        return "call" if isinstance(statement.value, ast.Call) else "expression"
    return _KINDS[type(statement).__name__]


class Numbering:
    """Numbers functions and their statements in the order of the source."""

    def __init__(self, source: Source, tables: Tables) -> None:
        self.tables = tables
        self.source = source
        self.lines = source.lines
        self.file = len(tables.paths)
        tables.paths.append(source.path)
        self.statements: dict[ast.stmt, int] = {}
        """Numbers from 1."""
        self.functions: dict[ast.stmt, int] = {}
        """Numbers from 1, of the functions that are recorded."""
        self.function = 0
        """Number of the function around the current statement, or 0."""
        self.variables: dict[ast.stmt, Variables] = {}
        """Of each function."""
        self._around: list[Function] = []
        """Functions around the current statement."""
        self._handled: list[str] = []
        """Names that handlers around it bind, at moments that are no steps."""

    def below(self, node: ast.AST, qualifier: str = "", enclosing: int = -1) -> None:
        """Number everything below a node."""
        for child in children_of(node):
            if isinstance(child, ast.stmt):
                self._statement(child, qualifier, enclosing)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                self.below(child, qualifier, enclosing)

    def _statement(self, statement: ast.stmt, qualifier: str, enclosing: int) -> None:
        if self.function and not is_declaration(statement):
            self.tables.statements.append(self._row(statement, enclosing))
            self.tables.facts.append(self._facts(statement))
            self.statements[statement] = len(self.tables.statements)
            enclosing = len(self.tables.statements) - 1
        if isinstance(statement, Function):
            self._function(statement, qualifier, enclosing)
        elif isinstance(statement, ast.ClassDef):
            self._below_docstring(statement, f"{qualifier}{statement.name}.", enclosing)
        else:
            names = [one.name for one in getattr(statement, "handlers", ()) if one.name]
            self._handled += names
            self.below(statement, qualifier, enclosing)
            del self._handled[len(self._handled) - len(names) :]

    def _facts(self, statement: ast.stmt) -> Facts:
        marks = self.source.directives.statements.get(statement)
        header = Header(statement)
        return Facts(
            binds=tuple(bound_by(header) | dict.fromkeys(self._handled)),
            has_effect=has_effect(header),
            reads=frozenset(read_by(header)),
            writes=frozenset(written_by(header)),
            reads_clock=bool(marks and marks.timed) or reads_clock(header),
            has_address=has_address(header),
        )

    def _function(self, function: Function, qualifier: str, enclosing: int) -> None:
        title = (ast.get_docstring(function) or "").partition("\n")[0]
        variables = self.variables[function] = variables_of(function, self._around)
        self.tables.functions.append(
            FunctionRow(
                file=self.file,
                name=qualifier + function.name,
                line=function.lineno,
                end_line=self._end_line(function),
                title=title,
                marks=self._marks(function),
                parameters=parameters_of(function),
                shared=sorted(variables.shared),
            )
        )
        self.functions[function] = len(self.tables.functions)
        outer, self.function = self.function, self.functions[function]
        handled, self._handled = self._handled, []
        self._around.append(function)
        self._below_docstring(function, f"{qualifier}{function.name}.", enclosing)
        self._around.pop()
        self.function, self._handled = outer, handled

    def _marks(self, function: Function) -> list[str]:
        """The words and the marks on the line of a `def`."""
        words = re.split(r"[\s,;]+", self.source.label(function.lineno))
        directives = self.source.directives.statements.get(function)
        return [
            *(word for word in words if word and word not in FUNCTION_MARKS),
            *(mark for mark in (*FUNCTION_MARKS, *READ_MARKS) if getattr(directives, mark, False)),
        ]

    def _end_line(self, function: Function) -> int:
        """Last line of a function with the comments after its last statement."""
        last = line = function.end_lineno or function.lineno
        for text in self.lines[line:]:
            line += 1
            indentation = len(text) - len(text.lstrip())
            if text.strip() and (text.lstrip()[0] != "#" or indentation <= function.col_offset):
                break
            last = line if text.strip() else last
        return last

    def _below_docstring(self, scope: Scope, qualifier: str, enclosing: int) -> None:
        for child in scope.body[len(docstring_of(scope)) :]:
            self._statement(child, qualifier, enclosing)

    def _row(self, statement: ast.stmt, enclosing: int) -> Statement:
        return Statement(
            file=self.file,
            first_line=first_line(statement),
            last_line=header_end(statement, self.lines),
            enclosing=enclosing,
            kind=statement_kind(statement),
            function=self.function - 1,
            binds=[],
        )
