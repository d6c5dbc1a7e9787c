"""What diagrams are made of: SVG text, boxes and jumps."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756")
CELL = 26


@dataclass(frozen=True)
class Figure:
    """A diagram that shows itself as SVG; its title is a caption for whoever shows it."""

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
    length = math.hypot(stop - middle, 2 * height)
    across, down = 8 * (stop - middle) / length, 16 * height / length
    base_x, base_y = stop - across, y - down  # the head points where the curve goes
    return (
        f'<path d="M{start:g} {y:g}Q{middle:g} {y - 2 * height:g} {base_x:.1f} {base_y:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<path d="M{stop:g} {y:g}L{base_x - down / 2:.1f} {base_y + across / 2:.1f} '
        f'{base_x + down / 2:.1f} {base_y - across / 2:.1f}z" fill="{colour}"/>'
    )


def link(x: float, y: float, width: float, height: float) -> str:
    """Draw a connection around the middle `x`; without an outline, its width is exact."""
    left = x - width / 2
    return (
        f'<rect x="{left:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{COLOURS[3]}"/>'
    )


def lanes(
    title: str, rows: Mapping[str, Sequence[tuple[float, float, str]]], unit: str
) -> Figure:  # @stepover
    """Draw what happens when, a lane for each of those who work."""
    left, width, high = 84.0, 300.0, 30
    last = max(stop for pieces in rows.values() for _, stop, _ in pieces)
    kinds = list(dict.fromkeys(kind for pieces in rows.values() for _, _, kind in pieces))
    colours = dict(zip(kinds, COLOURS, strict=False))
    parts, x = [], 4.0
    for kind in kinds:
        parts += [box(x, 4, 12, 12, colours[kind]), text(x + 17, 14, kind, "start")]
        x += 34 + 7.2 * len(kind)
    y = 30.0
    for name, pieces in rows.items():
        parts.append(text(left - 8, y + high / 2 + 4.5, name, "end"))
        for start, stop, kind in pieces:
            place = left + width * start / last
            parts.append(box(place, y, width * (stop - start) / last, high, colours[kind]))
        y += high + 8
    parts.append(text(left, y + 12, "0"))
    parts.append(text(left + width, y + 12, f"{last:.4g} {unit}", "end"))
    return Figure(title, 400, y + 20, tuple(parts))
