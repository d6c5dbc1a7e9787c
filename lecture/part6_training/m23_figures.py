"""Pictures of training runs."""

from collections.abc import Mapping, Sequence

import altair
from jaxtyping import Float
from torch import Tensor

from lecture.lib.charts import Layout, framed, legend_below, lines, powers_of_ten, rows_of
from lecture.lib.shapes import shape_checked
from lecture.train.loop import Step

STEPS: Layout = {"title": "step", "axis": altair.Axis(format="d", labelSeparation=8)}


def toy_curves(
    losses: Mapping[float, Sequence[float]], expected: Mapping[float, Sequence[float]]
) -> altair.LayerChart:  # @stepover
    """Draw measured and expected losses of some learning rates."""
    rows = [
        (f"learning rate {lr}", step, loss, mean)
        for lr in losses
        for step, (loss, mean) in enumerate(zip(losses[lr], expected[lr], strict=True), start=1)
    ]
    rates, steps, found, predicted = zip(*rows, strict=True)
    chart = altair.Chart(rows_of(lr=rates, step=steps, loss=found, predicted=predicted)).encode(
        x=altair.X("step:Q", **STEPS),
        color=altair.Color("lr:N", title="learning rate", legend=legend_below(columns=2)),
        tooltip=["lr:N", "step:Q", altair.Tooltip("loss:Q", format=".4g")],
    )
    dots = chart.mark_point(filled=True, size=50, opacity=1).encode(
        y=altair.Y("loss:Q", title="loss"), shape="lr:N"
    )
    line = chart.mark_line(strokeDash=[4, 3]).encode(y="predicted:Q")
    title = "Ten steps: measured, and predicted (lines)"
    return framed(altair.layer(line, dots), title, 220)


def schedule(rates: Sequence[float]) -> altair.Chart:  # @stepover
    """Draw the learning rate of each step."""
    series = {"learning rate": dict(enumerate(rates))}
    y: Layout = {"title": "share of the highest rate"}
    return lines(series, STEPS, y, "Warm-up over 7 steps, cosine to step 21", 180).encode(
        color=altair.ColorValue("#4c78a8"), shape=altair.ShapeValue("circle")
    )


