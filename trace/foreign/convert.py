"""A lecture that says things by calling, rewritten so that its comments and docstrings say them.

It is run first: what a statement said is known by then, with names, citations and links resolved. A
statement that said the same text each time becomes a comment; the heading that a function begins
with becomes its docstring; an f-string of names becomes prose with values, `@{name}`. What varies
otherwise, draws or carries a directive stays a call.
"""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import LectureError
from ..rewrite.bindings import written_by
from ..rewrite.directives import split_comment
from ..rewrite.quotes import MARK, quotes_in
from ..rewrite.source import Source
from ..rewrite.syntax import Function, blocks_of, docstring_of, first_line
from ..said.libraries import OWN, SPEAKERS
from ..said.media import Media
from ..said.pieces import undoubled
from ..schema import Document, Value

_NOT_PROSE = re.compile(r"\s*(?:!|(?i:noqa\b)|type:|fmt:|pragma:|pylint:|ruff:|mypy:|coding[:=])")
_BLOCK = re.compile(r"(#{1,6} |[-*+] |\d+[.)] |```|\$\$|>|\||<(img|p)\b)")
_ITEM = re.compile(r" *([-*+]|\d+[.)]) ")
_HEADING = re.compile(r"#{1,6} +([^\n]+)\n*")
_LIBRARIES = ("edtrace", "lectrace", OWN)


class NamedMedia(Media):
    """Leaves pictures where they are: comments name them by their path."""

    def name_of(self, place: str, kind: str) -> str | None:
        """Return the path itself, if something is there."""
        found = super().name_of(place, kind)
        self.files.clear()
        return place if found and Path(place).is_file() else None


@dataclass
class Converted:
    """A lecture without calls for prose."""

    source: str
    comments: int = 0
    docstrings: int = 0
    left: list[str] = field(default_factory=list)
    """What stayed a call, by line, and why."""


def joined_text(texts: list[str]) -> str:
    r"""Join what one statement said, as the page does.

    >>> joined_text(["Paper: ", "[A](b)", "- one", "- two"])
    'Paper: [A](b)\n\n- one\n- two'
    """
    result = ""
    for text in texts:
        line = result.rpartition("\n")[2]
        if result and _ITEM.match(text) and _ITEM.match(line):
            result += "\n"
        elif result and (_BLOCK.match(text) or re.match(r"```|#|\||<p", line)):
            result += "\n\n"
        result += text
    return result


def convert(source: Source, document: Document) -> Converted:
    """Rewrite the source of a lecture of which this is the document."""
    return _Conversion(source, document).result()


class _Conversion:
    def __init__(self, source: Source, document: Document) -> None:
        self.source = source
        self.document = document
        self.lines = list(source.lines)
        self.done = Converted(source.text)
        self.with_values: set[ast.stmt] = set()
        self.markdown_first = "lectrace" not in source.text
        self.texts = self._texts()
        for node in ast.walk(source.tree):
            if isinstance(node, Function):
                self._find_values(node.body)
        self.previous = 0
        """Last line of the comment written last, where the next one would join it."""

    def result(self) -> Converted:
        for node in ast.walk(self.source.tree):
            if isinstance(node, Function):
                self._function(node)
        text = "\n".join(self.lines)
        self.done.source = _without_unused_imports(text)
        compile(self.done.source, self.source.path, "exec", dont_inherit=True)
        return self.done

    def _texts(self) -> dict[int, str | None]:
        """What the statement on each line said; None if that varied or is no text."""
        document = self.document
        index = [file.path for file in document.files].index(self.source.path)
        spoken = {block.first_line for block in document.files[index].prose if block.kind == "call"}
        statements = [event for event in document.events if event > 0]
        by_step: dict[int, list[Value]] = defaultdict(list)
        for step, value in zip(document.said.step, document.said.value, strict=True):
            by_step[step].append(document.values[value])
        said: dict[int, set[str | None]] = defaultdict(set)
        for step, values in by_step.items():
            row = document.statements[statements[step] - 1]
            if row.file == index and row.first_line in spoken:
                texts = [_markdown(value) for value in values]
                whole = None if None in texts else joined_text([text or "" for text in texts])
                said[row.first_line].add(whole)
        return {line: texts.pop() if len(texts) == 1 else None for line, texts in said.items()}

    def _find_values(self, statements: list[ast.stmt]) -> None:
        """Find the statements whose f-string can be prose with values: those are read after the
        next statement that stays, which must not change them."""
        for index, statement in enumerate(statements):
            for block in blocks_of(statement) if not isinstance(statement, Function) else ():
                self._find_values(block)
            found = _template(statement) if first_line(statement) in self.texts else None
            below = (one for one in statements[index + 1 :] if first_line(one) not in self.texts)
            following = next(below, None)
            if found is None or following is None or blocks_of(following):
                continue
            text, names = found
            if not names & written_by(following):
                self.with_values.add(statement)
                text = undoubled(text) if self.markdown_first else text
                self.texts[first_line(statement)] = text

    def _function(self, function: Function) -> None:
        if not docstring_of(function):
            self._docstring(function)
        self._block(function.body)

    def _docstring(self, function: Function) -> None:
        """The heading that a function begins with becomes its docstring."""
        first = function.body[0]
        text = self._text_of(first)
        heading = _HEADING.match(text) if text else None
        if text is None or heading is None or '"""' in text or text.endswith(('"', "\\")):
            return
        rest = text[heading.end() :].strip("\n")
        indent = " " * first.col_offset
        lines = [heading[1].strip(), *(["", *rest.split("\n")] if rest else [])]
        mark = "r" if "\\" in text else ""
        close = f"\n{indent}" if rest else ""
        body = f"\n{indent}".join(lines) if rest else lines[0]
        body = "\n".join(line.rstrip() for line in body.split("\n"))
        self._replace(first, f'{indent}{mark}"""{body}{close}"""')
        self.texts.pop(first_line(first))
        self.done.docstrings += 1

    def _block(self, statements: list[ast.stmt]) -> None:
        remaining = len(statements)
        for statement in statements:
            text = self._text_of(statement)
            if text is not None:
                remaining -= 1
                self._comment(statement, text, is_only=remaining == 0)
            elif not isinstance(statement, Function):
                for block in blocks_of(statement):
                    self._block(block)

    def _text_of(self, statement: ast.stmt) -> str | None:
        """What a statement said, if a comment can say it; else why not is noted."""
        line = first_line(statement)
        if line not in self.texts:
            return None
        text, reason = self.texts[line], ""
        if text is None:
            reason = "what it says varies or is no text"
        elif statement not in self.with_values and _has_values(statement):
            reason = "it has values of the run in its text"
        elif self._marks(statement):
            reason = "it carries a directive"
        elif self._shares_its_line(statement):
            reason = "another statement stands on its line"
        elif not _can_be_a_comment(text):
            reason = "its text would be read as a directive"
        if reason:
            self.done.left.append(f"{self.source.path}:{line}: {reason}.")
            del self.texts[line]
            return None
        return text

    def _marks(self, statement: ast.stmt) -> bool:
        return statement in self.source.directives.statements

    def _shares_its_line(self, statement: ast.stmt) -> bool:
        first = self.source.lines[statement.lineno - 1][: statement.col_offset]
        last = self.source.lines[(statement.end_lineno or statement.lineno) - 1]
        behind = last.encode()[statement.end_col_offset or 0 :].decode()
        return bool(first.strip()) or not re.match(r"\s*(#|$)", behind)

    def _comment(self, statement: ast.stmt, text: str, is_only: bool) -> None:
        indent = " " * statement.col_offset
        begin = statement.lineno - 1
        before = self.lines[begin - 1] if begin else ""
        lines = [f"{indent}# {line}".rstrip() for line in text.rstrip("\n").split("\n")]
        if self.previous == begin and not (_ITEM.match(text) and _is_item(before)):
            lines.insert(0, f"{indent}#")
        if is_only:
            lines.append(f"{indent}pass")
        self._replace(statement, "\n".join(lines))
        self.previous = statement.end_lineno or statement.lineno
        self.done.comments += 1

    def _replace(self, statement: ast.stmt, text: str) -> None:
        """Put a text in place of a statement; what follows keeps its place in the list."""
        begin, end = statement.lineno - 1, statement.end_lineno or statement.lineno
        self.lines[begin] = text
        for line in range(begin + 1, end):
            self.lines[line] = _GONE


