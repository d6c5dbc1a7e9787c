"""Pictures of trainers: what they merge, and how much work it is."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.charts import ladder as ladder
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.token_boxes import CHARACTER_WIDTH, WIDTH, shown


def spelled_words(
    words: Mapping[str, Sequence[bytes]], word_counts: Mapping[str, int]
) -> Figure:  # @stepover
    """Draw each word as a row of tokens, with how often it occurs; longer tokens have colours."""
    parts: list[str] = []
    for number, (word, tokens) in enumerate(words.items()):
        top, left = 6 + 32 * number, 52.0
        parts.append(text(44, top + 17, f"{word_counts[word]} ×", "end"))
        for token in tokens:
            width = CHARACTER_WIDTH * len(token) + 12
            colour = COLOURS[len(token) % len(COLOURS)] if len(token) > 1 else None
            parts.append(box(left, top, width, 24, colour, shown(token)))
            left += width + 3
    return Figure("Words and their tokens", WIDTH, 10 + 32 * len(words), tuple(parts))


def stacked_parts(
    parts_of: Mapping[str, Mapping[str, float]], unit: str, title: str
) -> altair.Chart:  # @stepover
    """Draw one bar for each run, stacked from its parts."""
    rows = [
        (run, part, amount, order)
        for run, parts in parts_of.items()
        for order, (part, amount) in enumerate(parts.items())
    ]
    runs, parts, amounts, orders = zip(*rows, strict=True)
    kinds = list(dict.fromkeys(parts))
    chart = altair.Chart(rows_of(run=runs, part=parts, amount=amounts, order=orders)).mark_bar()
    chart = chart.encode(
        y=altair.Y("run:N", title=None, sort=list(parts_of)),
        x=altair.X("amount:Q", title=unit),
        color=altair.Color("part:N", sort=kinds, legend=legend_below(columns=3)),
        order="order:Q",
        tooltip=["run:N", "part:N", "amount:Q"],
    )
    return framed(chart, title, 60 + 34 * len(parts_of))


def work_by_merge(searched: Sequence[int]) -> altair.Chart:  # @stepover
    """Draw for each merge how many words it touched."""
    chart = altair.Chart(rows_of(merge=range(1, len(searched) + 1), words=searched))
    chart = chart.mark_point(size=14, filled=True, opacity=0.5).encode(
        x=altair.X("merge:Q", title="merge"),
        y=altair.Y("words:Q", title="words touched, logarithmic", scale=altair.Scale(type="log")),
        tooltip=["merge:Q", "words:Q"],
    )
    return framed(chart, "Later merges touch fewer words", 200)


def token_lengths(counts: Mapping[int, int]) -> altair.Chart:  # @stepover
    """Draw how many tokens have how many bytes."""
    lengths = sorted(counts)
    chart = altair.Chart(rows_of(length=lengths, tokens=[counts[n] for n in lengths])).mark_bar()
    chart = chart.encode(
        x=altair.X("length:O", title="bytes", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("tokens:Q", title="tokens"),
        tooltip=["length:O", "tokens:Q"],
    )
    return framed(chart, "Learnt tokens by length", 180)
