"""A text that a program puts together, as prose with values: `@{name:format}`."""

import ast
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..rewrite.quotes import MARK

Piece = str | tuple[ast.expr, str]
"""A part of a text: as it is, or an expression with its format."""

_PERCENT = re.compile(r"%(%|s|d|(?:\.\d+)?[feg])")


@dataclass
class Template:
    """Prose with values."""

    text: str
    """Markdown with marks."""
    has_words: bool
    """Whether there is more in it than values."""
    named: dict[str, str] = field(default_factory=dict)
    """Names that expressions of it are given, and those expressions."""

    @property
    def names(self) -> set[str]:
        """The dotted names that it reads."""
        return {match[1] for match in MARK.finditer(self.text)}

    def says(self, text: str) -> bool:
        """Tell whether it can say this text, with values that Markdown leaves as they are."""
        parts = MARK.split(self.text)
        pattern = "(.*?)".join(re.escape(part) for part in parts[::3])
        match = re.fullmatch(pattern, text, re.DOTALL)
        inert = _INERT_IN_MATHS if "$" in self.text else _INERT
        return match is not None and all(inert.fullmatch(value) for value in match.groups())


_INERT_IN_MATHS = re.compile(r"[\w ,.:;%+/()'\"=!?-]*(?<!_)")
_INERT = re.compile(
    r"(?:[^\W_]|(?<=\w)_(?=\w)|[ ,.:;%+/()'\"=!?@^&{}-]|\[[\w ,.'\"-]*\](?![(\[:]))*"
)
"""Values that read the same whether their signs are escaped or not."""


def template_of(text: ast.expr, known: set[str]) -> Template | None:
    """Return the expression of a text as prose with values; None where it has none. `known`: names
    that are taken; those that expressions are given are added."""
    pieces = list(_pieces(text))
    if all(isinstance(piece, str) for piece in pieces):
        return None
    result = Template("", any(isinstance(piece, str) and piece.strip() for piece in pieces))
    for piece in pieces:
        if isinstance(piece, str):
            result.text += piece
            continue
        expression, form = piece
        name = ast.unparse(expression)
        mark = f"@{{{name}:{form}}}" if form else f"@{{{name}}}"
        if not MARK.fullmatch(mark):
            name = _name_for(expression, result.named, known)
            result.named[name] = ast.unparse(expression)
            mark = f"@{{{name}:{form}}}" if form else f"@{{{name}}}"
        result.text += mark
    return result


def _name_for(expression: ast.expr, named: dict[str, str], known: set[str]) -> str:
    """Return a name for the value of an expression, made of the names in it."""
    for name, source in named.items():
        if source == ast.unparse(expression):
            return name
    words = [
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(expression)
        if isinstance(node, ast.Name | ast.Attribute)
    ]
    stem = "_".join(words[:3]).strip("_").lower() or "value"
    stem = stem if stem not in known else f"{stem}_value"
    number, name = 1, stem
    while name in known:
        number += 1
        name = f"{stem}_{number}"
    known.add(name)
    return name


def _pieces(node: ast.expr) -> Iterable[Piece]:
    match node:
        case ast.Constant(str(text)):
            return [text]
        case ast.JoinedStr(parts):
            return [piece for part in parts for piece in _pieces(part)]
        case ast.FormattedValue():
            return [_formatted(node)]
        case ast.BinOp(left, ast.Add(), right):
            pieces = [*_pieces(left), *_pieces(right)]
            return pieces if any(isinstance(piece, str) for piece in pieces) else [(node, "")]
        case ast.BinOp(ast.Constant(str(text)), ast.Mod(), right):
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            return _filled(text, values) or [(node, "")]
        case ast.Call(ast.Name("str"), [value], []):
            return [(value, "")]
        case ast.Call(ast.Attribute(ast.Constant(str(text)), "format"), values, []):
            return _formatted_by_call(text, values) or [(node, "")]
        case _:
            return [(node, "")]


def _formatted(node: ast.FormattedValue) -> Piece:
    value = node.value
    if node.conversion in (ord("r"), ord("a")):
        function = "repr" if node.conversion == ord("r") else "ascii"
        value = ast.Call(ast.Name(function, ast.Load()), [value], [])
    match node.format_spec:
        case None:
            return value, ""
        case ast.JoinedStr([ast.Constant(str(form))]):
            return value, form
        case _:
            return ast.JoinedStr([node]), ""


def _filled(text: str, values: list[ast.expr]) -> list[Piece]:
    """Put values into a text as `%` does; nothing if their numbers differ."""
    pieces: list[Piece] = []
    end, remaining = 0, list(values)
    for match in _PERCENT.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match[1] == "%":
            pieces.append("%")
        elif not remaining:
            return []
        else:
            pieces.append((remaining.pop(0), match[1].removeprefix("s")))
    rest = text[end:]
    return [] if remaining or "%" in "".join([rest, *map(_literal, pieces)]) else [*pieces, rest]


def _literal(piece: Piece) -> str:
    return piece if isinstance(piece, str) and piece != "%" else ""


def _formatted_by_call(text: str, values: list[ast.expr]) -> list[Piece]:
    try:
        parsed = [*string.Formatter().parse(text)]
    except ValueError:
        return []
    pieces: list[Piece] = []
    remaining = list(values)
    for literal, name, form, conversion in parsed:
        pieces.append(literal)
        if name is not None:
            if name or conversion or "{" in (form or "") or not remaining:
                return []
            pieces.append((remaining.pop(0), form or ""))
    return [] if remaining else pieces
