"""Pictures of bits, of the numbers they stand for, and of what is lost between those."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import altair

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text

FIELDS = ("sign", "exponent", "fraction")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_two(exponent: int) -> str:
    """Write a power of two as a label."""
    return "1" if exponent == 0 else f"2{str(exponent).translate(RAISED)}"


def legend(x: float, y: float, names: Sequence[str]) -> list[str]:
    """Name the colours in one line."""
    parts = []
    for number, name in enumerate(names):
        parts.append(box(x, y - 10, 12, 12, COLOURS[number]))
        parts.append(text(x + 18, y, name, "start"))
        x += 30 + 7.2 * len(name)
    return parts


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw a thin line."""
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="currentColor" stroke-opacity="0.6"/>'


def bit(x: float, y: float, width: float, colour: str, is_one: bool) -> str:
    """Draw one bit: filled for a one, pale for a zero."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="16" fill="{colour}" '
        f'fill-opacity="{0.95 if is_one else 0.18:g}" stroke="{colour}" stroke-width="0.6"/>'
    )


def layouts(patterns: Mapping[str, str], values: Mapping[str, str]) -> Figure:  # @stepover
    """Draw patterns below each other, with their fractions beginning at one place."""
    longest_exponent = max(len(pattern.split()[1]) for pattern in patterns.values())
    longest_fraction = max(len(pattern.split()[2]) for pattern in patterns.values())
    pitch = 6.0
    point = 4 + pitch * (1 + longest_exponent)
    width = point + pitch * longest_fraction + 4
    parts = legend(4, 14, FIELDS)
    y = 44.0
    bottom = y + 40 * len(patterns) - 10
    ruler = range(0, longest_fraction + 1, 10)
    parts += [text(point + pitch * digits, y - 12, str(digits)) for digits in ruler]
    parts.append(text(point - 12, y - 12, "digit", "end"))
    for name, pattern in patterns.items():
        fields = pattern.split()
        widths = " + ".join(str(len(field)) for field in fields)
        parts.append(text(4, y + 6, f"{name}: {widths}", "start"))
        parts.append(text(width - 4, y + 6, values[name], "end"))
        parts += [line(point + pitch * mark, y + 9, point + pitch * mark, y + 29) for mark in ruler]
        x = point - pitch * (1 + len(fields[1]))
        for colour, field in zip(COLOURS, fields, strict=False):
            for digit in field:
                parts.append(bit(x, y + 11, pitch, colour, digit == "1"))
                x += pitch
        y += 40
    title = "π in eight formats; above, digits after the point"
    return Figure(title, width, bottom + 4, tuple(parts))


def bit_fields(patterns: Mapping[str, str]) -> Figure:  # @stepover
    """Draw patterns of up to 16 bits with their digits."""
    cell = 22
    bits = max(len(pattern.replace(" ", "")) for pattern in patterns.values())
    parts = legend(4, 14, FIELDS)
    y = 30.0
    for name, pattern in patterns.items():
        parts.append(text(4, y + 12, name, "start"))
        x = 4.0
        for colour, field in zip(COLOURS, pattern.split(), strict=False):
            for digit in field:
                parts.append(box(x, y + 18, cell, 24, colour, digit))
                x += cell
        y += 56
    return Figure("Sign, exponent and fraction", 8 + cell * bits, y - 8, tuple(parts))


def tick(x: float, y: float, colour: str, width: float) -> str:
    """Draw one number on a line."""
    return f'<path d="M{x:.2f} {y:g}v-18" stroke="{colour}" stroke-width="{width:g}"/>'


def number_line(
    title: str, rows: Mapping[str, Mapping[str, Sequence[float]]], marks: Mapping[str, float]
) -> Figure:  # @stepover
    """Draw the numbers between the first and the last mark; each group has its colour."""
    left, width = 20.0, 360.0
    low, high = min(marks.values()), max(marks.values())
    groups = list(next(iter(rows.values())))
    parts = legend(4, 14, groups) if len(groups) > 1 else []
    y = 36.0 if parts else 16.0
    for name, numbers in rows.items():
        parts.append(text(4, y, name, "start"))
        y += 30
        parts.append(line(left, y, left + width, y))
        for colour, values in zip(COLOURS, numbers.values(), strict=False):
            parts += [
                tick(left + width * (value - low) / (high - low), y, colour, 1.5)
                for value in values
                if low <= value <= high
            ]
        y += 26
    for label, value in marks.items():
        parts.append(text(left + width * (value - low) / (high - low), y - 8, label))
    return Figure(title, 400, y, tuple(parts))


def octaves(rows: Mapping[str, Sequence[float]]) -> Figure:  # @stepover
    """Draw positive numbers as ticks on a logarithmic scale."""
    left, pitch = 22.0, 11.1
    lowest, highest = -16, 16
    parts = []
    y = 16.0
    for colour, (name, values) in zip(COLOURS, rows.items(), strict=False):
        ends = f"{name}: {len(values)} numbers from {min(values):.3g} to {max(values):g}"
        parts.append(text(4, y, ends, "start"))
        y += 30
        parts.append(line(left, y, left + pitch * (highest - lowest), y))
        parts += [
            tick(left + pitch * (math.log2(value) - lowest), y, colour, 0.9) for value in values
        ]
        y += 26
    for power in range(lowest, highest + 1, 4):
        x = left + pitch * (power - lowest)
        parts.append(text(x, y - 8, power_of_two(power)))
    return Figure("All positive numbers of fp8", 400, y, tuple(parts))


def doublings(value: Fraction, count: int, kept: int) -> Figure:  # @stepover
    """Draw what is left before each doubling, the result, and the digit that is taken off."""
    columns = (62, 170, 250, 262)
    parts = [
        text(columns[0], 16, "doubling", "end", ' font-size="12"'),
        text(columns[1], 16, "twice the rest", "end", ' font-size="12"'),
        text(columns[2], 16, "digit", "end", ' font-size="12"'),
    ]
    first = None
    for number in range(1, count + 1):
        value *= 2
        digit = math.floor(value)
        if digit and first is None:
            first = number
        if first is None:
            colour, role = None, "leading zero"
        elif number == first:
            colour, role = COLOURS[3], "hidden one"
        elif number <= first + kept:
            colour, role = COLOURS[2], f"fraction, {number - first}"
        else:
            colour, role = COLOURS[0], "decides the rounding"
        y = 20 + 21 * number
        parts.append(text(columns[0], y, str(number), "end"))
        parts.append(text(columns[1], y, f"{float(value):.6f}", "end"))
        parts.append(box(columns[2] - 20, y - 14, 20, 19, colour, str(digit)))
        parts.append(text(columns[3], y, role, "start"))
        value -= digit
    return Figure("0.01 in binary, by doubling", 400, 30 + 21 * count, tuple(parts))


def ranges(ends: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw from where to where formats reach, subnormal and normal, in powers of ten."""
    pieces = [
        (name, kind, math.log10(low), math.log10(high), f"{low:.4g}", f"{high:.4g}")
        for name, (smallest, normal, largest) in ends.items()
        for kind, low, high in (("subnormal", smallest, normal), ("normal", normal, largest))
    ]
    names, kinds, lows, highs, starts, stops = zip(*pieces, strict=True)
    rows = rows_of(format=names, kind=kinds, low=lows, high=highs, start=starts, stop=stops)
    chart = altair.Chart(rows).mark_bar()
    chart = chart.encode(
        y=altair.Y("format:N", title=None, sort=list(ends)),
        x=altair.X(
            "low:Q",
            title="magnitude, logarithmic",
            scale=altair.Scale(domain=[-46, 40], nice=False),
            axis=altair.Axis(
                values=[-40, -30, -20, -10, 0, 10, 20, 30, 40], labelExpr="'1e' + datum.value"
            ),
        ),
        x2="high:Q",
        color=altair.Color("kind:N", sort=["normal", "subnormal"], legend=legend_below(columns=2)),
        tooltip=["format:N", "kind:N", "start:N", "stop:N"],
    )
    return framed(chart, "How far the formats reach", 190)


