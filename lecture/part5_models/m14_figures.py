"""Pictures of small models."""

from collections.abc import Mapping

import altair
from jaxtyping import Bool, Float
from torch import Tensor

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked


def matrices_to_scale(shapes: Mapping[str, tuple[int, int]]) -> Figure:  # @stepover
    """Draw each matrix to scale, so that its area is its number of parameters."""
    side = 1.7
    tallest = side * max(rows for rows, _ in shapes.values())
    parts, x = [], 4.0
    for name, (rows, columns) in shapes.items():
        width = side * columns
        parts.append(box(x, 4, width, side * rows, COLOURS[0]))
        parts.append(text(x, tallest + 22, name.removesuffix(".weight"), "start"))
        parts.append(text(x, tallest + 39, f"{rows}×{columns}", "start"))
        parts.append(text(x, tallest + 56, f"{rows * columns:,}".replace(",", " "), "start"))
        x += max(width, 60) + 16
    return Figure("Parameters, drawn to scale", x, tallest + 62, tuple(parts))


@shape_checked
def outputs_along_a_line(
    places: Float[Tensor, " n"],
    heights: dict[str, Float[Tensor, " n"]],
    switches: Bool[Tensor, " n-1"],
) -> altair.LayerChart:  # @stepover
    """Draw one output of each network over the place on a line, with a dot where a unit switches.

    The last network is the one with units.
    """
    found = [
        (name, place, height)
        for name, y in heights.items()
        for place, height in zip(places.tolist(), y.tolist(), strict=True)
    ]
    names, where, outputs = zip(*found, strict=True)
    chart = altair.Chart(rows_of(network=names, place=where, output=outputs)).mark_line()
    chart = chart.encode(
        x=altair.X("place:Q", title="place on a line through the inputs"),
        y=altair.Y("output:Q", title="output"),
        color=altair.Color("network:N", legend=legend_below(columns=2)),
    )
    *_, (network, y) = heights.items()
    switched = rows_of(
        network=[network] * int(switches.sum()),
        place=places[1:][switches].tolist(),
        output=y[1:][switches].tolist(),
    )
    dots = altair.Chart(switched).mark_point(filled=True, size=30, opacity=1)
    dots = dots.encode(x="place:Q", y="output:Q", color="network:N")
    return framed(altair.layer(chart, dots), "Three random layers of width 16", 200)
