"""A small language model that learns in a second: the next byte of a story from the eight before.

Embeddings of eight bytes stand side by side and go through two layers of F features, with ReLU,
to logits for each byte that occurs in stories. It has the three kinds of matrices that a
Transformer has: one at the input, one between hidden features, one at the output.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from lecture import stories
from lecture.lib.shapes import shape_checked

CONTEXT, EMBEDDING = 8, 16
Multiply = Callable[[Tensor, Tensor], Tensor]


@functools.cache
def story_bytes(size: int, seed: int) -> tuple[Tensor, int]:  # @stepover
    """Return the bytes of stories, numbered from 0 among those that occur, and how many do."""
    raw = np.frombuffer(stories.text(size, seed).encode(), dtype=np.uint8)
    alphabet = np.unique(raw)
    return torch.from_numpy(np.searchsorted(alphabet, raw)), len(alphabet)


class NextByte(nn.Module):
    """From eight bytes to logits for the ninth; `multiply` computes every matmul."""

    def __init__(
        self, V: int, F: int, generator: torch.Generator, multiply: Multiply = torch.matmul
    ) -> None:  # @stepover
        super().__init__()
        sizes = {"up": (CONTEXT * EMBEDDING, F), "middle": (F, F), "head": (F, V)}
        self.embedding = nn.Parameter(torch.randn(V, EMBEDDING, generator=generator))
        for name, (inputs, outputs) in sizes.items():
            weight = torch.randn(inputs, outputs, generator=generator) / math.sqrt(inputs)
            self.register_parameter(name, nn.Parameter(weight))
        self.multiply = multiply

    @shape_checked
    def forward(self, x: Int64[Tensor, "B 8"]) -> Float[Tensor, "B V"]:
        h = self.embedding[x].flatten(1)
        for weight in (self.up, self.middle):
            h = self.multiply(h, weight).relu()
        return self.multiply(h, self.head)


@shape_checked
def draw_windows(
    tokens: Int64[Tensor, " n"], B: int, generator: torch.Generator
) -> tuple[Int64[Tensor, "{B} 8"], Int64[Tensor, " {B}"]]:  # @stepover
    """Draw B places; return the eight bytes from there, and the byte that follows."""
    starts = torch.randint(len(tokens) - CONTEXT, (B,), generator=generator)
    return tokens[starts[:, None] + torch.arange(CONTEXT)], tokens[starts + CONTEXT]


def train_next_byte(
    model: NextByte,
    optimizers: Sequence[torch.optim.Optimizer],
    tokens: Tensor,
    steps: int,
    B: int = 256,
    seed: int = 1,
) -> list[float]:  # @stepover
    """Train, and return the loss of each step's batch in nats per byte."""
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(steps):
        x, y = draw_windows(tokens, B, generator)
        loss = nn.functional.cross_entropy(model(x), y)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
    return losses
