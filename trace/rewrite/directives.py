"""Directives: the comments that tell the tracer what to show.

`# @inspect a b.shape`, `@clear a`, `@stepover`, `@hide`, `@timed`, `@predict`; several in one
comment, in any order, after other words, after a second `#`. Names are separated by spaces or
commas and end at the next `@` or `#`. Found with `tokenize`, so never inside a string.

A directive belongs to the whole statement on whose lines it stands; on the header of a compound
statement to each evaluation of that header; on a line such as `else:` to the start of that block.
`@hide` on a later line of a statement hides that line.

A comment on lines of its own that begins `# @note` is prose for the speaker alone.

Lectures written for other tools say `@invisible` (`@hide @stepover`) and `@animate` (show what
changes: the viewer does), which are understood.
"""

import ast
import difflib
import keyword
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..errors import LectureError
from ..own_builtins import use_own_builtins
from .syntax import Function, blocks_of, first_line, header_end

use_own_builtins(globals())

FUNCTION_MARKS = ("core", "cover", "exercise")
"""What the line of a `def` may say of its function."""
READ_MARKS = ("fold", "section")
"""How the article shows a call, said of the statement that makes it or of the function."""
DIRECTIVES = (
    "inspect",
    "clear",
    "stepover",
    "hide",
    "timed",
    "predict",
    *FUNCTION_MARKS,
    *READ_MARKS,
)
_OF_OTHERS = {"invisible": ("hide", "stepover"), "animate": ()}
"""Directives of other tools, in ours."""

_NOTE = re.compile(r"(?<![\w\[])@note\b")

_AT_WORD = re.compile(r"(?<![\w\[])@(\w+)([^@]*)")  # in brackets it is a citation
_ALONE = re.compile(rf"(?<![\w\[])@(?:{'|'.join(_OF_OTHERS)})\s*(?=$|[@#])")
_OURS = re.compile(rf"(?<![\w\[])@(?:{'|'.join(DIRECTIVES)})\b")


@dataclass
class Marks:
    """The directives of one statement."""

    inspect: list[str] = field(default_factory=list)
    """Dotted names to read."""
    inspect_all: bool = False
    """Bare `@inspect`: every local name."""
    clear: list[str] = field(default_factory=list)
    """Dotted names to take off the display."""
    clear_all: bool = False
    """Bare `@clear`: everything on display."""
    stepover: bool = False
    """Do not record what calls run."""
    hide: bool = False
    """Do not show in Read."""
    timed: bool = False
    """Values depend on the clock."""
    predict: bool = False
    """The reader is asked what the claim says, before it is shown."""
    core: bool = False
    """The function is part of the short path through the lecture."""
    cover: bool = False
    """The function draws the picture of the front page."""
    exercise: bool = False
    """The function is one."""
    fold: bool = False
    """Folded away in Read."""
    section: bool = False
    """Its call is a section of the article."""

    @property
    def reads(self) -> bool:
        """Whether anything is read or cleared."""
        return bool(self.inspect or self.inspect_all or self.clear or self.clear_all)

    def add(self, directive: str, names: list[str]) -> None:
        """Add one directive with its names."""
        if directive == "inspect":
            self.inspect += names
            self.inspect_all |= not names
        elif directive == "clear":
            self.clear += names
            self.clear_all |= not names
        else:
            setattr(self, directive, True)


@dataclass(frozen=True)
class Comment:
    """One comment of a source file."""

    line: int
    """Line number, from 1."""
    column: int
    """Column of the `#`, in code points."""
    text: str
    """The comment with its `#`."""
    own_line: bool
    """True when nothing but white space stands before it."""


@dataclass
class Directives:
    """All directives of one file."""

    statements: dict[ast.stmt, Marks] = field(default_factory=dict)
    """Marks of statements."""
    blocks: dict[ast.stmt, Marks] = field(default_factory=dict)
    """Marks of `else`, `finally`, `except` and `case` lines, by the first statement below them."""
    hidden_lines: list[int] = field(default_factory=list)
    """Lines that hide themselves: of comments, and later ones of statements."""


def comments_of(tokens: Iterable[tokenize.TokenInfo]) -> list[Comment]:
    """Return the comments among the tokens of a source."""
    found = []
    for token in tokens:
        if token.type == tokenize.COMMENT:
            own_line = not token.line[: token.start[1]].strip()
            found.append(Comment(*token.start, token.string, own_line))
    return found


