"""Pictures of what fills the memory."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import framed, legend_below, rows_of, unfolded

AVERAGES = "averages, or a sum"  # AdaGrad and SGD's momentum add up
PARTS = ("parameters", "optimizer state", "gradients", "activations", "other tensors")


def memory_over_time(timeline: Sequence[Mapping[str, int]]) -> altair.Chart:  # @stepover
    """Stack what is alive after each change of memory, by category."""
    curves = {part: [moment[part] for moment in timeline] for part in PARTS}
    chart = unfolded(curves).transform_calculate(order=f"indexof({list(PARTS)}, datum.curve)")
    chart = chart.mark_area(interpolate="step-after").encode(
        x=altair.X("moment:Q", title="time, in changes of memory"),
        y=altair.Y("amount:Q", title="bytes", stack="zero"),
        color=altair.Color(
            "curve:N", scale=altair.Scale(domain=list(PARTS)), legend=legend_below(columns=2)
        ),
        order="order:Q",
    )
    return framed(chart, "Two steps of training, from the start", 240)


def bytes_by_recipe(parts: Mapping[str, Mapping[str, float]]) -> altair.Chart:  # @stepover
    """Stack what each recipe keeps for one parameter."""
    kinds = {"weights": "weights", "gradients": "gradients", "master": "master weights"}
    kept = [
        (recipe, kinds.get(part, AVERAGES), part_bytes)
        for recipe, found in parts.items()
        for part, part_bytes in found.items()
    ]
    recipes, names, sizes = zip(*kept, strict=True)
    domain = [*kinds.values(), AVERAGES]
    chart = altair.Chart(rows_of(recipe=recipes, part=names, bytes=sizes)).mark_bar()
    chart = chart.transform_calculate(order=f"indexof({domain}, datum.part)").encode(
        y=altair.Y("recipe:N", title=None, sort=list(parts)),
        x=altair.X(
            "sum(bytes):Q",
            title="bytes per parameter",
            axis=altair.Axis(values=list(range(0, 17, 2))),
        ),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=domain), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=["recipe:N", "part:N", "sum(bytes):Q"],
    )
    return framed(chart, "What one parameter keeps while it is trained", 200)


def peak_by_rows(
    measured: Mapping[int, int], by_formula: Mapping[int, int]
) -> altair.LayerChart:  # @stepover
    """Draw the peak of a step over the rows in a batch, measured and by formula."""
    line = altair.Chart(rows_of(rows=by_formula.keys(), bytes=by_formula.values()))
    line = line.transform_calculate(kind="'by formula'").mark_line()
    points = altair.Chart(rows_of(rows=measured.keys(), bytes=measured.values()))
    points = points.transform_calculate(kind="'measured'").mark_point(filled=True, size=40)
    encoded = [
        layer.encode(
            x=altair.X("rows:Q", title="rows in the batch, B"),
            y=altair.Y("bytes:Q", title="bytes at the peak"),
            color=altair.Color("kind:N", legend=legend_below(columns=2)),
            tooltip=["kind:N", "rows:Q", "bytes:Q"],
        )
        for layer in (line, points)
    ]
    return framed(altair.layer(*encoded), "The peak of a step, width 8, four layers", 200)
