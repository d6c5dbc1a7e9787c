"""The little of CSS that libraries put beside their tables: colours, weights and what is hidden.

Rules are looked up by element, class and id, also below others; what asks for more than that
(`:hover`, `>`, `@media`) is left out.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_PART = re.compile(r"([.#]?)([\w-]+)")
_COMPOUND = re.compile(r"(?:[\w-]+|\*)?(?:[.#][\w-]+)*")

COLOURS = ("color", "background-color", "background")
"""What only a rule for one cell may set: a page is light or dark, and a table follows it."""
_KEPT = (*COLOURS, "font-weight", "font-style", "text-align", "text-decoration", "white-space")
_HARMLESS = re.compile(r"[\w\s#%.,()+-]*")
_FETCHES = re.compile(r"url|image-set|expression|var|env|attr", re.IGNORECASE)


class Element(NamedTuple):
    """What a selector may ask for."""

    tag: str
    name: str
    """Its id."""
    classes: frozenset[str]


class Rule(NamedTuple):
    """One selector and what it sets."""

    compounds: list[list[tuple[str, str]]]
    """The element last; of each the marks (nothing, `.` or `#`) and names."""
    properties: dict[str, str]

    def applies(self, path: Sequence[Element]) -> bool:
        """Tell whether it is about the last element of a path from the outermost one."""
        *above, own = self.compounds
        if not _fits(path[-1], own):
            return False
        outer = iter(path[:-1])
        return all(any(_fits(element, compound) for element in outer) for compound in above)

    @property
    def is_of_one(self) -> bool:
        """Whether it names its element by an id."""
        return any(mark == "#" for mark, _ in self.compounds[-1])


def rules_of(sheets: Iterable[str]) -> list[Rule]:
    """Return the rules of style sheets, those that are understood."""
    rules = []
    for sheet in sheets:
        for selectors, text in _RULE.findall(_COMMENT.sub("", sheet)):
            properties = declarations(text)
            for selector in selectors.split(","):
                parts = selector.split()
                if parts and all(_COMPOUND.fullmatch(part) for part in parts):
                    rules.append(Rule([_PART.findall(part) for part in parts], properties))
    return rules


def declarations(text: str) -> dict[str, str]:
    """Return the properties that a text sets."""
    pairs = (part.partition(":") for part in text.split(";"))
    return {
        name.strip().lower(): value.strip().removesuffix("!important").strip()
        for name, _, value in pairs
        if value.strip()
    }


def style_of(
    path: Sequence[Element], rules: list[Rule], inline: str, *, with_colours: bool
) -> dict[str, str]:
    """Return what is set for the last element of a path."""
    found: dict[str, str] = {}
    own = declarations(inline)
    for rule in rules:
        if rule.applies(path):
            found |= {
                name: value
                for name, value in rule.properties.items()
                if name not in COLOURS or (rule.is_of_one and with_colours)
            }
    found |= own if with_colours else {k: v for k, v in own.items() if k not in COLOURS}
    return {
        name: value
        for name, value in found.items()
        if name == "display"
        or (name in _KEPT and _HARMLESS.fullmatch(value) and not _FETCHES.search(value))
    }


def _fits(element: Element, compound: list[tuple[str, str]]) -> bool:
    return all(
        name in element.classes
        if mark == "."
        else name == (element.name if mark == "#" else element.tag)
        for mark, name in compound
    )
