"""A document as a book: which calls unfold as sections, and the chapters they are in.

The viewer finds the same in `model/sections.js` and `model/book.js`; a test compares the two.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..schema import Document, Function, Prose

MAX_DEPTH = 5
_CALL = re.compile(r"\s*(?:await\s+)?([\w.]+)\s*\(")
_BARE_CALL = re.compile(r"\s*[\w.]+\(\)\s*(#.*)?$")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_DIRECTIVE = re.compile(r"#.*@(\w+)")


@dataclass
class Call:
    """An activation."""

    function: int
    caller: int
    """The activation that called it, or -1."""
    statement: int
    """The statement of the caller that called it, or -1."""
    made: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """What its own steps called: activations, by the step."""


@dataclass
class Section:
    """A call that unfolds."""

    activation: int
    depth: int
    """0: the table of contents."""
    parent: int
    """The activation around it, or -1."""
    chapter: str = ""
    """The title of the chapter that begins with it."""


@dataclass(frozen=True)
class Chapter:
    """Some sections below a heading."""

    number: int
    """From 1."""
    title: str
    """Plain text."""
    name: str
    """What addresses call it."""
    about: str
    """What stands below the heading: Markdown."""
    sections: list[Section]
    """Those of depth 1, and those inside them."""


class Book:
    """The sections of a document in reading order, and its chapters; a short one has none."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.calls: list[Call] = []
        self.statement_of: list[int] = []
        """Index of the statement, for each step."""
        self.quoting: dict[int, int] = {}
        """The activation that ran when so many events were recorded, where a quote was read."""
        self._replay()
        self.lines = [re.split(r"\r\n|\r|\n", file.source) for file in document.files]
        self.sections: list[Section] = []
        for activation, call in enumerate(self.calls):
            if call.caller < 0:
                self._add_sections(activation, 0, -1)
        for section in [one for one in self.sections if one.depth == 0]:
            self._name_chapters(section.activation)
        if not any(section.chapter for section in self.sections):
            self._name_files()
        self.chapters = self._chapters()

    @property
    def title(self) -> str:
        """Return the title of the lecture."""
        title = self.function_of(0).title if self.calls else ""
        return plain_title(title or self.document.title)

    def function_of(self, activation: int) -> Function:
        """Return the function that an activation runs."""
        return self.document.functions[self.calls[activation].function]

    def section_called_by(self, activation: int, step: int) -> int:
        """Return the activation that unfolds where a step of another called it, or -1."""
        called = self.calls[activation].made.get(step, [])
        found = self._unfolded(called, self.statement_of[step]) if called else -1
        return -1 if found >= 0 and self._is_nested(found) else found

    def _replay(self) -> None:
        functions = len(self.document.functions)
        stack: list[int] = []
        latest: dict[int, int] = {}
        wanted = {*self.document.quotes.at}
        for at, event in enumerate(self.document.events, 1):
            if event > 0:
                latest[stack[-1]] = len(self.statement_of)
                self.statement_of.append(event - 1)
            elif event == 0:
                stack.pop()
            elif -event > functions:
                stack.append(-event - functions - 1)
            else:
                caller = stack[-1] if stack else -1
                step = latest.get(caller, -1)
                statement = self.statement_of[step] if step >= 0 else -1
                stack.append(len(self.calls))
                if caller >= 0:
                    self.calls[caller].made[step].append(len(self.calls))
                self.calls.append(Call(-event - 1, caller, statement))
            if at in wanted and stack:
                self.quoting[at] = stack[-1]

    def _add_sections(self, activation: int, depth: int, parent: int) -> None:
        self.sections.append(Section(activation, depth, parent))
        seen = set()
        for step in self.calls[activation].made:
            statement = self.statement_of[step]
            if statement in seen or not self._called_name(statement):
                continue
            found = self.section_called_by(activation, step)
            is_part = depth == 0 and found >= 0 and self.is_part(found)
            if found >= 0 and (is_part or self.function_of(found).title):
                seen.add(statement)
                self._add_sections(found, 0 if is_part else depth + 1, activation)

    def _called_name(self, statement: int) -> str:
        """The function whose call is the whole statement, or empty."""
        file, line, *_, kind, _, _ = self.document.statements[statement]
        found = _CALL.match(self.lines[file][line - 1]) if kind == "call" else None
        return found[1].rpartition(".")[2] if found else ""

    def _unfolded(self, called: list[int], statement: int) -> int:
        """The call that unfolds, or -1: one that is marked, or one that is the whole statement."""
        marks = self._directives(statement)
        if "fold" in marks:
            return -1
        unfoldable = [one for one in called if "fold" not in self.function_of(one).marks]
        if "section" in marks:
            return unfoldable[-1] if unfoldable else -1
        name = self._called_name(statement)
        for one in reversed(unfoldable):
            function = self.function_of(one)
            if "section" in function.marks or (name and name in function.name.split(".")):
                return one
        return -1

    def _directives(self, statement: int) -> set[str]:
        file, first, last, *_ = self.document.statements[statement]
        return {
            name for line in self.lines[file][first - 1 : last] for name in _DIRECTIVE.findall(line)
        }

    def _is_nested(self, activation: int) -> bool:
        """Tell whether the same function is open already, or too many are."""
        function, depth = self.calls[activation].function, 0
        caller = self.calls[activation].caller
        while caller >= 0:
            if self.calls[caller].function == function:
                return True
            caller, depth = self.calls[caller].caller, depth + 1
        return depth > MAX_DEPTH

    def is_part(self, activation: int) -> bool:
        """Tell whether a call is read as if its lines stood where it is called: it passes nothing,
        and the function has headings but no title."""
        function = self.function_of(activation)
        return (
            self.is_bare_call(self.calls[activation].statement)
            and not function.title
            and any(self._headings(function))
        )

    def is_bare_call(self, statement: int) -> bool:
        """Tell whether a statement is a call that passes nothing."""
        file, first, last, *_ = self.document.statements[statement]
        return first == last and bool(_BARE_CALL.match(self.lines[file][first - 1]))

    def _headings(self, function: Function) -> Iterator[tuple[int, str, str]]:
        """Line, title and what follows, of headings in the prose of a function."""
        for prose in self.document.files[function.file].prose:
            found = None if prose.kind == "note" else _HEADING.match(prose.text)
            if found and function.line <= prose.first_line <= function.end_line:
                title = plain_title(found[1].strip())
                yield prose.first_line, title, prose.text.partition("\n")[2].strip()

    def _call_line(self, section: Section) -> int:
        return self.document.statements[self.calls[section.activation].statement][1]

    def _name_chapters(self, contents: int) -> None:
        for line, title, _ in self._headings(self.function_of(contents)):
            for section in self.sections:
                if section.parent == contents and self._call_line(section) > line:
                    section.chapter = title
                    break

    def _name_files(self) -> None:
        """Without headings, files are chapters."""
        outer = [section for section in self.sections if section.depth == 1]
        files = [self.function_of(section.activation).file for section in outer]
        changes = [at for at, file in enumerate(files) if at == 0 or files[at - 1] != file]
        if len({files[at] for at in changes}) < 2:
            return
        for at in changes:
            file = self.document.files[files[at]]
            name = file.path.rpartition("/")[2].removesuffix(".py").replace("_", " ")
            outer[at].chapter = plain_title(_first_line_of(file.prose)) or name

    def _chapters(self) -> list[Chapter]:
        if sum(section.parent < 0 for section in self.sections) != 1:
            return []
        groups: list[tuple[str, list[Section]]] = []
        for section in self.sections:
            if section.depth > 0:
                if section.chapter or not groups:
                    groups.append((section.chapter, []))
                groups[-1][1].append(section)
        groups = [group for group in groups if group[0]]
        if len(groups) < 2:
            return []
        taken: set[str] = set()
        return [
            Chapter(number, title, _unique_name(title, taken), self._about(title, own[0]), own)
            for number, (title, own) in enumerate(groups, 1)
        ]

    def _about(self, title: str, first: Section) -> str:
        called = self._call_line(first)
        before = [
            heading
            for heading in self._headings(self.function_of(first.parent))
            if heading[0] < called
        ]
        return before[-1][2] if before and before[-1][1] == title else ""


def _first_line_of(prose: list[Prose]) -> str:
    is_docstring = prose and prose[0].kind == "docstring" and prose[0].first_line == 1
    return prose[0].text.partition("\n")[0] if is_docstring else ""


def plain_title(title: str) -> str:
    """Return a title without Markdown's marks and the full stop.

    >>> plain_title("Shorten to `max_norm`.")
    'Shorten to max_norm'
    """
    return re.sub(r"[`*]+", "", title).removesuffix(".")


def _unique_name(title: str, taken: set[str]) -> str:
    signs = (sign if f"_{sign}".isidentifier() else " " for sign in title.lower())
    name = "-".join("".join(signs).split()) or "chapter"
    free, copy = name, 2
    while free in taken:
        free, copy = f"{name}-{copy}", copy + 1
    taken.add(free)
    return free
