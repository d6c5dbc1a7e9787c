"""The Transformer against PyTorch's own parts, against plain loops, and on bad input."""

import itertools
import math
from collections.abc import Iterator

import jaxtyping
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from lecture.lib.generation import generate, keep_top_k, keep_top_p, sample
from lecture.lib.transformer import (
    Attention,
    Block,
    Embedding,
    Experts,
    LayerCache,
    Linear,
    RMSNorm,
    RotaryPositions,
    SwiGLU,
    TransformerConfig,
    TransformerLM,
    attend,
    cross_entropy,
    softmax,
)

SIZES = {
    "vocabulary": 50,
    "context": 24,
    "layers": 2,
    "width": 16,
    "heads": 2,
    "feed_forward": 40,
}


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def model_of(seed: int = 0, **sizes: int) -> TransformerLM:
    config = TransformerConfig(**{**SIZES, **sizes})
    return TransformerLM(config, generator=torch.Generator().manual_seed(seed))


def gradients_agree(ours: Tensor, theirs: Tensor, inputs: list[Tensor]) -> bool:
    direction = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1))
    pairs = zip(
        torch.autograd.grad(ours, inputs, direction),
        torch.autograd.grad(theirs, inputs, direction),
        strict=True,
    )
    return all(torch.allclose(mine, other, atol=1e-5) for mine, other in pairs)


# Against PyTorch's own ---------------------------------------------------------------------------


def test_linear(generator: torch.Generator) -> None:
    layer = Linear(6, 4, generator=generator)
    x = torch.randn(2, 3, 6, generator=generator, requires_grad=True)
    theirs = functional.linear(x, layer.weight)
    assert torch.allclose(layer(x), theirs, atol=1e-6)
    assert gradients_agree(layer(x), theirs, [x, layer.weight])


def test_embedding(generator: torch.Generator) -> None:
    layer = Embedding(6, 4, generator=generator)
    tokens = torch.tensor([[0, 5], [5, 2]])
    theirs = functional.embedding(tokens, layer.weight)
    assert torch.equal(layer(tokens), theirs)
    assert gradients_agree(layer(tokens), theirs, [layer.weight])


def test_rmsnorm(generator: torch.Generator) -> None:
    layer = RMSNorm(8)
    with torch.no_grad():
        layer.gain.copy_(torch.randn(8, generator=generator))
    x = torch.randn(3, 8, generator=generator, requires_grad=True)
    theirs = functional.rms_norm(x, (8,), layer.gain, 1e-5)
    assert torch.allclose(layer(x), theirs, atol=1e-6)
    assert gradients_agree(layer(x), theirs, [x, layer.gain])


@pytest.mark.parametrize("shape", [(5,), (3, 1), (2, 3, 7)])
def test_softmax(shape: tuple[int, ...], generator: torch.Generator) -> None:
    scores = (5 * torch.randn(shape, generator=generator)).requires_grad_()
    theirs = torch.softmax(scores, dim=-1)
    assert torch.allclose(softmax(scores), theirs, atol=1e-6)
    assert gradients_agree(softmax(scores), theirs, [scores])


def test_softmax_passes_pytorch_s_check_of_gradients(generator: torch.Generator) -> None:
    scores = torch.randn(2, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (scores,))
    assert torch.autograd.gradgradcheck(softmax, (scores,))


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (1, 7), (3, 8)])
def test_attention(queries: int, keys: int, generator: torch.Generator) -> None:
    query = torch.randn(2, 3, queries, 4, generator=generator, requires_grad=True)
    key, value = (
        torch.randn(2, 3, keys, 4, generator=generator, requires_grad=True) for _ in range(2)
    )
    visible = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    theirs = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    ours = attend(query, key, value, visible)
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert gradients_agree(ours, theirs, [query, key, value])