def paths(places: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw how far each run has come after each step."""
    series = {name: dict(enumerate(path, start=1)) for name, path in places.items()}
    y: Layout = {"title": "distance against the gradients"}
    return lines(series, STEPS, y, "AdamW meets one bad batch at step 21")


@shape_checked
def distances(runs: Mapping[str, Float[Tensor, " step"]]) -> altair.Chart:  # @stepover
    """Draw how far some runs have strayed after each step."""
    series = {name: dict(enumerate(found.tolist())) for name, found in runs.items()}
    y: Layout = {"title": "distance from the start"}
    return lines(series, STEPS, y, "AdamW follows noise", 180)


def norms(cleared: Sequence[float], kept: Sequence[float]) -> altair.Chart:  # @stepover
    """Draw the gradient norms of two runs."""
    series = {
        "gradients cleared": dict(enumerate(cleared)),
        "gradients kept": dict(enumerate(kept)),
    }
    return lines(series, STEPS, {"title": "gradient norm"}, "One line of code missing", 180)


def losses_of_both(cleared: Sequence[float], kept: Sequence[float]) -> altair.Chart:  # @stepover
    """Draw the losses of the same two runs."""
    series = {
        "gradients cleared": dict(enumerate(cleared)),
        "gradients kept": dict(enumerate(kept)),
    }
    return lines(series, STEPS, {"title": "loss"}, "The losses of the same runs", 180)


def by_heart(losses: Sequence[float]) -> altair.Chart:  # @stepover
    """Draw a loss that falls to nearly nothing."""
    y = powers_of_ten("loss, nats per token", -2, 1)
    series = {"loss": dict(enumerate(losses))}
    return lines(series, STEPS, y, "Learning one batch by heart", 180).encode(
        color=altair.ColorValue("#4c78a8"), shape=altair.ShapeValue("circle")
    )


def curve(log: Sequence[Step], name: str, title: str) -> altair.Chart:  # @stepover
    """Draw one number of each step."""
    rows = rows_of(step=[step.step for step in log], value=[getattr(step, name) for step in log])
    chart = altair.Chart(rows).mark_line()
    chart = chart.encode(
        x=altair.X("step:Q", **STEPS),
        y=altair.Y("value:Q", title=title),
        tooltip=["step:Q", altair.Tooltip("value:Q", title=title, format=".3g")],
    )
    return framed(chart, f"The {title} of each step", 140)


def loss_and_levels(
    log: Sequence[Step], bytes_per_token: float, levels: Mapping[str, float]
) -> altair.LayerChart:  # @stepover
    """Draw the loss of each step in nats per byte, and what the validation text costs whom."""
    rows = rows_of(
        step=[step.step for step in log], loss=[step.loss / bytes_per_token for step in log]
    )
    curve = (
        altair.Chart(rows)
        .mark_line(color="gray")
        .encode(
            x=altair.X("step:Q", **STEPS),
            y=altair.Y("loss:Q", title="nats per byte"),
            tooltip=["step:Q", altair.Tooltip("loss:Q", format=".3f")],
        )
    )
    order = sorted(levels, key=lambda who: -levels[who])
    rules = (
        altair.Chart(rows_of(who=levels, level=levels.values()))
        .mark_rule(strokeWidth=2)
        .encode(
            y="level:Q",
            color=altair.Color("who:N", sort=order, legend=legend_below(columns=2)),
            strokeDash=altair.StrokeDash("who:N", sort=order),
            tooltip=["who:N", altair.Tooltip("level:Q", format=".3f")],
        )
    )
    return framed(altair.layer(curve, rules), "The loss, and what it could be", 240)


def excess_of_schedules(excess: Mapping[str, Sequence[float]]) -> altair.Chart:  # @stepover
    """Draw how far each schedule is above the noise, on a logarithmic axis."""
    series = {name: dict([*enumerate(found)][::8]) for name, found in excess.items()}
    y = powers_of_ten("loss above the noise", -4, 2)
    return lines(series, STEPS, y, "Three schedules, the same 400 steps")


NOWHERE = 3.0
"""Nats per byte, about what the frequencies of the bytes alone give."""


def sweeps_by_width(
    losses: Mapping[int, Mapping[float, float]], title: str
) -> altair.Chart:  # @stepover
    """Draw the loss after 40 steps over the learning rate, for each width. Where runs end that get
    nowhere differs from machine to machine: they are drawn at the edge."""
    series = {
        f"width {width}": {rate: min(loss, NOWHERE) for rate, loss in found.items()}
        for width, found in losses.items()
    }
    y: Layout = {"title": "nats per byte, at most 3", "scale": altair.Scale(zero=False)}
    return lines(series, powers_of_ten("learning rate", -3, 0), y, title, 200)


def entropies(found: Mapping[str, Mapping[float, float]]) -> altair.Chart:  # @stepover
    """Draw how evenly queries spread their weight, while queries and keys grow."""
    x: Layout = {
        "title": "growth of queries and keys, s, logarithmic",
        "scale": altair.Scale(type="log", base=2),
    }
    return lines(found, x, {"title": "entropy of attention, nats"}, "64 keys for each query", 180)


def law(
    laws: Mapping[str, tuple[float, float, float]], losses: Mapping[int, float], up_to: float = 2e4
) -> altair.LayerChart:  # @stepover
    """Draw runs as points and laws L = E + a·N^-b as lines, on logarithmic axes."""
    first = min(losses)
    grid = [first * (up_to / first) ** (number / 24) for number in range(25)]
    rows = [(name, N, floor + a * N**-b) for name, (a, b, floor) in laws.items() for N in grid]
    names, places, values = zip(*rows, strict=True)
    x = altair.X(
        "N:Q",
        title="parameters N, logarithmic",
        scale=altair.Scale(type="log"),
        axis=altair.Axis(format="~s", labelOverlap="greedy"),
    )
    y = altair.Y(
        "loss:Q", title="nats per byte, logarithmic", scale=altair.Scale(type="log", zero=False)
    )
    line = altair.Chart(rows_of(law=names, N=places, loss=values)).mark_line()
    line = line.encode(x=x, y=y, color=altair.Color("law:N", legend=legend_below(columns=2)))
    points = altair.Chart(rows_of(N=losses.keys(), loss=losses.values()))
    points = points.mark_point(filled=True, size=60, color="black", opacity=1).encode(
        x=x, y=y, tooltip=["N:Q", altair.Tooltip("loss:Q", format=".3f")]
    )
    title = "Five runs and a law" if len(laws) == 1 else "Five runs and two laws"
    return framed(altair.layer(line, points), title, 220)
