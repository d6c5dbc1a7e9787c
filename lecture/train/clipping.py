"""Gradient clipping: a step may be long, but not too long."""

from collections.abc import Iterable

import torch
from torch import Tensor


def gradients_of(parameters: Iterable[torch.nn.Parameter]) -> list[Tensor]:
    """Return the gradients that there are."""
    return [weight.grad for weight in parameters if weight.grad is not None]


def whole(total: Tensor) -> Tensor:
    """Add up over processes a total of numbers that they share out among them."""
    # A `DTensor`, by what it can do: the module that defines it takes seconds to import.
    return total.full_tensor() if hasattr(total, "full_tensor") else total


def global_norm(gradients: Iterable[Tensor]) -> float:
    """Return the length of all gradients, taken as one long vector."""
    squares = [whole(gradient.float().square().sum()) for gradient in gradients]
    # One sum on the device and one number that is waited for.
    return float(torch.stack(squares).sum().sqrt()) if squares else 0.0


@torch.no_grad()
def clip_gradients(parameters: Iterable[torch.nn.Parameter], max_norm: float) -> float:
    """Shorten the gradients in place to `max_norm` together; return how long they were.

    All shrink by the same factor, so their direction stays. Source: Pascanu et al.,
    https://arxiv.org/abs/1211.5063.
    """
    gradients = gradients_of(parameters)
    norm = global_norm(gradients)
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return norm
