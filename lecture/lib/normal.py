"""The normal distribution with its tails cut off."""

import math


def std_of_a_cut_normal(cut: float) -> float:
    """Return the standard deviation of a standard normal distribution cut at -cut and cut."""
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    inside = math.erf(cut / math.sqrt(2))
    return math.sqrt(1 - 2 * cut * density / inside)