@pytest.mark.parametrize("scale", [1, 30])
def test_cross_entropy(scale: float, generator: torch.Generator) -> None:
    logits = (scale * torch.randn(2, 5, 9, generator=generator)).requires_grad_()
    targets = torch.randint(9, (2, 5), generator=generator)
    theirs = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    assert torch.allclose(cross_entropy(logits, targets), theirs, rtol=1e-5)
    assert gradients_agree(cross_entropy(logits, targets), theirs, [logits])


def test_targets_may_be_16_bits_wide(generator: torch.Generator) -> None:
    logits = torch.randn(4, 9, generator=generator)
    targets = torch.tensor([8, 0, 3, 3])
    assert cross_entropy(logits, targets.short()) == cross_entropy(logits, targets)


# Against loops -----------------------------------------------------------------------------------


def test_rotary_positions_turn_each_pair(generator: torch.Generator) -> None:
    K, positions = 6, [0, 3, 11]
    x = torch.randn(2, len(positions), K, generator=generator)
    turned = RotaryPositions(K, 12, base=100.0)(x, torch.tensor(positions))
    for row in range(2):
        for place, position in enumerate(positions):
            for pair in range(K // 2):
                angle = position * 100.0 ** (-2 * pair / K)
                point = complex(*x[row, place, 2 * pair : 2 * pair + 2].tolist())
                point *= complex(math.cos(angle), math.sin(angle))
                found = turned[row, place, 2 * pair : 2 * pair + 2].tolist()
                assert found == pytest.approx([point.real, point.imag], abs=1e-5)


def test_swiglu_feature_by_feature(generator: torch.Generator) -> None:
    network = SwiGLU(3, 5, generator=generator)
    x = torch.randn(3, generator=generator)
    inner = []
    for unit in range(5):
        opened = (network.gate.weight[unit] @ x).item()
        inner.append(opened / (1 + math.exp(-opened)) * (network.up.weight[unit] @ x).item())
    wanted = network.down.weight @ torch.tensor(inner)
    assert torch.allclose(network(x), wanted, atol=1e-6)


def test_attention_head_by_head(generator: torch.Generator) -> None:
    D, h, T = 12, 3, 5
    rotary = RotaryPositions(D // h, T)
    attention = Attention(D, h, rotary, generator=generator)
    x = torch.randn(1, T, D, generator=generator)
    heads = []
    for head in range(h):
        rows = slice(head * D // h, (head + 1) * D // h)
        query, key, value = (
            x[0] @ part.weight[rows].T for part in (attention.query, attention.key, attention.value)
        )
        query, key = (rotary(part, torch.arange(T)) for part in (query, key))
        heads.append(attend(query, key, value, torch.ones(T, T, dtype=torch.bool).tril()))
    wanted = torch.cat(heads, dim=1) @ attention.output.weight.T
    assert torch.allclose(attention(x)[0], wanted, atol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_heads_of_a_group_share_keys_and_values(
    groups: int, fused: bool, generator: torch.Generator
) -> None:
    D, H, T = 24, 6, 5
    rotary = RotaryPositions(D // H, T)
    grouped = Attention(D, H, rotary, key_value_heads=groups, fused=fused, generator=generator)
    plain = Attention(D, H, rotary, generator=generator)
    with torch.no_grad():
        for name in ("query", "output"):
            getattr(plain, name).weight.copy_(getattr(grouped, name).weight)
        for name in ("key", "value"):
            heads = getattr(grouped, name).weight.unflatten(0, (groups, -1))
            getattr(plain, name).weight.copy_(
                heads.repeat_interleave(H // groups, dim=0).flatten(0, 1)
            )
    x = torch.randn(2, T, D, generator=generator, requires_grad=True)
    assert torch.allclose(grouped(x), plain(x), atol=1e-6)
    assert gradients_agree(grouped(x), plain(x), [x])


@pytest.mark.parametrize("fused", [False, True])
def test_a_cache_of_grouped_keys_gives_the_same(fused: bool) -> None:
    config = TransformerConfig(**SIZES, key_value_heads=1)
    model = TransformerLM(config, fused=fused, generator=torch.Generator().manual_seed(0))
    tokens = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(1))
    caches = [LayerCache() for _ in model.blocks]
    pieces = [model(piece, caches) for piece in tokens.split([4, 1, 3, 1], dim=1)]
    assert torch.allclose(torch.cat(pieces, dim=1), model(tokens), atol=1e-5)
    assert caches[0].key.shape == (2, 1, 9, 8)


def test_halves_are_pairs_in_another_order(generator: torch.Generator) -> None:
    K = 8
    x = torch.randn(3, 10, K, generator=generator)
    pairs, halves = (RotaryPositions(K, 10, halves=order) for order in (False, True))
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])  # the first of each pair, then the second
    turned = halves(x[..., order], torch.arange(10))
    assert torch.allclose(turned, pairs(x, torch.arange(10))[..., order], atol=1e-6)


@pytest.mark.parametrize("active", [1, 2, 4])
def test_experts_token_by_token(active: int, generator: torch.Generator) -> None:
    experts = Experts(6, 10, 4, active, generator=generator)
    x = torch.randn(2, 5, 6, generator=generator, requires_grad=True)
    rows = []
    for row in x.flatten(0, 1):
        scores = experts.router.weight @ row
        best = sorted(range(4), key=lambda number: -scores[number].item())[:active]
        weights = torch.softmax(scores[best], dim=0)
        results = (experts.networks[number](row) for number in best)
        rows.append(sum(w * result for w, result in zip(weights, results, strict=True)))
    wanted = torch.stack(rows).view_as(x)
    assert torch.allclose(experts(x), wanted, atol=1e-6)
    inputs = [x, experts.router.weight, experts.networks[0].up.weight]
    if active > 1:  # with one, its weight is 1 whatever its score
        assert gradients_agree(experts(x), wanted, inputs)


def test_a_tied_head_is_the_embedding() -> None:
    tied = TransformerLM(TransformerConfig(**SIZES, tied=True))
    assert tied.head.weight is tied.embedding.weight
    separate = TransformerLM(TransformerConfig(**SIZES))
    fewer = sum(map(Tensor.numel, separate.parameters()))
    assert fewer - sum(map(Tensor.numel, tied.parameters())) == 50 * 16


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_softmax_rounds_once(dtype: torch.dtype, generator: torch.Generator) -> None:
    scores = (5 * torch.randn(100, 300, generator=generator)).to(dtype)
    exact = torch.softmax(scores.double(), dim=-1)
    off = (softmax(scores).double() - exact).abs()
    # Half a step of the format, and less than a hundredth of that from fp32.
    half_a_step = 0.505 * torch.finfo(dtype).eps
    assert (off <= half_a_step * exact + torch.finfo(dtype).tiny * torch.finfo(dtype).eps).all()


def test_a_model_is_its_parts(generator: torch.Generator) -> None:
    model = model_of()
    tokens = torch.randint(50, (2, 7), generator=generator)
    x = functional.embedding(tokens, model.embedding.weight)
    for block in model.blocks:
        x = x + block.attention(functional.rms_norm(x, (16,), block.attention_norm.gain, 1e-5))
        x = x + block.feed_forward(
            functional.rms_norm(x, (16,), block.feed_forward_norm.gain, 1e-5)
        )
    x = functional.rms_norm(x, (16,), model.final_norm.gain, 1e-5)
    assert torch.allclose(model(tokens), x @ model.head.weight.T, atol=1e-5)


# Properties --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(place=st.integers(0, 11), seed=st.integers(0, 5))
def test_no_token_sees_a_later_one(place: int, seed: int) -> None:
    model = model_of(seed)
    tokens = torch.randint(50, (1, 12), generator=torch.Generator().manual_seed(seed))
    changed = tokens.clone()
    changed[0, place] = (changed[0, place] + 1) % 50
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :place], after[:, :place])
    assert not torch.allclose(before[:, place:], after[:, place:], atol=1e-6)


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(1, 23), max_size=4, unique=True))
def test_the_cache_may_be_filled_in_pieces(cuts: list[int]) -> None:
    model = model_of()
    tokens = torch.randint(50, (2, 24), generator=torch.Generator().manual_seed(1))
    caches = [LayerCache() for _ in model.blocks]
    bounds = [0, *sorted(cuts), 24]
    pieces = [model(tokens[:, start:stop], caches) for start, stop in itertools.pairwise(bounds)]
    assert torch.allclose(torch.cat(pieces, dim=1), model(tokens), atol=1e-5)
    assert caches[0].tokens == 24