def sums(totals: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw the sum after each addition, at every fiftieth of them."""
    points = [
        (name, count, numbers[count - 1])
        for name, numbers in totals.items()
        for count in (1, *range(50, len(numbers) + 1, 50))
    ]
    names, counts, values = zip(*points, strict=True)
    chart = altair.Chart(rows_of(format=names, additions=counts, sum=values)).mark_line()
    chart = chart.encode(
        x=altair.X("additions:Q", title="additions of 1"),
        y=altair.Y("sum:Q", title="sum"),
        color=altair.Color("format:N", sort=list(totals), legend=legend_below(columns=3)),
        strokeDash=altair.StrokeDash("format:N", sort=list(totals), legend=None),
        tooltip=["format:N", "additions:Q", "sum:Q"],
    )
    return framed(chart, "Counting by ones", 220)


def block_errors(errors: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw the error of each block of values, in percent of the block's norm."""
    points = [
        (name, block, 100 * error)
        for name, blocks in errors.items()
        for block, error in enumerate((*blocks, blocks[-1]))  # a step ends where the next begins
    ]
    names, blocks, percents = zip(*points, strict=True)
    chart = altair.Chart(rows_of(scales=names, block=blocks, percent=percents))
    chart = chart.mark_line(interpolate="step-after").encode(
        x=altair.X(
            "block:Q",
            title="number of the block of 16 values",
            scale=altair.Scale(domain=[0, max(blocks)], nice=False),
        ),
        y=altair.Y("percent:Q", title="relative error, percent"),
        color=altair.Color("scales:N", sort=list(errors), legend=legend_below(columns=3)),
        tooltip=["scales:N", "block:Q", altair.Tooltip("percent:Q", format=".1f")],
    )
    return framed(chart, "What fp4 loses, block by block", 220)
