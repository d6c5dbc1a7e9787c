"""Diagrams and charts, drawn from the values that a section has at hand.

Diagrams are small SVG pictures; charts are Altair. Both leave the background to the page and take
lines and text in its colours, so that they read on light and on dark. Diagrams are about 400 wide
at most, which keeps their letters legible on a phone. Charts leave fonts and colours to the page,
too: a chart's own configuration does not become part of the document.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

import altair
import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture.facts import Accelerator
from lecture.shapes import shape_checked

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756")
CELL = 26


@dataclass(frozen=True)
class Figure:
    """A diagram that shows itself as SVG."""

    title: str
    width: float
    height: float
    parts: tuple[str, ...]

    def _repr_svg_(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.width:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" font-family="sans-serif" '
            f'font-size="13" fill="currentColor"><title>{escape(self.title)}</title>'
            f"{''.join(self.parts)}</svg>"
        )


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    """Write words with their baseline at `y`."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def box(
    x: float, y: float, width: float, height: float, colour: str | None = None, words: str = ""
) -> str:
    """Draw a rectangle, filled when a colour is given, with words in its middle."""
    fill = f'fill="{colour}" fill-opacity="0.4"' if colour else 'fill="none"'
    outline = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {fill} '
        'stroke="currentColor" stroke-opacity="0.6"/>'
    )
    return outline + (text(x + width / 2, y + height / 2 + 4.5, words) if words else "")


def arc(start: float, stop: float, y: float, height: float, colour: str) -> str:
    """Draw a jump from `start` to `stop`; a negative height bends it downwards."""
    middle = (start + stop) / 2
    tip = 5 if height > 0 else -5
    return (
        f'<path d="M{start:g} {y:g}Q{middle:g} {y - 2 * height:g} {stop:g} {y:g}" fill="none" '
        f'stroke="{colour}" stroke-width="2"/>'
        f'<path d="M{stop:g} {y:g}l-5 {-tip:g}h7z" fill="{colour}"/>'
    )


def lecture_map(
    parts: Mapping[str, Mapping[str, str]], topics: Iterable[str]
) -> Figure:  # @stepover
    """Draw the chapters part by part; a filled box is a chapter that has topics."""
    is_open = {topic.split(".")[0] for topic in topics}
    drawn: list[str] = []
    bottoms = [0.0, 0.0]
    for number, (part, chapters) in enumerate(parts.items()):
        side = 0 if number < 4 else 1
        left, y = 4 + 206 * side, bottoms[side] + 18
        drawn.append(text(left, y, part, "start", ' font-weight="bold"'))
        y += 8
        for name, title in chapters.items():
            drawn.append(box(left, y, 36, 22, COLOURS[0] if name in is_open else None, name))
            drawn.append(text(left + 43, y + 16, title, "start"))
            y += 26
        bottoms[side] = y + 4
    return Figure("Map of the lecture, part by part", 404, max(bottoms), tuple(drawn))


@shape_checked
def strides(x: Shaped[Tensor, "rows columns"]) -> Figure:  # @stepover
    """Draw a matrix above its storage, with one jump for each step along an axis."""
    memory = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).tolist()
    rows, columns = x.shape
    owner = [None] * len(memory)
    parts = [text(4, 16, f"shape {tuple(x.shape)}, stride {x.stride()}", "start")]
    for i, j in itertools.product(range(rows), range(columns)):
        position = x.storage_offset() + i * x.stride(0) + j * x.stride(1)
        owner[position] = COLOURS[i % len(COLOURS)]
        place = (4 + CELL * j, 26 + CELL * i, CELL, CELL)
        parts.append(box(*place, owner[position], f"{x[i, j].item():g}"))
    top = 26 + CELL * rows + 56
    pitch = 23
    for position, number in enumerate(memory):
        parts.append(box(4 + pitch * position, top, pitch, CELL, owner[position], f"{number:g}"))

    def centre(i: int, j: int) -> float:
        return 4 + pitch * (x.storage_offset() + i * x.stride(0) + j * x.stride(1) + 0.5)

    for i in range(rows - 1):
        if x.stride(0):
            parts.append(arc(centre(i, 0), centre(i + 1, 0), top - 3, 18, COLOURS[0]))
    for j in range(columns - 1):
        if x.stride(1):
            below = top + CELL + 3
            parts.append(arc(centre(0, j), centre(0, j + 1), below, -9, COLOURS[3]))
    moves = [f"+{stride}" if stride else "+0, it stays" for stride in x.stride()]
    label_y = top + CELL + (32 if x.stride(1) else 18)
    parts.append(text(4, top - 30, f"a step along axis 0: {moves[0]}", "start"))
    parts.append(text(4, label_y, f"a step along axis 1: {moves[1]}", "start"))
    if x.storage_offset():
        parts.append(text(4, label_y + 20, f"offset: {x.storage_offset()}", "start"))
        label_y += 20
    width = max(8 + pitch * len(memory), 8 + CELL * columns, 230)
    return Figure("A matrix and its storage", width, label_y + 8, tuple(parts))


