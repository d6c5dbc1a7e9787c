"""Pictures of what random weights do to the scale of numbers."""

import math
from collections.abc import Mapping, Sequence

import altair
import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.charts import Layout, framed, legend_below, lines, powers_of_ten, rows_of, slider
from lecture.lib.shapes import shape_checked


def std_by_fan_in(by_inputs: Mapping[int, float]) -> altair.LayerChart:  # @stepover
    """Draw the std of outputs over the number of inputs, and the line of slope one half."""
    points = rows_of(inputs=by_inputs, std=by_inputs.values(), root=map(math.sqrt, by_inputs))
    chart = altair.Chart(points).encode(
        x=altair.X(
            "inputs:Q",
            title="inputs D, logarithmic",
            scale=altair.Scale(type="log", base=2, domain=[8, 8192]),
            axis=altair.Axis(values=list(by_inputs), format="d"),
        )
    )
    dots = chart.mark_point(filled=True, size=60, opacity=1).encode(
        y=altair.Y(
            "std:Q",
            title="std, logarithmic",
            scale=altair.Scale(type="log", base=2, domain=[2, 128]),
            axis=altair.Axis(values=[4, 8, 16, 32, 64], format="d"),
        ),
        tooltip=["inputs:Q", altair.Tooltip("std:Q", format=".2f")],
    )
    line = chart.mark_line(strokeDash=[4, 3]).encode(y="root:Q")
    title = "Plain random weights (dots) and √D (line)"
    return framed(altair.layer(line, dots), title, 200)


def scale_by_layer(scales: Mapping[str, Sequence[float]], title: str) -> altair.Chart:  # @stepover
    """Draw the scale of what layers hand on, one line for each way to start."""
    series = {name: dict(enumerate([1.0, *found])) for name, found in scales.items()}
    sizes = [size for found in series.values() for size in found.values()]
    low, high = math.floor(math.log10(min(sizes))), math.ceil(math.log10(max(sizes)))
    x: Layout = {"title": "after layer", "axis": altair.Axis(format="d", tickCount=8)}
    y = powers_of_ten("root mean square", low, high, 1 + (high - low) // 6)
    if high - low == 1:
        scale = altair.Scale(domain=[0, math.ceil(max(sizes)) + 1])
        y = {"title": "root mean square", "scale": scale}
    return lines(series, x, y, title)


def scale_by_gain(measured: Sequence[float], gain: float) -> altair.LayerChart:  # @stepover
    """Draw gain^layer for a gain, in percent, that a slider sets; measured points beside it."""
    every, start = list(range(len(measured) + 1)), round(100 * gain)
    calculated = altair.Chart(rows_of(layer=every)).mark_line().encode(
        x=altair.X("layer:Q", title="after layer", axis=altair.Axis(format="d", values=every)),
        y=altair.Y("scale:Q", **powers_of_ten("root mean square", -3, 3)),
        tooltip=["layer:Q", altair.Tooltip("scale:Q", format=".3g")],
    )  # fmt: skip
    calculated = calculated.transform_calculate(scale="pow(gain / 100, datum.layer)")
    points = altair.Chart(rows_of(layer=every, scale=[1.0, *measured]))
    points = points.mark_point(filled=True, size=60, opacity=1).encode(x="layer:Q", y="scale:Q")
    percent = slider("gain", "gain of a layer in percent", (50, 200, 5), start)
    chart = altair.layer(calculated, points).add_params(percent)
    return framed(chart, f"Measured at {start} % (dots), and at any gain (line)", 220)


@shape_checked
def tails(samples: dict[str, Shaped[Tensor, "D F"]]) -> altair.Chart:  # @stepover
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


@shape_checked
def two_histograms(samples: dict[str, Shaped[Tensor, " n"]]) -> altair.Chart:  # @stepover
    """Draw how often values fall into bins of width one quarter between -4 and 4."""
    counted = [
        (name, -3.875 + column / 4, int(count))
        for name, values in samples.items()
        for column, count in enumerate(torch.histc(values, bins=32, min=-4, max=4).tolist())
    ]
    names, middles, counts = zip(*counted, strict=True)
    chart = altair.Chart(rows_of(sample=names, value=middles, count=counts))
    chart = chart.mark_line(interpolate="step").encode(
        x=altair.X(
            "value:Q", title="value", axis=altair.Axis(values=list(range(-4, 5)), format="d")
        ),
        y=altair.Y("count:Q", title="draws per bin of 0.25", axis=altair.Axis(format="d")),
        color=altair.Color("sample:N", sort=list(samples), legend=legend_below(columns=2)),
    )
    return framed(chart, "Normal draws, with and without tails", 200)
