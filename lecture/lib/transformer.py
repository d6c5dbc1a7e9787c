"""A Transformer language model, written out: parts, block, model and loss.

It has the parts of many open models: normalization in front of each sublayer (RMSNorm), rotary
positions, a gated feed-forward network (SwiGLU), no biases. What these models choose differently
is a choice here, too: grouped queries, a mixture of experts, an LM head that is the embedding
matrix, the order of rotary pairs, and fused attention. Parts with parameters take `device` and
`dtype` and hand them on, so a model can be built on the `meta` device, without memory; those with
numbers to draw take a `generator` too. All matrices but the LM head start with the same scale for
their inputs; those that add to the stream are not scaled down with the number of layers, as some
models do.

The letters of the shapes: B sequences, T tokens in each, S tokens to look back at (S = T without a
cache), R = B·T rows, D features, H heads of K = D / H features each, G heads of keys and values,
F features inside the feed-forward network, V entries in the vocabulary.
"""

import math
from dataclasses import dataclass
from typing import TypedDict, Unpack

import einops
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lecture.lib.normal import draw_cut_normal
from lecture.lib.shapes import shape_checked


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes that make a model. Raises `ValueError` for sizes that make none."""

    vocabulary: int  # V: entries
    context: int  # the longest T: tokens
    layers: int  # L: blocks
    width: int  # D: features of a token
    heads: int  # H: attention heads of D / H features each
    feed_forward: int  # F: features inside a feed-forward network
    rotation_base: float = 10_000.0  # pair p of a head turns by base ** (-2p / K) per token
    rotary_halves: bool = False  # features p and p + K/2 are a pair, not 2p and 2p + 1
    key_value_heads: int | None = None  # G: heads of keys and values; None is one for each head
    experts: int = 1  # feed-forward networks in each layer
    active_experts: int = 1  # of which each token passes so many
    tied: bool = False  # whether the LM head is the embedding matrix

    def __post_init__(self) -> None:  # @stepover
        whole = ("vocabulary", "context", "layers", "width", "heads", "feed_forward", "experts")
        for name in whole:
            size = getattr(self, name)
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {size!r}.")
        if self.width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads: {self.width} features cannot be shared out "
                f"evenly among {self.heads} heads."
            )
        if self.width // self.heads % 2:
            raise ValueError(
                f"a head must have an even number of features, as rotary positions turn pairs: "
                f"{self.width} / {self.heads} = {self.width // self.heads} is odd."
            )
        if self.key_value_heads is not None and (
            self.key_value_heads < 1 or self.heads % self.key_value_heads
        ):
            raise ValueError(
                f"heads must be a multiple of key-value heads: {self.heads} heads cannot share "
                f"{self.key_value_heads}."
            )
        if not 1 <= self.active_experts <= self.experts:
            raise ValueError(
                f"active experts must be from 1 to {self.experts}, which is all there are, not "
                f"{self.active_experts}."
            )

    @property
    def key_value_width(self) -> int:  # @stepover
        """Features of a token's keys, and of its values: G·K."""
        return self.width // self.heads * (self.key_value_heads or self.heads)


class Made(TypedDict, total=False):
    """Where the numbers of a part lie, and in which format."""

    device: torch.device | str | None
    dtype: torch.dtype | None


class Drawn(Made, total=False):
    """And where they are drawn from."""

    generator: torch.Generator | None


def normal_parameter(
    *shape: int, std: float, generator: torch.Generator | None = None, **made: Unpack[Made]
) -> nn.Parameter:
    """Draw normal numbers, cut at three standard deviations."""
    weight = nn.Parameter(torch.empty(shape, **made))
    draw_cut_normal(weight, std, generator)
    return weight


class Linear(nn.Module):
    """Multiply by a matrix, stored as (outputs, inputs); no bias."""

    def __init__(
        self, inputs: int, outputs: int, *, std: float | None = None, **drawn: Unpack[Drawn]
    ) -> None:
        super().__init__()
        std = 1 / math.sqrt(inputs) if std is None else std
        self.weight = normal_parameter(outputs, inputs, std=std, **drawn)

    @shape_checked
    def forward(self, x: Float[Tensor, "*lead inputs"]) -> Float[Tensor, "*lead outputs"]:
        return einops.einsum(x, self.weight, "... inputs, outputs inputs -> ... outputs")