_GONE = "\0"
"""A line that is no more."""


def _has_values(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.JoinedStr) for node in ast.walk(statement))


def _template(statement: ast.stmt) -> tuple[str, set[str]] | None:
    """Return the f-string that `text` says as prose with values, and the names in it; None where it
    says something else, or has more in it than names and their formats."""
    match statement:
        case ast.Expr(ast.Call(ast.Name("text"), [ast.JoinedStr(parts)], [])):
            pass
        case _:
            return None
    text, names = "", set()
    for part in parts:
        if isinstance(part, ast.Constant):
            text += str(part.value)
            continue
        assert isinstance(part, ast.FormattedValue)
        name = ast.unparse(part.value)
        form = ast.unparse(part.format_spec)[2:-1] if part.format_spec else ""
        mark = f"@{{{name}:{form}}}" if form else f"@{{{name}}}"
        if part.conversion != -1 or not MARK.fullmatch(mark):
            return None
        text += mark
        names.add(name.partition(".")[0])
    outside_of_code = sum(1 for _ in quotes_in(text))
    return (text, names) if names and text.count("@{") == outside_of_code else None


def _is_item(lines: str) -> bool:
    last = lines.rpartition("\n")[2].lstrip().removeprefix("#").removeprefix(" ")
    return bool(_ITEM.match(last)) or last.startswith("  ")


def _markdown(value: Value) -> str | None:
    if "markdown" not in value:
        return None
    return f"*{value['markdown'].strip()}*" if value["type"] == "note" else value["markdown"]


def _can_be_a_comment(text: str) -> bool:
    for line in text.split("\n"):
        try:
            _, directives = split_comment(f"# {line}", "")
        except LectureError:
            return False
        if directives or _NOT_PROSE.match(line):
            return False
    return True


def _without_unused_imports(text: str) -> str:
    """Take out what is imported from the tools and used no more."""
    text = "\n".join(line for line in text.split("\n") if line != _GONE)
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = text.split("\n")
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or (node.module or "").partition(".")[0] not in (
            _LIBRARIES
        ):
            continue
        kept = [alias for alias in node.names if (alias.asname or alias.name) in used | {"*"}]
        if any(alias.name == "*" for alias in kept) and not used.intersection(SPEAKERS):
            kept = []
        if len(kept) < len(node.names):
            shown = ast.unparse(ast.ImportFrom(node.module, kept, node.level)) if kept else _GONE
            lines[node.lineno - 1] = shown
            for line in range(node.lineno, node.end_lineno or node.lineno):
                lines[line] = _GONE
    return "\n".join(line for line in lines if line != _GONE).lstrip("\n")