SETTINGS = ({}, {"temperature": 0.0}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.7})


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_generation_is_the_same_with_the_cache_and_without(settings: dict[str, float]) -> None:
    model, prompt = model_of(), torch.tensor([[3, 1, 4], [1, 5, 9]])
    texts = [
        generate(
            model, prompt, 21, generator=torch.Generator().manual_seed(2), cached=cached, **settings
        )
        for cached in (True, False)
    ]
    assert torch.equal(*texts)
    assert texts[0].shape == (2, 24)
    assert torch.equal(texts[0][:, :3], prompt)


def test_the_coldest_generation_takes_the_most_likely_token() -> None:
    model, prompt = model_of(), torch.tensor([[3, 1, 4]])
    tokens = generate(model, prompt, 4, temperature=0.0)
    assert torch.equal(tokens[0, 3:], model(tokens)[0, 2:-1].argmax(dim=-1))


@settings(max_examples=100)
@given(
    logits=st.lists(st.floats(-5, 5), min_size=1, max_size=8),
    k=st.integers(1, 10),
    p=st.floats(0.01, 1),
)
def test_what_may_be_drawn(logits: list[float], k: int, p: float) -> None:
    row = torch.tensor([logits])
    kept_k, kept_p = (kept[0].isfinite() for kept in (keep_top_k(row, k), keep_top_p(row, p)))
    largest = sorted(row[0].tolist(), reverse=True)
    assert kept_k.tolist() == [value >= largest[min(k, len(largest)) - 1] for value in row[0]]
    probability = row[0].double().softmax(dim=0)
    assert kept_p[row[0].argmax()]
    assert probability[kept_p].sum() >= p - 1e-5
    # Without the least likely of them, it would be too few.
    least = probability[kept_p].min()
    assert probability[kept_p].sum() - least < p + 1e-5
    assert (probability[~kept_p] <= least + 1e-9).all()


