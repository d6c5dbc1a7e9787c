"""Pictures of axes and what becomes of them."""

from collections.abc import Mapping

import altair
from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.charts import framed, rows_of
from lecture.lib.drawing import CELL, COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked

AXIS_WIDTH = 46
GAP = 26


@shape_checked
def wiring(pattern: str, *operands: Shaped[Tensor, "..."]) -> Figure:  # @stepover
    """Draw which axes an einsum joins, which it keeps and which it sums over."""
    inputs, kept = pattern.split("->")
    names = [operand.split() for operand in inputs.split(",")]
    sizes: dict[str, int] = {}
    for axes, operand in zip(names, operands, strict=True):
        sizes.update(zip(axes, operand.shape, strict=True))
    colours = dict(zip(sizes, COLOURS * len(sizes), strict=False))
    parts: list[str] = []
    ends: dict[str, list[float]] = {name: [] for name in sizes}
    left = 4.0
    for number, axes in enumerate(names):
        parts.append(text(left, 16, f"operand {number + 1}", "start"))
        for name in axes:
            parts.append(_axis(left, 24, name, sizes[name], colours[name]))
            ends[name].append(left + AXIS_WIDTH / 2)
            left += AXIS_WIDTH
        left += GAP
    width = max(left - GAP + 4, 250.0)
    result, summed = kept.split(), [name for name in sizes if name not in kept.split()]
    total = AXIS_WIDTH * len(result) + (GAP + 54 * len(summed) if summed else 0)
    left = max(4.0, (width - total) / 2)
    parts.append(text(left, 178, "result", "start"))
    for name in result:
        parts.append(_axis(left, 132, name, sizes[name], colours[name]))
        parts += [_wire(x, left + AXIS_WIDTH / 2, 132, colours[name]) for x in ends[name]]
        left += AXIS_WIDTH
    left += GAP
    if summed:
        parts.append(text(left, 178, "summed over", "start"))
    for name in summed:
        middle = left + 22
        parts += [_wire(x, middle, 132, colours[name]) for x in ends[name]]
        parts.append(
            f'<circle cx="{middle:g}" cy="146" r="14" fill="{colours[name]}" fill-opacity="0.4" '
            'stroke="currentColor" stroke-opacity="0.6"/>'
        )
        parts.append(text(middle, 150.5, f"Σ {name}"))
        left += 54
    return Figure(f"einsum {pattern}", max(width, left + 48), 188, tuple(parts))


def _axis(left: float, top: float, name: str, size: int, colour: str) -> str:  # @stepover
    return box(left, top, AXIS_WIDTH, CELL, colour, f"{name} = {size}")


def _wire(start: float, stop: float, bottom: float, colour: str) -> str:  # @stepover
    return (
        f'<path d="M{start:g} 50C{start:g} 92 {stop:g} 92 {stop:g} {bottom:g}" fill="none" '
        f'stroke="{colour}" stroke-width="2.5"/>'
    )


@shape_checked
def heads(
    features: Shaped[Tensor, " D"], splits: Mapping[str, Shaped[Tensor, "H K"]]
) -> Figure:  # @stepover
    """Draw the query of one token, and next to it the heads that each pattern makes."""
    parts: list[str] = []
    top, right = 4.0, 4 + CELL * len(features) + 34
    widest = 0
    for pattern, split in splits.items():
        head_of = {
            number: COLOURS[head] for head, row in enumerate(split.tolist()) for number in row
        }
        parts.append(text(4, top + 13, pattern, "start"))
        y = top + 22
        for place, number in enumerate(features.tolist()):
            parts.append(box(4 + CELL * place, y, CELL, CELL, head_of[number], f"{number:g}"))
        parts.append(text(right - 17, y + 18, "→"))
        for head, row in enumerate(split.tolist()):
            for place, number in enumerate(row):
                cell = (right + CELL * place, y + (CELL + 4) * head, CELL, CELL)
                parts.append(box(*cell, head_of[number], f"{number:g}"))
        top = y + (CELL + 4) * len(split) + 16
        widest = max(widest, split.shape[1])
    width = right + CELL * widest + 4
    return Figure("The query of one token, split into heads", width, top - 8, tuple(parts))


@shape_checked
def column_blocks(w: Shaped[Tensor, "D D"], H: int) -> Figure:  # @stepover
    """Draw the matrix that makes the queries of all heads, with a colour for each head."""
    left, D = 84.0, len(w)
    parts = [text(4, 40 + CELL * D / 2, "all features", "start")]
    for row, numbers in enumerate(w.tolist()):
        for column, number in enumerate(numbers):
            colour = COLOURS[column // (D // H)]
            cell = (left + CELL * column, 26 + CELL * row, CELL, CELL)
            parts.append(box(*cell, colour, f"{number:g}"))
    for head in range(H):
        middle = left + CELL * (head + 0.5) * D / H
        parts.append(text(middle, 18, f"head {head + 1}"))
    return Figure(
        "One matrix, a block of columns for each head",
        left + CELL * D + 4,
        34 + CELL * D,
        tuple(parts),
    )


def flops_by_order(flops: Mapping[str, int]) -> altair.Chart:  # @stepover
    """Place each order of contraction on a logarithmic axis."""
    chart = altair.Chart(rows_of(order=flops.keys(), flops=flops.values()))
    chart = chart.mark_point(filled=True, size=90, opacity=1).encode(
        y=altair.Y(
            "order:N", title="multiplied first", sort=list(flops), axis=altair.Axis(grid=True)
        ),
        x=altair.X(
            "flops:Q",
            title="FLOPs, logarithmic",
            scale=altair.Scale(type="log", domain=[1e3, 1e5]),
            axis=altair.Axis(values=[1e3, 1e4, 1e5], format=",", labelFlush=False),
        ),
        tooltip=["order:N", altair.Tooltip("flops:Q", format=",")],
    )
    return framed(chart, "One result, three orders", 150)
