"""Pictures of encoders, and of what vocabularies cost."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import framed, rows_of
from lecture.lib.charts import ladder as ladder


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
