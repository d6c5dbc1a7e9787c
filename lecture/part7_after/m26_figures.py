"""Pictures of quantized weights."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import lines, powers_of_ten


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
    series = {**errors, "fp32": dict.fromkeys(bits, exact)}
    y = powers_of_ten("relative error of the weights", -3, 0)
    axis = altair.Axis(values=bits, format="d")
    x = {"title": "bits for each weight", "scale": altair.Scale(domain=[4, 16]), "axis": axis}
    return lines(series, x, y, "Rounded after training, or while it goes on")


def error_by_cut(errors: Mapping[int, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the error of quantized weights over where the largest are cut off."""
    series = {f"{bits} bits": found for bits, found in errors.items()}
    x = {"title": "largest number kept, in percent", "scale": altair.Scale(domain=[50, 100])}
    return lines(series, x, powers_of_ten("relative error", -3, 0), "Cutting off the largest")
