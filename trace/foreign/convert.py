"""A lecture that says things by calling, rewritten so that its comments and docstrings say them.

It is run first: what a statement said is known by then, with names, citations and links resolved. A
statement that said the same text each time becomes a comment; the heading that a function begins
with becomes its docstring; a text that is put together becomes prose with values, `@{name}`. What
would not be the same article, or draws, stays a call.
"""

import ast
import dataclasses
import itertools
from dataclasses import dataclass, field
from pathlib import Path

from ..rewrite.bindings import Header, written_by
from ..rewrite.source import Source
from ..rewrite.syntax import (
    Function,
    blocks_of,
    docstring_of,
    first_line,
    header_end,
    is_declaration,
)
from ..said.media import Media
from ..said.placing import is_title_of_name
from ..schema import Document
from .imports import without_unused_imports
from .prose import BLOCK, HEADING, Sayable, between
from .spoken import spoken_in
from .wording import PICTURE_WITHOUT_FILE, Wording

GONE = "\0"
"""A line that is no more."""


class NamedMedia(Media):
    """Leaves pictures where they are: comments name them by their path."""

    def name_of(self, place: str, kind: str) -> str | None:
        """Return the path itself, if something is there."""
        found = super().name_of(place, kind)
        return place if found and Path(place).is_file() else None

    def keep(self, data: bytes, suffix: str) -> str:
        """What has no file has no name in a comment either."""
        return PICTURE_WITHOUT_FILE


@dataclass
class Converted:
    """A lecture without calls for prose."""

    source: str
    comments: int = 0
    docstrings: int = 0
    left: list[str] = field(default_factory=list)
    """What stayed a call, by line, and why."""


def convert(source: Source, document: Document) -> Converted:
    """Rewrite the source of a lecture of which this is the document."""
    return _Conversion(source, document).result()


