"""The bill of a Transformer before it is run: parameters, FLOPs, memory, time.

Closed formulas for `lecture/lib/transformer.py`, a function each. What is counted:

- FLOPs are those of matrix products, an addition and a multiplication each. Scores that the causal
  mask hides are computed, so they count.
- Activation bytes are what waits for the way back after the loss has been computed, as this
  implementation keeps it (`lecture/lib/transformer.py` says where). The masks and the rows of sines
  and cosines that wait with them are listed by themselves.
- A backward pass costs twice the forward pass: every product has two factors, both of which need a
  gradient.
- Optimizers keep their state in fp32, as those of `lecture/lib/optim.py` do.

Letters: B sequences of T tokens, L layers, D features, h heads, F features inside the feed-forward
network, V entries in the vocabulary.
"""

from lecture.facts import SECONDS_PER_DAY
from lecture.lib.transformer import TransformerConfig

FP32_BYTES = 4
INT64_BYTES = 8

# How many numbers an optimizer keeps for each parameter, in fp32. A master copy, one of the three,
# is for weights in fewer bits.
OPTIMIZER_NUMBERS = {"sgd": 0, "momentum": 1, "adagrad": 1, "adamw": 2, "adamw-master": 3}


def parameters_by_part(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of each part, over all layers."""
    L, D, F, V = config.layers, config.width, config.feed_forward, config.vocabulary
    return {
        "embedding": V * D,
        "attention": L * 4 * D**2,
        "feed-forward": L * 3 * D * F,
        "norms": (2 * L + 1) * D,
        "head": V * D,
    }


def parameters(config: TransformerConfig) -> int:  # @stepover
    """Count all parameters."""
    return sum(parameters_by_part(config).values())


def forward_flops_by_part(config: TransformerConfig, tokens: int, batch: int = 1) -> dict[str, int]:
    """Count the matmul FLOPs of a forward pass over B sequences of T tokens, part by part."""
    L, D, F, V = config.layers, config.width, config.feed_forward, config.vocabulary
    B, T = batch, tokens
    return {
        "feed-forward": B * L * 6 * T * D * F,
        "projections": B * L * 8 * T * D**2,
        "scores and values": B * L * 4 * T**2 * D,
        "head": B * 2 * T * D * V,
    }


def forward_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:  # @stepover
    """Count the matmul FLOPs of a forward pass."""
    return sum(forward_flops_by_part(config, tokens, batch).values())


def backward_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:
    """Count the matmul FLOPs of the backward pass that follows."""
    return 2 * forward_flops(config, tokens, batch)


def step_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:  # @stepover
    """Count the matmul FLOPs of a training step; the optimizer multiplies no matrices."""
    return forward_flops(config, tokens, batch) + backward_flops(config, tokens, batch)


def activation_bytes_by_part(
    config: TransformerConfig, tokens: int, batch: int = 1, element_bytes: int = FP32_BYTES
) -> dict[str, int]:
    """Count the bytes that wait for the backward pass when the loss has been computed.

    `element_bytes`: 4 for a model in fp32, 2 for one in bf16 (whose norms and loss compute in fp32
    nevertheless, and keep that).
    """
    L, D, F, V, h = (
        config.layers,
        config.width,
        config.feed_forward,
        config.vocabulary,
        config.heads,
    )
    BT, e = batch * tokens, element_bytes
    # What came in and what was divided, in fp32; the result in the model's type; one factor per
    # token.
    norm_bytes = BT * ((2 * FP32_BYTES + e) * D + FP32_BYTES)
    return {
        "attention weights": L * h * BT * tokens * e,
        "feed-forward": L * 4 * BT * F * e,
        "norms": (2 * L + 1) * norm_bytes,
        "queries, keys, values, mean": L * 4 * BT * D * e,
        "loss": FP32_BYTES * (BT * V + BT + 1),
    }


def constant_bytes(config: TransformerConfig, tokens: int, batch: int = 1) -> int:
    """Count the bytes of what waits with the activations and depends on no parameter.

    Masks, cosines and sines are made once per layer for all sequences; the loss numbers its rows.
    """
    T, K = tokens, config.width // config.heads
    mask_bytes = T**2  # a truth value takes a byte
    rotation_bytes = 2 * 2 * T * (K // 2) * FP32_BYTES  # cosine and sine, for queries and keys
    return config.layers * (mask_bytes + rotation_bytes) + batch * tokens * INT64_BYTES


def training_bytes_by_part(
    config: TransformerConfig,
    tokens: int,
    batch: int = 1,
    element_bytes: int = FP32_BYTES,
    optimizer: str = "adamw",
) -> dict[str, int]:
    """Add up what is in memory once a loss has been computed and gradients are still there.

    That is the case from the second of several micro-batches on. Not counted are the data, and
    tensors that live for one operation, such as further copies of the logits.
    """
    N = parameters(config)
    activations = activation_bytes_by_part(config, tokens, batch, element_bytes)
    # Cosines and sines for each position there can be, shared by all layers.
    table_bytes = 2 * config.context * (config.width // config.heads // 2) * FP32_BYTES
    return {
        "parameters": element_bytes * N,
        "gradients": element_bytes * N,
        "optimizer state": FP32_BYTES * OPTIMIZER_NUMBERS[optimizer] * N,
        "activations": sum(activations.values()),
        "masks and positions": constant_bytes(config, tokens, batch) + table_bytes,
    }


def training_bytes(
    config: TransformerConfig,
    tokens: int,
    batch: int = 1,
    element_bytes: int = FP32_BYTES,
    optimizer: str = "adamw",
) -> int:  # @stepover
    """Add up all parts of the memory in training."""
    return sum(training_bytes_by_part(config, tokens, batch, element_bytes, optimizer).values())


def largest_batch(
    config: TransformerConfig,
    tokens: int,
    memory_bytes: int,
    element_bytes: int = FP32_BYTES,
    optimizer: str = "adamw",
) -> int:  # @stepover
    """Return how many sequences can be trained on at once; 0 if there is no room for one."""
    fixed_bytes, one_bytes = (
        training_bytes(config, tokens, batch, element_bytes, optimizer) for batch in (0, 1)
    )
    return max(0, (memory_bytes - fixed_bytes) // (one_bytes - fixed_bytes))


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
    config: TransformerConfig, tokens: int, batch: int = 1, element_bytes: int = FP32_BYTES
) -> int:
    """Count the bytes of the keys and values that are kept while texts are written."""
    return 2 * config.layers * batch * tokens * config.width * element_bytes
