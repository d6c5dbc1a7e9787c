"""Pictures of trainers and encoders: what they merge, and how much work it is."""

import math
from collections.abc import Mapping, Sequence

import altair

from lecture.figures.charts import framed, legend_below, rows_of
from lecture.figures.drawing import COLOURS, Figure, box, text
from lecture.figures.text import CHARACTER_WIDTH, WIDTH, shown


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


def ladder(steps: Mapping[str, float], unit: str, title: str) -> altair.LayerChart:  # @stepover
    """Draw the rungs of a ladder, the last on top, on a logarithmic axis."""
    least, most = min(steps.values()) / 1.5, max(steps.values())
    most *= max(4, (most / least) ** 0.3)  # room for the last amount
    is_large = most > 1_000
    base = altair.Chart(rows_of(rung=list(steps), amount=list(steps.values()))).encode(
        y=altair.Y("rung:N", title=None, sort=list(steps)[::-1], axis=altair.Axis(grid=True)),
        x=altair.X(
            "amount:Q",
            title=f"{unit}, logarithmic",
            scale=altair.Scale(type="log", domain=[least, most], nice=False),
            axis=altair.Axis(
                format="~s" if is_large else "~g", grid=False, values=decades(least, most)
            ),
        ),
        tooltip=["rung:N", altair.Tooltip("amount:Q", format=".3g")],
    )
    points = base.mark_point(filled=True, size=90, opacity=1)
    amounts = base.mark_text(align="left", dx=10).encode(
        text=altair.Text("amount:Q", format=".2s" if is_large else ".2g")
    )
    return framed(points + amounts, title, 50 + 26 * len(steps))


def decades(least: float, most: float) -> list[float]:
    """Return the powers of ten from the least to the most."""
    exponents = range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)
    return [10.0**exponent for exponent in exponents]


def work_by_merge(searched: Sequence[int]) -> altair.Chart:  # @stepover
    """Draw for each merge how many words it touched."""
    chart = altair.Chart(rows_of(merge=range(1, len(searched) + 1), words=searched))
    chart = chart.mark_point(size=14, filled=True, opacity=0.5).encode(
        x=altair.X("merge:Q", title="merge"),
        y=altair.Y("words:Q", title="words touched", scale=altair.Scale(type="log")),
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


def compression(ratios: Mapping[tuple[str, str], float]) -> altair.Chart:  # @stepover
    """Draw bytes per token for each pair of tokenizer and text, darker where there are more."""
    tokenizers, texts = zip(*ratios, strict=True)
    values = [round(ratio, 2) for ratio in ratios.values()]
    rows = rows_of(tokenizer=tokenizers, text=texts, ratio=values)
    base = altair.Chart(rows).encode(
        x=altair.X("text:N", title="text", sort=list(texts), axis=altair.Axis(labelAngle=0)),
        y=altair.Y("tokenizer:N", title="trained on", sort=list(tokenizers)),
        tooltip=["tokenizer:N", "text:N", "ratio:Q"],
    )
    cells = base.mark_rect().encode(
        color=altair.Color("ratio:Q", legend=None, scale=altair.Scale(scheme="blues", zero=True))
    )
    middle = (min(values) + max(values)) / 2
    labels = base.mark_text(fontSize=15).encode(
        text=altair.Text("ratio:Q", format=".2f"),
        color=altair.condition(
            altair.datum.ratio > middle, altair.value("white"), altair.value("black")
        ),
    )
    return framed(cells + labels, "Bytes per token", 160)


def vocabulary_sizes(ratios: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw over the size of a vocabulary how many bytes a token stands for."""
    chart = altair.Chart(rows_of(size=ratios, ratio=ratios.values())).mark_line(point=True)
    chart = chart.encode(
        x=altair.X(
            "size:Q",
            title="size of the vocabulary, logarithmic",
            scale=altair.Scale(type="log", nice=False),
            axis=altair.Axis(values=list(ratios)),
        ),
        y=altair.Y("ratio:Q", title="bytes per token"),
        tooltip=["size:Q", altair.Tooltip("ratio:Q", format=".2f")],
    )
    return framed(chart, "What a larger vocabulary gives", 180)


def vocabulary_shares(shares: Mapping[int, float]) -> altair.LayerChart:  # @stepover
    """Draw for each size of a vocabulary its share of all parameters."""
    sizes = [f"{size:,}".replace(",", " ") for size in shares]
    rows = rows_of(size=sizes, percent=[round(100 * share) for share in shares.values()])
    base = altair.Chart(rows).encode(
        y=altair.Y("size:N", title="tokens", sort=sizes),
        x=altair.X("percent:Q", title="% of the parameters", scale=altair.Scale(domain=[0, 100])),
        tooltip=["size:N", "percent:Q"],
    )
    labels = base.mark_text(align="left", dx=6).encode(text="percent:Q")
    return framed(base.mark_bar() + labels, "What a larger vocabulary takes", 30 * len(shares))
