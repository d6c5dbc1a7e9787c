"""Pictures of matmuls, masks and what they move."""

import itertools
import math
from collections.abc import Mapping

import altair
from jaxtyping import Float, Shaped
from torch import Tensor

from lecture.lib.charts import framed, rows_of
from lecture.lib.drawing import CELL, COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked

SHEET = 10


@shape_checked
def row_times_column(
    x: Shaped[Tensor, "i k"], w: Shaped[Tensor, "k j"], row: int, column: int
) -> Figure:  # @stepover
    """Draw both factors around their product, and mark what goes into one element of it."""
    y = x @ w
    (m, n), p = x.shape, w.shape[1]
    right, below = 4 + CELL * n + 14, 20 + CELL * n + 14
    parts = [
        text(right - 20, below - 20, "x", "end", ' font-weight="bold"'),
        text(right, 14, "w", "start", ' font-weight="bold"'),
        text(right + CELL * p + 8, below + 18, "x @ w", "start", ' font-weight="bold"'),
    ]
    parts += _grid(x, 4, below, {(row, j): COLOURS[0] for j in range(n)})
    parts += _grid(w, right, 20, {(j, column): COLOURS[1] for j in range(n)})
    parts += _grid(y, right, below, {(row, column): COLOURS[2]})
    pairs = zip(x[row].tolist(), w[:, column].tolist(), strict=True)
    terms = " + ".join(f"{left:g}·{top:g}" for left, top in pairs)
    bottom = below + CELL * m + 24
    parts.append(text(4, bottom, f"{terms} = {y[row, column].item():g}", "start"))
    width = max(right + CELL * p + 60, 9 * len(terms))
    return Figure("One row times one column", width, bottom + 8, tuple(parts))


@shape_checked
def stacked_product(
    x: Shaped[Tensor, "stack i k"], w: Shaped[Tensor, "k j"]
) -> Figure:  # @stepover
    """Draw a stack of matrices, the one that each is multiplied with, and the results."""
    stack, m, n = x.shape
    p = w.shape[1]
    back = SHEET * (stack - 1)
    tall = CELL * max(m, n)
    lefts = [4.0, 4 + CELL * n + back + 34]
    lefts.append(lefts[1] + CELL * p + 34)
    top = 6 + back + (tall - CELL * m) / 2
    middle = 6 + back + tall / 2 + 5
    parts = [*_sheets(x, lefts[0], top), text(lefts[1] - 17, middle, "@")]
    parts += [*_grid(w, lefts[1], 6 + back + (tall - CELL * n) / 2, {})]
    parts += [text(lefts[2] - 17, middle, "="), *_sheets(x @ w, lefts[2], top)]
    bottom = 6 + back + tall + 22
    for left, shape in zip(lefts, (x.shape, w.shape, (stack, m, p)), strict=True):
        parts.append(text(left, bottom, " × ".join(map(str, shape)), "start"))
    width = lefts[2] + CELL * p + back + 24
    return Figure("A stack of matrices times one matrix", width, bottom + 8, tuple(parts))


@shape_checked
def _sheets(x: Shaped[Tensor, "stack i k"], left: float, top: float) -> list[str]:  # @stepover
    """Draw the first matrix in full and of those behind it what sticks out."""
    stack, m, n = x.shape
    width, height = CELL * n, CELL * m
    parts = []
    for number in range(stack - 1, 0, -1):
        x0, y0 = left + SHEET * number, top - SHEET * number
        parts.append(
            f'<path d="M{x0:g} {y0 + SHEET:g}v{-SHEET}h{width}v{height}h{-SHEET}'
            f'v{SHEET - height}h{SHEET - width}z" fill="{COLOURS[number % len(COLOURS)]}" '
            'fill-opacity="0.4" stroke="currentColor" stroke-opacity="0.6"/>'
        )
    places = itertools.product(range(m), range(n))
    return parts + _grid(x[0], left, top, dict.fromkeys(places, COLOURS[0]))


@shape_checked
def _grid(
    x: Shaped[Tensor, "rows columns"],
    left: float,
    top: float,
    colours: Mapping[tuple[int, int], str],
) -> list[str]:  # @stepover
    """Draw the numbers of a matrix, some of them on a colour."""
    return [
        box(left + CELL * j, top + CELL * i, CELL, CELL, colours.get((i, j)), f"{number:g}")
        for i, line in enumerate(x.tolist())
        for j, number in enumerate(line)
    ]


def moved_by_order(moved: Mapping[str, int]) -> altair.Chart:  # @stepover
    """Draw one bar for each nesting of the loops."""
    chart = altair.Chart(rows_of(order=moved.keys(), moved=moved.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("order:N", title="loops, outermost first", sort=list(moved)),
        x=altair.X("moved:Q", title="numbers loaded from memory"),
        tooltip=["order:N", "moved:Q"],
    )
    return framed(chart, "The same FLOPs, through a small cache", 190)


def chain(sizes: Mapping[str, int]) -> Figure:  # @stepover
    """Draw the tensors of a chain, with what each operation reads and writes, and the fused way."""
    width, pitch = 64, 98
    parts: list[str] = []
    names = list(sizes)
    for y, shown in ((8, names), (92, [names[0], names[-1]])):
        for place, name in enumerate(names):
            if name in shown:
                outer = place in (0, len(names) - 1)
                colour = COLOURS[0] if outer else COLOURS[1]
                parts.append(box(4 + pitch * place, y, width, 30, colour, name))
        for before, after in itertools.pairwise([names.index(name) for name in shown]):
            start, stop = 4 + pitch * before + width + 3, 4 + pitch * after - 4
            parts.append(
                f'<path d="M{start:g} {y + 15:g}H{stop:g}" stroke="currentColor"/>'
                f'<path d="M{stop:g} {y + 15:g}l-6 -4v8z" fill="currentColor"/>'
            )
        moved = sum(sizes[a] + sizes[b] for a, b in itertools.pairwise(shown))
        kind = "three kernels" if len(shown) == len(names) else "fused"
        parts.append(text(4, y + 52, f"{kind}: {moved} bytes read and written", "start"))
    return Figure("A chain of operations", 4 + pitch * len(names), 156, tuple(parts))


@shape_checked
def masking(
    scores: Float[Tensor, "T T"], masked: Float[Tensor, "T T"], weights: Float[Tensor, "T T"]
) -> Figure:  # @stepover
    """Draw scores, masked scores and attention weights side by side; weights by their shade."""
    cell, gap = 34, 22
    T = len(scores)
    parts: list[str] = []
    for place, (name, x) in enumerate(
        {"scores": scores, "masked": masked, "attention weights": weights}.items()
    ):
        left = 4 + place * (T * cell + gap)
        parts.append(text(left, 14, name, "start"))
        for i, j in itertools.product(range(T), range(T)):
            number = x[i, j].item()
            words = f"{number:.2f}" if x is weights else f"{number:g}".replace("-inf", "-∞")
            where = (left + cell * j, 22 + cell * i, cell, cell)
            if x is weights and number:
                parts.append(
                    f'<rect x="{where[0]:g}" y="{where[1]:g}" width="{cell}" height="{cell}" '
                    f'fill="{COLOURS[1]}" fill-opacity="{number:.2f}"/>'
                )
            parts.append(box(*where, COLOURS[3] if masked[i, j] == -math.inf else None, words))
    width = 3 * T * cell + 2 * gap + 8
    return Figure("A causal mask, row by row", width, 28 + T * cell, tuple(parts))
