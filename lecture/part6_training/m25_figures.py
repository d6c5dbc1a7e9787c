"""Pictures of mixed precision."""

from collections.abc import Mapping, Sequence

import altair
from jaxtyping import Float, Shaped
from torch import Tensor

from lecture.lib.charts import framed, legend_below, lines, powers_of_ten, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked

FORMAT_COLOURS = {"float32": COLOURS[0], "bfloat16": COLOURS[1]}
FORMAT_NAMES = {"float32": "fp32", "bfloat16": "bf16"}


def bytes_of_recipes(recipes: Mapping[str, Mapping[str, int]]) -> altair.Chart:  # @stepover
    """Stack the bytes of each part of the memory, a bar for each recipe."""
    order = ["parameters", "gradients", "optimizer state", "activations"]
    found = [
        (name, part, parts[part] / 1000, place)
        for name, parts in recipes.items()
        for place, part in enumerate(order)
    ]
    names, parts_named, sizes, places = zip(*found, strict=True)
    chart = altair.Chart(rows_of(recipe=names, part=parts_named, kB=sizes, order=places)).mark_bar()
    chart = chart.encode(
        y=altair.Y("recipe:N", title=None, sort=list(recipes)),
        x=altair.X("kB:Q", title="kB"),
        color=altair.Color(
            "part:N", scale=altair.Scale(domain=order), legend=legend_below(columns=2)
        ),
        order="order:Q",
        tooltip=["recipe:N", "part:N", altair.Tooltip("kB:Q", format=".1f")],
    )
    return framed(chart, "Memory of one step with 16 tokens", 130)


@shape_checked
def losses_of_recipes(losses: Mapping[str, Float[Tensor, " step"]]) -> altair.Chart:  # @stepover
    """Draw the loss of each recipe on a logarithmic axis, averaged over 10 steps."""
    series = {
        name: {10.0 * number + 5: part.mean().item() for number, part in enumerate(found.split(10))}
        for name, found in losses.items()
    }
    y = powers_of_ten("loss", -5, 1)
    return lines(series, {"title": "step"}, y, "Sixteen weights on the way from 1 to 1.25")


def losses_in_fp8(losses: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw the loss of each recipe, averaged over 5 steps."""
    series = {
        name: {step: min(sum(found[step : step + 5]) / 5, 9.0) for step in range(0, len(found), 5)}
        for name, found in losses.items()
    }
    y = {"title": "nats per byte", "scale": altair.Scale(domain=[1, 9])}
    return lines(series, {"title": "step"}, y, "A small language model, hidden matmuls in FP8")


@shape_checked
def dtype_map(stages: Mapping[str, Mapping[str, Shaped[Tensor, "..."]]]) -> Figure:  # @stepover
    """Draw each tensor of a step in a column for its stage, coloured by its format."""
    width, pitch, left = 120, 32, 4
    parts, used = [], {}
    for column, (stage, tensors) in enumerate(stages.items()):
        x = left + (width + 10) * column
        parts.append(text(x + width / 2, 14, stage, more=' font-weight="bold"'))
        for row, (name, tensor) in enumerate(tensors.items()):
            dtype = str(tensor.dtype).removeprefix("torch.")
            used[dtype] = FORMAT_COLOURS[dtype]
            words = f"∂ {name}" if stage == "gradients" else name
            parts.append(box(x, 24 + pitch * row, width, 25, FORMAT_COLOURS[dtype], words))
    bottom = 24 + pitch * max(map(len, stages.values())) + 6
    for place, (dtype, colour) in enumerate(used.items()):
        parts.append(box(left + 90 * place, bottom, 13, 13, colour))
        parts.append(text(left + 90 * place + 19, bottom + 11, FORMAT_NAMES[dtype], "start"))
    return Figure("Formats in one training step", 392, bottom + 20, tuple(parts))


def rates_of_formats(rates: Mapping[str, Mapping[str, float]]) -> altair.Chart:  # @stepover
    """Draw what each GPU promises in each format, on a logarithmic axis."""
    found = [(card, name, rate) for card, by in rates.items() for name, rate in by.items()]
    cards, names, values = zip(*found, strict=True)
    order = list(dict.fromkeys(names))
    line = [name == "fp32" for name in names]  # a point, as no tensor core multiplies it
    chart = altair.Chart(rows_of(card=cards, format=names, rate=values, line=line))
    chart = chart.mark_line(point=altair.OverlayMarkDef(size=70)).encode(
        x=altair.X("format:N", sort=order, title="format", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("rate:Q", **powers_of_ten("FLOP/s", 13, 16)),
        color=altair.Color("card:N", sort=list(rates), legend=legend_below(columns=3)),
        detail="line:N",
        tooltip=["card:N", "format:N", altair.Tooltip("rate:Q", format=".3g")],
    )
    return framed(chart, "On tensor cores: half the bits, twice the rate", 200)
