"""Linear layers and small stacks of them."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.normal import draw_cut_normal
from lecture.lib.shapes import shape_checked


class Linear(torch.nn.Module):
    """Multiply by a matrix; no bias."""

    def __init__(self, D: int, F: int, generator: torch.Generator) -> None:
        super().__init__()
        std = 1 / math.sqrt(D)
        weight = torch.empty(D, F)
        draw_cut_normal(weight, std, generator)
        self.weight = torch.nn.Parameter(weight)

    @shape_checked
    def forward(self, x: Float[Tensor, "*lead D"]) -> Float[Tensor, "*lead F"]:
        return x @ self.weight


class LinearStack(torch.nn.Module):
    """L square linear layers, and one number at the end for each row."""

    def __init__(self, D: int, L: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Linear(D, D, generator) for _ in range(L))
        self.final = Linear(D, 1, generator)

    @shape_checked
    def forward(self, x: Float[Tensor, "R D"]) -> Float[Tensor, " R"]:
        for layer in self.layers:
            x = layer(x)
        return self.final(x)[:, 0]


class Block(torch.nn.Module):
    """A linear layer and ReLU."""

    def __init__(self, D: int, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = Linear(D, D, generator)

    @shape_checked
    def forward(self, x: Float[Tensor, "R D"]) -> Float[Tensor, "R D"]:
        return self.linear(x).relu()


class DeepNetwork(torch.nn.Module):
    """L blocks, one after the other."""

    def __init__(self, D: int, L: int, generator: torch.Generator) -> None:
        super().__init__()
        self.blocks = torch.nn.Sequential(*(Block(D, generator) for _ in range(L)))

    @shape_checked
    def forward(self, x: Float[Tensor, "R D"]) -> Float[Tensor, "R D"]:
        return self.blocks(x)


@shape_checked
def loss_of_rows(y: Float[Tensor, "R D"]) -> Float[Tensor, ""]:  # @stepover
    """Return the mean square of the rows' means, a loss that takes next to no memory."""
    return y.mean(dim=1).square().mean()


@shape_checked
def gelu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:  # @stepover
    """GELU as GPT-2 has it; the form without tanh starts threads even for a few numbers."""
    return torch.nn.functional.gelu(x, approximate="tanh")
