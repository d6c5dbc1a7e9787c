"""What sharding buys: bytes that each of n ranks keeps, and bytes that it sends for that.

The stages are those of ZeRO: 0 shares out nothing (data parallelism), 1 the optimizer's state, 2
the gradients as well, 3 the weights as well (FSDP). Source: Rajbhandari et al., ZeRO,
https://arxiv.org/abs/1910.02054.
"""

STAGES = ("none", "state", "gradients", "full")
"""What is shared out, by stage."""


def bytes_per_parameter(
    stage: int, ranks: int, weight: float = 2, gradient: float = 2, state: float = 12
) -> float:  # @stepover
    """Return the bytes per parameter that each rank keeps.

    `weight`, `gradient` and `state` are the bytes per parameter of each; by default those of bf16
    with an fp32 copy in the optimizer's state.
    """
    parts = {1: state, 2: gradient, 3: weight}
    return sum(size / ranks if stage >= first else size for first, size in parts.items())


def sent_bytes_per_parameter(stage: int, ranks: int, element: float = 2) -> float:  # @stepover
    """Return the bytes per parameter that each rank sends in a step, in numbers of `element` bytes.

    A reduce-scatter of gradients and an all-gather of weights, or an all-reduce, which is both. In
    stage 3 weights are gathered twice, for the forward pass and for the backward pass.
    """
    collectives = 3 if stage == 3 else 2
    return collectives * element * (ranks - 1) / ranks
