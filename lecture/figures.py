"""Diagrams and charts, drawn from the values that a section has at hand.

Diagrams are small SVG pictures; charts are Altair. Both leave the background transparent and take
lines and text in the colour of the page, so that they read on light and on dark.
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
    parts: Mapping[str, Iterable[str]], groups: Mapping[str, str], topics: Mapping[str, str]
) -> Figure:  # @stepover
    """Draw the chapters part by part; a filled box is a chapter that has topics."""
    is_open = {topic.split(".")[0] for topic in topics}
    columns: list[list[str]] = [[], []]
    bottoms = [0.0, 0.0]
    for number, (part, names) in enumerate(parts.items()):
        side = 0 if number < 4 else 1
        left, y = 4 + 270 * side, bottoms[side] + 18
        columns[side].append(text(left, y, part, "start", ' font-weight="bold"'))
        for name in names:
            y += 8 if name == next(iter(names)) else 26
            colour = COLOURS[number % len(COLOURS)] if name in is_open else None
            columns[side].append(box(left, y, 44, 22, colour, name))
            columns[side].append(text(left + 54, y + 16, groups[name], "start"))
        bottoms[side] = y + 30
    body = tuple(itertools.chain(*columns))
    return Figure("Map of the lecture, part by part", 540, max(bottoms) + 4, body)


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
    label_y = top + CELL + 40
    parts.append(text(4, top - 30, f"a step along axis 0 skips {x.stride(0)}", "start"))
    parts.append(text(4, label_y, f"a step along axis 1 skips {x.stride(1)}", "start"))
    if x.storage_offset():
        parts.append(text(4, label_y + 20, f"offset {x.storage_offset()}", "start"))
    width = max(8 + pitch * len(memory), 8 + CELL * columns, 230)
    return Figure("A matrix and its storage", width, label_y + 28, tuple(parts))


@shape_checked
def views_of_storage(
    base: Shaped[Tensor, "..."], views: dict[str, Shaped[Tensor, "..."]]
) -> Figure:  # @stepover
    """Draw one storage once for each view; a number says when the view reads the cell."""
    cells = base.untyped_storage().nbytes() // base.element_size()
    left, row_height = 104, CELL + 10
    memory = torch.empty(0, dtype=base.dtype).set_(base.untyped_storage()).tolist()
    parts = [text(4, 24, "storage", "start")]
    parts += [box(left + CELL * n, 6, CELL, CELL, None, f"{memory[n]:g}") for n in range(cells)]
    for line, (name, view) in enumerate(views.items(), start=1):
        y = 6 + row_height * line + 8
        parts.append(text(4, y + 18, name, "start"))
        positions = [
            view.storage_offset()
            + sum(index * stride for index, stride in zip(place, view.stride(), strict=True))
            for place in itertools.product(*map(range, view.shape))
        ]
        for n in range(cells):
            read = f"{positions.index(n) + 1}." if n in positions else ""
            colour = COLOURS[(line - 1) % len(COLOURS)] if read else None
            parts.append(box(left + CELL * n, y, CELL, CELL, colour, read))
    height = 6 + row_height * (len(views) + 1) + 24
    parts.append(text(4, height - 6, "1. 2. 3. … is the order in which it is read", "start"))
    return Figure(
        "One storage and its views", max(left + CELL * cells + 4, 300), height, tuple(parts)
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
        box(271 - bus_width / 2, 88, bus_width, 66, COLOURS[3]),
        text(258, 116, f"PCIe 5 x16: {bus_gb_per_second:g} GB/s", "end"),
        box(4, 154, 352, 216),
        text(14, 174, card.name, "start", ' font-weight="bold"'),
        box(196, 184, 150, 44, COLOURS[0], f"memory {card.memory_bytes / 1e9:g} GB"),
        box(271 - memory_width / 2, 228, memory_width, 66, COLOURS[3]),
        text(230, 266, memory_tb, "end"),
        box(196, 294, 150, 62, COLOURS[1], "processor"),
        text(184, 322, "bf16, dense:", "end"),
        text(184, 340, f"{card.dense_flops_per_second['bf16'] / 1e12:g} TFLOP/s", "end"),
    )
    return Figure("Host and accelerator, links drawn to scale", 360, 374, parts)


def styled(chart: altair.Chart, title: str, height: int) -> altair.Chart:
    """Give every chart the same frame."""
    sized = chart.properties(
        title=title, width="container", height=height, background="transparent"
    )
    return (
        sized.configure_axis(labelFontSize=12, titleFontSize=13, labelLimit=200)
        .configure_legend(labelFontSize=12, orient="bottom", columns=2, labelLimit=200)
        .configure_title(fontSize=14, anchor="start")
        .configure_view(stroke=None)
    )


def rows_of(**columns: Iterable[object]) -> altair.Data:
    """Turn columns into the rows that a chart takes."""
    records = zip(*columns.values(), strict=True)
    return altair.Data(values=[dict(zip(columns, record, strict=True)) for record in records])


def days_by_mfu(days: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw training time over utilization."""
    data = rows_of(mfu=days.keys(), days=days.values())
    chart = altair.Chart(data).mark_line(point=True, color=COLOURS[0])
    chart = chart.encode(
        x=altair.X("mfu:Q", title="MFU in percent", scale=altair.Scale(domain=[15, 65])),
        y=altair.Y("days:Q", title="days"),
        tooltip=["mfu:Q", "days:Q"],
    )
    return styled(chart, "70B parameters, 15T tokens, 1024 H100", 220)


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
    data = rows_of(recipe=names, part=parts, bytes=sizes, order=orders)
    colours = altair.Scale(
        domain=["weights", "gradients", "master weights", "Adam m", "Adam v"],
        range=[*COLOURS, "#b279a2"],
    )
    chart = altair.Chart(data).mark_bar()
    chart = chart.encode(
        y=altair.Y("recipe:N", title=None, sort=list(recipes)),
        x=altair.X("bytes:Q", title="bytes per parameter", axis=altair.Axis(tickMinStep=2)),
        color=altair.Color("part:N", title=None, scale=colours),
        order="order:Q",
        tooltip=["recipe:N", "part:N", "bytes:Q"],
    )
    return styled(chart, "What one parameter costs while it is trained", 190)


