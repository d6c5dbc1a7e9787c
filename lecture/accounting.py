"""The bill of a Transformer before it is run: parameters, FLOPs, memory, time.

Closed formulas for `lecture/transformer.py`, a function each. What is counted:

- FLOPs are those of matrix products, an addition and a multiplication each. Scores that the causal
  mask hides are computed, so they count.
- Activation bytes are what waits for the way back after the loss has been computed, as this
  implementation keeps it (`lecture/transformer.py` says where). The masks and the rows of sines and
  cosines that wait with them are listed by themselves.
- A backward pass costs twice the forward pass: every product has two factors, both of which need a
  gradient.

Letters: B sequences of T tokens, L layers, D features, h heads, F features inside the feed-forward
network, V entries in the vocabulary.
"""

from lecture.transformer import TransformerConfig

SECONDS_PER_DAY = 86_400
FP32_BYTES = 4
INT64_BYTES = 8


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


def forward_flops_by_part(config: TransformerConfig, tokens: int, batch: int = 1) -> dict[str, int]:
    """Count the matmul FLOPs of a forward pass over `batch` sequences of `tokens` tokens."""
    L, D, F, V = config.layers, config.width, config.feed_forward, config.vocabulary
    B, T = batch, tokens
    return {
        "projections": B * L * 8 * T * D**2,
        "scores and values": B * L * 4 * T**2 * D,
        "feed-forward": B * L * 6 * T * D * F,
        "head": B * 2 * T * D * V,
    }


def backward_flops(config: TransformerConfig, tokens: int, batch: int = 1) -> int:
    """Count the matmul FLOPs of the backward pass that follows."""
    return 2 * sum(forward_flops_by_part(config, tokens, batch).values())


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
        "norms": (2 * L + 1) * norm_bytes,
        "queries, keys, values, mean": L * 4 * BT * D * e,
        "attention weights": L * h * BT * tokens * e,
        "feed-forward": L * 4 * BT * F * e,
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
