"""The tables of the sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """Formulas, each with its value for an example and a link to the section that explains it.

    An entry is a name, the formula in LaTeX, the value, and the name of the section. Raises
    ValueError for an entry whose last part names none.
    """

    example: str
    entries: Sequence[tuple[str, str, str, str]]

    def __post_init__(self) -> None:  # @stepover
        for *_, section in self.entries:
            if not section.isidentifier():
                raise ValueError(f"an entry ends in the name of a section: {section!r} is none")

    def _repr_markdown_(self) -> str:
        rows = [
            f"| [{name}](#{section}) | ${formula}$ | {value} |"
            for name, formula, value, section in self.entries
        ]
        return "\n".join((f"| | formula | {self.example} |", "| :-- | :-- | --: |", *rows))


@dataclass(frozen=True)
class WordTable:
    """What each word means, as a table."""

    words: Mapping[str, str]

    def _repr_markdown_(self) -> str:
        rows = [f"| **{word}** | {meaning} |" for word, meaning in self.words.items()]
        return "\n".join(("| Term | meaning |", "| :-- | :-- |", *rows))


def in_units(amount: float, units: str = "") -> str:  # @stepover
    """Write an amount with three digits and a power of 1000: 4.51 T, 307 k."""
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if amount >= 10**power:
            return f"{amount / 10**power:.3g} {prefix}{units}"
    return f"{amount:.3g} {units}".strip()
