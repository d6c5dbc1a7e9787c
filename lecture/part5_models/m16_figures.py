"""Pictures of where the parameters and the FLOPs of a Transformer are."""

from collections.abc import Mapping

import altair

from lecture.accounting.formulas import parameters_by_part
from lecture.lib.charts import doublings, framed, legend_below, lines, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.transformer import TransformerConfig

WIDTH, HEIGHT, TOP, ROWS = 400, 250, 24, 6
PARTS = ("feed-forward", "projections", "scores and values", "LM head")


def parameter_map(config: TransformerConfig) -> Figure:  # @stepover
    """Draw the matrices of a model as areas: the two tables on the left, and all blocks."""
    parameters = parameters_by_part(config)
    tables_share = 2 * parameters["embedding"] / sum(parameters.values())
    table_width = WIDTH * tables_share
    parts = [
        _key(4, COLOURS[0], "embedding, LM head"),
        _key(180, COLOURS[1], "attention"),
        _key(278, COLOURS[2], "feed-forward"),
        box(0, TOP, table_width, HEIGHT / 2, COLOURS[0]),
        box(0, TOP + HEIGHT / 2, table_width, HEIGHT / 2, COLOURS[0]),
    ]
    columns = config.layers // ROWS
    width, height = (WIDTH - table_width) / columns, HEIGHT / ROWS
    attention_share = parameters["attention"] / (
        parameters["attention"] + parameters["feed-forward"]
    )
    for number in range(config.layers):
        x = table_width + number % columns * width
        y = TOP + number // columns * height
        attention_width = width * attention_share
        parts.append(box(x, y, attention_width, height, COLOURS[1]))
        parts.append(box(x + attention_width, y, width - attention_width, height, COLOURS[2]))
    title = f"{sum(parameters.values()) / 1e9:.2f} billion parameters, {config.layers} blocks"
    return Figure(title, WIDTH, TOP + HEIGHT + 2, tuple(parts))


def _key(x: float, colour: str, words: str) -> str:
    """Say what a colour means."""
    return box(x, 0, 14, 14, colour) + text(x + 20, 12, words, "start")


def _named(parts: Mapping[str, int]) -> dict[str, int]:
    """Call the head LM head, as attention has heads, too."""
    return {"LM head" if part == "head" else part: flops for part, flops in parts.items()}


def shares_of_models(flops: Mapping[str, Mapping[str, int]]) -> altair.Chart:  # @stepover
    """Stack the parts of each model to 100 %, with and without the LM head."""
    found = [
        (model + suffix, part, part_flops)
        for model, by_part in flops.items()
        for suffix in ("", ", no LM head")
        for part, part_flops in _named(by_part).items()
        if part != "LM head" or not suffix
    ]
    models, parts, amounts = zip(*found, strict=True)
    chart = altair.Chart(rows_of(model=models, part=parts, flops=amounts)).mark_bar()
    chart = chart.transform_calculate(order=f"indexof({list(PARTS)}, datum.part)")
    chart = chart.transform_joinaggregate(all="sum(flops)", groupby=["model"])
    chart = chart.transform_calculate(share="datum.flops / datum.all").encode(
        y=altair.Y("model:N", title=None, sort=list(dict.fromkeys(models))),
        x=altair.X("flops:Q", stack="normalize", title="share of the FLOPs of a forward pass"),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=list(PARTS)), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=[
            "model:N",
            "part:N",
            altair.Tooltip("flops:Q", format=".4g"),
            altair.Tooltip("share:Q", format=".2%"),
        ],
    )
    return framed(chart, "Where the FLOPs are", 260)


def shares_by_context(flops: Mapping[int, Mapping[str, int]]) -> altair.Chart:  # @stepover
    """Draw the share of each part over the length of the context."""
    named = {tokens: _named(parts) for tokens, parts in flops.items()}
    series = {
        part: {tokens: 100 * parts[part] / sum(parts.values()) for tokens, parts in named.items()}
        for part in PARTS
    }
    return lines(
        series,
        doublings("context in tokens, T", flops),
        {"title": "% of the FLOPs"},
        "Where the FLOPs are in long contexts",
    )


def least_times(least: Mapping[str, tuple[float, float]]) -> altair.Chart:  # @stepover
    """Draw for each part the time that its FLOPs take on a card, and that its bytes take."""
    rows = [
        (part, kind, time)
        for part, times in least.items()
        for kind, time in zip(("FLOPs", "bytes moved"), times, strict=True)
    ]
    parts, kinds, times = zip(*rows, strict=True)
    chart = altair.Chart(rows_of(part=parts, kind=kinds, ms=times)).mark_bar()
    chart = chart.encode(
        y=altair.Y("part:N", title=None, sort=list(least)),
        yOffset=altair.YOffset("kind:N", sort=["FLOPs", "bytes moved"]),
        x=altair.X("ms:Q", title="least milliseconds"),
        color=altair.Color("kind:N", sort=["FLOPs", "bytes moved"], legend=legend_below(columns=2)),
        tooltip=["part:N", "kind:N", altair.Tooltip("ms:Q", format=".3g")],
    )
    return framed(chart, "Least time of each part on an H100, one block of XL", 180)
