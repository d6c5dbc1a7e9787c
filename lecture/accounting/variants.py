"""Shapes of today's models that `lecture/lib/transformer.py` does not build: the calculator knows
what they cost, and the tests compare it with such layers written out."""

from dataclasses import dataclass

from lecture.lib.transformer import TransformerConfig


@dataclass(frozen=True)
class Variant(TransformerConfig):
    """A Transformer whose heads share keys and values, or whose feed-forward network is one of
    several for each token. Raises `ValueError` for sizes that make none.

    Grouped-query attention: `heads / key_value_heads` heads of queries use the same keys and
    values. Mixture of experts: a router, a matrix of D×experts, chooses `active_experts` networks
    for each token.
    """

    key_value_heads: int | None = None
    experts: int = 1
    active_experts: int = 1

    def __post_init__(self) -> None:  # @stepover
        super().__post_init__()
        shared = self.heads if self.key_value_heads is None else self.key_value_heads
        if shared < 1 or self.heads % shared:
            raise ValueError(
                f"heads must be a multiple of key-value heads: {self.heads} heads cannot share "
                f"{shared}."
            )
        if not 1 <= self.active_experts <= self.experts:
            raise ValueError(
                f"active experts must be from 1 to {self.experts}, which is all there are, not "
                f"{self.active_experts}."
            )


def key_value_width(config: TransformerConfig) -> int:  # @stepover
    """Features of the keys of a token, and of its values."""
    shared = getattr(config, "key_value_heads", None) or config.heads
    return config.width // config.heads * shared


def experts(config: TransformerConfig) -> int:  # @stepover
    """Feed-forward networks in each layer."""
    return getattr(config, "experts", 1)


def active_experts(config: TransformerConfig) -> int:  # @stepover
    """Feed-forward networks that each token passes in each layer."""
    return getattr(config, "active_experts", 1)
