"""Pictures of streams of random numbers and of sums in random order."""

from collections.abc import Mapping

import altair
from jaxtyping import Float
from torch import Tensor

from lecture.lib.charts import framed, rows_of
from lecture.lib.drawing import CELL, COLOURS, Figure, box, link, text
from lecture.lib.shapes import shape_checked


@shape_checked
def streams(title: str, rows: dict[str, dict[str, Float[Tensor, "..."]]]) -> Figure:  # @stepover
    """Draw one row for each run, a cell for each number, coloured by what the number is for.

    Numbers with a thick line under them were other ones in the first run.
    """
    first = next(iter(rows.values()))
    colours = dict(zip(first, COLOURS, strict=False))
    gap, pitch = 8, CELL + 2
    parts: list[str] = []
    right = 0.0
    for line, (name, run) in enumerate(rows.items()):
        y = 6 + 62 * line
        parts.append(text(4, y + 12, name, "start"))
        x = 4.0
        for purpose, numbers in run.items():
            for place, number in enumerate(numbers.tolist()):
                parts.append(box(x, y + 20, pitch, CELL, colours[purpose], f"{number:.2f}"[1:]))
                if place < len(first[purpose]) and number != first[purpose][place]:
                    parts.append(link(x + pitch / 2, y + CELL + 21, pitch, 5))
                x += pitch
            x += gap
        right = max(right, x - gap)
    x, y = 4.0, 6 + 62 * len(rows) + 4
    for purpose in first:
        parts.append(box(x, y, 14, 14, colours[purpose]))
        parts.append(text(x + 20, y + 12, purpose, "start"))
        x += 34 + 7 * len(purpose)
    parts += [link(x + 10, y + 5, 20, 5), text(x + 26, y + 12, "other than above", "start")]
    return Figure(title, max(right, 376) + 4, y + 22, tuple(parts))


def sums_by_order(steps_away: Mapping[int, int]) -> altair.Chart:  # @stepover
    """Draw how many orders lead to which sum."""
    steps = sorted(steps_away)
    chart = altair.Chart(rows_of(steps=steps, orders=[steps_away[step] for step in steps]))
    chart = chart.mark_bar().encode(
        x=altair.X(
            "steps:O",
            title="fp32 numbers away from the best",
            scale=altair.Scale(domain=list(range(min(steps), max(steps) + 1))),
            axis=altair.Axis(labelAngle=0, values=[step for step in steps if step % 5 == 0]),
        ),
        y=altair.Y("orders:Q", title="orders"),
        tooltip=["steps:O", "orders:Q"],
    )
    return framed(chart, "1000 numbers, summed in 200 orders", 180)
