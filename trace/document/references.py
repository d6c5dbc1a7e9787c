"""Numbers and names in prose: figures, equations, footnotes, citations, and what refers to them.

    ![Stairs](stairs.svg "Five steps"){#stairs width=300}    a figure with a caption and a number
    $$ E = mc^2 \\label{energy} $$                            an equation with a number
    [](#stairs), \\eqref{energy}, [](#a_section)              Figure 1, (1), the section's title
    a claim[^1] ... [^1]: with a note                        a footnote
    [@knuth, p. 3] ... [@*]                                  a citation, and the list of references

They become plain Markdown here, so that a page needs to know nothing of them.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..schema import Prose, SourceFile
from .bibliography import Entry, bibliography, cited, reference

_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_MATHS = re.compile(r"\$\$.*?\$\$|\$(?![\s$])(?:\\.|[^\\$])+?(?<!\s)\$(?!\d)", re.DOTALL)
_FIGURE = re.compile(
    r"""^!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)(?:\s+(?P<q>["'])(?P<caption>.*?)(?P=q))?\s*\)"""
    r"(?:\{(?P<more>[^}\n]*)\})?[ ]*$",
    re.MULTILINE,
)
_INLINE_SIZE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)\{([^}\n]*)\}")
_SIZE = re.compile(r"(width|height)=\"?(\d+)(?:px)?\"?$")
_DISPLAY = re.compile(r"^\$\$(?P<tex>.*?)\$\$", re.DOTALL | re.MULTILINE)
_LABEL = re.compile(r"\\label\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\(?:eq)?ref\{([^{}]*)\}")
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\(#([^)\s]+)\)")
_NOTE = re.compile(r"\[\^([\w-]+)\](?!:)")
_NOTE_TEXT = re.compile(r"^\[\^([\w-]+)\]:[ ]*(.*(?:\n(?:[ ]{2,}|\t).*)*)\n?", re.MULTILINE)
_CITATION = re.compile(r"\[((?:[^\[\]@]*@[\w:.+/-]*\w[^\[\]@;]*;?)+)\](?![(\[])")
_ONE_CITATION = re.compile(r"^(?P<before>[^@]*)@(?P<key>[\w:.+/-]*\w)(?P<after>.*)$", re.DOTALL)
_LIST = "[@*]"
_KEPT = "\ue010{}\ue011"
_IS_KEPT = re.compile("\ue010(\\d+)\ue011")

Complain = Callable[[int, str], None]
"""Is told a place in a text, and what is wrong there."""


def referenced(
    files: list[SourceFile], titles: Mapping[str, str], root: Path
) -> tuple[list[SourceFile], list[str]]:
    """Return the files with their prose in plain Markdown, and warnings. `titles` are those of the
    sections by their names."""
    if not any(_may_refer(prose.text) for file in files for prose in file.prose):
        return files, []
    return _References(files, titles, root).written()


def _may_refer(text: str) -> bool:
    signs = ("![", "\\label{", "ref{", "[](#", "[^", "[@", "@")
    return any(sign in text for sign in signs)


class _References:
    """Numbers everything first, and then writes."""

    def __init__(self, files: list[SourceFile], titles: Mapping[str, str], root: Path) -> None:
        self.files = files
        self._sections = frozenset(titles)
        self.names = {name: title.rstrip(".") or name for name, title in titles.items()}
        """What an empty link to a label says."""
        self.equations: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.entries: dict[str, Entry] = {}
        self.cited: dict[str, Entry] = {}
        self.warnings: list[str] = []
        self._figures = self._tags = 0
        folders = dict.fromkeys((root / file.path).parent for file in files)
        for folder in folders:
            self.entries = {**bibliography(folder), **self.entries}
        self._complained: set[str] = set()

    def written(self) -> tuple[list[SourceFile], list[str]]:
        blocks = [(file, prose) for file in self.files for prose in file.prose]
        for file, prose in blocks:
            self._number(file, prose)
        lists = any(_LIST in prose.text for _, prose in blocks)
        texts = [self._text(file, prose) for file, prose in blocks]
        if self.cited and not lists:
            self.warnings.append(
                f"Sources are cited and not listed: put {_LIST} where the list of references "
                "is to stand."
            )
        texts = [text.replace(_KEPT.format("list"), self._list()) for text in texts]
        rest = iter(texts)
        files = [
            dataclasses.replace(
                file, prose=[dataclasses.replace(prose, text=next(rest)) for prose in file.prose]
            )
            for file in self.files
        ]
        return files, self.warnings

    # First ------------------------------------------------------------------------------------

    def _number(self, file: SourceFile, prose: Prose) -> None:
        text, _ = _without_code(prose.text)
        for match in _FIGURE.finditer(text):
            name, _ = _marks_of(match["more"] or "")
            if match["caption"]:
                self._figures += 1
            if name:
                self._name(file, prose, match.start(), name, f"Figure {self._figures}")
        for match in _DISPLAY.finditer(text):
            for label in _LABEL.findall(match["tex"]):
                self._tags += 1
                self.equations[label] = self._tags
                self._name(file, prose, match.start(), label, f"({self._tags})")
        for match in _NOTE.finditer(text):
            self.notes.setdefault(match[1], len(self.notes) + 1)

    def _name(self, file: SourceFile, prose: Prose, at: int, name: str, said: str) -> None:
        if name in self._sections:
            self._complain(file, prose, at, f"the label {name} is the name of a function, too.")
        elif name in self.names:
            self._complain(file, prose, at, f"the label {name} is there twice.")
        self.names[name] = said

    def _complain(self, file: SourceFile, prose: Prose, at: int, complaint: str) -> None:
        line = min(prose.first_line + prose.text.count("\n", 0, max(0, at)), prose.last_line)
        self.warnings.append(f"{file.path}:{line}: {complaint}")

    # Then -------------------------------------------------------------------------------------

    def _text(self, file: SourceFile, prose: Prose) -> str:
        if not _may_refer(prose.text):
            return prose.text

        def complain(sought: str, complaint: str) -> None:
            self._complain(file, prose, prose.text.find(sought), complaint)

        text, code = _without_code(prose.text)
        text = _DISPLAY.sub(self._equation, text)
        text = _MATHS.sub(lambda match: self._within_maths(match[0], code), text)
        text = _FIGURE.sub(lambda match: self._figure(match, complain), text)
        text = _INLINE_SIZE.sub(lambda match: _sized(match, complain), text)
        text = self._with_notes(text, complain)
        text = _REFERENCE.sub(lambda match: self._link(match[1], match[0], complain), text)
        text = _EMPTY_LINK.sub(lambda match: self._link(match[1], match[0], complain), text)
        text = _CITATION.sub(lambda match: self._citation(match, complain), text)
        text = text.replace(_LIST, _KEPT.format("list"))
        while _IS_KEPT.search(text):
            text = _IS_KEPT.sub(lambda match: code[int(match[1])], text)
        return text

    def _equation(self, match: re.Match[str]) -> str:
        labels = _LABEL.findall(match["tex"])
        if not labels:
            return match[0]
        tex = _LABEL.sub(lambda label: f"\\tag{{{self.equations[label[1]]}}}", match["tex"])
        anchors = "".join(f'<div id="{_safe(label)}"></div>' for label in labels)
        return f"{anchors}\n\n$${tex}$$"

    def _within_maths(self, tex: str, code: list[str]) -> str:
        """A formula is left as it is, but for references: one that is nothing else is a link."""
        alone = re.fullmatch(r"\$\s*(\\(?:eq)?ref\{[^{}]*\})\s*\$", tex)
        if alone:
            return alone[1]
        code.append(
            _REFERENCE.sub(
                lambda match: (
                    f"\\text{{({self.equations[match[1]]})}}"
                    if match[1] in self.equations
                    else match[0]
                ),
                tex,
            )
        )
        return _KEPT.format(len(code) - 1)

    def _figure(self, match: re.Match[str], complain: Callable[[str, str], None]) -> str:
        if not match["caption"] and not match["more"]:
            return match[0]
        name, sizes = _marks_of(match["more"] or "")
        for wrong in _unknown_marks(match["more"] or ""):
            complain(match[0], f"{{{wrong}}} is no mark of an image: #name, width=300, height=200.")
        alt = match["alt"].replace('"', "&quot;")
        image = f'<img src="{match["source"]}" alt="{alt}"{sizes}>'
        anchor = f' id="{_safe(name)}"' if name else ""
        if not match["caption"]:
            return f"<figure{anchor}>{image}</figure>"
        number = self._next_figure()
        caption = match["caption"]
        return (
            f"<figure{anchor}>\n{image}\n<figcaption>\n\n**Figure {number}.** {caption}\n\n"
            "</figcaption>\n</figure>"
        )

    def _next_figure(self) -> int:
        self._drawn = getattr(self, "_drawn", 0) + 1
        return self._drawn

    def _with_notes(self, text: str, complain: Callable[[str, str], None]) -> str:
        notes = dict(_NOTE_TEXT.findall(text))
        text = _NOTE_TEXT.sub("", text)
        defined = {name for file in self.files for prose in file.prose
                   for name, _ in _NOTE_TEXT.findall(prose.text)}  # fmt: skip

        def mark(match: re.Match[str]) -> str:
            if match[1] not in defined:
                complain(match[0], f"the footnote {match[1]} has no text.")
                return match[0]
            number = self.notes[match[1]]
            return f'<sup id="from-note-{number}"><a href="#note-{number}">{number}</a></sup>'

        text = _NOTE.sub(mark, text)
        for name in notes:
            if name not in self.notes:
                complain(f"[^{name}]:", f"nothing refers to the footnote {name}.")
        used = sorted(
            (self.notes[name], said) for name, said in notes.items() if name in self.notes
        )
        if not used:
            return text
        items = "\n".join(
            f'{number}. <span id="note-{number}"></span>{" ".join(said.split())} '
            f"[↩](#from-note-{number})"
            for number, said in used
        )
        return f'{text.rstrip()}\n\n<div class="prose-notes">\n\n{items}\n\n</div>'

    def _link(self, label: str, written: str, complain: Callable[[str, str], None]) -> str:
        if label not in self.names:
            if written.startswith("\\"):  # of a link `links.py` tells
                complain(written, f"{written} refers to nothing.")
            return written
        return f"[{self.names[label]}](#{_safe(label)})"

    def _citation(self, match: re.Match[str], complain: Callable[[str, str], None]) -> str:
        parts = []
        for part in match[1].split(";"):
            one = _ONE_CITATION.match(part.strip())
            if one is None:
                return match[0]
            entry = self.entries.get(one["key"])
            if entry is None:
                complain(match[0], f"no .bib file beside the lecture has an entry {one['key']}.")
                return match[0]
            self.cited[one["key"]] = entry
            name = cited(one["key"], entry)
            parts.append(f"{one['before']}[{name}](#ref-{_safe(one['key'])}){one['after']}")
        return f"({'; '.join(parts)})"

    def _list(self) -> str:
        entries = sorted(self.cited.items(), key=lambda item: cited(*item).casefold())
        items = (
            f'- <span id="ref-{_safe(key)}"></span>{reference(key, entry)}'
            for key, entry in entries
        )
        return '<div class="prose-references">\n\n' + "\n".join(items) + "\n\n</div>"


def _without_code(text: str) -> tuple[str, list[str]]:
    """Return a text with marks in place of its code, and the code."""
    code: list[str] = []

    def keep(match: re.Match[str]) -> str:
        code.append(match[0])
        return _KEPT.format(len(code) - 1)

    return _CODE.sub(keep, text), code


def _marks_of(more: str) -> tuple[str, str]:
    """Return the label and the sizes in the braces behind an image."""
    name, sizes = "", ""
    for word in more.split():
        if word.startswith("#"):
            name = word[1:]
        elif size := _SIZE.match(word):
            sizes += f' {size[1]}="{size[2]}"'
    return name, sizes


def _unknown_marks(more: str) -> Iterator[str]:
    return (word for word in more.split() if not word.startswith("#") and not _SIZE.match(word))


def _sized(match: re.Match[str], complain: Callable[[str, str], None]) -> str:
    """An image within a text, with its size."""
    _, sizes = _marks_of(match[3])
    for wrong in _unknown_marks(match[3]):
        complain(match[0], f"{{{wrong}}} is no mark of an image: #name, width=300, height=200.")
    return f'<img src="{match[2]}" alt="{match[1]}"{sizes}>'


def _safe(label: str) -> str:
    """A label as it may stand in an address and in an attribute."""
    return re.sub(r"[^\w:.-]", "-", label)


def labels_in(files: Iterable[SourceFile]) -> set[str]:
    """Return the labels that links may lead to."""
    texts = [_without_code(prose.text)[0] for file in files for prose in file.prose]
    figures = {
        _marks_of(match["more"] or "")[0] for text in texts for match in _FIGURE.finditer(text)
    }
    equations = {label for text in texts for label in _LABEL.findall(text)}
    return (figures | equations) - {""}
