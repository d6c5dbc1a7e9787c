"""What an operation does and moves, and what a card does while it moves a byte."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.facts import GPT2_VOCABULARY, Accelerator
from lecture.lib.shapes import shape_checked
from trace.costs import measure


@dataclass(frozen=True)
class Work:
    """What an operation does: FLOPs, and bytes read from memory and written to it."""

    flops: int
    moved_bytes: int

    @property
    def intensity(self) -> float:  # @stepover
        """Arithmetic intensity: FLOPs for each byte that moves."""
        return self.flops / self.moved_bytes


def work_of(call: Callable[[], object]) -> Work:  # @stepover
    """Let the meter watch a call."""
    with measure() as cost:
        call()
    return Work(cost.matmul_flops + cost.other_flops, cost.read_bytes + cost.written_bytes)


@shape_checked
def bf16(*shape: int) -> Float[Tensor, "..."]:  # @stepover
    """Make bf16 numbers on `meta`, where they take no memory and no time."""
    return torch.empty(shape, dtype=torch.bfloat16, device="meta")


def intensity_of(card: Accelerator, dtype: str = "bf16") -> float:  # @stepover
    """FLOPs that a card can do while it moves a byte."""
    return card.dense_flops_per_second[dtype] / card.memory_bytes_per_second


def work_of_all_layers(tokens: int) -> Work:  # @stepover
    """Send tokens through the matrices of a model: 48 layers of width 1600, with four matrices
    around attention and three of 6400 features, and the head."""
    D, F = 1600, 6400
    matrices = {(D, D): 48 * 4, (D, F): 48 * 2, (F, D): 48, (D, GPT2_VOCABULARY): 1}
    works = [
        (count, work_of(lambda r=r, c=c: bf16(tokens, r) @ bf16(r, c)))
        for (r, c), count in matrices.items()
    ]
    return Work(
        sum(count * work.flops for count, work in works),
        sum(count * work.moved_bytes for count, work in works),
    )