@shape_checked
def views_of_storage(
    base: Shaped[Tensor, "..."], views: dict[str, Shaped[Tensor, "..."]]
) -> Figure:  # @stepover
    """Draw one storage once for each view, with the index under which the view finds a cell."""
    cells = base.untyped_storage().nbytes() // base.element_size()
    left, row_height = 104, CELL + 10
    memory = torch.empty(0, dtype=base.dtype).set_(base.untyped_storage()).tolist()
    parts = [text(4, 24, "storage", "start")]
    parts += [box(left + CELL * n, 6, CELL, CELL, None, f"{memory[n]:g}") for n in range(cells)]
    for line, (name, view) in enumerate(views.items(), start=1):
        y = 6 + row_height * line + 8
        parts.append(text(4, y + 18, name, "start"))
        found = {
            view.storage_offset()
            + sum(index * stride for index, stride in zip(place, view.stride(), strict=True)): place
            for place in itertools.product(*map(range, view.shape))
        }
        for n in range(cells):
            colour = COLOURS[(line - 1) % len(COLOURS)] if n in found else None
            index = ",".join(map(str, found.get(n, ())))
            parts.append(box(left + CELL * n, y, CELL, CELL, colour, index))
    height = 6 + row_height * (len(views) + 1) + 24
    parts.append(text(4, height - 6, "filled: read by the view, under this index", "start"))
    return Figure(
        "One storage and its views", max(left + CELL * cells + 4, 300), height, tuple(parts)
    )


def link(x: float, y: float, width: float, height: float) -> str:
    """Draw a connection around the middle `x`; without an outline, its width is exact."""
    left = x - width / 2
    return (
        f'<rect x="{left:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{COLOURS[3]}"/>'
    )


def host_and_accelerator(card: Accelerator, bus_bytes_per_second: float) -> Figure:  # @stepover
    """Draw both memories; the links between boxes are as wide as they are fast."""
    memory_gb_per_second = card.memory_bytes_per_second / 1e9
    bus_gb_per_second = bus_bytes_per_second / 1e9
    memory_width = 60.0
    bus_width = memory_width * bus_gb_per_second / memory_gb_per_second
    memory_tb = f"{memory_gb_per_second / 1000:g} TB/s"
    parts = (
        box(4, 4, 352, 84),
        text(14, 24, "host", "start", ' font-weight="bold"'),
        box(14, 34, 150, 44, COLOURS[2], "CPU"),
        box(196, 34, 150, 44, COLOURS[0], "RAM"),
        link(271, 88, bus_width, 66),
        text(258, 116, f"PCIe 5, 16 lanes: {bus_gb_per_second:g} GB/s", "end"),
        box(4, 154, 352, 216),
        text(14, 174, card.name, "start", ' font-weight="bold"'),
        box(196, 184, 150, 44, COLOURS[0], f"memory {card.memory_bytes / 1e9:g} GB"),
        link(271, 228, memory_width, 66),
        text(230, 266, memory_tb, "end"),
        box(196, 294, 150, 62, COLOURS[1], "processor"),
        text(184, 322, "bf16, dense:", "end"),
        text(184, 340, f"{card.dense_flops_per_second['bf16'] / 1e12:g} TFLOP/s", "end"),
    )
    return Figure("Host and accelerator, links drawn to scale", 360, 374, parts)