def split_comment(text: str, where: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """Split a comment into its words and its directives with their names.

    Raises LectureError when a word is nearly, but not quite, a directive, or when what follows
    `@inspect` or `@clear` is not a name.

    >>> split_comment("# the sum @inspect total x.shape @timed", "views.py:7")
    ('the sum', [('inspect', ['total', 'x.shape']), ('timed', [])])
    """
    words: list[str] = []
    directives: list[tuple[str, list[str]]] = []
    for segment in text.split("#"):
        words.append(segment.partition("@")[0])
        for match in _AT_WORD.finditer(segment):
            word, rest = match.groups()
            if word in DIRECTIVES:
                directives.append((word, _names(word, rest, where)))
                words.append(rest if word in FUNCTION_MARKS else "")
            elif word in _OF_OTHERS and not rest.strip():
                directives += [(known, []) for known in _OF_OTHERS[word]]
            else:
                _refuse_near_miss(word, where)
                words.append(match[0])
    return " ".join(" ".join(words).split()), directives


def begin_of_directives(text: str) -> int | None:
    """Return where the directives of a comment begin; None if it has none, or wrong ones.

    >>> begin_of_directives("# so @invisible"), begin_of_directives("# @animate is a word")
    (5, None)
    """
    has_ours = bool(words_and_directives(text)[1])
    found = [*_ALONE.finditer(text), *(_OURS.finditer(text) if has_ours else ())]
    return min((match.start() for match in found), default=None)


def words_and_directives(text: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """As `split_comment`; a comment in which a directive is wrong has none."""
    try:
        return split_comment(text, "")
    except LectureError:  # said, or raised, where they are attached
        return text.lstrip("# "), []


def _names(directive: str, rest: str, where: str) -> list[str]:
    """Return the dotted names after a directive; other directives than these two take none."""
    if directive not in ("inspect", "clear"):
        return []
    names = [name for name in re.split(r"[\s,;]+", rest) if name]
    for name in names:
        parts = name.split(".")
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
            raise LectureError(
                f"{where}: @{directive} takes names such as `x` or `x.shape`, not `{name}`: "
                "give the expression a name first."
            )
    return [unicodedata.normalize("NFKC", name) for name in names]  # as Python reads them


def _refuse_near_miss(word: str, where: str) -> None:
    if word != "note" and word.lower() in ("note", "notes"):
        raise LectureError(f"{where}: unknown directive @{word}: did you mean @note?")
    names = [name for name in DIRECTIVES if name != "core"]  # which is near to `code` and `score`
    close = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.75)
    if close:
        raise LectureError(
            f"{where}: unknown directive @{word}: did you mean @{close[0]}? "
            f"(The directives are {', '.join('@' + name for name in DIRECTIVES)}.)"
        )


def find_directives(
    comments: list[Comment],
    tree: ast.Module,
    lines: list[str],
    path: str,
    complaints: list[str] | None = None,
) -> Directives:
    """Attach every directive of a file to its statement or block. What is wrong with one is raised
    or, if there are `complaints`, added to them: lectures of other tools run there as they are."""
    result = Directives()
    spans = _Spans(tree, lines)
    for comment in comments:
        try:
            _attach(comment, spans, f"{path}:{comment.line}", result)
        except LectureError as error:
            if complaints is None:
                raise
            complaints.append(str(error))
    return result


def _attach(comment: Comment, spans: "_Spans", where: str, result: Directives) -> None:
    """Attach the directives of one comment."""
    _, directives = split_comment(comment.text, where)
    _require_note_at_start(comment, where)
    if not directives:
        return
    owner = spans.owner(comment.line)
    if comment.own_line and (owner is None or owner.where != "simple"):
        if [name for name, _ in directives] != ["hide"]:
            raise LectureError(
                f"{where}: @{directives[0][0]} stands on a line of its own: "
                "put it at the end of the statement it is for."
            )
        result.hidden_lines.append(comment.line)
        return
    if owner is None:
        raise LectureError(
            f"{where}: @{directives[0][0]} outside of a function has no effect: only what "
            "functions run is recorded."
        )
    _require_function(owner, directives, where)
    table = result.blocks if owner.where == "block" else result.statements
    marks = table.setdefault(owner.statement, Marks())
    for name, names in directives:
        if name == "hide" and comment.line > owner.statement.lineno:
            result.hidden_lines.append(comment.line)
        else:
            marks.add(name, names)


def _require_note_at_start(comment: Comment, where: str) -> None:
    begins = comment.own_line and comment.text.lstrip("# ").startswith("@note")
    if not begins and _NOTE.search(comment.text):
        raise LectureError(
            f"{where}: @note begins a comment on a line of its own: put it above the statement."
        )


def _require_function(owner: "_Owner", directives: list[tuple[str, list[str]]], where: str) -> None:
    is_def = owner.where == "header" and isinstance(owner.statement, Function)
    marks = [name for name, _ in directives if name in FUNCTION_MARKS]
    if marks and not is_def:
        raise LectureError(
            f"{where}: @{marks[0]} is said of a function: put it at the end of its `def` line."
        )
    is_claim = isinstance(owner.statement, ast.Assert)
    if not is_claim and any(name == "predict" for name, _ in directives):
        raise LectureError(
            f"{where}: @predict is said of a claim: put it at the end of an `assert`."
        )


@dataclass(frozen=True)
class _Owner:
    statement: ast.stmt
    where: Literal["simple", "header", "block"]


class _Spans:
    """Finds the statement that a line belongs to."""

    def __init__(self, tree: ast.Module, source_lines: list[str]) -> None:
        self.source_lines = source_lines
        self.lines: dict[int, _Owner] = {}
        for function in _outermost_functions(tree):
            self._add(function)

    def owner(self, line: int) -> _Owner | None:
        return self.lines.get(line)

    def _add(self, statement: ast.stmt) -> None:
        blocks = blocks_of(statement)
        first = first_line(statement)
        last = header_end(statement, self.source_lines)
        self._claim(range(first, last + 1), _Owner(statement, "header" if blocks else "simple"))
        for block in blocks:
            self._claim(range(last + 1, first_line(block[0])), _Owner(block[0], "block"))
            for child in block:
                self._add(child)
            last = block[-1].end_lineno or block[-1].lineno

    def _claim(self, lines: range, owner: _Owner) -> None:
        for line in lines:
            self.lines[line] = owner


def _outermost_functions(tree: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _outermost_functions(child)
