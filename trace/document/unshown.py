"""What in prose will not be shown: elements that a page drops, formulas that are wrong."""

import functools
import re
from collections.abc import Iterator

from ..schema import SourceFile
from ..target import VIEWER

SHOWN_TAGS = frozenset(
    "a abbr b blockquote br code del details div em figcaption figure font h1 h2 h3 h4 h5 h6 "  # noqa: SIM905
    "hr i img input kbd li mark ol p pre s small span strong sub summary sup table tbody td "
    "tfoot th thead tr u ul var".split()
)
"""As `viewer/parts/prose.js` has them; a test compares."""

_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_MATHS = re.compile(r"\$\$(.*?)\$\$|\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$(?!\d)", re.DOTALL)
_TAG = re.compile(r"<([A-Za-z][\w-]*)(?=[\s/>])[^<>]*>")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_DEFINED = re.compile(r"\\(?:(?:re|provide)?newcommand\*?|[gex]?def|let)\s*\{?\s*\\([A-Za-z]+)")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")
_OWN = {"label", "eqref", "ref"}
"""What `references.py` takes out before a page sees it."""


def warnings_of_unshown(files: list[SourceFile]) -> list[str]:
    """Return a warning for each element and each formula in prose that a page cannot show."""
    return [
        f"{file.path}:{min(block.first_line + lines, block.last_line)}: {complaint}"
        for file in files
        for block in file.prose
        for lines, complaint in _complaints(block.text)
    ]


def _complaints(text: str) -> Iterator[tuple[int, str]]:
    """Yield how many lines are above, and what is wrong."""
    text = _CODE.sub(_blank, text)
    for match in _TAG.finditer(_MATHS.sub(_blank, text)):
        if match[1].lower() not in SHOWN_TAGS:
            above = text.count("\n", 0, match.start())
            yield above, f"<{match[1]}> is not shown: a page leaves this element out."
    for match in _MATHS.finditer(text):
        tex = match[1] or match[2]
        if reason := _reason(tex):
            above = text.count("\n", 0, match.start())
            yield above, f"the formula {_shortened(tex)} is wrong: {reason}."


def _blank(match: re.Match[str]) -> str:
    """As many lines, and nothing on them."""
    return re.sub(r"[^\n]", " ", match[0])


def _shortened(tex: str) -> str:
    line = " ".join(tex.split())
    return f"${line if len(line) <= 40 else line[:39] + '…'}$"


def _reason(tex: str) -> str | None:
    """Say what is wrong with a formula, as far as its words tell."""
    bare = re.sub(r"\\[^A-Za-z]|(?<!\\)%[^\n]*", "", tex)
    depth = 0
    for sign in re.findall(r"[{}]", bare):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return "a } closes nothing"
    if depth:
        return "a { is not closed"
    open_environments: list[str] = []
    for kind, name in _ENVIRONMENT.findall(bare):
        if kind == "begin":
            open_environments.append(name)
        elif not open_environments or open_environments.pop() != name:
            return rf"\end{{{name}}} ends nothing"
    if open_environments:
        return rf"\begin{{{open_environments[-1]}}} has no end"
    words = _COMMAND.findall(bare)
    if words.count("left") != words.count("right"):
        return r"\left and \right do not pair"
    known = _commands() | set(_DEFINED.findall(tex))
    unknown = [word for word in words if word not in known]
    return rf"\{unknown[0]} is no command that is known" if unknown else None


@functools.cache
def _commands() -> set[str]:
    """Return the commands that the page's library knows, as its own text has them."""
    library = VIEWER / "vendor/katex/katex.min.js"
    found = re.findall(r"\\\\([A-Za-z]+)", library.read_text(encoding="utf-8"))
    return {*found, *_OWN}
