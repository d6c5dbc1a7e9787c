"""Links that lead nowhere once a lecture is a page."""

import re
from collections.abc import Container, Iterator

from ..schema import SourceFile
from .images import found_in_prose

_NO_PROSE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
"""Code and formulas, where brackets mean something else."""
_LINK = re.compile(r"""(?<![!\\])\[[^\[\]]*\]\(([^)\s]+)(?:\s+["'][^)]*)?\s*\)""")
_CLASS = re.compile(r"^class\s+(\w+)", re.MULTILINE)
"""A link to a class shows its definition."""
_SCHEME = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)
_FOLLOWED = ("http://", "https://", "mailto:")


def warnings_of_links(
    files: list[SourceFile], functions: set[str] | None, labels: Container[str] = ()
) -> list[str]:
    """Return a warning for each link to what a page does not have. `functions` are the names that
    sections may have, if all are known; `labels` those of figures and equations."""

    classes = {name for file in files for name in _CLASS.findall(file.source)}

    def complaints(text: str) -> Iterator[str]:
        for target in _LINK.findall(_NO_PROSE.sub("", text)):
            if target[1:] in labels or target[1:] in classes:
                continue
            if reason := _reason(target, functions):
                yield f"{target} {reason}"

    return [
        f"{file.path}:{line}: the link {complaint}"
        for file in files
        for complaint, line in found_in_prose(complaints, file.prose)
    ]


def _reason(target: str, functions: set[str] | None) -> str | None:
    """Say what is wrong with the target of a link."""
    if target.lower().startswith(_FOLLOWED):
        return None
    if _SCHEME.match(target):
        return f"is not shown: a page has links to {', '.join(_FOLLOWED)} and to its own places."
    if not target.startswith("#"):
        return "leads to a file, and files beside a lecture are not published."
    name = target[1:]
    if functions is None or not name.isidentifier() or name in functions:
        return None
    return "leads to no function of the lecture."
