"""Texts that calls said, as Markdown in comments."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import LectureError
from ..rewrite.directives import split_comment
from ..rewrite.quotes import MARK
from ..schema import Value

BLOCK = re.compile(r"(#{1,6} |[-*+] |\d+[.)] |```|\$\$|>|\||<(img|p|hr)\b)")
HEADING = re.compile(r"#{1,6} +([^\n]+)\n*")
_ITEM = re.compile(r" *([-*+]|\d+[.)]) ")
_PICTURE = re.compile(r"<img\b[^>]*>")
_NOT_PROSE = re.compile(
    r"\s*(?:(?i:noqa\b)|type:|fmt:|pragma:|pylint:|ruff:|mypy:|-\*-|coding[:=]|vim?:)"
)
_CODE = re.compile(r"^(```|~~~).*?^\1|(`+)(?!`)(.*?)(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_HARD_BREAK = re.compile(r"(?<=\S) {2,}\n(?=\S)")


@dataclass
class Sayable:
    """What a comment can say in place of a statement."""

    text: str
    """Markdown, with marks where it has values."""
    names: set[str] = field(default_factory=set)
    """Names that it reads."""
    named: dict[str, str] = field(default_factory=dict)
    """Names that are given to expressions for it."""
    directives: str = ""
    """What the statement's comment asks for."""


def markdown_of(value: Value) -> str | None:
    """Return the text of what was said; None where it is none."""
    if "markdown" not in value:
        return None
    if value["type"] != "note":
        return value["markdown"]
    paragraphs = re.split(r"\n[ \t]*\n", value["markdown"].strip())
    return "\n\n".join(text if BLOCK.match(text) else f"*{text}*" for text in paragraphs)


def between(before: str, text: str, is_same_statement: bool) -> str:
    r"""Return what stands between two texts, as on the page.

    >>> between("Paper: ", "[A](b)", False), between("- one", "- two", False)
    ('', '\n')
    >>> between("<img src=a>", "<img src=b>", True)
    ' '
    """
    line = before.rpartition("\n")[2]
    if not before:
        return ""
    if _ITEM.match(text) and _ends_in_item(before):
        return "\n"
    is_beside = _PICTURE.fullmatch(text) and re.search(r"<img\b[^>]*>$", line)
    if is_same_statement and is_beside:
        return " "
    if BLOCK.match(text) or re.match(r"```|#|\||<p|<hr", line):
        return "\n\n"
    return "" if is_same_statement or before.endswith(" ") else "\n\n"


def _ends_in_item(text: str) -> bool:
    return re.search(r"(^|\n) *([-*+]|\d+[.)]) [^\n]*(\n +[^\n]*)*$", text) is not None


def joined_text(texts: list[str]) -> str:
    r"""Join what one statement said, as the page does.

    >>> joined_text(["Paper: ", "[A](b)", "- one", "- two"])
    'Paper: [A](b)\n\n- one\n- two'
    """
    result = ""
    for text in texts:
        result += between(result, text, is_same_statement=True) + text
    return result


def as_prose(text: str, has_marks: bool) -> str | None:
    r"""Return a text that reads the same where comments are prose; None if there is none.

    >>> as_prose("say `@inspect x`  \nhere", False)
    'say <code>&#64;inspect x</code>\\\nhere'
    """
    if not has_marks:
        text = text.replace("@{", "&#64;{") if "@{" in _outside_of_code(text) else text
    text = text.replace("[@", "[&#64;") if "[@" in _outside_of_code(text) else text
    text = _HARD_BREAK.sub("\\\\\n", text) if "```" not in text else text
    if has_marks:
        text = _code_as_html(text, lambda code: MARK.search(code) is not None)
    if not all(_is_prose(line) for code in _fences(text) for line in code.split("\n")):
        return None
    if not all(map(_is_prose, text.split("\n"))):
        text = _code_as_html(text, lambda code: not _is_prose(code))
        text = "\n".join(line if _is_prose(line) else _escaped(line) for line in text.split("\n"))
    marks_in_fences = has_marks and any(MARK.search(match[0]) for match in _CODE.finditer(text))
    if marks_in_fences or not all(map(_is_prose, text.split("\n"))):
        return None
    return text


def _fences(text: str) -> list[str]:
    return [match[0] for match in _CODE.finditer(text) if match[1] or "\n" in match[0]]


def _outside_of_code(text: str) -> str:
    return _CODE.sub("", text)


def _code_as_html(text: str, is_meant: Callable[[str], bool]) -> str:
    """Write code in a line as HTML, where prose has values and signs can be escaped."""

    def written(match: re.Match[str]) -> str:
        code = match[3]
        if match[1] or "\n" in code or not is_meant(code):
            return match[0]
        parts = re.split(f"({MARK.pattern})", code)
        shown = [
            part if index % 4 else _literally(part)
            for index, part in enumerate(parts)
            if index % 4 in (0, 1)
        ]
        return f"<code>{''.join(shown)}</code>"

    return _CODE.sub(written, text)


def _literally(text: str) -> str:
    escaped = re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", html.escape(text, quote=False))
    return escaped.replace("@", "&#64;")


def _escaped(line: str) -> str:
    """A line whose first word, or whose `@`, does not ask for anything."""
    if _NOT_PROSE.match(line):
        place = len(line) - len(line.lstrip())
        line = f"{line[:place]}&#{ord(line[place])};{line[place + 1 :]}"
    return re.sub(r"@(?=\w)", "&#64;", line)


def _is_prose(line: str) -> bool:
    try:
        _, directives = split_comment(f"# {line}", "")
    except LectureError:
        return False
    return (
        not directives
        and not _NOT_PROSE.match(line)
        and not re.search(r"(?<![\w\[])@(note|bridge)\b", line)
    )