def flop_ruler(landmarks: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Place amounts of work on a logarithmic axis."""
    data = rows_of(landmark=landmarks.keys(), flops=landmarks.values())
    chart = altair.Chart(data).mark_point(filled=True, size=90, color=COLOURS[1])
    chart = chart.encode(
        y=altair.Y("landmark:N", title=None, sort=list(landmarks), axis=altair.Axis(grid=True)),
        x=altair.X(
            "flops:Q",
            title="FLOPs, logarithmic",
            scale=altair.Scale(type="log", domain=[1e21, 1e27]),
            axis=altair.Axis(format=".0e", values=[10.0**power for power in range(21, 28)]),
        ),
        tooltip=["landmark:N", altair.Tooltip("flops:Q", format=".2e")],
    )
    return styled(chart, "Work to train", 190)


def bytes_by_dtype(sizes: Mapping[str, int]) -> altair.Chart:  # @stepover
    """Draw one bar for each dtype."""
    names = [name.removeprefix("torch.") for name in sizes]
    chart = altair.Chart(rows_of(dtype=names, bytes=sizes.values())).mark_bar(color=COLOURS[0])
    chart = chart.encode(
        y=altair.Y("dtype:N", title=None, sort=names),
        x=altair.X("bytes:Q", title="bytes"),
        tooltip=["dtype:N", "bytes:Q"],
    )
    return styled(chart, "32 elements", 170)


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
        x=altair.X("value:Q", title="value"),
        y=altair.Y("count:Q", title="draws"),
        color=altair.Color("sample:N", title=None, scale=altair.Scale(range=list(COLOURS[:2]))),
    )
    return styled(chart, "65 536 draws, with and without tails", 200)