class _Conversion:
    def __init__(self, source: Source, document: Document) -> None:
        self.source = source
        self.lines = list(source.lines)
        self.done = Converted(source.text)
        spoken = spoken_in(source, document)
        self.spoken = spoken.executions
        self.texts: dict[ast.stmt, Sayable] = {}
        wording = Wording(source)
        for statement, executions in self.spoken.items():
            said = spoken.reasons.get(statement) or wording.of(statement, executions)
            if isinstance(said, str):
                self._leave(statement, said)
            else:
                self.texts[statement] = said
        self._leave_what_cannot_go()
        self.unfolded = spoken.unfolded
        path = [file.path for file in document.files].index(source.path)
        self.titles = {
            function.line: function.title
            for function in document.functions
            if function.file == path and is_title_of_name(function, document)
        }
        """Names in words that are titles, by the line of the function."""
        self.own_line = {one.line for one in source.comments if one.own_line}

    def result(self) -> Converted:
        """Return the new lecture."""
        for loop in self.unfolded:
            self._mark_as_unfolded(loop)
        for node in ast.walk(self.source.tree):
            if isinstance(node, Function):
                self._function(node)
        text = "\n".join(line for line in self.lines if line != GONE)
        self.done.source = without_unused_imports(text, Path(self.source.path).parent)
        self.done.left.sort(key=lambda line: int(line.split(":")[1]))
        compile(self.done.source, self.source.path, "exec", dont_inherit=True)
        return self.done

    # What stays ---------------------------------------------------------------------------------

    def _leave(self, statement: ast.stmt, reason: str) -> None:
        self.texts.pop(statement, None)
        self.done.left.append(f"{self.source.path}:{first_line(statement)}: {reason}.")

    def _leave_what_cannot_go(self) -> None:
        """Calls beside statements that stay, on one line or in one sentence, stay as well."""
        blocks = [block for node in ast.walk(self.source.tree) for block in _blocks_in(node)]
        while any(self._leave_neighbours(block) for block in blocks):
            pass

    def _leave_neighbours(self, block: list[ast.stmt]) -> bool:
        """Leave the first call that is joined to what stays; tell whether there was one."""
        for one, other in itertools.pairwise(block):
            stays = [statement for statement in (one, other) if statement not in self.texts]
            goes = [statement for statement in (one, other) if statement in self.texts]
            if len(stays) != 1:
                continue
            if _shares_lines(one, other):
                self._leave(goes[0], "another statement stands on its line")
                return True
            if self._goes_on(one, other):
                self._leave(goes[0], "its line goes on in a call that stays")
                return True
        return False

    def _goes_on(self, one: ast.stmt, other: ast.stmt) -> bool:
        """Whether what a statement says goes on in the line of what another said."""
        if one not in self.spoken or other not in self.spoken:
            return False
        ends = any(
            str(said[-1].get("markdown", "")).endswith(" ") for said in self.spoken[one] if said
        )
        begins = [str(said[0].get("markdown", "#")) for said in self.spoken[other] if said]
        return ends and not all(BLOCK.match(text) or text == "#" for text in begins)

    def _mark_as_unfolded(self, loop: ast.stmt) -> None:
        """Let the page show each turn of a loop in which something is said, as it did."""
        line = header_end(loop, self.source.lines)
        has_comment = any(one.line == line for one in self.source.comments)
        marks = self.source.directives.statements.get(loop)
        if not (marks and marks.section):
            self.lines[line - 1] += " @section" if has_comment else "  # @section"

    # What goes ----------------------------------------------------------------------------------

    def _function(self, function: Function) -> None:
        body = function.body
        if not docstring_of(function) and self._docstring(body):
            body = body[1:]
            self._block(body, is_whole=False)
        else:
            self._block(body)
            if not docstring_of(function) and function.lineno in self.titles:
                self._title(self.titles[function.lineno], body[0])

    def _title(self, title: str, first: ast.stmt) -> None:
        """A name in words becomes a docstring above what a function begins with."""
        line = first_line(first) - 1
        if not self._prefix(first):
            below = "" if self.lines[line] == GONE else f"\n{self.lines[line]}"
            self.lines[line] = f'{" " * first.col_offset}"""{title}"""{below}'
            self.done.docstrings += 1

    def _docstring(self, body: list[ast.stmt]) -> bool:
        """The heading that a function begins with becomes its docstring."""
        first = body[0]
        said = self.texts.get(first)
        is_alone = len(body) == 1 or not _shares_lines(first, body[1])
        heading = HEADING.match(said.text) if said and not said.names and is_alone else None
        if said is None or heading is None or self._prefix(first):
            return False
        quotes = "'''" if '"""' in said.text else '"""'
        if quotes in said.text:
            return False
        rest = said.text[heading.end() :].strip("\n")
        indent = " " * first.col_offset
        lines = [heading[1].strip(), *(["", *rest.split("\n")] if rest else [])]
        is_long = bool(rest) or said.text.endswith(('"', "'", "\\"))
        body_text = "\n".join(f"{indent}{line}".rstrip() for line in lines).lstrip()
        mark = "r" if "\\" in said.text else ""
        closing = f"\n{indent}{quotes}" if is_long else quotes
        below = f"\n{indent}pass  # @hide {said.directives}" if said.directives else ""
        self._replace(first, first, f"{indent}{mark}{quotes}{body_text}{closing}{below}")
        self.done.docstrings += 1
        return True

    def _block(self, statements: list[ast.stmt], is_whole: bool = True) -> None:
        """Rewrite a block. `is_whole`: if nothing of it stayed, it would be empty."""
        runs = self._runs(statements)
        for run in runs:
            if run[0] not in self.texts:
                for block in blocks_of(run[0]) if not isinstance(run[0], Function) else ():
                    self._block(block)
                continue
            place = statements.index(run[-1]) + 1
            following = statements[place] if place < len(statements) else None
            stays = not is_whole or any(one not in self.texts for one in statements)
            is_last = run is runs[-1]
            self._comments(run, following, needs_statement=is_last and not stays)

    def _runs(self, statements: list[ast.stmt]) -> list[list[ast.stmt]]:
        """Statements that become comments below each other, and one by one those that do not."""
        runs: list[list[ast.stmt]] = []
        for statement in statements:
            before = runs[-1][-1] if runs else None
            is_joined = (
                before in self.texts
                and statement in self.texts
                and not self.own_line.intersection(range(_end(before), statement.lineno))
            )
            if is_joined:
                runs[-1].append(statement)
            else:
                runs.append([statement])
        return runs

    def _comments(
        self, run: list[ast.stmt], following: ast.stmt | None, needs_statement: bool
    ) -> None:
        """Write comments in place of statements that follow each other."""
        groups = self._groups(run)
        is_read = False
        for group in reversed(groups):
            group.anchor = _anchor(group.said)
            if not group.anchor and not is_read and not _is_read_by(following, group.said.names):
                group.anchor = EMPTY
            is_read = is_read or bool(group.anchor)
        if needs_statement and not is_read:
            groups[-1].anchor = EMPTY
        for before, group in zip([None, *groups], groups, strict=False):
            self._write(before, group)
        self.done.comments += len(run)

    def _groups(self, run: list[ast.stmt]) -> list["_Group"]:
        """Put together what is one comment: what goes on in a line, and what stands on one."""
        groups: list[_Group] = []
        for statement in run:
            said = self.texts[statement]
            gap = between(groups[-1].said.text, said.text, False) if groups else "\n\n"
            if groups and (gap == "" or _shares_lines(groups[-1].statements[-1], statement)):
                groups[-1].add(statement, gap, said)
            else:
                groups.append(_Group([statement], dataclasses.replace(said)))
        return groups

    def _write(self, before: "_Group | None", group: "_Group") -> None:
        first, last = group.statements[0], group.statements[-1]
        text = group.said.text
        prefix = self._prefix(first)
        column = len(prefix) - len(prefix.lstrip()) + 4 if prefix else first.col_offset
        indent = " " * column
        lines = [f"{indent}# {line}".rstrip() for line in text.strip("\n").split("\n")]
        lines = lines if text.strip() else []
        above = range(_end(before.statements[-1]) + 1, first.lineno) if before else range(0)
        if before and not before.anchor and between(before.said.text, text, False) == "\n":
            for line in above:  # one list
                self.lines[line - 1] = GONE
        elif lines and (
            (before and not before.anchor and not above) or first.lineno - 1 in self.own_line
        ):
            lines.insert(0, f"{indent}#")
        if group.anchor:
            lines.append(f"{indent}{group.anchor}")
        elif _end(last) + 1 in self.own_line:
            lines.append(f"{indent}#")
        self._replace(first, last, "\n".join([prefix, *lines] if prefix else lines))

    def _prefix(self, statement: ast.stmt) -> str:
        """What stands before a statement on its line, such as `if x:`."""
        line = self.source.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
        return line.rstrip() if line.strip() else ""

    def _replace(self, first: ast.stmt, last: ast.stmt, text: str) -> None:
        """Put a text in place of statements; what follows keeps its place in the list."""
        begin, end = first.lineno - 1, _end(last)
        self.lines[begin] = text or GONE
        for line in range(begin + 1, end):
            self.lines[line] = GONE


