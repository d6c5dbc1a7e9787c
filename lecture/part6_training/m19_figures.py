"""Pictures of batches taken in parts."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import (
    Layout,
    framed,
    legend_below,
    lines,
    powers_of_ten,
    rows_of,
    ways_over_time,
)


def memory_over_time(
    timelines: Mapping[int, Sequence[Mapping[str, int]]],
) -> altair.Chart:  # @stepover
    """Draw what a step takes beside the weights, for several sizes of its parts."""
    largest = max(timelines)
    ways = {
        f"{rows} rows at once" if rows == largest else f"{largest // rows} parts of {rows}": [
            sum(moment.values()) for moment in timeline
        ]
        for rows, timeline in timelines.items()
    }
    title = f"One batch of {largest} rows, forward and back"
    return ways_over_time(ways, "bytes beside the weights", title)


def steps_and_examples(
    measured: Mapping[int, int], predicted: Mapping[int, float]
) -> altair.LayerChart:  # @stepover
    """Draw steps over examples, one point for each batch size, on logarithmic axes."""
    x = altair.X("examples:Q", title="examples read, logarithmic", scale=altair.Scale(type="log"))
    y = altair.Y("steps:Q", title="steps, logarithmic", scale=altair.Scale(type="log"))
    found = []
    for kind, steps in (("measured", measured), ("predicted", predicted)):
        rows = rows_of(
            size=steps.keys(), examples=[B * n for B, n in steps.items()], steps=steps.values()
        )
        base = altair.Chart(rows).transform_calculate(kind=f"'{kind}'")
        base = base.encode(x=x, y=y, color=altair.Color("kind:N", legend=legend_below(columns=2)))
        if kind == "predicted":
            found.append(base.mark_line().encode(order="size:Q"))
        else:
            found += [
                base.mark_point(filled=True, size=60, opacity=1),
                base.mark_text(dx=14, dy=-8).encode(text="size:Q"),
            ]
    return framed(altair.layer(*found), "Steps against examples, by batch size", 240)


def noise_scale(noise: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw the gradient noise scale over the steps of training."""
    x: Layout = {"title": "steps made"}
    y = powers_of_ten("noise scale in examples", 1, 4)
    return lines({"gradient noise scale": noise}, x, y, "Noise against signal", 180)
