"""A table of letters, and a picture of a batch."""

from collections.abc import Mapping
from dataclasses import dataclass

from lecture.lib.drawing import CELL, COLOURS, Figure, box, text


@dataclass(frozen=True)
class LetterTable:
    """What each letter counts, as a table."""

    letters: Mapping[str, str]

    def _repr_markdown_(self) -> str:
        rows = [f"| **{letter}** | {meaning} |" for letter, meaning in self.letters.items()]
        return "\n".join(("| Letter | counts |", "| :-- | :-- |", *rows))


def batch_and_rows(B: int, T: int, D: int) -> Figure:  # @stepover
    """Draw the sequences of a batch, each with its tokens, and the rows of a linear layer."""
    parts: list[str] = []
    right = 4 + CELL * D + 190
    for sequence in range(B):
        top = 26 + sequence * (CELL * T + 22)
        for token in range(T):
            words = f"sequence {sequence + 1}, token {token + 1}"
            y, row = top + CELL * token, 26 + CELL * (sequence * T + token)
            for feature in range(D):
                colour = COLOURS[sequence]
                parts.append(box(4 + CELL * feature, y, CELL, CELL, colour))
                parts.append(box(right + CELL * feature, row, CELL, CELL, colour))
            parts.append(text(12 + CELL * D, y + 18, words, "start"))
    parts.append(text(4, 16, f"B = {B} sequences of T = {T} tokens", "start"))
    parts.append(text(right, 16, f"R = {B * T} rows", "start"))
    height = 26 + B * (CELL * T + 22)
    parts.append(text(4, height, f"D = {D} features", "start"))
    return Figure(
        "A batch, and what a linear layer sees of it",
        right + CELL * D + 4,
        height + 6,
        tuple(parts),
    )
