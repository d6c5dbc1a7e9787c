"""Pictures of the parts of a Transformer."""

import math
from collections.abc import Sequence

import altair
from jaxtyping import Float
from torch import Tensor

from lecture.lib.charts import framed, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked
from lecture.lib.transformer import TransformerConfig

STREAM_X, PART_X = 84, 190


def block_diagram(config: TransformerConfig) -> Figure:  # @stepover
    """Draw the way of the tokens through the model, from below, with the shapes on the way."""
    V, D, F = config.vocabulary, config.width, config.feed_forward
    parts = [
        text(STREAM_X, 450, "tokens"),
        *shape(428, "B×T"),
        *up(436, 413),
        *part_on_stream(388, "Embedding", f"V·D = {V * D}"),
        *shape(376, "B×T×D"),
        f'<g stroke-dasharray="4 3">{box(4, 122, 340, 242)}</g>',
        text(336, 140, f"a block, {config.layers} times", "end"),
        *branch(352, "Attention", f"4D² = {4 * D**2}", COLOURS[1]),
        *branch(240, "SwiGLU", f"3DF = {3 * D * F}", COLOURS[2]),
        *up(388, 110),
        *part_on_stream(86, "RMSNorm", f"D = {D}"),
        *up(86, 76),
        *part_on_stream(52, "LM head", f"V·D = {V * D}"),
        *up(52, 26),
        *shape(38, "B×T×V"),
        text(STREAM_X, 18, "logits"),
    ]
    return Figure("A Transformer, with its parameters", 348, 458, tuple(parts))


def shape(y: float, words: str) -> list[str]:
    """Write the shape of what passes at this height."""
    return [text(STREAM_X - 10, y, words, "end", ' font-size="12"')]


def up(start: float, stop: float, x: float = STREAM_X) -> list[str]:
    """Draw an arrow upwards."""
    line = f'<path d="M{x:g} {start:g}V{stop + 4:g}" fill="none" stroke="currentColor"/>'
    return [line, f'<path d="M{x:g} {stop:g}l-4 7h8z"/>']


def part_on_stream(y: float, name: str, parameters: str) -> list[str]:
    """Draw a part through which everything passes."""
    return [
        f'<rect x="{STREAM_X - 45}" y="{y}" width="90" height="24" fill="Canvas"/>',
        box(STREAM_X - 45, y, 90, 24, COLOURS[0], name),
        text(STREAM_X + 56, y + 16, parameters, "start", ' font-size="12"'),
    ]


def branch(y: float, name: str, parameters: str, colour: str) -> list[str]:
    """Draw a part on a branch of the stream, behind its norm; what it finds is added."""
    middle = PART_X + 45
    bow = f"M{STREAM_X} {y - 6}H{middle}V{y - 94}H{STREAM_X + 12}"
    plus_y = y - 94
    return [
        f'<path d="{bow}" fill="none" stroke="currentColor"/>',
        f'<path d="M{STREAM_X + 8} {plus_y}l7 -4v8z"/>',
        *(covered(PART_X, y - 42, "RMSNorm", COLOURS[0])),
        *(covered(PART_X, y - 76, name, colour)),
        text(PART_X + 98, y - 26, "D", "start", ' font-size="12"'),
        text(PART_X + 98, y - 60, parameters.partition(" = ")[0], "start", ' font-size="12"'),
        f'<circle cx="{STREAM_X}" cy="{plus_y}" r="8" fill="Canvas" stroke="currentColor"/>',
        text(STREAM_X, plus_y + 4.5, "+"),
    ]


def covered(x: float, y: float, name: str, colour: str) -> list[str]:
    """Draw a box that hides the line behind it."""
    return [
        f'<rect x="{x}" y="{y}" width="90" height="24" fill="Canvas"/>',
        box(x, y, 90, 24, colour, name),
    ]


@shape_checked
def pairs_turning(turned: Float[Tensor, "positions K"]) -> Figure:  # @stepover
    """Draw a dial for each pair of features at each position, a row for each pair."""
    radius, left = 15, 64
    step = 2 * radius + 8
    parts = [
        text(left + step * position + radius, 14, str(position)) for position in range(len(turned))
    ]
    parts.append(text(left - 8, 14, "position", "end"))
    for pair in range(turned.shape[1] // 2):
        y = 24 + step * pair + radius
        parts.append(text(left - 8, y + 4.5, f"pair {pair}", "end"))
        for position, (right, high) in enumerate(turned[:, 2 * pair : 2 * pair + 2].tolist()):
            x = left + step * position + radius
            length = radius / math.hypot(right, high)
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{COLOURS[0]}" fill-opacity="0.15" '
                'stroke="currentColor" stroke-opacity="0.4"/>'
                f'<path d="M{x} {y}l{length * right:.2f} {-length * high:.2f}" '
                f'stroke="{COLOURS[3]}" stroke-width="3" stroke-linecap="round"/>'
            )
    height = 24 + step * (turned.shape[1] // 2)
    return Figure(
        "Each pair turns at its own speed", left + step * len(turned), height, tuple(parts)
    )


@shape_checked
def attention_map(weights: Float[Tensor, "T T"], words: Sequence[str]) -> Figure:  # @stepover
    """Draw how much each word, a row, looks at each word, a column; hidden places stay empty."""
    left, top, wide, high = 78, 26, 60, 30
    parts = [text(left - 10, top - 10, "looks at", "end", ' font-size="12" fill-opacity="0.7"')]
    for number, word in enumerate(words):
        parts.append(text(left + wide * (number + 0.5), top - 10, word))
        parts.append(text(left - 10, top + high * (number + 0.5) + 4.5, word, "end"))
    for row, found in enumerate(weights.tolist()):
        for column, weight in enumerate(found[: row + 1]):
            x, y = left + wide * column, top + high * row
            parts.append(
                f'<rect x="{x}" y="{y}" width="{wide - 2}" height="{high - 2}" '
                f'fill="{COLOURS[0]}" fill-opacity="{0.06 + 0.8 * weight:.3f}"/>'
            )
            parts.append(text(x + wide / 2 - 1, y + high / 2 + 3.5, f"{weight:.2f}"))
    size = len(words)
    return Figure("Attention weights", left + wide * size, top + high * size, tuple(parts))


def tokens_of_experts(load: Sequence[int], even: float) -> altair.LayerChart:  # @stepover
    """Draw how many tokens each expert gets, and the even share."""
    names = [str(number) for number in range(len(load))]
    bars = altair.Chart(rows_of(expert=names, tokens=load)).mark_bar()
    bars = bars.encode(
        x=altair.X("expert:N", title="expert", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("tokens:Q", title="tokens"),
        tooltip=["expert:N", "tokens:Q"],
    )
    share = altair.Chart(rows_of(even=[even])).mark_rule(strokeDash=[5, 4]).encode(y="even:Q")
    return framed(bars + share, "Tokens of each expert, and an even share", 160)
