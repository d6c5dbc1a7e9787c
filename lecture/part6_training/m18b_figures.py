"""Pictures of what a Transformer keeps in memory."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import doublings, framed, legend_below, lines, powers_of_ten, rows_of

GIB = 2**30


def bytes_of_parts(
    kept: Mapping[str, Mapping[str, int]], title: str, height: int
) -> altair.Chart:  # @stepover
    """Stack the parts of each row, in GiB."""
    found = [
        (row, part, part_bytes / GIB)
        for row, parts in kept.items()
        for part, part_bytes in parts.items()
    ]
    rows, parts, sizes = zip(*found, strict=True)
    domain = list(dict.fromkeys(parts))
    chart = altair.Chart(rows_of(row=rows, part=parts, gib=sizes)).mark_bar()
    chart = chart.transform_calculate(order=f"indexof({domain}, datum.part)").encode(
        y=altair.Y("row:N", title=None, sort=list(kept)),
        x=altair.X("gib:Q", title="GiB"),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=domain), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=["row:N", "part:N", altair.Tooltip("gib:Q", title="GiB", format=".3f")],
    )
    return framed(chart, title, height)


def vectors_of_a_block(vectors: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Stack what a block keeps for each token, in vectors of D numbers."""
    chart = altair.Chart(rows_of(part=vectors.keys(), vectors=vectors.values())).mark_bar()
    chart = chart.encode(
        x=altair.X("vectors:Q", title="vectors of D numbers for each token"),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=list(vectors)), legend=legend_below(columns=2)
        ),
        tooltip=["part:N", "vectors:Q"],
    )
    return framed(chart, "What waits for the backward pass", 40)


def activations_by_context(kept: Mapping[int, Mapping[str, int]]) -> altair.Chart:  # @stepover
    """Draw what each part keeps over the length of the context."""
    names = next(iter(kept.values()))
    series = {part: {tokens: parts[part] / GIB for tokens, parts in kept.items()} for part in names}
    return lines(
        series,
        doublings("context in tokens, T", kept),
        powers_of_ten("GiB", -2, 4),
        "What one sequence keeps",
        240,
    )


def memory_by_batch(
    costs: Mapping[str, tuple[int, int]], limits: Mapping[str, int], largest: int = 20
) -> altair.Chart:  # @stepover
    """Draw memory over the batch, of which each sequence takes the same, and what a GPU has."""
    batches = range(0, largest + 1, 4)
    series = {
        name: {batch: (fixed + batch * each) / GIB for batch in batches}
        for name, (fixed, each) in costs.items()
    }
    series |= {name: {0: limit / GIB, largest: limit / GIB} for name, limit in limits.items()}
    axis = altair.Axis(values=list(range(0, largest + 1, 2)), format="d")
    return lines(
        series,
        {"title": "sequences in a batch, B", "axis": axis},
        {"title": "GiB"},
        "When is the GPU full?",
        260,
    )
