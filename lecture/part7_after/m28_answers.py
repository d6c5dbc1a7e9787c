"""The answers of the sheet: what a Transformer costs, as functions of the lecture's letters."""

from dataclasses import dataclass

from lecture.lib.transformer import TransformerConfig


@dataclass(frozen=True)
class Letters:
    """The sizes of a model and its batch, by letter; G heads have keys and values of their own."""

    B: int
    T: int
    D: int
    F: int
    H: int
    G: int
    K: int
    L: int
    V: int

    @property
    def R(self) -> int:  # @stepover
        return self.B * self.T

    @property
    def N(self) -> int:  # @stepover
        return parameters(self)


def letters_of(config: TransformerConfig, B: int = 1) -> Letters:  # @stepover
    """Return the letters of a model and of B sequences that fill its context."""
    K = config.width // config.heads
    return Letters(
        B,
        T=config.context,
        D=config.width,
        F=config.feed_forward,
        H=config.heads,
        G=config.key_value_width // K,
        K=K,
        L=config.layers,
        V=config.vocabulary,
    )


def parameters(a: Letters) -> int:
    """Two matrices of the vocabulary, seven in each layer, and the gains of normalization."""
    layer = 2 * a.D**2 + 2 * a.D * a.G * a.K + 3 * a.D * a.F
    return 2 * a.V * a.D + a.L * layer + (2 * a.L + 1) * a.D


def forward_flops(a: Letters) -> int:
    """Two for each row and weight that multiplies; four for each pair of tokens and feature."""
    multiplying = a.N - a.V * a.D - (2 * a.L + 1) * a.D
    return 2 * a.R * multiplying + 4 * a.L * a.R * a.T * a.D


def activation_bytes(a: Letters, fused: bool = False) -> int:
    """What waits for the backward pass in fp32. Written out, attention keeps its T weights for each
    row and head; fused, it keeps one number and the mean in a second order."""
    of_attention = a.H + a.D if fused else a.H * a.T
    layer = of_attention + 4 * a.F + 8 * a.D + 2 * a.G * a.K + 2
    return 4 * a.R * (a.L * layer + 3 * a.D + a.V + 2) + 4


def loss_bytes(a: Letters) -> int:
    """What the loss needs for a moment, beside what waits: two more tables of logits, in fp32."""
    return 8 * a.R * a.V


def cache_bytes_per_token(a: Letters, element: int = 2) -> int:
    """A key and a value for each layer and each head that has its own."""
    return 2 * a.L * a.G * a.K * element