def test_draws_follow_the_probabilities(generator: torch.Generator) -> None:
    logits = torch.tensor([0.7, 0.2, 0.1]).log().expand(10_000, 3)
    shares = sample(logits, generator=generator).bincount() / 10_000
    assert shares.tolist() == pytest.approx([0.7, 0.2, 0.1], abs=0.02)


# Devices, dtypes, saving -------------------------------------------------------------------------


def parts(**made: object) -> Iterator[nn.Module]:
    rotary = RotaryPositions(8, 24, device=made.get("device"))
    yield Linear(4, 3, **made)
    yield Embedding(4, 3, **made)
    yield RMSNorm(4, **made)
    yield SwiGLU(4, 6, **made)
    yield Attention(16, 2, rotary, **made)
    yield Block(16, 2, 40, rotary, **made)
    yield TransformerLM(TransformerConfig(**SIZES), **made)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_device_and_dtype_reach_every_parameter(dtype: torch.dtype) -> None:
    for part in parts(device="meta", dtype=dtype):
        assert {weight.dtype for weight in part.parameters()} == {dtype}
        tensors = (*part.parameters(), *part.buffers())
        assert {tensor.device.type for tensor in tensors} == {"meta"}


def test_a_model_computes_in_its_dtype() -> None:
    config = TransformerConfig(**SIZES)
    model = TransformerLM(config, dtype=torch.bfloat16)
    tokens = torch.tensor([[1, 2, 3]])
    assert model(tokens).dtype == torch.bfloat16
    assert cross_entropy(model(tokens), tokens).dtype == torch.float32


