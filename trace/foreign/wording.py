"""How a comment says what a statement said."""

import ast
import textwrap

from ..rewrite.directives import Marks
from ..rewrite.source import Source
from ..said.paragraphs import PARAGRAPH
from ..said.pieces import undoubled
from ..schema import Value
from .prose import Sayable, as_prose, joined_text, markdown_of
from .templates import template_of

VARIES = "what it says varies or is no text"
PICTURE_WITHOUT_FILE = "data:image/"
HAS_VALUES = "it has values of the run in its text"


class Wording:
    """Finds the words for the statements of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        nodes = [*ast.walk(source.tree)]
        self.known = {word for node in nodes for word in _words_of(node)}
        """Names that are taken."""
        self.is_lectrace = "lectrace" in source.text
        marks = source.directives.statements.values()
        self.may_name = not any(one.inspect_all for one in marks)
        """Whether another name is seen nowhere."""

    def of(self, statement: ast.stmt, executions: list[list[Value]]) -> Sayable | str:
        """Return what a comment can say in place of a statement, or why it cannot."""
        marks = self.source.directives.statements.get(statement, Marks())
        if marks.timed:
            return "it carries @timed"
        if any(value["type"] == PARAGRAPH for values in executions for value in values):
            return "other statements say a part of it"
        if any(value["type"] == "note" for values in executions for value in values[1:]):
            return "it goes on with a note"
        texts = [[markdown_of(value) for value in values] for values in executions]
        said = [[text for text in one if text is not None] for one in texts]
        if said != texts:
            return VARIES
        if any(PICTURE_WITHOUT_FILE in text for one in said for text in one):
            return "it has a picture in itself"
        found = self._worded(statement, said)
        if isinstance(found, str):
            return found
        text = as_prose(found.text, has_marks=bool(found.names))
        if text is None:
            return "its text would be read as a directive"
        found.text, found.directives = text, _written(marks)
        return found

    def _worded(self, statement: ast.stmt, said: list[list[str]]) -> Sayable | str:
        assert isinstance(statement, ast.Expr)
        calls = (
            statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
        )
        if any(len(texts) != len(calls) for texts in said):
            wholes = {joined_text(texts) for texts in said}
            return Sayable(wholes.pop()) if len(wholes) == 1 else VARIES
        pieces, result = [], Sayable("")
        for call, *texts in zip(calls, *said, strict=True):
            piece = self._piece(call, texts)
            if isinstance(piece, str):
                return piece
            pieces.append(piece.text)
            result.names |= piece.names
            result.named |= piece.named
        result.text = joined_text(pieces)
        return result

    def _piece(self, call: ast.expr, texts: list[str]) -> Sayable | str:
        """What one call said, in each execution."""
        argument = _text_of(call)
        varies = len({*texts}) > 1
        is_formatted = argument is not None and any(
            isinstance(node, ast.FormattedValue) for node in ast.walk(argument)
        )
        template = template_of(argument, set(self.known)) if argument else None
        if template and (template.has_words or varies or is_formatted):
            template.text = self._read(template.text)
            if (self.may_name or not template.named) and all(map(template.says, texts)):
                self.known |= {*template.named}
                return Sayable(template.text, template.names, template.named)
        if varies:
            return VARIES
        return HAS_VALUES if is_formatted else Sayable(texts[0])

    def _read(self, text: str) -> str:
        """A text as the tool of the lecture reads it."""
        return textwrap.dedent(text).strip() if self.is_lectrace else undoubled(text)


def _words_of(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(name) | ast.arg(name) | ast.alias(name) | ast.Attribute(attr=name):
            return [name]
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return [name]
        case ast.ExceptHandler(name=str(name)):
            return [name]
    return []


def _text_of(call: ast.expr) -> ast.expr | None:
    """The text that a call is given, unless it is to be shown as it is."""
    match call:
        case ast.Call(args=[text, *_], keywords=keywords):
            is_shown = any(one.arg in ("verbatim", "language", "style") for one in keywords)
            return None if is_shown else text
    return None


def _written(marks: Marks) -> str:
    """The directives that go on without the statement."""
    parts = []
    for word, names, has_all in (
        ("inspect", marks.inspect, marks.inspect_all),
        ("clear", marks.clear, marks.clear_all),
    ):
        if names or has_all:
            parts.append(" ".join([f"@{word}", *names]))
    return " ".join(parts)
