"""Which pieces of a source are highlighted, and as what."""

import keyword
import tokenize
from collections.abc import Iterable, Iterator
from tokenize import TokenInfo

from ..own_builtins import use_own_builtins
from ..schema import TOKEN_KINDS
from .directives import begin_of_directives, words_and_directives

use_own_builtins(globals())

BETWEEN_STATEMENTS = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)

_BUILTINS = frozenset(
    """
    abs all any bin bool bytes callable chr classmethod complex dict dir divmod enumerate filter
    float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map
    max memoryview min next object oct open ord pow print property range repr reversed round set
    setattr slice sorted staticmethod str sum super tuple type vars zip
    """.split()  # noqa: SIM905 (a list of words reads better than a list of strings)
)
"""Fixed, so that the document does not depend on the version of Python."""


def highlighted(tokens: Iterable[TokenInfo], lines: list[str]) -> list[int]:
    """Return the highlighted pieces of a source as the document stores them."""
    wide = {number for number, text in enumerate(lines, 1) if _utf16(text) > len(text)}
    flat: list[int] = []
    for (row, start), (last_row, end), kind in _spans(tokens):
        for line in range(row, last_row + 1):
            text = lines[line - 1]
            first = start if line == row else len(text) - len(text.lstrip())
            last = end if line == last_row else len(text)
            if last > first:
                column, length = first, last - first
                if line in wide:
                    column, length = _utf16(text[:first]), _utf16(text[first:last])
                flat += [line, column, length, TOKEN_KINDS.index(kind)]
    return flat


_Position = tuple[int, int]


def _spans(tokens: Iterable[TokenInfo]) -> Iterator[tuple[_Position, _Position, str]]:
    """Yield start, end and kind of each highlighted token."""
    previous = ""
    begins = True  # whether the token is the first of its statement
    f_strings: list[_Position] = []  # Python 3.12 takes f-strings apart; they are one token here
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            f_strings.append(token.start)
        elif name in ("FSTRING_END", "TSTRING_END"):
            start = f_strings.pop()
            if not f_strings:
                yield start, token.end, "string"
        elif not f_strings:
            if token.type == tokenize.COMMENT:
                yield from _comment_spans(token)
            elif kind := _kind(token, previous, begins):
                yield token.start, token.end, kind
        previous = "@decorator" if begins and token.string == "@" else token.string
        if token.type not in BETWEEN_STATEMENTS:
            begins = token.type == tokenize.NEWLINE


def _comment_spans(token: TokenInfo) -> Iterator[tuple[_Position, _Position, str]]:
    """Split a comment into its words and, from the first directive on, its directives."""
    begin = begin_of_directives(token.string)
    if begin is None:
        yield token.start, token.end, "comment"
        return
    row, column = token.start
    begin = begin if words_and_directives(token.string)[0] else 0
    if begin:
        yield token.start, (row, column + begin), "comment"
    yield (row, column + begin), token.end, "directive"


def _kind(token: TokenInfo, previous: str, begins: bool) -> str | None:
    match token.type:
        case tokenize.STRING:
            return "string"
        case tokenize.NUMBER:
            return "number"
        case tokenize.OP:
            return "decorator" if token.string == "@" and begins else "operator"
        case tokenize.NAME if keyword.iskeyword(token.string):
            return "keyword"
        case tokenize.NAME if previous in ("def", "class"):
            return "definition"
        case tokenize.NAME if previous == "@decorator":
            return "decorator"
        case tokenize.NAME if token.string in _BUILTINS and previous != ".":
            return "builtin"
    return None


def _utf16(text: str) -> int:
    """Length in the units in which JavaScript counts."""
    return len(text) + sum(character > "\uffff" for character in text)
