"""Pictures of how random weights spread."""

import math
from collections.abc import Mapping, Sequence

import altair
import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture.figures.charts import framed, legend_below, rows_of
from lecture.shapes import shape_checked


def std_by_fan_in(by_inputs: Mapping[int, float]) -> altair.LayerChart:  # @stepover
    """Draw the spread of outputs over the number of inputs, and the line of slope one half."""
    fan_ins = list(by_inputs)
    names = ["measured"] * len(fan_ins) + ["√D"] * len(fan_ins)
    stds = [*by_inputs.values(), *map(math.sqrt, fan_ins)]
    chart = altair.Chart(rows_of(kind=names, inputs=fan_ins * 2, std=stds)).encode(
        x=altair.X(
            "inputs:Q",
            title="inputs D",
            scale=altair.Scale(type="log", base=2, domain=[8, 8192]),
            axis=altair.Axis(values=fan_ins, format="d"),
        ),
        y=altair.Y(
            "std:Q",
            title="standard deviation",
            scale=altair.Scale(type="log", base=2, domain=[2, 128]),
            axis=altair.Axis(values=[4, 8, 16, 32, 64], format="d"),
        ),
        color=altair.Color("kind:N", legend=legend_below(columns=2)),
        tooltip=["kind:N", "inputs:Q", "std:Q"],
    )
    line = chart.mark_line().transform_filter(altair.datum.kind == "√D")
    points = chart.mark_point(filled=True, size=60, opacity=1).transform_filter(
        altair.datum.kind == "measured"
    )
    return altair.layer(line, points).properties(
        title="Outputs of plain random weights", width="container", height=200
    )


def spread_by_layer(
    spreads: Mapping[str, Sequence[float]], title: str
) -> altair.Chart:  # @stepover
    """Draw the scale of what layers hand on, one line for each way to start."""
    found = [
        (name, layer, spread)
        for name, by_layer in spreads.items()
        for layer, spread in enumerate([1.0, *by_layer])
    ]
    names, layers, sizes = zip(*found, strict=True)
    lowest, highest = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    powers = range(lowest, highest + 1, 1 + (highest - lowest) // 6)
    up_the_side: dict[str, object] = {
        "scale": altair.Scale(type="log", domain=[10.0**lowest, 10.0**highest]),
        "axis": altair.Axis(
            values=[10.0**power for power in powers],
            labelExpr="'1e' + format(log(datum.value) / LN10, '.0f')",
        ),
    }
    if highest - lowest == 1:
        up_the_side = {"scale": altair.Scale(domain=[0, math.ceil(max(sizes)) + 1])}
    chart = altair.Chart(rows_of(start=names, layer=layers, spread=sizes)).mark_line(point=True)
    chart = chart.encode(
        x=altair.X("layer:Q", title="after layer", axis=altair.Axis(format="d", tickCount=8)),
        y=altair.Y("spread:Q", title="root mean square", **up_the_side),
        color=altair.Color("start:N", sort=list(spreads), legend=legend_below(columns=2)),
        shape=altair.Shape("start:N", sort=list(spreads)),
        tooltip=["start:N", "layer:Q", altair.Tooltip("spread:Q", format=".3g")],
    )
    return framed(chart, title, 220)


@shape_checked
def tails(samples: dict[str, Shaped[Tensor, "D K"]]) -> altair.Chart:  # @stepover
    """Draw histograms of standardized values; a logarithmic axis shows the tails."""
    width = 0.25
    counted = [
        (name, (column + 0.5) * width - 6, int(count))
        for name, values in samples.items()
        for column, count in enumerate(torch.histc(values, bins=48, min=-6, max=6).tolist())
        if count
    ]
    names, middles, counts = zip(*counted, strict=True)
    chart = altair.Chart(rows_of(bounds=names, value=middles, count=counts))
    chart = chart.mark_line(interpolate="step").encode(
        x=altair.X(
            "value:Q",
            title="weight, in standard deviations",
            scale=altair.Scale(domain=[-6, 6]),
            axis=altair.Axis(values=list(range(-6, 7)), format="d"),
        ),
        y=altair.Y(
            "count:Q",
            title="weights per 0.25",
            scale=altair.Scale(type="log", domain=[1, 100_000]),
            axis=altair.Axis(values=[1, 10, 100, 1000, 10_000], format="d"),
        ),
        color=altair.Color("bounds:N", sort=list(samples), legend=legend_below(columns=2)),
        strokeDash=altair.StrokeDash("bounds:N", sort=list(samples)),
        tooltip=["bounds:N", "value:Q", "count:Q"],
    )
    return framed(chart, "524 288 truncated normal weights", 220)
