"""The normal distribution with its tails cut off."""

import math

import torch


def std_of_a_cut_normal(cut: float) -> float:
    """Return the standard deviation of a standard normal distribution cut at -cut and cut."""
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    inside = math.erf(cut / math.sqrt(2))
    return math.sqrt(1 - 2 * cut * density / inside)


@torch.no_grad()
def draw_cut_normal(
    weight: torch.Tensor, std: float, generator: torch.Generator | None
) -> None:  # @stepover
    """Fill with normal numbers, and draw again those beyond three standard deviations.

    `torch.nn.init.trunc_normal_` does the same, but has changed what it makes of a seed from one
    version to the next; the normal numbers below it have not.
    """
    if weight.is_meta:  # there is nothing to fill
        return
    weight.normal_(0, std, generator=generator)
    while (outside := (weight < -3 * std) | (weight > 3 * std)).any():
        others = torch.empty_like(weight).normal_(0, std, generator=generator)
        weight.copy_(torch.where(outside, others, weight))