def framed(chart: altair.Chart, title: str, height: int) -> altair.Chart:
    """Give every chart the width of the page."""
    return chart.properties(title=title, width="container", height=height)


def legend_below(columns: int) -> altair.Legend:
    """Leave the width to the chart, of which a phone has little."""
    return altair.Legend(title=None, orient="bottom", columns=columns, labelLimit=200)


def rows_of(**columns: Iterable[object]) -> altair.Data:
    """Turn columns into the rows that a chart takes."""
    records = zip(*columns.values(), strict=True)
    return altair.Data(values=[dict(zip(columns, record, strict=True)) for record in records])


def days_by_mfu(days: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw training time over utilization."""
    chart = altair.Chart(rows_of(mfu=days.keys(), days=days.values())).mark_line(point=True)
    chart = chart.encode(
        x=altair.X(
            "mfu:Q",
            title="MFU in percent",
            scale=altair.Scale(domain=[min(days), max(days)]),
            axis=altair.Axis(values=list(days)),
        ),
        y=altair.Y("days:Q", title="days"),
        tooltip=["mfu:Q", "days:Q"],
    )
    return framed(chart, "70B parameters, 15T tokens, 1024 H100", 220)


def bytes_per_parameter(
    recipes: Mapping[str, Mapping[str, float]],
) -> altair.Chart:  # @stepover
    """Stack what each recipe keeps for one parameter."""
    kept = [
        (name, part, part_bytes, order)
        for name, recipe in recipes.items()
        for order, (part, part_bytes) in enumerate(recipe.items())
    ]
    names, parts, sizes, orders = zip(*kept, strict=True)
    all_parts = ["weights", "gradients", "master weights", "Adam m", "Adam v"]
    chart = altair.Chart(rows_of(recipe=names, part=parts, bytes=sizes, order=orders)).mark_bar()
    chart = chart.encode(
        y=altair.Y("recipe:N", title=None, sort=list(recipes)),
        x=altair.X(
            "bytes:Q", title="bytes per parameter", axis=altair.Axis(values=[0, 4, 8, 12, 16])
        ),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=all_parts), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=["recipe:N", "part:N", "bytes:Q"],
    )
    return framed(chart, "What one parameter costs while it is trained", 190)


def flop_ruler(landmarks: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Place amounts of work on a logarithmic axis, the smallest on top."""
    ordered = sorted(landmarks, key=lambda name: landmarks[name])
    chart = altair.Chart(rows_of(landmark=ordered, flops=[landmarks[name] for name in ordered]))
    chart = chart.mark_point(filled=True, size=90, opacity=1).encode(
        y=altair.Y("landmark:N", title=None, sort=ordered, axis=altair.Axis(grid=True)),
        x=altair.X(
            "flops:Q",
            title="FLOPs, logarithmic",
            scale=altair.Scale(type="log", domain=[1e21, 1e27]),
            axis=altair.Axis(
                values=[10.0**power for power in range(21, 28)],
                labelExpr="'1e' + format(log(datum.value) / LN10, '.0f')",
                labelOverlap="parity",
                labelFlush=False,
            ),
        ),
        tooltip=["landmark:N", altair.Tooltip("flops:Q", format=".2e")],
    )
    return framed(chart, "Training runs and thresholds", 190)


def bytes_by_dtype(sizes: Mapping[str, int]) -> altair.Chart:  # @stepover
    """Draw one bar for each dtype."""
    names = [name.removeprefix("torch.") for name in sizes]
    chart = altair.Chart(rows_of(dtype=names, bytes=sizes.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("dtype:N", title=None, sort=names),
        x=altair.X("bytes:Q", title="bytes", axis=altair.Axis(values=list(range(0, 257, 64)))),
        tooltip=["dtype:N", "bytes:Q"],
    )
    return framed(chart, "32 elements of each dtype", 170)


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
        y=altair.Y("count:Q", title="draws per 0.25", axis=altair.Axis(format="d")),
        color=altair.Color("sample:N", sort=list(samples), legend=legend_below(columns=2)),
    )
    return framed(chart, "65 536 draws, with and without tails", 200)
