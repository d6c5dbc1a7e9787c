"""Batches: windows of a text, made-up data, and the generators they are drawn with."""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from lecture.lib.shapes import shape_checked


def derived_generator(*path: int) -> torch.Generator:
    """Make a generator whose seed is mixed from all numbers given, in their order.

    Zeros at the end do not count: hand over equally many numbers for all purposes.
    """
    [seed] = np.random.SeedSequence(path).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(seed))


def random_starts(
    file_tokens: int, T: int, count: int, generator: torch.Generator
) -> list[int]:  # @stepover
    """Draw places where a window of T tokens can start and leave one token behind it."""
    return torch.randint(file_tokens - T, (count,), generator=generator).tolist()


@shape_checked
def get_batch(
    tokens: np.ndarray, B: int, T: int, generator: torch.Generator, device: str = "cpu"
) -> tuple[Int64[Tensor, "{B} {T}"], Int64[Tensor, "{B} {T}"]]:
    """Cut B windows at random places. The targets are the inputs, one token later."""
    starts = random_starts(len(tokens), T, B, generator)
    windows = np.stack([tokens[start : start + T + 1] for start in starts])
    both = torch.from_numpy(windows.astype(np.int64)).to(device)
    return both[:, :-1], both[:, 1:]


@shape_checked
def regression_batch(
    true_w: Float[Tensor, " D"], R: int, generator: torch.Generator
) -> tuple[Float[Tensor, "{R} D"], Float[Tensor, " {R}"]]:
    """Draw R rows of standard normal inputs, and answer each with its product with true weights."""
    x = torch.randn(R, len(true_w), generator=generator)
    return x, x @ true_w


@shape_checked
def squared_error(
    x: Float[Tensor, "R D"], y: Float[Tensor, " R"], w: Float[Tensor, " D"]
) -> Float[Tensor, ""]:
    """Average the squared distance between what w answers and y."""
    return (x @ w - y).square().mean()
