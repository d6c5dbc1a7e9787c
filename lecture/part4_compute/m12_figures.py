"""Pictures of backward passes."""

from collections.abc import Mapping, Sequence

import altair
from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.charts import lines, powers_of_ten
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked

FORWARD, BACKWARD = COLOURS[0], COLOURS[1]


def _arrow(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """Draw a straight arrow, across or down or up the page."""
    if x1 == x2:
        back = -7 if y2 > y1 else 7
        tip = f"M{x2:g} {y2:g}l-4.5 {back}h9z"
        end = (x2, y2 + back)
    else:
        back = -7 if x2 > x1 else 7
        tip = f"M{x2:g} {y2:g}l{back} -4.5v9z"
        end = (x2 + back, y2)
    return (
        f'<path d="M{x1:g} {y1:g}L{end[0]:g} {end[1]:g}" stroke="{colour}" stroke-width="2"/>'
        f'<path d="{tip}" fill="{colour}"/>'
    )


def _directions(y: float, forward: str, backward: str) -> list[str]:
    """Say which colour is which way."""
    return [
        box(4, y - 10, 12, 12, FORWARD),
        text(22, y, forward, "start"),
        box(164, y - 10, 12, 12, BACKWARD),
        text(182, y, backward, "start"),
    ]


@shape_checked
def _numbers(x: Shaped[Tensor, "..."]) -> str:
    """Write a number, or a row of them in parentheses."""
    if x.ndim == 0:
        return f"{x.item():g}"
    return f"({', '.join(f'{number:g}' for number in x.tolist())})"


@shape_checked
def value_graph(
    values: dict[str, Shaped[Tensor, "..."]], data: Shaped[Tensor, "..."]
) -> Figure:  # @stepover
    """Draw the way from the parameters to the loss, with values on it and gradients beside it."""
    pitch, left, width = 62, 66, 170
    parts = _directions(14, "values, forward", "gradients, backward")
    parts.append(text(left - 8, 33, "value", "end", ' font-style="italic"'))
    parts.append(text(left + width + 12, 33, "gradient", "start", ' font-style="italic"'))
    for number, (name, tensor) in enumerate(values.items()):
        y = 32 + pitch * number
        assert tensor.grad is not None
        parts.append(box(left, y, width, 28, FORWARD, name))
        parts.append(text(left - 8, y + 19, _numbers(tensor.detach()), "end"))
        beside_arrow = 8 if number == 1 else 0
        place = (left + width + 12, y + 19 - beside_arrow)
        parts.append(text(*place, _numbers(tensor.grad), "start"))
        if number:
            parts.append(_arrow(left + 60, y - pitch + 28, left + 60, y, FORWARD))
            parts.append(_arrow(left + 110, y, left + 110, y - pitch + 28, BACKWARD))
    parts.append(box(left + width + 54, 32 + pitch, 92, 28, None, f"x {_numbers(data)}"))
    parts.append(_arrow(left + width + 54, 32 + pitch + 22, left + width, 32 + pitch + 22, FORWARD))
    return Figure("Values forward, gradients backward", 388, pitch * len(values) + 4, tuple(parts))


def error_by_step(errors: Mapping[str, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the error of a difference over its step, both logarithmic."""
    found = {
        dtype.replace("torch.float", "fp"): {
            0.5**power: error for power, error in by_power.items() if error
        }
        for dtype, by_power in errors.items()
    }
    x, y = powers_of_ten("step", -12, 0, 3), powers_of_ten("error of the gradient", -12, 1, 3)
    return lines(found, x, y, "Central differences of w³ at 1.3")


def _rectangle(x: float, y: float, rows: int, columns: int, colour: str | None) -> str:
    """Draw a matrix to scale around a centre."""
    side = 8
    return box(x - side * columns / 2, y - side * rows / 2, side * columns, side * rows, colour)


def one_layer(rows: int, inputs: int, outputs: int, done: Sequence[int]) -> Figure:  # @stepover
    """Draw the three matmuls of a layer; those that ran are filled and have their FLOPs."""
    products = (
        ("y", "x", "w", (rows, inputs), (inputs, outputs), "forward"),
        ("gradient of w", "xᵀ", "g", (inputs, rows), (rows, outputs), "backward, w"),
        ("gradient of x", "g", "wᵀ", (rows, outputs), (outputs, inputs), "backward, x"),
    )
    parts = []
    for number, (result, left, right, one, two, way) in enumerate(products):
        y = 40 + 84 * number
        ran = number < len(done)
        colour = (FORWARD if way == "forward" else BACKWARD) if ran else None
        for x, shape, name in ((140, one, left), (212, two, right), (290, (one[0], two[1]), "")):
            parts.append(_rectangle(x, y, *shape, colour))
            if name:
                parts.append(text(x, y + 40, name))
        parts += [text(178, y + 5, "@"), text(250, y + 5, "="), text(290, y + 40, result)]
        parts.append(text(4, y, way, "start", ' font-weight="bold"'))
        parts.append(text(4, y + 18, f"{done[number]} FLOPs" if ran else "still to come", "start"))
    return Figure("The three matmuls of one layer", 350, 260, tuple(parts))


def flops_per_edge(
    sizes: tuple[int, int, int], forward: Mapping[str, int], backward: Mapping[str, int]
) -> Figure:  # @stepover
    """Draw two layers with what each matmul was measured to cost, under what it leads to."""
    rows, width, outputs = sizes
    column, right, pitch = 150, 300, 124
    parts = _directions(14, "forward", "backward")
    names = (
        (f"x  {rows}×{width}", "x", "w1", f"{width}×{width}"),
        (f"h1  {rows}×{width}", "h1", "w2", f"{width}×{outputs}"),
        (f"h2  {rows}×{outputs}", "h2", "", ""),
    )
    for number, (label, name, weight, shape) in enumerate(names):
        y = 34 + pitch * number
        parts.append(box(column - 60, y, 120, 28, FORWARD, label))
        if name in forward:
            amount = f"{forward[name] / 1e6:.1f} MFLOP"
            parts.append(text(column - 22, y - 14, amount, "end"))
        if not weight:
            continue
        middle = y + 28 + (pitch - 28) / 2
        parts.append(
            f'<circle cx="{column}" cy="{middle:g}" r="13" fill="none" stroke="currentColor"/>'
        )
        parts.append(text(column, middle + 4.5, "@"))
        parts.append(_arrow(column - 7, y + 28, column - 7, middle - 12, FORWARD))
        parts.append(_arrow(column - 7, middle + 12, column - 7, y + pitch, FORWARD))
        parts.append(_arrow(column + 7, y + pitch, column + 7, middle + 12, BACKWARD))
        parts.append(_arrow(column + 7, middle - 12, column + 7, y + 28, BACKWARD))
        parts.append(box(right - 30, middle - 14, 104, 28, FORWARD, f"{weight}  {shape}"))
        parts.append(_arrow(right - 30, middle - 6, column + 12, middle - 6, FORWARD))
        parts.append(_arrow(column + 12, middle + 6, right - 30, middle + 6, BACKWARD))
        for x, baseline, edge in ((column + 16, y + 46, name), (column + 24, middle + 22, weight)):
            amount = f"{backward[edge] / 1e6:.1f} MFLOP"
            parts.append(text(x, baseline, amount, "start"))
    y = 34 + 2 * pitch
    parts.append(box(column - 60, y + 60, 120, 28, FORWARD, "loss"))
    parts.append(_arrow(column - 7, y + 28, column - 7, y + 60, FORWARD))
    parts.append(_arrow(column + 7, y + 60, column + 7, y + 28, BACKWARD))
    parts.append(text(column + 16, y + 48, "no matmul", "start"))
    return Figure("Two layers, and the FLOPs of every matmul", 380, y + 94, tuple(parts))


def flops_by_context(per_parameter: Mapping[int, float], width: int) -> altair.Chart:  # @stepover
    """Draw FLOPs per parameter and token over the length of the context."""
    measured = {length / width: flops for length, flops in per_parameter.items()}
    series = {"measured": measured, "rule of 6": dict.fromkeys(measured, 6.0)}
    axis = altair.Axis(values=list(range(9)), format="d")
    x = {"title": "context length T over width D", "axis": axis}
    y = {"title": "FLOPs per parameter, token"}
    return lines(series, x, y, "One attention layer, forward and backward", 200)
