"""Numbers in fewer bits, and what that loses."""

import einops
import torch
from jaxtyping import Float, Float64, Int, UInt8
from torch import Tensor

from lecture.lib.shapes import shape_checked


@shape_checked
def relative_error(x: Float[Tensor, "..."], exact: Float64[Tensor, "..."]) -> float:  # @stepover
    """Return the size of the difference, as a share of the size of the exact tensor."""
    return ((x.double() - exact).norm() / exact.norm()).item()


@shape_checked
def quantized(
    w: Float[Tensor, "rows columns"], bits: int, block: int
) -> tuple[Int[Tensor, "rows blocks block"], Float[Tensor, "rows blocks 1"]]:  # @stepover
    """Round to integers between −(2^(bits−1) − 1) and its opposite, with a scale for each block of
    a row that brings the largest number there."""
    blocks = einops.rearrange(w, "rows (blocks block) -> rows blocks block", block=block)
    most = 2 ** (bits - 1) - 1
    scales = blocks.abs().amax(dim=2, keepdim=True) / most
    return (blocks / scales).round().to(torch.int8), scales


@shape_checked
def packed(integers: Int[Tensor, "rows columns"]) -> UInt8[Tensor, "rows half"]:  # @stepover
    """Put two integers of 4 bits into each byte, the first in the lower half."""
    nibbles = (integers & 0xF).to(torch.uint8)
    return nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