class Embedding(nn.Module):
    """One row of D features for each entry of the vocabulary."""

    def __init__(
        self, vocabulary: int, width: int, *, std: float = 1.0, **drawn: Unpack[Drawn]
    ) -> None:
        super().__init__()
        self.weight = normal_parameter(vocabulary, width, std=std, **drawn)

    @shape_checked
    def forward(self, tokens: Int[Tensor, "*lead"]) -> Float[Tensor, "*lead D"]:
        return self.weight[tokens]


class RMSNorm(nn.Module):
    """Divide each token's features by their root mean square, then scale each with its gain."""

    def __init__(self, width: int, *, epsilon: float = 1e-5, **made: Unpack[Made]) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width, **made))
        self.epsilon = epsilon

    @shape_checked
    def forward(self, x: Float[Tensor, "*lead D"]) -> Float[Tensor, "*lead D"]:
        # In fp32 whatever comes in: squares overflow fp16, and a factor rounded to bf16 would be
        # wrong for all features at once. The result is rounded once.
        wide = x.float()
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        normed = wide * torch.rsqrt(mean_square + self.epsilon)
        return (normed * self.gain).to(x.dtype)


class SwiGLU(nn.Module):
    """The feed-forward network: two ways up, one gating the other, and one way down."""

    def __init__(self, width: int, feed_forward: int, **drawn: Unpack[Drawn]) -> None:
        super().__init__()
        self.gate = Linear(width, feed_forward, **drawn)
        self.up = Linear(width, feed_forward, **drawn)
        self.down = Linear(feed_forward, width, **drawn)

    @shape_checked
    def forward(self, x: Float[Tensor, "*lead D"]) -> Float[Tensor, "*lead D"]:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class RotaryPositions(nn.Module):
    """Turn each pair of features by an angle that grows with the position.

    Pair p of a head with K features turns by `position * base ** (-2 * p / K)` radians. A pair is
    features 2p and 2p + 1, as in the paper; with `halves` it is features p and p + K/2.
    Source: Su et al., RoFormer, https://arxiv.org/abs/2104.09864.
    """

    def __init__(
        self,
        head_width: int,
        context: int,
        *,
        base: float = 10_000.0,
        halves: bool = False,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.order = "(two pair)" if halves else "(pair two)"
        pairs = torch.arange(head_width // 2, device=device, dtype=torch.float32)
        positions = torch.arange(context, device=device, dtype=torch.float32)
        angles = positions[:, None] * base ** (-2 * pairs / head_width)
        # Derived and not learnt, hence no part of what is saved.
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)

    @shape_checked
    def forward(
        self, x: Float[Tensor, "*lead T K"], positions: Int[Tensor, " T"]
    ) -> Float[Tensor, "*lead T K"]:
        cosine, sine = self.cosine[positions], self.sine[positions]
        first, second = einops.rearrange(x.float(), f"... {self.order} -> two ... pair", two=2)
        turned = torch.stack(
            [first * cosine - second * sine, first * sine + second * cosine], dim=-1
        )
        return einops.rearrange(turned, f"... pair two -> ... {self.order}").to(x.dtype)


class KeepOnlyTheResult(torch.autograd.Function):
    """Softmax over the last axis that keeps its result and nothing else for the backward pass.

    As `torch.softmax` does. Spelled out for autograd, the exponentials would be kept beside the
    result. The exponentials and their sum are in fp32 or better; the result is rounded once.
    """

    @staticmethod
    def forward(ctx, scores: Tensor) -> Tensor:
        # Shifted so that the largest is 0: the result is the same, and no exponential overflows.
        largest = scores.amax(dim=-1, keepdim=True)
        if scores.dtype.itemsize < torch.float32.itemsize:
            largest = largest.float()  # so the difference is, too
        weights = (scores - largest).exp()
        weights /= weights.sum(dim=-1, keepdim=True)
        weights = weights.to(scores.dtype)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        (weights,) = ctx.saved_tensors
        weighted = gradient * weights
        return weighted - weights * weighted.sum(dim=-1, keepdim=True)


@shape_checked
def softmax(scores: Float[Tensor, "*lead S"]) -> Float[Tensor, "*lead S"]:
    """Positive numbers that add up to 1 over the last axis, in the proportions of exp(scores)."""
    return KeepOnlyTheResult.apply(scores)


@shape_checked
def attend(
    query: Float[Tensor, "*lead T K"],
    key: Float[Tensor, "*#lead S K"],
    value: Float[Tensor, "*#lead S K"],
    visible: Bool[Tensor, "T S"],
) -> Float[Tensor, "*lead T K"]:
    """Scaled dot-product attention: for each query a weighted mean of the visible values.

    An axis of 1 among the leading ones of keys and values is shared by all queries along it.
    Source: Vaswani et al., Attention is all you need, https://arxiv.org/abs/1706.03762.
    """
    scores = einops.einsum(query, key, "... T K, ... S K -> ... T S") / math.sqrt(query.shape[-1])
    weights = softmax(scores.masked_fill_(~visible, -torch.inf))
    return einops.einsum(weights, value, "... T S, ... S K -> ... T K")


class LayerCache:
    """The keys and values of one layer for the tokens seen so far."""

    def __init__(self) -> None:
        self.key: Tensor | None = None
        self.value: Tensor | None = None

    @property
    def tokens(self) -> int:
        return 0 if self.key is None else self.key.shape[-2]

    def extend(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens, of shape (B, G, T, K); return all of them."""
        if self.key is not None:
            key = torch.cat([self.key, key], dim=-2)
            value = torch.cat([self.value, value], dim=-2)
        self.key, self.value = key, value
        return key, value


class Attention(nn.Module):
    """Causal self-attention with several heads and rotary positions.

    With fewer heads of keys and values, groups of heads share them: grouped-query attention
    (Ainslie et al., https://arxiv.org/abs/2305.13245). `fused` leaves the mixing to PyTorch's
    kernel, which stores no T×S weights, unless the cache has tokens already.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        rotary: RotaryPositions,
        *,
        key_value_heads: int | None = None,
        fused: bool = False,
        **drawn: Unpack[Drawn],
    ) -> None:
        super().__init__()
        self.heads = heads
        self.key_value_heads = key_value_heads or heads
        self.fused = fused
        self.rotary = rotary
        key_value_width = width // heads * self.key_value_heads
        self.query = Linear(width, width, **drawn)
        self.key = Linear(width, key_value_width, **drawn)
        self.value = Linear(width, key_value_width, **drawn)
        self.output = Linear(width, width, **drawn)

    @shape_checked
    def forward(
        self, x: Float[Tensor, "B T D"], cache: LayerCache | None = None
    ) -> Float[Tensor, "B T D"]:
        start = 0 if cache is None else cache.tokens
        positions = torch.arange(start, start + x.shape[1], device=x.device)
        query = self.rotary(self.split(self.query(x), self.heads), positions)
        key = self.rotary(self.split(self.key(x), self.key_value_heads), positions)
        value = self.split(self.value(x), self.key_value_heads)
        if cache is not None:
            key, value = cache.extend(key, value)
        if self.fused and start == 0:
            mixed = functional.scaled_dot_product_attention(
                query, key, value, is_causal=True, enable_gqa=self.key_value_heads < self.heads
            )
        else:
            looked_at = torch.arange(key.shape[-2], device=x.device)
            mixed = self.mix(query, key, value, visible=looked_at <= positions[:, None])
        return self.output(einops.rearrange(mixed, "B H T K -> B T (H K)"))

    @shape_checked
    def split(self, x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B heads T K"]:
        """Share out the features among the heads."""
        return einops.rearrange(x, "B T (heads K) -> B heads T K", heads=heads)

    @shape_checked
    def mix(
        self,
        query: Float[Tensor, "B H T K"],
        key: Float[Tensor, "B G S K"],
        value: Float[Tensor, "B G S K"],
        visible: Bool[Tensor, "T S"],
    ) -> Float[Tensor, "B H T K"]:
        """Attend; the heads of a group use the same keys and values, which are not copied."""
        if self.key_value_heads == self.heads:
            return attend(query, key, value, visible)
        query = einops.rearrange(query, "B (G n) T K -> B G n T K", G=self.key_value_heads)
        key, value = (einops.rearrange(part, "B G S K -> B G 1 S K") for part in (key, value))
        return einops.rearrange(attend(query, key, value, visible), "B G n T K -> B (G n) T K")


class Experts(nn.Module):
    """A mixture of experts: a router sends each token through a few of several SwiGLU networks.

    Their results are added up with weights, a softmax over the scores of the chosen ones, as in
    Mixtral (Jiang et al., https://arxiv.org/abs/2401.04088).
    """

    def __init__(
        self, width: int, feed_forward: int, experts: int, active: int, **drawn: Unpack[Drawn]
    ) -> None:
        super().__init__()
        self.active = active
        self.router = Linear(width, experts, **drawn)
        self.networks = nn.ModuleList(SwiGLU(width, feed_forward, **drawn) for _ in range(experts))

    @shape_checked
    def forward(self, x: Float[Tensor, "*lead D"]) -> Float[Tensor, "*lead D"]:
        rows = x.flatten(0, -2)
        scores, chosen = self.router(rows).topk(self.active)
        weights = softmax(scores)
        y = torch.zeros_like(rows)
        for number, network in enumerate(self.networks):
            row, place = (chosen == number).nonzero(as_tuple=True)
            if len(row):
                result = weights[row, place, None] * network(rows[row])
                # Unlike `index_add`, this keeps no copy of the result for the backward pass.
                y = y.index_put((row,), result.to(y.dtype), accumulate=True)
        return y.view_as(x)


class Block(nn.Module):
    """Attention, then the feed-forward network, each behind an RMSNorm and added to its input.

    With several experts, a mixture of them stands in the place of the feed-forward network.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        feed_forward: int,
        rotary: RotaryPositions,
        *,
        key_value_heads: int | None = None,
        experts: int = 1,
        active_experts: int = 1,
        fused: bool = False,
        generator: torch.Generator | None = None,
        **made: Unpack[Made],
    ) -> None:
        super().__init__()
        drawn: Drawn = {"generator": generator, **made}
        self.attention_norm = RMSNorm(width, **made)
        self.attention = Attention(
            width, heads, rotary, key_value_heads=key_value_heads, fused=fused, **drawn
        )
        self.feed_forward_norm = RMSNorm(width, **made)
        self.feed_forward = (
            Experts(width, feed_forward, experts, active_experts, **drawn)
            if experts > 1
            else SwiGLU(width, feed_forward, **drawn)
        )

    @shape_checked
    def forward(
        self, x: Float[Tensor, "B T D"], cache: LayerCache | None = None
    ) -> Float[Tensor, "B T D"]:
        x = x + self.attention(self.attention_norm(x), cache)
        return x + self.feed_forward(self.feed_forward_norm(x))


class TransformerLM(nn.Module):
    """From tokens to logits: embedding, L blocks, a last norm, and the LM head.

    `fused` says how attention is computed, not what: the parameters are the same. `generator` draws
    the start values; `device` and `dtype` go to every parameter.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        fused: bool = False,
        generator: torch.Generator | None = None,
        **made: Unpack[Made],
    ) -> None:
        super().__init__()
        drawn: Drawn = {"generator": generator, **made}
        D, V = config.width, config.vocabulary
        self.config = config
        # As the LM head, a table of standard deviation 1 would start with logits of √D.
        self.embedding = Embedding(V, D, std=1 / math.sqrt(D) if config.tied else 1.0, **drawn)
        rotary = RotaryPositions(
            D // config.heads,
            config.context,
            base=config.rotation_base,
            halves=config.rotary_halves,
            device=made.get("device"),
        )
        self.blocks = nn.ModuleList(
            Block(
                D,
                config.heads,
                config.feed_forward,
                rotary,
                key_value_heads=config.key_value_heads,
                experts=config.experts,
                active_experts=config.active_experts,
                fused=fused,
                **drawn,
            )
            for _ in range(config.layers)
        )
        self.final_norm = RMSNorm(D, **made)
        # A small start: the first predictions are nearly uniform over the vocabulary.
        self.head = Linear(
            D, V, std=1 / D, **(drawn | {"device": "meta"} if config.tied else drawn)
        )
        if config.tied:
            self.head.weight = self.embedding.weight

    @shape_checked
    def forward(
        self, tokens: Int[Tensor, "B T"], caches: list[LayerCache] | None = None
    ) -> Float[Tensor, "B T V"]:
        seen = tokens.shape[1] + (caches[0].tokens if caches else 0)
        if seen > self.config.context:
            raise ValueError(
                f"{seen} tokens do not fit into the model's context of {self.config.context}."
            )
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number] if caches else None)
        return self.head(self.final_norm(x))


@shape_checked
def cross_entropy(
    logits: Float[Tensor, "*lead V"], targets: Int[Tensor, "*lead"]
) -> Float[Tensor, ""]:
    """Mean over all targets of -log p(target), in nats, where p = softmax(logits).

    Taken as log(sum(exp(logits))) - logits[target]: no probability is computed that could
    round to 0.
    """
    rows = einops.rearrange(logits.float(), "... V -> (...) V")
    largest = rows.detach().amax(dim=1, keepdim=True)
    log_sum = (rows - largest).exp().sum(dim=1).log() + largest[:, 0]
    # Indexing keeps no logits for the backward pass, as `gather` would; the exponentials are kept.
    hit = rows[torch.arange(len(rows), device=rows.device), targets.flatten().long()]
    return (log_sum - hit).mean()
