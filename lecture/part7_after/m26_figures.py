"""Pictures of serving, and of quantized weights."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import doublings, framed, lines, powers_of_ten, rows_of


def error_by_bits(errors: Mapping[str, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the error of a product over the bits of its weights."""
    y = powers_of_ten("relative error", -3, 0)
    axis = altair.Axis(values=list(range(2, 9)), format="d")
    x = {"title": "bits for each weight", "scale": altair.Scale(domain=[2, 8]), "axis": axis}
    return lines(errors, x, y, "Error of a product with quantized weights")


def error_by_moment(
    errors: Mapping[str, Mapping[int, float]], exact: float
) -> altair.Chart:  # @stepover
    """Draw the error of trained weights over their bits, for each way to get there."""
    bits = list(next(iter(errors.values())))
    series = {**errors, "never": {bits[0]: exact, bits[-1]: exact}}
    y = powers_of_ten("relative error of the weights", -3, 0)
    axis = altair.Axis(values=bits, format="d")
    x = {"title": "bits for each weight", "scale": altair.Scale(domain=[4, 16]), "axis": axis}
    return lines(series, x, y, "Rounded after training, or while it goes on")


def error_by_cut(errors: Mapping[int, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the error of quantized weights over where the largest are cut off."""
    series = {f"{bits} bits": found for bits, found in errors.items()}
    x = {"title": "largest number kept, in percent", "scale": altair.Scale(domain=[50, 100])}
    return lines(series, x, powers_of_ten("relative error", -3, 0), "Cutting off the largest")


def throughput_over_latency(seconds: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw tokens per second of all users over the time that each waits for a token; a point for
    each batch."""
    data = rows_of(
        batch=[f"B = {batch}" for batch in seconds],
        latency=[1e3 * step for step in seconds.values()],
        throughput=[batch / step for batch, step in seconds.items()],
    )
    base = altair.Chart(data).encode(
        x=altair.X("latency:Q", title="milliseconds for a token of each sequence"),
        y=altair.Y("throughput:Q", title="tokens per second, all sequences"),
        tooltip=["batch:N", "latency:Q", "throughput:Q"],
    )
    labels = base.mark_text(align="left", dx=8, dy=6).encode(text="batch:N")
    return framed(base.mark_line(point=True) + labels, "Throughput against latency", 260)


def tokens_per_step(
    measured: Mapping[int, float], expected: Mapping[int, float]
) -> altair.Chart:  # @stepover
    """Draw how many tokens a step of speculative decoding yields, by the tokens proposed."""
    y = {"title": "tokens of a step", "scale": altair.Scale(domain=[1, 6])}
    series = {"measured": measured, "expected": expected}
    return lines(series, doublings("tokens proposed", measured), y, "Tokens for each pass")
