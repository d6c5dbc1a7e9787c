"""Pictures of work, of the time it takes, and of what data sheets promise."""

from collections.abc import Mapping, Sequence

import altair
from jaxtyping import Bool, Float
from torch import Tensor

from lecture.facts import Accelerator
from lecture.lib.charts import (
    doublings,
    framed,
    legend_below,
    lines,
    powers_of_ten,
    rows_of,
    slider,
)
from lecture.lib.drawing import CELL, COLOURS, Figure, box, text
from lecture.lib.drawing import lanes as lanes
from lecture.lib.shapes import shape_checked

FORMATS = ("fp32", "tf32", "bf16", "fp8", "fp4")


def flops_by_size(flops: Mapping[str, Mapping[int, int]]) -> altair.Chart:  # @stepover
    """Draw what operations on n×n matrices cost, over n."""
    sizes = next(iter(flops.values()))
    x, y = doublings("n", sizes), powers_of_ten("FLOPs", 0, 10, 2)
    return lines(flops, x, y, "Work on n×n matrices")


def readings(
    first: float, others: Sequence[float], median: float
) -> altair.LayerChart:  # @stepover
    """Draw the readings of a stopwatch in their order, in microseconds, and their median."""
    calls = [f"{number}" for number in range(1, len(others) + 2)]
    microseconds = [1e6 * seconds for seconds in (first, *others)]
    data = rows_of(call=calls, kind=["first", *("others" for _ in others)], time=microseconds)
    y = altair.Y("time:Q", **powers_of_ten("microseconds", 1, 6))
    points = altair.Chart(data).mark_point(filled=True, size=70, opacity=1).encode(
        x=altair.X("call:N", title="call", sort=calls, axis=altair.Axis(labelAngle=0)),
        y=y,
        color=altair.Color("kind:N", legend=legend_below(columns=2)),
        tooltip=["call:N", altair.Tooltip("time:Q", format=".3g")],
    )  # fmt: skip
    rule = altair.Chart(rows_of(time=[1e6 * median])).mark_rule(strokeDash=[4, 3])
    return framed(points + rule.encode(y=y), "Eleven calls, and the median of the last ten", 200)


def promised(cards: Sequence[Accelerator]) -> altair.Chart:  # @stepover
    """Place the dense peaks of cards on a logarithmic axis, a colour for each format.

    The marks are outlines, and that of fp32 is larger: where two formats have one rate, as tf32 and
    fp32 on the RTX 3090, both can be seen.
    """
    peaks = [
        (card.name, dtype, card.dense_flops_per_second[dtype])
        for card in cards
        for dtype in FORMATS
        if dtype in card.dense_flops_per_second
    ]
    names, dtypes, rates = zip(*peaks, strict=True)
    chart = altair.Chart(rows_of(card=names, format=dtypes, rate=rates))
    chart = chart.mark_point(strokeWidth=2.5, opacity=1).encode(
        y=altair.Y(
            "card:N", title=None, sort=[card.name for card in cards], axis=altair.Axis(grid=True)
        ),
        x=altair.X("rate:Q", **powers_of_ten("FLOP/s, dense", 13, 16)),
        color=altair.Color("format:N", sort=list(FORMATS), legend=legend_below(columns=5)),
        shape=altair.Shape("format:N", sort=list(FORMATS)),
        size=altair.Size(
            "format:N", scale=altair.Scale(domain=FORMATS, range=[240, 60, 60, 60, 60])
        ),
        tooltip=["card:N", "format:N", altair.Tooltip("rate:Q", format=".4g")],
    )
    return framed(chart, "What data sheets promise", 200)


@shape_checked
def groups_of_four(w: Float[Tensor, "F D"], kept: Bool[Tensor, "F D"]) -> Figure:  # @stepover
    """Draw weights in groups of four, those that are kept on a colour, and beside them what is
    stored: the kept weights and their places."""
    wide = 36
    parts = [text(4, 14, "two of four are kept", "start")]
    for row, (values, marks) in enumerate(zip(w.tolist(), kept.tolist(), strict=True)):
        y, x = 24 + (CELL + 6) * row, 4.0
        for column, (value, mark) in enumerate(zip(values, marks, strict=True)):
            x += 10 if column and column % 4 == 0 else 0
            parts.append(box(x, y, wide, CELL, COLOURS[0] if mark else None, f"{value:.1f}"))
            x += wide
    y = 24 + (CELL + 6) * len(w) + 18
    parts.append(text(4, y, "what is stored: weights, and places in their groups", "start"))
    for row, (values, marks) in enumerate(zip(w.tolist(), kept.tolist(), strict=True)):
        top, x = y + 10 + (CELL + 6) * row, 4.0
        places = [column for column, mark in enumerate(marks) if mark]
        for column in places:
            parts.append(box(x, top, wide, CELL, COLOURS[0], f"{values[column]:.1f}"))
            x += wide
        x += 20
        for column in places:
            parts.append(box(x, top, CELL, CELL, COLOURS[1], str(column % 4)))
            x += CELL
    bottom = y + 10 + (CELL + 6) * len(w)
    return Figure("Two of every four weights", 320, bottom + 4, tuple(parts))


def achieved_and_promised(
    rates: Mapping[str, tuple[float, float]], title: str
) -> altair.Chart:  # @stepover
    """Draw what was achieved inside what was promised."""
    records = rows_of(
        what=rates.keys(),
        achieved=[achieved / 1e12 for achieved, _ in rates.values()],
        promised=[promise / 1e12 for _, promise in rates.values()],
        share=[f"{100 * achieved / promise:.0f} %" for achieved, promise in rates.values()],
    )
    y = altair.Y("what:N", title=None, sort=list(rates))
    base = altair.Chart(records)
    outer = base.mark_bar(opacity=0.3).encode(
        y=y,
        x=altair.X(
            "promised:Q",
            title="TFLOP/s, promised (pale) and achieved",
            axis=altair.Axis(tickCount=5, format="d"),
        ),
    )
    inner = base.mark_bar(size=9).encode(
        y=y, x="achieved:Q", tooltip=["what:N", "achieved:Q", "promised:Q", "share:N"]
    )
    words = base.mark_text(align="left", dx=4).encode(y=y, x="promised:Q", text="share:N")
    return framed(outer + inner + words, title, 40 * len(rates))


def rate_by_size(rates: Mapping[str, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the rates that n×n matmuls reached, over n."""
    sizes = next(iter(rates.values()))
    x, y = doublings("n", sizes), powers_of_ten("FLOP/s", 6, 13)
    return lines(rates, x, y, "n×n matmuls on one core of this machine")


def useful_share_by_size(tile: int) -> altair.Chart:  # @stepover
    """Draw which share of the work in tiles is asked for, over the size n of the matrices.

    A slider changes the side of a tile. Each side of n takes ⌈n / tile⌉ of them.
    """
    chart = altair.Chart(rows_of(n=range(16, 513))).mark_line()
    chart = chart.add_params(slider("tile", "side of a tile", (16, 128, 16), start=tile))
    share = "pow(datum.n / (tile * ceil(datum.n / tile)), 3)"
    chart = chart.transform_calculate(percent=f"100 * {share}").encode(
        x=altair.X("n:Q", title="n"),
        y=altair.Y("percent:Q", title="useful, percent", scale=altair.Scale(domain=[0, 100])),
        tooltip=["n:Q", altair.Tooltip("percent:Q", format=".1f")],
    )
    return framed(chart, "n×n matmuls in tiles", 180)
