"""Pictures of bytes against FLOPs."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import altair

from lecture.facts import Accelerator
from lecture.lib.charts import doublings, framed, legend_below, lines, powers_of_ten, rows_of
from lecture.lib.drawing import lanes as lanes


class HasIntensity(Protocol):
    """An operation with FLOPs per byte."""

    @property
    def intensity(self) -> float:
        """FLOPs for each byte that moves."""
        ...


def accelerator_intensities(intensities: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Draw one bar for each card."""
    chart = altair.Chart(rows_of(card=intensities.keys(), intensity=intensities.values()))
    chart = chart.mark_bar().encode(
        y=altair.Y("card:N", title=None, sort=list(intensities)),
        x=altair.X(
            "intensity:Q",
            title="FLOPs in bf16 per byte from memory",
            axis=altair.Axis(tickCount=6),
        ),
        tooltip=["card:N", altair.Tooltip("intensity:Q", format=".2f")],
    )
    return framed(chart, "What cards can compute while a byte arrives", 170)


def bytes_by_way(moved_bytes: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Draw what each way of writing a function moves for a number."""
    chart = altair.Chart(rows_of(way=moved_bytes.keys(), bytes=moved_bytes.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("way:N", title=None, sort=list(moved_bytes)),
        x=altair.X("bytes:Q", title="bytes moved per bf16 number", axis=altair.Axis(tickCount=8)),
        tooltip=["way:N", "bytes:Q"],
    )
    return framed(chart, "One function, written in several ways", 140)


def roofline(
    cards: Sequence[Accelerator],
    operations: Mapping[str, HasIntensity],
    points: Mapping[tuple[str, str], float],
) -> altair.Chart:  # @stepover
    """Draw a roof for each card, and operations under it where card and intensity put them."""
    low, high = 0.1, 1e4
    corners = []
    for card in cards:
        peak, bytes_per_second = card.dense_flops_per_second["bf16"], card.memory_bytes_per_second
        for intensity in (low, peak / bytes_per_second, high):
            corners.append((card.name, intensity, min(peak, intensity * bytes_per_second)))
    names, intensities, rates = zip(*corners, strict=True)
    order = [card.name for card in cards]
    colour = altair.Color("card:N", sort=order, legend=legend_below(columns=1))
    roofs = altair.Chart(rows_of(card=names, intensity=intensities, rate=rates)).mark_line()
    roofs = roofs.encode(
        x=altair.X("intensity:Q", **powers_of_ten("FLOPs per byte", -1, 4)),
        y=altair.Y("rate:Q", **powers_of_ten("attainable FLOP/s", 11, 16)),
        color=colour,
    )
    grey_legend = legend_below(columns=1)
    grey_legend.symbolFillColor = grey_legend.symbolStrokeColor = "#888"
    marked = rows_of(
        card=[card for card, _ in points],
        operation=[name for _, name in points],
        intensity=[operations[name].intensity for _, name in points],
        rate=points.values(),
    )
    dots = altair.Chart(marked).mark_point(filled=True, size=80, opacity=1).encode(
        x="intensity:Q",
        y="rate:Q",
        color=colour,
        shape=altair.Shape("operation:N", sort=list(operations), legend=grey_legend),
        tooltip=["card:N", "operation:N", altair.Tooltip("intensity:Q", format=".4g"),
                 altair.Tooltip("rate:Q", format=".3g")],
    )  # fmt: skip
    return framed(roofs + dots, "Rooflines in bf16", 300)


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


def seconds_by_tokens(seconds: Mapping[str, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the seconds of ways to do the same over the tokens."""
    tokens = list(next(iter(seconds.values())))
    y = {"title": "seconds"}
    return lines(seconds, doublings("tokens", tokens), y, "Attention on a clock", 200)


def intensity_by_batch(
    intensities: Mapping[int, float], rules: Mapping[str, float]
) -> altair.Chart:  # @stepover
    """Draw the intensity of a layer over its rows, and those of cards across."""
    batches = list(intensities)
    across = {card: dict.fromkeys((batches[0], batches[-1]), rule) for card, rule in rules.items()}
    x, y = doublings("rows", batches[::2]), powers_of_ten("FLOPs per byte", 0, 4)
    return lines({"this layer": intensities, **across}, x, y, "A layer of 4096×4096 in bf16", 240)


def intensity_by_length(
    intensities: Mapping[str, Mapping[int, float]],
) -> altair.Chart:  # @stepover
    """Draw the intensity of a chain of operations over its length."""
    lengths = list(next(iter(intensities.values())))
    x = {"title": "operations in the chain", "axis": altair.Axis(values=lengths)}
    return lines(
        intensities, x, {"title": "FLOPs per byte"}, "Elementwise operations in a row", 200
    )