def test_a_saved_model_is_the_same_model() -> None:
    model, other = model_of(0), model_of(1)
    tokens = torch.tensor([[1, 2, 3]])
    assert not torch.equal(model(tokens), other(tokens))
    other.load_state_dict(model.state_dict())
    assert torch.equal(model(tokens), other(tokens))


def test_the_start_depends_on_the_generator_only() -> None:
    torch.manual_seed(1)
    first = model_of(0).state_dict()
    torch.manual_seed(2)
    second = model_of(0).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


# Bad input ---------------------------------------------------------------------------------------

BAD_SIZES = {
    "no layers": ({"layers": 0}, "layers must be a whole number of at least 1, not 0."),
    "half a layer": ({"layers": 1.5}, "layers must be a whole number of at least 1, not 1.5."),
    "odd share": (
        {"width": 16, "heads": 3},
        "width must be a multiple of heads: 16 features cannot be shared out evenly among 3 heads.",
    ),
    "odd groups": (
        {"heads": 4, "key_value_heads": 3},
        "heads must be a multiple of key-value heads: 4 heads cannot share 3.",
    ),
    "no keys": (
        {"key_value_heads": 0},
        "heads must be a multiple of key-value heads: 2 heads cannot share 0.",
    ),
    "more experts than there are": (
        {"experts": 4, "active_experts": 5},
        "active experts must be from 1 to 4, which is all there are, not 5.",
    ),
    "odd head": (
        {"width": 6, "heads": 2},
        (
            "a head must have an even number of features, as rotary positions turn pairs: "
            "6 / 2 = 3 is odd."
        ),
    ),
}


@pytest.mark.parametrize(("sizes", "sentence"), BAD_SIZES.values(), ids=BAD_SIZES)
def test_impossible_sizes_are_refused(sizes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:
        TransformerConfig(**{**SIZES, **sizes})
    assert str(refusal.value) == sentence


def test_a_text_longer_than_the_context_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^25 tokens do not fit into the model's context of 24\.$"
    ):
        model_of()(torch.zeros(1, 25, dtype=torch.int64))


PROMPT = torch.tensor([[1, 2]])
BAD_CALLS = {
    "empty prompt": (torch.zeros(1, 0, dtype=torch.int64), 1, {}, "at least one token"),
    "too long": (PROMPT, 23, {}, "2 tokens and 23 new ones do not fit"),
    "negative temperature": (PROMPT, 1, {"temperature": -1.0}, "temperature must be 0 or more"),
    "temperature not a number": (PROMPT, 1, {"temperature": math.nan}, "temperature must be 0"),
    "top_k of none": (PROMPT, 1, {"top_k": 0}, "top_k must be at least 1"),
    "top_p of none": (PROMPT, 1, {"top_p": 0.0}, "top_p must be above 0"),
    "top_p above one": (PROMPT, 1, {"top_p": 1.5}, "top_p must be above 0 and at most 1"),
}


@pytest.mark.parametrize(("prompt", "new", "settings", "words"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_senseless_generation_is_refused(
    prompt: Tensor, new: int, settings: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        generate(model_of(), prompt, new, **settings)


def test_a_wrong_shape_is_refused() -> None:
    rotary = RotaryPositions(8, 24)
    wrong = {
        "a batch is missing": lambda: model_of()(torch.zeros(3, dtype=torch.int64)),
        "tokens are no integers": lambda: model_of()(torch.zeros(1, 3)),
        "width": lambda: Block(16, 2, 40, rotary)(torch.zeros(3, 16)),
        "positions": lambda: rotary(torch.zeros(3, 8), torch.arange(4)),
        "targets": lambda: cross_entropy(torch.zeros(2, 3, 5), torch.zeros(2, 4, dtype=torch.long)),
    }
    for call in wrong.values():
        with pytest.raises(jaxtyping.TypeCheckError):
            call()
