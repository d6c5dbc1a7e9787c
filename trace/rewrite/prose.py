"""What a viewer shows of a source file besides its lines: prose, highlighting, hidden lines."""

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator

from ..schema import TOKEN_KINDS, Prose
from .directives import Comment, Directives, comments_of, split_comment
from .syntax import SourceLines, first_line

_NOT_PROSE = re.compile(
    r"#(!|\s*((?i:noqa\b)|type:|fmt:|pragma:|pylint:|ruff:|mypy:|-\*-|coding[:=]|vim?:))"
)

_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[abfnrtv])")
"""What Python reads as one character, such as the beginning of \\frac."""

_IMAGE = re.compile(r"""!\[[^\]]*\]\(([^)\s]+)(?:\s+["'][^)]*)?\s*\)""")
_IMAGE_WITH_SPACES = re.compile(r"""!\[[^\]]*\]\(([^)\s<]+ [^)"'\n]*[^)"'\s])\)""")

_BETWEEN_STATEMENTS = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)

_BUILTINS = frozenset(
    """
    abs all any bin bool bytes callable chr classmethod complex dict dir divmod enumerate filter
    float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map
    max memoryview min next object oct open ord pow print property range repr reversed round set
    setattr slice sorted staticmethod str sum super tuple type vars zip
    """.split()  # noqa: SIM905 (a list of words reads better than a list of strings)
)
"""Fixed, so that the document does not depend on the version of Python."""


def prose_of(source: str, tree: ast.Module, directives: Directives) -> list[Prose]:
    """Return docstrings and comments on lines of their own, in the order of the source."""
    hidden = set(directives.hidden_comments)
    blocks = [*_docstrings(tree), *_comment_blocks(source, _inner_lines(source) | hidden)]
    return sorted(blocks, key=lambda prose: prose.first_line)


def _docstrings(tree: ast.Module) -> Iterator[Prose]:
    for docstring, text in _docstring_nodes(tree):
        last = docstring.end_lineno or docstring.lineno
        yield Prose(docstring.lineno, last, "docstring", text)


def _docstring_nodes(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0], text


def misread_docstrings(source: str, tree: ast.Module, path: str) -> Iterator[str]:
    """Name the docstrings in which Python reads a backslash and a letter as one character."""
    lines = SourceLines(source)
    for docstring, _ in _docstring_nodes(tree):
        literal = lines.segment(docstring)
        escape = None if literal[:1] in "rR" else _ESCAPE.search(literal)
        if escape:
            line = docstring.lineno + literal.count("\n", 0, escape.start(1))
            yield (
                f"{path}:{line}: Python reads {escape[1]} in a docstring as one character: begin "
                'the docstring with r""" to keep the backslash.'
            )


def _inner_lines(source: str) -> set[int]:
    """Lines inside statements, or headers, of several lines; comments there are not prose."""
    lines: set[int] = set()
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            lines.update(range(first, token.start[0] + 1))
            first = 0
        elif token.type not in _BETWEEN_STATEMENTS:
            first = first or token.start[0]
    return lines


def _comment_blocks(source: str, left_out: set[int]) -> Iterator[Prose]:
    block: list[Comment] = []
    for comment in comments_of(source):
        is_prose = comment.own_line and comment.line not in left_out
        if not is_prose or _NOT_PROSE.match(comment.text):
            continue
        if block and (comment.line, comment.column) != (block[-1].line + 1, block[-1].column):
            yield _comment_prose(block)
            block = []
        block.append(comment)
    if block:
        yield _comment_prose(block)


def _comment_prose(block: list[Comment]) -> Prose:
    lines = [comment.text.lstrip("#").removeprefix(" ").rstrip() for comment in block]
    return Prose(block[0].line, block[-1].line, "comment", "\n".join(lines))


def hidden_lines(directives: Directives) -> list[list[int]]:
    """Return pairs of first and last line that `@hide` keeps out of Read."""
    pairs = [[line, line] for line in directives.hidden_comments]
    for statement, marks in directives.statements.items():
        if marks.hide:
            pairs.append([first_line(statement), statement.end_lineno or statement.lineno])
    return sorted(pairs)


def images_in(text: str) -> list[str]:
    """Return the images that prose names by a path relative to its source file."""
    names = _IMAGE.findall(text)
    return [name for name in names if not _is_elsewhere(name) and not name.startswith("data:")]


def _is_elsewhere(name: str) -> bool:
    return "://" in name or name.startswith("/")


def images_never_shown(text: str) -> Iterator[str]:
    """Name the images that a page cannot show, and why."""
    for name in _IMAGE_WITH_SPACES.findall(text):
        yield f"{name} has spaces in its name: write each as %20."
    for name in filter(_is_elsewhere, _IMAGE.findall(text)):
        yield f"{name} is not in the folder of the source file."


def tokens_of(source: str) -> list[int]:
    """Return the highlighted pieces of a source text as the document stores them."""
    lines = source.split("\n")
    wide = {number for number, text in enumerate(lines, 1) if _utf16(text) > len(text)}
    flat: list[int] = []
    for (row, start), (last_row, end), kind in _spans(source):
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


def _spans(source: str) -> Iterator[tuple[_Position, _Position, str]]:
    """Yield start, end and kind of each highlighted token."""
    previous = ""
    begins = True  # whether the token is the first of its statement
    f_strings: list[_Position] = []  # Python 3.12 takes f-strings apart; they are one token here
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
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
        if token.type not in _BETWEEN_STATEMENTS:
            begins = token.type == tokenize.NEWLINE


def _comment_spans(token: tokenize.TokenInfo) -> Iterator[tuple[_Position, _Position, str]]:
    """Split a comment into its words and, from the first directive on, its directives."""
    words, directives = split_comment(token.string, "")
    if not directives:
        yield token.start, token.end, "comment"
        return
    row, column = token.start
    begin = min(token.string.index(f"@{name}") for name, _ in directives) if words else 0
    if begin:
        yield token.start, (row, column + begin), "comment"
    yield (row, column + begin), token.end, "directive"


def _kind(token: tokenize.TokenInfo, previous: str, begins: bool) -> str | None:
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
