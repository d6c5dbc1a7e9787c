"""What a course of its own says things with: a list of renderings, as in the forks."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    title: str | None = None
    authors: list | None = None
    organization: str | None = None
    date: str | None = None
    url: str | None = None
    description: str | None = None
    notes: str | None = None

    @property
    def label(self):
        return f"[{self.authors[0].split()[-1]}+ {self.date[:4]}]" if self.authors else self.title


@dataclass(frozen=True)
class Rendering:
    type: str
    data: object = None
    style: dict = None
    external_link: object = None
    internal_link: object = None


_current_renderings = []


def pop_renderings():
    renderings = list(_current_renderings)
    _current_renderings.clear()
    return renderings


def text(message, style=None, verbatim=False):
    style = {**(style or {}), "fontFamily": "monospace", "whiteSpace": "pre"} if verbatim else style
    for line in message.split("\n") if verbatim else [message]:
        _current_renderings.append(Rendering("markdown", line, style))


def image(url, style=None, width=None):
    _current_renderings.append(Rendering("image", url, {**(style or {}), "width": width}))


def link(arg=None, style=None, **known):
    reference = arg if isinstance(arg, Reference) else Reference(url=arg, **known)
    if callable(arg):
        _current_renderings.append(Rendering("link", arg.__name__, style, internal_link=arg))
        return
    label = reference.label or reference.url
    _current_renderings.append(Rendering("link", label, style, external_link=reference))


def remark(message):
    """An invention of this course."""
    _current_renderings.append(Rendering("remark", message))
