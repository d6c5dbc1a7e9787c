"""The functions that lectures call for prose and media, for `edtrace` and `lectrace` alike.

They have the names, parameters and results that such lectures rely on; each says one thing or more.
Nothing is downloaded and nothing raised for a file that is not there: `media` deals with that.
"""

import inspect
import re
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Say = Callable[[object], None]
Style = dict[str, Any]


@dataclass(frozen=True)
class Reference:
    """A source that a lecture cites."""

    title: str | None = None
    authors: list[str] | None = None
    organization: str | None = None
    date: str | None = None
    url: str | None = None
    description: str | None = None
    notes: str | None = None

    @property
    def label(self) -> str:
        """First author and year in brackets, or else the title or the address.

        >>> Reference(authors=["Ada Lovelace", "C. Babbage"], date="1843-08").label
        '[Lovelace+ 1843]'
        """
        if self.authors:
            first = self.authors[0]
            name = first if re.search(r"\bTeam\b", first) else first.split()[-1]
            others = "+" if len(self.authors) > 1 and name != first else ""
            return f"[{name}{others} {self.date[:4] if self.date else '?'}]"
        named = self.title or self.url
        return f"[{named}]" if named else "?"


@dataclass(frozen=True)
class CodeLocation:
    """A place in a source file."""

    path: str
    line_number: int


@dataclass(frozen=True)
class Rendering:
    """One thing that is said."""

    type: str
    data: Any = None
    style: Style | None = None
    external_link: Reference | None = None
    internal_link: CodeLocation | None = None
    animate: bool = False


def url_reference(url: str, **known: Any) -> Reference:
    """A source by its address; nothing is fetched to know more of it."""
    return Reference(url=url, **known)


def make_graph(
    nodes: list[Style],
    edges: list[Style],
    layout: str | Style = "preset",
    stylesheet: list[Style] | None = None,
    width: int = 500,
    height: int = 200,
) -> Style:
    """What `graph` draws, in the format of Cytoscape."""

    def element(item: Style) -> Style:
        data = {
            key: str(value) if key in ("id", "source", "target") else value
            for key, value in item.items()
            if key not in ("x", "y", "classes")
        }
        made: Style = {"data": data}
        if "id" in data:
            data.setdefault("label", data["id"])
            if "x" in item and "y" in item:
                made["position"] = {"x": item["x"], "y": item["y"]}
        return made | ({"classes": item["classes"]} if "classes" in item else {})

    return {
        "nodes": [element(node) for node in nodes],
        "edges": [element(edge) for edge in edges],
        "layout": {"name": layout} if isinstance(layout, str) else layout,
        "stylesheet": stylesheet or [],
        "width": width,
        "height": height,
    }


class Speaking:
    """The functions that say something. Those of lectrace cut the indentation of texts."""

    def __init__(self, say: Say, cuts_indentation: bool = False) -> None:
        self._say_it = say
        self._cuts_indentation = cuts_indentation

    def _say(self, kind: str, data: object = None, style: Style | None = None, **more: Any) -> None:
        self._say_it(Rendering(kind, data, style, **more))

    def text(
        self,
        message: str,
        style: Style | None = None,
        verbatim: bool = False,
        language: str | None = None,
        **_: Any,
    ) -> None:
        """Say Markdown or, verbatim, what is shown as it is."""
        message = str(message)
        if self._cuts_indentation:
            message = textwrap.dedent(message).strip()
        if language:
            self._say("code_cell", message, {"language": language})
        else:
            self._say("text" if verbatim else "markdown", message, style)

    def note(self, message: str, style: Style | None = None) -> None:
        """Say something aside."""
        self._say("note", textwrap.dedent(message).strip(), style)

    def image(
        self, url: str, style: Style | None = None, width: int | str | None = None, **more: Any
    ) -> None:
        """Show a picture, by address or by path."""
        self._say("image", str(url), _styled(style, width, more))

    def video(
        self, url: str, style: Style | None = None, width: int | str | None = None, **more: Any
    ) -> None:
        """Show a film."""
        self._say("video", str(url), _styled(style, width, more))

    def audio(self, url: str, style: Style | None = None, **more: Any) -> None:
        """Offer something to hear."""
        self._say("audio", str(url), _styled(style, None, more))

    def iframe(self, url: str, style: Style | None = None, **more: Any) -> None:
        """Show another page."""
        self._say("iframe", str(url), _styled(style, None, more))

    def link(self, arg: Any = None, style: Style | None = None, **known: Any) -> None:
        """Say a link: to a source, an address, or a function or class of the lecture."""
        if arg is None:
            arg = Reference(**known)
        elif isinstance(arg, str):
            arg = url_reference(arg, **known)
        if callable(arg):
            self._say("link", arg.__name__, style, internal_link=_location(arg))
        elif hasattr(arg, "label"):
            self._say("link", arg.label, style, external_link=arg)
        else:
            raise TypeError(f"link() takes a reference, an address or a function, not {arg!r}")

    def plot(self, spec: Any) -> None:
        """Show a chart."""
        self._say("plot", spec)

    def graph(self, spec: Style | None, style: Style | None = None) -> None:
        """Show a graph of `make_graph`; nothing if there is none."""
        if spec is not None:
            self._say("graph", spec, style)

    def table(self, rows: Any, headers: list[str] | None = None, **more: Any) -> None:
        """Show rows under headers."""
        self._say("table", {"rows": rows, "headers": headers, **more})

    def space(self, *_: Any, **__: Any) -> None:
        """Leave a gap."""
        self._say("space")

    def code_cell(self, code: str, **_: Any) -> None:
        """Show a program."""
        self._say("code_cell", textwrap.dedent(code).strip("\n"))

    def system_text(
        self, command: list[str], timeout: int = 60, language: str | None = None
    ) -> None:
        """Run a command, and say what it printed."""
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=timeout, check=True
        ).stdout
        plain = re.sub(r"\x1b\[[0-9;]*m", "", printed)
        self.text(plain, verbatim=True, language=language)


def _styled(style: Style | None, width: int | str | None, more: Style) -> Style:
    return {**(style or {}), **more, **({"width": width} if width is not None else {})}


def _location(function: Any) -> CodeLocation | None:
    try:
        return CodeLocation(inspect.getfile(function), inspect.getsourcelines(function)[1])
    except (OSError, TypeError):
        return None


def relativize(path: str | Path) -> str:
    """A path as seen from the working folder."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def is_arxiv_link(url: str) -> bool:
    """Tell whether an address is one of arXiv's."""
    return url.startswith("https://arxiv.org/")