EMPTY = "pass  # @hide"
"""A statement that reads the values in the prose above it, or fills a block."""


@dataclass
class _Group:
    """Statements that become one comment."""

    statements: list[ast.stmt]
    said: Sayable
    anchor: str = ""
    """A statement below the comment, if it needs one."""

    def add(self, statement: ast.stmt, gap: str, said: Sayable) -> None:
        self.statements.append(statement)
        self.said = Sayable(
            self.said.text + gap + said.text,
            self.said.names | said.names,
            self.said.named | said.named,
            f"{self.said.directives} {said.directives}".strip(),
        )


def _anchor(said: Sayable) -> str:
    """A statement that is not shown, for what a comment cannot do."""
    if said.named:
        statement = f"{', '.join(said.named)} = {', '.join(said.named.values())}"
        return f"{statement}  # @hide {said.directives}".rstrip()
    return f"{EMPTY} {said.directives}" if said.directives else ""


def _is_read_by(following: ast.stmt | None, names: set[str]) -> bool:
    """Whether names are, once the statement below has run, what they were before it."""
    if not names:
        return True
    if following is None or blocks_of(following) or is_declaration(following):
        return False
    first = {name.partition(".")[0] for name in names}
    calls = [node for node in ast.walk(following) if isinstance(node, ast.Call)]
    passed = {node.id for call in calls for node in ast.walk(call) if isinstance(node, ast.Name)}
    return not first & (written_by(Header(following)) | passed) and not (calls and first != names)


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _shares_lines(one: ast.stmt, other: ast.stmt) -> bool:
    return first_line(other) <= _end(one)


def _blocks_in(node: ast.AST) -> list[list[ast.stmt]]:
    is_compound = isinstance(node, ast.stmt) and not isinstance(node, ast.ClassDef)
    return blocks_of(node) if isinstance(node, ast.stmt) and is_compound else []
