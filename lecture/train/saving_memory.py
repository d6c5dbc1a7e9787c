"""Two ways to train a larger model in the same memory. Neither changes what is computed."""

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
