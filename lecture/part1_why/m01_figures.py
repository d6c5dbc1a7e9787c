"""Pictures of the two estimates."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import framed, legend_below, powers_of_ten, rows_of, slider


def days_by_mfu(days: Mapping[int, float], gpus: int) -> altair.Chart:  # @stepover
    """Draw training time over utilization; a slider changes how many GPUs share the work."""
    chart = altair.Chart(rows_of(mfu=days.keys(), days=days.values())).mark_line(point=True)
    chart = chart.add_params(slider("gpus", "GPUs", (256, 8192, 256), start=gpus))
    chart = chart.transform_calculate(shown=f"datum.days * {gpus} / gpus").encode(
        x=altair.X(
            "mfu:Q",
            title="MFU in percent",
            scale=altair.Scale(domain=[min(days), max(days)]),
            axis=altair.Axis(values=list(days)),
        ),
        y=altair.Y(
            "shown:Q",
            title="days, logarithmic",
            scale=altair.Scale(type="log", domain=[10, 2000], nice=False),
            axis=altair.Axis(values=[10, 30, 100, 365, 1000]),
        ),
        tooltip=["mfu:Q", altair.Tooltip("shown:Q", title="days", format=".0f")],
    )
    return framed(chart, "70B parameters, 15T tokens", 220)


def bytes_per_parameter(
    recipes: Mapping[str, Mapping[str, float]],
) -> altair.Chart:  # @stepover
    """Stack what each recipe keeps for one parameter."""
    kept = [
        (name, part, part_bytes, order)
        for name, recipe in recipes.items()
        for order, (part, part_bytes) in enumerate(recipe.items())
    ]
    names, parts, sizes, orders = zip(*kept, strict=True)
    all_parts = ["weights", "gradients", "master weights", "Adam m", "Adam v"]
    chart = altair.Chart(rows_of(recipe=names, part=parts, bytes=sizes, order=orders)).mark_bar()
    chart = chart.encode(
        y=altair.Y("recipe:N", title=None, sort=list(recipes)),
        x=altair.X(
            "bytes:Q", title="bytes per parameter", axis=altair.Axis(values=[0, 4, 8, 12, 16])
        ),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=all_parts), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=["recipe:N", "part:N", "bytes:Q"],
    )
    return framed(chart, "What one parameter costs while it is trained", 190)


def largest_models(billions: Mapping[str, float], gpus: int) -> altair.LayerChart:  # @stepover
    """Draw the most parameters that fit, for each recipe; a slider changes how many GPUs share."""
    base = altair.Chart(rows_of(recipe=billions.keys(), billions=billions.values()))
    base = base.transform_calculate(shown=f"datum.billions * gpus / {gpus}").encode(
        y=altair.Y("recipe:N", title=None, sort=list(billions)),
        x=altair.X(
            "shown:Q",
            title="billions of parameters",
            scale=altair.Scale(domain=[0, 200]),
            axis=altair.Axis(tickCount=6),
        ),
        tooltip=["recipe:N", altair.Tooltip("shown:Q", title="billions", format=".1f")],
    )
    amounts = base.mark_text(align="left", dx=4).encode(text=altair.Text("shown:Q", format=".1f"))
    chart = altair.layer(base.mark_bar(), amounts)
    chart = chart.add_params(slider("gpus", "GPUs", (1, 16, 1), start=gpus))
    return framed(chart, "What fits into H100s with AdamW", 170)


def flop_ruler(landmarks: Mapping[str, tuple[float, str]]) -> altair.Chart:  # @stepover
    """Place amounts of work on a logarithmic axis, coloured by where they come from."""
    ordered = sorted(landmarks, key=lambda name: landmarks[name][0])
    flops, origins = zip(*(landmarks[name] for name in ordered), strict=True)
    chart = altair.Chart(rows_of(landmark=ordered, flops=flops, origin=origins))
    chart = chart.mark_point(filled=True, size=90, opacity=1).encode(
        y=altair.Y("landmark:N", title=None, sort=ordered, axis=altair.Axis(grid=True)),
        x=altair.X("flops:Q", **powers_of_ten("FLOPs", 6, 27, 3)),
        color=altair.Color(
            "origin:N",
            scale=altair.Scale(domain=list(dict.fromkeys(origins))),
            legend=legend_below(columns=1),
        ),
        tooltip=["landmark:N", altair.Tooltip("flops:Q", format=".2e"), "origin:N"],
    )
    return framed(chart, "From a matmul to Grok 4: 21 powers of ten", 22 * len(ordered))
