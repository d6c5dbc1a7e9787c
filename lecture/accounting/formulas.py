"""What a Transformer costs before it runs: parameters, FLOPs, time.

Closed formulas for `lecture/lib/transformer.py`, a function each. What is counted:

- FLOPs are those of matmuls, an addition and a multiplication each. Scores that the causal mask
  hides are computed, so they count.
- A backward pass costs twice the forward pass: every matmul has two factors, both of which need a
  gradient. (Fused attention computes its scores once more; that is not work of the model.)

Letters: B sequences of T tokens, L layers, D features, H heads of K = D/H features, F features
inside a feed-forward network, V entries in the vocabulary.
"""

from lecture.facts import SECONDS_PER_DAY
from lecture.lib.transformer import TransformerConfig


def multiplying_parameters_by_part(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of the matrices inside the layers, over all layers."""
    L, D, F = config.layers, config.width, config.feed_forward
    parts = {
        "attention": L * 2 * D * (D + config.key_value_width),
        "feed-forward": L * config.experts * 3 * D * F,
    }
    if config.experts > 1:
        parts["router"] = L * D * config.experts
    return parts


def parameters_by_part(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of each part, over all layers; a tied head has none of its own."""
    L, D, V = config.layers, config.width, config.vocabulary
    return {
        "embedding": V * D,
        **multiplying_parameters_by_part(config),
        "norms": (2 * L + 1) * D,
        "head": 0 if config.tied else V * D,
    }


def parameters(config: TransformerConfig) -> int:  # @stepover
    """Count all parameters."""
    return sum(parameters_by_part(config).values())


def active_parameters(config: TransformerConfig) -> int:  # @stepover
    """Count the parameters that a token meets: of the experts only the chosen ones."""
    idle = config.experts - config.active_experts
    return parameters(config) - config.layers * idle * 3 * config.width * config.feed_forward


def forward_flops_by_part(config: TransformerConfig, tokens: int, batch: int = 1) -> dict[str, int]:
    """Count the matmul FLOPs of a forward pass over B sequences of T tokens, part by part."""
    L, D, F, V = config.layers, config.width, config.feed_forward, config.vocabulary
    B, T = batch, tokens
    parts = {
        "feed-forward": B * L * config.active_experts * 6 * T * D * F,
        "projections": B * L * 4 * T * D * (D + config.key_value_width),
        "scores and values": B * L * 4 * T**2 * D,
        "head": B * 2 * T * D * V,
    }
    if config.experts > 1:
        parts["router"] = B * L * 2 * T * D * config.experts
    return parts


def forward_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:  # @stepover
    """Count the matmul FLOPs of a forward pass."""
    return sum(forward_flops_by_part(config, tokens, batch).values())


def backward_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:
    """Count the matmul FLOPs of the backward pass that follows."""
    return 2 * forward_flops(config, tokens, batch)


def step_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:  # @stepover
    """Count the matmul FLOPs of a training step, without those of an optimizer such as Muon."""
    return forward_flops(config, tokens, batch) + backward_flops(config, tokens, batch)


def training_days(
    config: TransformerConfig,
    tokens: int,
    training_tokens: int,
    device_flops_per_second: float,
    mfu: float,
) -> float:
    """Return how long one device takes to train on so many tokens, in sequences of T."""
    work_flops = step_flops(config, tokens) * training_tokens / tokens
    return work_flops / (device_flops_per_second * mfu) / SECONDS_PER_DAY


def cache_bytes(
    config: TransformerConfig, tokens: int, batch: int = 1, element_bytes: int = 4
) -> int:
    """Count the bytes of the KV cache: the keys and values kept while a model decodes."""
    return 2 * config.layers * batch * tokens * config.key_value_width * element_bytes
