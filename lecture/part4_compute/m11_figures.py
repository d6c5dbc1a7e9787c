"""Pictures of bytes against FLOPs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import altair

from lecture.facts import Accelerator
from lecture.lib.charts import (
    choice,
    doublings,
    framed,
    legend_below,
    lines,
    powers_of_ten,
    rows_of,
    slider,
)
from lecture.lib.drawing import lanes as lanes


class HasIntensity(Protocol):
    """An operation with FLOPs per byte."""

    @property
    def intensity(self) -> float:
        """FLOPs for each byte that moves."""
        ...


def accelerator_intensities(
    intensities: Mapping[str, Mapping[str, float]], start: str
) -> altair.Chart:  # @stepover
    """Draw one bar for each card, in a format that the reader chooses."""
    formats = list(dict.fromkeys(dtype for found in intensities.values() for dtype in found))
    rows = [
        (card, dtype, intensity)
        for card, found in intensities.items()
        for dtype, intensity in found.items()
    ]
    chart = altair.Chart(_columns(rows, "card", "format", "intensity"))
    chart = chart.add_params(choice("dtype", "format", formats, start))
    chart = chart.transform_filter("datum.format == dtype").mark_bar().encode(
        y=altair.Y("card:N", title=None, scale=altair.Scale(domain=list(intensities))),
        x=altair.X(
            "intensity:Q",
            title="FLOPs per byte from memory (no bar: not listed)",
            axis=altair.Axis(tickCount=6),
        ),
        tooltip=["card:N", "format:N", altair.Tooltip("intensity:Q", format=".2f")],
    )  # fmt: skip
    return framed(chart, "What a GPU can compute while a byte arrives", 170)


def bytes_by_way(moved_bytes: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Draw what each way of writing a function moves for a number."""
    chart = altair.Chart(rows_of(way=moved_bytes.keys(), bytes=moved_bytes.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("way:N", title=None, sort=list(moved_bytes)),
        x=altair.X("bytes:Q", title="bytes moved per bf16 number", axis=altair.Axis(tickCount=8)),
        tooltip=["way:N", "bytes:Q"],
    )
    return framed(chart, "One function, written in several ways", 140)


Attainable = Callable[[float, float, float], float]
"""FLOP/s for an arithmetic intensity, a peak and a bandwidth."""


def roofline(
    cards: Sequence[Accelerator],
    by_size: Mapping[int, Mapping[str, HasIntensity]],
    attainable: Attainable,
) -> altair.LayerChart:  # @stepover
    """Draw a roof for each card, and under it operations of a size that a slider sets."""
    low, high = 0.1, 1e4
    order = [card.name for card in cards]
    rates = {
        card.name: (card.dense_flops_per_second["bf16"], card.memory_bytes_per_second)
        for card in cards
    }
    corners = [
        (name, intensity, attainable(intensity, *rate))
        for name, rate in rates.items()
        for intensity in (low, rate[0] / rate[1], high)
    ]
    colour = altair.Color("card:N", sort=order, legend=legend_below(columns=1))
    roofs = altair.Chart(_columns(corners, "card", "intensity", "rate")).mark_line()
    roofs = roofs.encode(
        x=altair.X("intensity:Q", **powers_of_ten("FLOPs per byte", -1, 4)),
        y=altair.Y("rate:Q", **powers_of_ten("attainable FLOP/s", 11, 16)),
        color=colour,
    )
    marked = [
        (name, operation, n, work.intensity, attainable(work.intensity, *rate))
        for name, rate in rates.items()
        for n, operations in by_size.items()
        for operation, work in operations.items()
    ]
    powers = [n.bit_length() - 1 for n in by_size]
    power = slider("power", "n×n numbers, n = 2 to the power of", (powers[0], powers[-1], 1), 10)
    grey_legend = legend_below(columns=1)
    grey_legend.symbolFillColor = grey_legend.symbolStrokeColor = "#888"
    dots = altair.Chart(_columns(marked, "card", "operation", "n", "intensity", "rate"))
    dots = dots.transform_filter("datum.n == pow(2, power)")
    dots = dots.mark_point(filled=True, size=80, opacity=1).encode(
        x="intensity:Q",
        y="rate:Q",
        color=colour,
        shape=altair.Shape("operation:N", sort=list(by_size[2 ** powers[0]]), legend=grey_legend),
        tooltip=["card:N", "operation:N", "n:Q",
                 altair.Tooltip("intensity:Q", format=".4g"),
                 altair.Tooltip("rate:Q", format=".3g")],
    )  # fmt: skip
    return framed((roofs + dots).add_params(power), "Rooflines in bf16", 300)


def _columns(rows: Sequence[tuple[object, ...]], *names: str) -> altair.Data:
    """Turn rows into what a chart takes."""
    return rows_of(**dict(zip(names, zip(*rows, strict=True), strict=True)))


def measured_roofline(
    peak: float,
    bytes_per_second: float,
    points: Mapping[str, tuple[float, float]],
    title: str = "The roofline of this machine, as calibrated",
) -> altair.Chart:  # @stepover
    """Draw the calibrated roof of a machine and what operations reached."""
    ends = (0.05, peak / bytes_per_second, 4e3)
    roof = altair.Chart(
        rows_of(intensity=ends, rate=[min(peak, end * bytes_per_second) for end in ends])
    )
    roof = roof.mark_line().encode(
        x=altair.X("intensity:Q", **powers_of_ten("FLOPs per byte", -2, 4)),
        y=altair.Y("rate:Q", title="FLOP/s, logarithmic", scale=altair.Scale(type="log")),
    )
    intensities, rates = zip(*points.values(), strict=True)
    marked = rows_of(operation=points.keys(), intensity=intensities, rate=rates)
    dots = altair.Chart(marked).mark_point(filled=True, size=80, opacity=1)
    dots = dots.encode(
        x="intensity:Q",
        y="rate:Q",
        color=altair.Color("operation:N", sort=list(points), legend=legend_below(columns=2)),
        tooltip=["operation:N", "intensity:Q", altair.Tooltip("rate:Q", format=".3g")],
    )
    return framed(roof + dots, title, 260)


def seconds_by_tokens(
    seconds: Mapping[str, Mapping[int, float]], title: str
) -> altair.Chart:  # @stepover
    """Draw the seconds of ways to do the same over the tokens."""
    tokens = list(next(iter(seconds.values())))
    y = {"title": "milliseconds"}
    milliseconds = {
        way: {T: 1e3 * found for T, found in by_tokens.items()}
        for way, by_tokens in seconds.items()
    }
    return lines(milliseconds, doublings("tokens", tokens), y, title, 200)


def intensity_by_rows(
    intensities: Mapping[int, float], rules: Mapping[str, float]
) -> altair.Chart:  # @stepover
    """Draw the intensity of a layer over its rows, and those of cards across.

    A slider changes the width D, which is 2^12 at first; R rows have R·D / (D + 2·R).
    """
    rows = list(intensities)
    across = {card: dict.fromkeys((rows[0], rows[-1]), rule) for card, rule in rules.items()}
    x, y = doublings("rows", rows[::2]), powers_of_ten("FLOPs per byte", 0, 4)
    chart = lines({"this layer": intensities, **across}, x, y, "A layer of D×D in bf16", 240)
    of_width = "datum.x * pow(2, power) / (pow(2, power) + 2 * datum.x)"
    chart = chart.transform_calculate(y=f"datum.series == 'this layer' ? {of_width} : datum.y")
    return chart.add_params(slider("power", "width D, 2 to the power of", (8, 15, 1), start=12))


def throughput_by_batch(throughput: Mapping[tuple[int, int], float]) -> altair.Chart:  # @stepover
    """Draw tokens per second over the batch size; a slider sets the tokens of each sequence."""
    rows = [(B, T, rate) for (B, T), rate in throughput.items()]
    powers = sorted({T.bit_length() - 1 for _, T in throughput})
    steps = (powers[0], powers[-1], powers[1] - powers[0])
    power = slider("power", "tokens in a sequence, T = 2 to the power of", steps, powers[2])
    chart = altair.Chart(_columns(rows, "B", "T", "rate"))
    chart = chart.transform_filter("datum.T == pow(2, power)").mark_line(point=True)
    chart = chart.encode(
        x=altair.X("B:Q", **doublings("batch size B", sorted({B for B, _ in throughput}))),
        y=altair.Y("rate:Q", **powers_of_ten("tokens per second", 2, 6)),
        tooltip=["B:Q", "T:Q", altair.Tooltip("rate:Q", format=".3s")],
    )
    return framed(chart.add_params(power), "Decoding on an H100, at best, if all fits", 220)


def intensity_by_length(
    intensities: Mapping[str, Mapping[int, float]],
) -> altair.Chart:  # @stepover
    """Draw the intensity of a chain of operations over its length."""
    lengths = list(next(iter(intensities.values())))
    x = {"title": "operations in the chain", "axis": altair.Axis(values=lengths)}
    return lines(
        intensities, x, {"title": "FLOPs per byte"}, "Elementwise operations in a row", 200
    )
