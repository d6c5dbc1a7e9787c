"""Values in prose: `@{name}` or `@{name:format}` stands for what the name is once the statement
below has run; in a docstring, at the end of the function."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..own_builtins import use_own_builtins
from .prose import prose_of
from .source import Source
from .syntax import Function, blocks_of, docstring_of, first_line

use_own_builtins(globals())

MARK = re.compile(r"@\{([^\W\d][\w.]*)(?::([^{}\n]*))?\}")
_LIKE_A_MARK = re.compile(r"@\{[^{}\n]*\}")
"""That, or what somebody took for one: `@{x[0]}`."""
_CODE = re.compile(r"^(```|~~~).*?^\1|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)


class Quote(NamedTuple):
    """A name in prose."""

    line: int
    """The first line of its block."""
    mark: str
    """What stands between the braces."""
    name: str
    """The dotted name."""
    form: str
    """How it is written, as in a format string."""


def quotes_in(text: str, mark: re.Pattern[str] = MARK) -> Iterator[re.Match[str]]:
    """Yield the marks in a text that are not in code.

    >>> [match[1] for match in quotes_in("@{a:.2f}, `@{b}`, {c}, $x_{d}$ and @{e.f}")]
    ['a', 'e.f']
    """
    code = [match.span() for match in _CODE.finditer(text)]
    for match in mark.finditer(text):
        if not any(start <= match.start() < end for start, end in code):
            yield match


def quotes_of(source: Source) -> dict[ast.stmt, list[Quote]]:
    """Return the names in prose by the statement after which they are read."""
    if "@{" not in source.text:
        return {}
    below = dict(_statements_below(source.tree))
    result: dict[ast.stmt, list[Quote]] = {}
    for block in prose_of(source):
        marks = [
            Quote(block.first_line, match[0][2:-1], match[1], match[2] or "")
            for match in quotes_in(block.text)
        ]
        place = block.first_line if block.kind == "docstring" else block.last_line + 1
        while block.kind == "comment" and _is_blank(source, place):
            place += 1
        if marks and place in below:
            result.setdefault(below[place], []).extend(dict.fromkeys(marks))
    return result


def _is_blank(source: Source, line: int) -> bool:
    """Whether nothing but comments stands on a line."""
    text = source.lines[line - 1].strip() if line <= len(source.lines) else "end"
    return not text or text.startswith("#")


def _statements_below(tree: ast.AST) -> Iterator[tuple[int, ast.stmt]]:
    """Yield the first lines of the statements of functions, and of a docstring the statement that
    ends its function."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            for docstring in docstring_of(node):
                yield first_line(docstring), node.body[-1]
            body = node.body[len(docstring_of(node)) :]
            yield from _first_lines(body)


def _first_lines(statements: list[ast.stmt]) -> Iterator[tuple[int, ast.stmt]]:
    for statement in statements:
        yield first_line(statement), statement
        if not isinstance(statement, Function):
            for block in blocks_of(statement):
                yield from _first_lines(block)


def quotes_elsewhere(source: Source) -> Iterator[str]:
    """Name the marks that no statement of a function stands below."""
    if "@{" not in source.text:
        return
    read = {quote for quotes in quotes_of(source).values() for quote in quotes}
    for block in prose_of(source):
        for match in quotes_in(block.text, _LIKE_A_MARK):
            name = MARK.fullmatch(match[0])
            reason = "no statement of a function stands below it"
            if name is None:
                reason = "give what is not a name a name first, as for @inspect"
            elif Quote(block.first_line, match[0][2:-1], name[1], name[2] or "") in read:
                continue
            line = block.first_line + block.text.count("\n", 0, match.start())
            yield f"{source.path}:{line}: {match[0]} has no value: {reason}."
