"""Ways to train a larger model in the same memory, with the same results up to rounding."""

import functools

from torch import nn
from torch.utils.checkpoint import checkpoint


def recompute_blocks(model: nn.Module) -> None:
    """Keep only what enters each block; the backward pass computes the rest a second time.

    The forward pass of a block is replaced and the block is not, so that its parameters keep their
    names in checkpoints.
    """
    for block in model.blocks:
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)


def fuse_attention(model: nn.Module) -> None:
    """Compute attention in one kernel, which keeps a number for each row in place of T weights."""
    for block in model.blocks:
        block.attention.fused = True
