"""A stack of layers whose activations can be made again, segment by segment."""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lecture.lib.layers import gelu
from lecture.lib.shapes import shape_checked


def new_weights(L: int, D: int) -> list[Tensor]:  # @stepover
    """Make the weights of L square layers."""
    generator = torch.Generator().manual_seed(0)
    made = [torch.randn(D, D, generator=generator) / math.sqrt(D) for _ in range(L)]
    return [weight.requires_grad_() for weight in made]


def new_rows(B: int, D: int) -> Tensor:  # @stepover
    """Make B rows of data that require a gradient, as they do in the middle of a model."""
    return torch.randn(B, D, generator=torch.Generator().manual_seed(1)).requires_grad_()


@shape_checked
def gelu_layers(
    x: Float[Tensor, "B D"], *weights: Float[Tensor, "D D"]
) -> Float[Tensor, "B D"]:  # @stepover
    """Send rows through layers: a product, then GELU."""
    for weight in weights:
        x = gelu(x @ weight)
    return x


@shape_checked
def loss_by_segments(
    x: Float[Tensor, "B D"], weights: list[Float[Tensor, "D D"]], layers_each: int
) -> Float[Tensor, ""]:  # @stepover
    """Return the mean square of what layers make of x; 0 layers each keeps everything."""
    for first in range(0, len(weights), layers_each or len(weights)):
        segment = weights[first : first + (layers_each or len(weights))]
        if layers_each:
            x = checkpoint(gelu_layers, x, *segment, use_reentrant=False)
        else:
            x = gelu_layers(x, *segment)
    return x.square().mean()


@shape_checked
def accumulate(
    batch: Float[Tensor, "B D"],
    weights: list[Float[Tensor, "D D"]],
    parts: int,
    layers_each: int,
) -> None:  # @stepover
    """Add the gradients of a batch, taken in equal parts, to those of the weights."""
    for rows in batch.chunk(parts):
        (loss_by_segments(rows, weights, layers_each) / parts).backward()
