"""Pictures of messages between ranks, of what ranks keep, and of who works when."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import doublings, lines
from lecture.lib.drawing import COLOURS, Figure, box, text


def collectives(after: Mapping[str, Sequence[Sequence[float]]]) -> Figure:  # @stepover
    """Draw what each rank has before and after each collective: a row per rank."""
    cell, gap, high = 46.0, 26.0, 24.0
    parts, x, y, across = [], 70.0, 0.0, 2
    width = across * (4 * cell + gap) + x
    for number, (name, ranks) in enumerate(after.items()):
        left = x + (number % across) * (4 * cell + gap)
        top = y + (number // across) * (high * len(ranks) + 2 * gap)
        parts.append(text(left, top + 14, name, "start", ' font-weight="bold"'))
        for rank, numbers in enumerate(ranks):
            at = top + 22 + rank * high
            if number % across == 0:
                parts.append(text(left - 8, at + 16, f"rank {rank}", "end"))
            # Where a rank is left with one part, the part keeps its place.
            shift = rank if len(numbers) == 1 else 0
            for place, value in enumerate(numbers, shift):
                parts.append(box(left + place * cell, at, cell, high, COLOURS[place], f"{value:g}"))
    rows = -(-len(after) // across)
    height = rows * (high * len(ranks) + 2 * gap)
    return Figure("Four ranks and their numbers", width, height, tuple(parts))


def kept_by_ranks(stages: Mapping[str, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the bytes per parameter on each rank over the number of ranks."""
    ranks = list(next(iter(stages.values())))
    y = {"title": "bytes per parameter on each rank", "scale": altair.Scale(domain=[0, 16])}
    return lines(stages, doublings("ranks", ranks), y, "What each rank keeps")


def schedule(
    title: str, ranks: Sequence[Sequence[tuple[int, int, str, int]]]
) -> Figure:  # @stepover
    """Draw which micro-batch passes each rank when; backward passes are in another colour."""
    left, tick, high = 60.0, 22.0, 26.0
    parts = [
        box(left, 2, 12, 12, COLOURS[0]),
        text(left + 18, 12, "forward", "start"),
        box(left + 90, 2, 12, 12, COLOURS[1]),
        text(left + 108, 12, "backward", "start"),
    ]
    for rank, pieces in enumerate(ranks):
        y = 24 + rank * (high + 4)
        parts.append(text(left - 8, y + 17, f"rank {rank}", "end"))
        for start, stop, kind, number in pieces:
            colour = COLOURS[kind == "backward"]
            place, wide = left + start * tick, (stop - start) * tick
            parts.append(box(place, y, wide, high, colour, str(number)))
    last = max(stop for pieces in ranks for _, stop, _, _ in pieces)
    height = 24 + len(ranks) * (high + 4)
    return Figure(title, left + last * tick + 8, height, tuple(parts))
