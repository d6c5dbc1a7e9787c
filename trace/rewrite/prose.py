"""What a viewer shows of a source file as text, and what it leaves out."""

import ast
import re
from collections.abc import Iterator

from ..own_builtins import use_own_builtins
from ..schema import Prose, ProseKind
from .directives import Comment, Directives
from .source import Source
from .syntax import SourceLines, blocks_of, first_line

use_own_builtins(globals())

_NOT_PROSE = re.compile(
    r"#(!|\s*((?i:noqa\b)|type:|fmt:|pragma:|pylint:|ruff:|mypy:|-\*-|coding[:=]|vim?:))"
)

_BRIDGE = re.compile(r"@bridge\s+")
"""How a comment begins that is read on the short path only, in place of what is left out there."""

_NOTE = re.compile(r"@note\s+")
"""How a comment begins that is for the speaker alone."""

_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[abfnrtv])")
"""What Python reads as one character, such as the beginning of \\frac."""

_IMAGE = re.compile(r"""!\[[^\]]*\]\(([^)\s]+)(?:\s+["'][^)]*)?\s*\)""")
_IMAGE_TAG = re.compile(r"""<img\b[^>]*?\ssrc\s*=\s*(?:"([^">]+)"|'([^'>]+)'|([^"'\s>]+))""", re.I)
_IMAGE_WITH_SPACES = re.compile(r"""!\[[^\]]*\]\(([^)\s<]+ [^)"'\n]*[^)"'\s])\)""")


def prose_of(source: Source) -> list[Prose]:
    """Return docstrings and comments on lines of their own, in the order of the source."""
    left_out = source.inner_lines | set(source.directives.hidden_lines)
    blocks = [*_docstrings(source.tree), *_comment_blocks(source.comments, left_out)]
    return sorted(blocks, key=lambda prose: prose.first_line)


def _docstrings(tree: ast.Module) -> Iterator[Prose]:
    for docstring, text in _docstring_nodes(tree):
        last = docstring.end_lineno or docstring.lineno
        yield Prose(docstring.lineno, last, "docstring", text)


def _docstring_nodes(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    scopes: list[ast.AST] = [tree]
    for node in scopes:  # which grows, in the order in which `ast.walk` would come to them
        if isinstance(node, ast.stmt):
            scopes += [inner for block in blocks_of(node) for inner in block]
        elif isinstance(node, ast.Module):
            scopes += node.body
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0], text


def misread_docstrings(source: Source) -> Iterator[str]:
    """Name the docstrings in which Python reads a backslash and a letter as one character."""
    lines = SourceLines(source.text)
    for docstring, _ in _docstring_nodes(source.tree):
        literal = lines.segment(docstring)
        escape = None if literal[:1] in "rR" else _ESCAPE.search(literal)
        if escape:
            line = docstring.lineno + literal.count("\n", 0, escape.start(1))
            yield (
                f"{source.path}:{line}: Python reads {escape[1]} in a docstring as one character: "
                'begin the docstring with r""" to keep the backslash.'
            )


def _comment_blocks(comments: list[Comment], left_out: set[int]) -> Iterator[Prose]:
    block: list[Comment] = []
    for comment in comments:
        is_prose = comment.own_line and comment.line not in left_out
        if not is_prose or _NOT_PROSE.match(comment.text):
            continue
        if block and not _goes_on(block, comment):
            yield _comment_prose(block)
            block = []
        block.append(comment)
    if block:
        yield _comment_prose(block)


def _goes_on(block: list[Comment], comment: Comment) -> bool:
    """Whether a comment belongs to the block above it, and does not begin one of its own kind. A
    note ends at an empty line."""
    is_below = (comment.line, comment.column) == (block[-1].line + 1, block[-1].column)
    has_ended = _is_note(block[0]) and not _words(block[-1])
    return is_below and not has_ended and not (_is_note(comment) or _is_bridge(comment))


def _is_note(comment: Comment) -> bool:
    return _NOTE.match(_words(comment) + " ") is not None


def _is_bridge(comment: Comment) -> bool:
    return _BRIDGE.match(_words(comment) + " ") is not None


def _words(comment: Comment) -> str:
    return comment.text.lstrip("#").strip()


def _comment_prose(block: list[Comment]) -> Prose:
    lines = [comment.text.lstrip("#").removeprefix(" ").rstrip() for comment in block]
    text = "\n".join(lines)
    kind: ProseKind = "comment"
    if bridge := _BRIDGE.match(text):
        kind, text = "bridge", text[bridge.end() :]
    elif note := _NOTE.match(text):
        kind, text = "note", text[note.end() :].rstrip()
    return Prose(block[0].line, block[-1].line, kind, text)


def hidden_lines(directives: Directives) -> list[list[int]]:
    """Return pairs of first and last line that `@hide` keeps out of Read."""
    pairs = [[line, line] for line in directives.hidden_lines]
    for statement, marks in directives.statements.items():
        if marks.hide:
            pairs.append([first_line(statement), statement.end_lineno or statement.lineno])
    return sorted(pairs)


def images_in(text: str) -> list[str]:
    """Return the images that prose names by a path relative to its source file.

    >>> images_in("![Stairs](stairs.svg 'Five steps') and ![a photo](https://example.org/a.png)")
    ['stairs.svg']
    """
    names = _image_names(text)
    return [name for name in names if not _is_elsewhere(name) and not name.startswith("data:")]


def _image_names(text: str) -> list[str]:
    """Whether Markdown names them or, to give a width, HTML."""
    tags = ("".join(quoted) for quoted in _IMAGE_TAG.findall(text))
    return [*_IMAGE.findall(text), *tags]


def _is_elsewhere(name: str) -> bool:
    return "://" in name or name.startswith("/")


def images_never_shown(text: str) -> Iterator[str]:
    """Name the images that a page cannot show, and why."""
    for name in _IMAGE_WITH_SPACES.findall(text):
        yield f"{name} has spaces in its name: write each as %20."
    for name in filter(_is_elsewhere, _image_names(text)):
        yield f"{name} is not in the folder of the source file."
