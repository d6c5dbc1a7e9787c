"""Pictures of encoders, and of what vocabularies cost."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import doublings, framed, rows_of
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


def vocabulary_shares(
    vocabularies: Sequence[int], percent: Sequence[int]
) -> altair.LayerChart:  # @stepover
    """Draw for each size of a vocabulary its share of all parameters."""
    sizes = [f"{size:,}".replace(",", " ") for size in vocabularies]
    base = altair.Chart(rows_of(size=sizes, percent=percent)).encode(
        y=altair.Y("size:N", title="tokens", sort=sizes),
        x=altair.X("percent:Q", title="% of the parameters", scale=altair.Scale(domain=[0, 100])),
        tooltip=["size:N", "percent:Q"],
    )
    labels = base.mark_text(align="left", dx=6).encode(text="percent:Q")
    title = "What a larger vocabulary takes at width 768"
    return framed(base.mark_bar() + labels, title, 30 * len(sizes))


def gains_by_length(gains: Mapping[int, float]) -> altair.LayerChart:  # @stepover
    """Draw over the length of a word how much faster it is merged with a heap."""
    chart = altair.Chart(rows_of(length=gains, gain=gains.values())).mark_line(point=True)
    chart = chart.encode(
        x=altair.X("length:Q", **doublings("bytes of a word", gains)),
        y=altair.Y("gain:Q", title="time of the scan over that of the heap"),
        tooltip=["length:Q", altair.Tooltip("gain:Q", format=".2f")],
    )
    equal = altair.Chart(rows_of(gain=[1])).mark_rule(strokeDash=[5, 4]).encode(y="gain:Q")
    return framed(chart + equal, "A heap pays for long words", 180)
