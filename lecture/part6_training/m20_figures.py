"""Pictures of what is kept and what is recomputed."""

from collections.abc import Collection, Mapping, Sequence

import altair

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.charts import ways_over_time as ways_over_time
from lecture.lib.drawing import COLOURS, Figure, box, text

KEPT, AGAIN = COLOURS[0], COLOURS[1]
CELL_WIDTH, CELL_HEIGHT = 36, 26


def _cell(x: float, y: float, name: str, fate: str) -> str:
    """Draw one result: full, in another colour, or empty."""
    colour = {"kept": KEPT, "recomputed": AGAIN}.get(fate)
    return box(x, y, CELL_WIDTH, CELL_HEIGHT, colour, name)


def _legend(y: float) -> list[str]:
    """Say what the colours mean."""
    return [
        box(4, y - 11, 14, 14, KEPT),
        text(24, y, "kept", "start"),
        box(80, y - 11, 14, 14, AGAIN),
        text(100, y, "thrown away, recomputed", "start"),
        box(270, y - 11, 14, 14),
        text(290, y, "not needed", "start"),
    ]


def strips(fates: Mapping[str, Mapping[str, str]]) -> Figure:  # @stepover
    """Draw a strip of results for each way to train, coloured by what became of them."""
    parts, y = _legend(16), 46.0
    for way, found in fates.items():
        parts.append(text(4, y, way, "start"))
        for place, (name, fate) in enumerate(found.items()):
            parts.append(_cell(4 + CELL_WIDTH * place, y + 7, name, fate))
        y += CELL_HEIGHT + 32
    return Figure("Four layers: what is kept after the forward pass", 384, y - 14, tuple(parts))


def buffer_strip(layers: int, kept: Collection[int], again: Sequence[int]) -> Figure:  # @stepover
    """Draw the results of some layers, and below them the order in which they are recomputed."""
    parts, y = _legend(16), 34.0
    for layer in range(layers + 1):
        name = f"h{layer}" if layer else "x"
        fate = "kept" if layer in kept or not layer else "recomputed"
        x = 4 + CELL_WIDTH * layer
        parts.append(_cell(x, y, name, fate))
        if layer in again:
            order = f"{again.index(layer) + 1}."
            parts.append(text(x + CELL_WIDTH / 2, y + CELL_HEIGHT + 17, order))
    parts.append(
        text(4, y + CELL_HEIGHT + 40, "below: in which order they are recomputed", "start")
    )
    return Figure("Nine layers, every third result kept", 384, y + CELL_HEIGHT + 50, tuple(parts))


def most_by_segment(most: Mapping[int, int], layers: int) -> altair.Chart:  # @stepover
    """Draw the peak over the length of segments, split into borders and what comes back."""
    found = []
    for layers_each, tensors in most.items():
        borders = layers // layers_each - 1
        found.append((layers_each, "kept between", borders))
        found.append((layers_each, "coming back", tensors - borders))
    lengths, kinds, amounts = zip(*found, strict=True)
    chart = altair.Chart(rows_of(length=lengths, kind=kinds, tensors=amounts)).mark_bar()
    chart = chart.encode(
        x=altair.X("length:O", title="layers in a segment", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("tensors:Q", title="tensors at the peak"),
        color=altair.Color("kind:N", legend=legend_below(columns=2)),
        tooltip=["length:O", "kind:N", "tensors:Q"],
    )
    return framed(chart, "The peak of the backward pass, 18 layers", 200)


def memory_against_recomputation(
    by_step: Mapping[int, tuple[int, int]], never_any: tuple[int, int], layers: int
) -> altair.LayerChart:  # @stepover
    """Draw layers that run again over results in memory, one point for each step k."""
    root = round(layers**0.5)
    found = [
        (*point, "every √L-th" if step == root else "equal steps", f"{step}")
        for step, point in by_step.items()
    ]
    found.append((*never_any, "nothing, ever", ""))
    held, again, kinds, names = zip(*found, strict=True)
    base = altair.Chart(rows_of(held=held, again=again, kind=kinds, step=names)).encode(
        x=altair.X(
            "held:Q",
            title="results in memory at most",
            scale=altair.Scale(domain=[0, 1.1 * layers], nice=False),
        ),
        y=altair.Y(
            "again:Q",
            title="layers run again",
            scale=altair.Scale(type="symlog", constant=10),
            axis=altair.Axis(values=[0, 10, 30, 60, 100, 300, 1000, 2000]),
        ),
        tooltip=["step:N", "held:Q", "again:Q"],
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        color=altair.Color("kind:N", legend=legend_below(columns=3)), shape="kind:N"
    )
    steps = base.transform_filter("datum.step")
    line = steps.mark_line(opacity=0.4).encode(order="again:Q")
    labels = [
        steps.transform_filter(f"{sign}(datum.again > 0 && toNumber(datum.step) <= {root})")
        .mark_text(dy=shift)
        .encode(text="step:N")
        for sign, shift in (("", 15), ("!", -13))
    ]
    return framed(altair.layer(line, points, *labels), "64 layers, every k-th result kept", 240)
