"""The parts of a Transformer, what each computes and what it costs."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from lecture.lib.generation import generate, keep_top_k, keep_top_p, sample
from lecture.lib.memory import same_storage
from lecture.lib.shapes import shape_checked
from lecture.lib.transformer import (
    Attention,
    Block,
    Embedding,
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
from lecture.part5_models import m15_figures as figures
from trace.costs import measure


def the_parts_fit_together():  # M15.10 M15.12
    """The parts fit together.

    What is a Transformer language model made of? This chapter takes it apart. The parts are written
    out in `lecture/lib/transformer.py`, with little from PyTorch but tensors, modules and the
    gradient. From the bottom: tokens become vectors, each of the *blocks*, which are its layers,
    adds to them twice, and the *head* turns the last vectors into a number for each entry of the
    vocabulary, its *logit*. (The [heads of attention](#heads_share_out_the_features) are something
    else.)
    """
    config = TransformerConfig(
        vocabulary=1000, context=64, layers=2, width=32, heads=4, feed_forward=96
    )
    # On the device `meta` shapes are computed and numbers are not.
    model = TransformerLM(config, device="meta")
    diagram = figures.block_diagram(config)  # @inspect diagram
    tokens = torch.zeros(3, config.context, dtype=torch.int64, device="meta")
    x = model.embedding(tokens)
    assert x.shape == (3, 64, 32)
    # What a block takes, it gives: B×T×D numbers. So there may be any number of them.
    for block in model.blocks:
        x = block(x)
        assert x.shape == (3, 64, 32)
    logits = model.head(model.final_norm(x))
    assert logits.shape == model(tokens).shape == (3, 64, 1000)
    # (Each `forward` states the shapes in its signature, and every call compares.) Eight classes
    # make all of it, the model included.
    parts = {type(part).__name__ for part in model.modules()}
    assert len(parts - {"ModuleList"}) == 8
    # And these are the parameters of the picture.
    numel = sum(weight.numel() for weight in model.parameters())
    assert numel == 2 * 1000 * 32 + 2 * (4 * 32**2 + 3 * 32 * 96 + 2 * 32) + 32


def an_embedding_is_a_table_of_vectors():  # M15.1
    """An embedding is a table of vectors.

    How does a token, an integer, become D numbers? It is looked up: the table has one row of D
    features for each of V entries, and the rows are parameters, learnt like all others.
    """
    V, D = 100, 8
    embedding = Embedding(V, D, generator=torch.Generator().manual_seed(0))
    assert embedding.weight.numel() == V * D == 800
    tokens = torch.tensor([3, 1, 3])
    with measure() as lookup:
        x = embedding(tokens)
    assert torch.equal(x[0], x[2])
    # Nothing is computed: rows are copied. That is why embeddings count among the parameters and
    # not in the FLOPs.
    assert lookup.matmul_flops == lookup.other_flops == 0
    assert lookup.written_bytes == 4 * 3 * D
    # [As a product](#looked_up_parameters_cost_no_products) with *one-hot* vectors, which are 1 at
    # the token's place and 0 elsewhere, it is the same for 2·3·V·D FLOPs.
    one_hot = functional.one_hot(tokens, V).float()
    with measure() as product:
        assert torch.equal(one_hot @ embedding.weight, x)
    assert product.matmul_flops == 2 * 3 * 100 * 8 == 4800
    # On the way back, only rows that were looked up get a gradient, and a token that comes twice
    # gets both. The gradient is as large as the table nevertheless.
    x.sum().backward()
    gradient = embedding.weight.grad
    assert gradient.sum(dim=1).nonzero()[:, 0].tolist() == [1, 3]
    assert gradient[3].tolist() == [2.0] * 8
    assert gradient.nbytes == embedding.weight.nbytes == 3200


def a_row_of_the_matrix_for_each_output():  # M15.2
    """A row of the matrix for each output.

    How is the matrix of a [linear layer](#a_linear_layer_is_one_product) stored? From here on as
    PyTorch does it: (outputs, inputs), the numbers that one output needs beside each other. The
    product is with the transpose.
    """
    inputs, outputs, T = 48, 32, 10
    generator = torch.Generator().manual_seed(0)
    layer = Linear(inputs, outputs, generator=generator)
    assert layer.weight.shape == (32, 48)
    x = torch.randn(T, inputs, generator=generator)
    with measure() as cost:
        y = layer(x)
    assert torch.allclose(y[4, 7], (layer.weight[7] * x[4]).sum(), atol=1e-5)
    assert torch.equal(y, functional.linear(x, layer.weight))
    assert cost.matmul_flops == 2 * T * inputs * outputs == 30_720
    # The order in memory is a matter of taste to the meter: the transpose is a view, and the
    # product takes memory for its result only.
    assert cost.allocated_bytes == 4 * T * outputs


def rmsnorm_divides_by_the_root_mean_square():  # M15.3
    """RMSNorm divides by the root mean square.

    Each block adds to the vectors, so they grow from block to block. How do numbers of one size
    arrive at the next matrix? Each vector is divided by its own *root mean square*, the root of the
    mean of its squares, and each feature is multiplied by a *gain* of its own, which starts at 1
    ([Zhang and Sennrich](https://arxiv.org/abs/1910.07467)).
    """
    D = 512
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, D, generator=generator)
    norm = RMSNorm(D)
    assert norm.gain.numel() == sum(weight.numel() for weight in norm.parameters()) == D
    with measure() as cost:
        y = norm(x)
    assert torch.allclose(y, functional.rms_norm(x, (D,), norm.gain, 1e-5))
    root_mean_square = y.square().mean().sqrt().item()  # @inspect root_mean_square
    assert abs(root_mean_square - 1) < 1e-5
    # How long the vector was is forgotten; only its direction goes on.
    assert torch.allclose(norm(100 * x), y, atol=1e-5)
    # The bill of a vector: D squares, D for their mean, D to scale, D for the gain. Besides those
    # 4D, one addition (a small $\varepsilon$, in case all are 0) and one root, for which the meter
    # takes 20. No product of matrices, so it hardly shows among the FLOPs; it shows in the bytes.
    assert cost.other_flops == 4 * D + 1 + 20 == 2069
    assert cost.matmul_flops == 0
    # The gain belongs to the feature. It is the only thing learnt here.
    with torch.no_grad():
        norm.gain[7] = 5
    assert torch.allclose(norm(x)[:, 7], 5 * y[:, 7])
    assert torch.equal(norm(x)[:, :7], y[:, :7])


def rmsnorm_adds_up_in_fp32():  # M15.3
    """RMSNorm adds up in fp32, whatever comes in.

    Why does its first line say `x.float()`? Models compute in fp16 or bf16. fp16 [ends at
    65 504](#fp16_ends_soon_on_both_sides), and a square gets there early. bf16 reaches as far as
    fp32, but has eight significant bits.
    """
    D = 512
    norm = RMSNorm(D, dtype=torch.float16)
    x = torch.full((D,), 300.0, dtype=torch.float16)
    assert (x.square().max(), x.float().square().max()) == (torch.inf, 90_000)
    y = norm(x)
    assert y.dtype == torch.float16
    assert (y == 1).all()
    # In bf16 nothing overflows, but a factor that is rounded spoils all features alike, and the
    # next product is rounded once more. Rounded only at the end, no number is off by more than half
    # a step, $2^{-8}$ of it.
    generator = torch.Generator().manual_seed(0)
    exact = torch.randn(1000, D, generator=generator)
    rough = exact.bfloat16()
    wanted = rough.double() / rough.double().square().mean(dim=1, keepdim=True).sqrt()
    assert wanted.numel() == 512_000
    by_steps = rough * torch.rsqrt(rough.square().mean(dim=1, keepdim=True))
    at_the_end = RMSNorm(D, dtype=torch.bfloat16)(rough)
    errors = [((y - wanted) / wanted).abs().max().item() for y in (by_steps, at_the_end)]
    half_steps = [math.ceil(error * 2**8) for error in errors]  # @inspect half_steps
    assert half_steps == [3, 1]
    assert errors[1] > 0.99 * 2**-8


def swiglu_lets_one_half_gate_the_other():  # M15.4 E77
    """SwiGLU lets one half gate the other.

    Where do most of a block's parameters sit? In the feed-forward network, which works on each
    token by itself. Two matrices lead up, from D features to F. What comes from one is multiplied
    by the *SiLU*, $z/(1+e^{-z})$, of each number z that comes from the other; it lets pass or not.
    A third leads down ([Shazeer](https://arxiv.org/abs/2002.05202)).
    """
    T, D, F = 4, 48, 128
    generator = torch.Generator().manual_seed(0)
    network = SwiGLU(D, F, generator=generator)
    x = torch.randn(T, D, generator=generator)
    with measure() as cost:
        y = network(x)
    gate, up, down = (part.weight for part in (network.gate, network.up, network.down))
    z = x @ gate.T
    assert torch.allclose(y, (z / (1 + torch.exp(-z)) * (x @ up.T)) @ down.T, atol=1e-6)
    assert sum(weight.numel() for weight in network.parameters()) == 3 * D * F == 18_432
    assert cost.matmul_flops == 6 * T * D * F == 147_456
    # Earlier models had two matrices and F = 4D, which makes 8D² parameters. With three, F = 8/3·D
    # makes as many, and that is where this odd number comes from.
    assert F / D == 8 / 3
    assert 3 * D * F == 8 * D**2
    assert cost.matmul_flops == 16 * T * D**2
    # A common mistake turns it over. 3/8·D would leave 2.25 in the place of 16.
    with measure() as slip:
        SwiGLU(D, 3 * D // 8, generator=generator)(x)
    assert slip.matmul_flops == 2.25 * T * D**2
    # Tokens do not meet here: each row is computed as if it were alone.
    assert torch.allclose(network(x[2:3]), y[2:3], atol=1e-6)
    # Four tensors of T×F wait for the way back: both ways up, the SiLU, and the product. On top
    # comes the result, T×D.
    kept = 4 * (4 * T * F) + 4 * T * D
    assert cost.live_bytes["activations"] == kept


def rotary_positions_turn_pairs():  # M15.5
    """Rotary positions turn pairs of features.

    Attention compares vectors, and by itself it does not know where in the text they stand.
    How is the position told? Take the features of a vector two by two, as points in a plane, and
    turn each point: by 1 radian per position the first, the next ones slower and slower
    ([RoFormer](https://arxiv.org/abs/2104.09864)).
    """
    K, context = 8, 128
    rotary = RotaryPositions(K, context)
    radians = torch.atan2(rotary.sine[1], rotary.cosine[1])  # @inspect radians
    assert torch.allclose(radians, torch.tensor([1, 0.1, 0.01, 0.001]))
    ones = torch.tensor([[1.0, 0]]).repeat(context, K // 2)
    turned = rotary(ones, torch.arange(context))
    assert torch.allclose(turned[1, ::2], radians.cos())
    picture = figures.pairs_turning(turned[:7])  # @inspect picture
    # At position 0 nothing turns, and no turn changes a length.
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(context, K, generator=generator)
    y = rotary(x, torch.arange(context))
    assert torch.equal(y[0], x[0])
    assert not torch.allclose(y[1], x[1])
    assert torch.allclose(y.norm(dim=1), x.norm(dim=1))
    assert y.numel() == 1024
    # A second way to write it: pairs as complex numbers, times $e^{i\cdot angle}$.
    angle = torch.arange(context)[:, None] * 10_000 ** (-2 * torch.arange(4) / K)
    pairs = torch.view_as_complex(x.view(context, 4, 2)) * torch.polar(
        torch.ones_like(angle), angle
    )
    assert torch.allclose(torch.view_as_real(pairs).view(context, K), y, atol=1e-4)
    # Nothing is learnt. The cosines and sines are *buffers*: tensors of the module that are no
    # parameters, move with it, and here are not saved either, as they can be derived.
    assert list(rotary.parameters()) == list(rotary.state_dict()) == []
    assert {name for name, _ in rotary.named_buffers()} == {"cosine", "sine"}


def only_the_distance_matters():  # M15.5
    """Only the distance matters.

    Why turn, and not add a number for the position? Because attention takes the dot product of a
    query and a key. Turned by the same angle, two vectors keep their dot product. So if the query
    turns with its position and the key with its own, what is left is the difference.
    """
    K = 16
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, K, generator=generator).unbind()
    rotary = RotaryPositions(K, context=128)

    def score(query_position: int, key_position: int) -> float:
        turned_query = rotary(query, torch.tensor([query_position]))
        turned_key = rotary(key, torch.tensor([key_position]))
        return (turned_query * turned_key).sum().item()

    pairs = ((3, 1), (10, 8), (103, 101))
    two_apart = [score(*positions) for positions in pairs]  # @inspect two_apart
    assert max(two_apart) - min(two_apart) < 1e-5
    assert abs(score(3, 2) - two_apart[0]) > 0.1
    # The direction counts: a key two places ahead is not one two places behind.
    assert abs(score(1, 3) - two_apart[0]) > 0.1
    # Position 0 leaves all as it is, and at distance 0 it is the plain dot product, anywhere.
    assert score(0, 0) == (query * key).sum().item()
    assert math.isclose(score(77, 77), score(0, 0), rel_tol=1e-5)


def a_turn_takes_six_flops():  # M15.5 E78
    """A turn takes six FLOPs.

    What does it cost to turn a pair? As a product, a 2×2 matrix times 2 numbers, [two FLOPs per
    triple](#a_product_costs_two_flops_per_triple) are 8, and a common mistake is 16, which takes a
    second vector for granted. Written out, it is fewer.
    """
    pairs = 1000
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, pairs, generator=generator).unbind()
    cosine, sine = torch.tensor(0.3).cos(), torch.tensor(0.3).sin()
    with measure() as by_hand:
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine])
    # Four multiplications, a subtraction and an addition.
    assert by_hand.other_flops == 6 * pairs
    assert torch.allclose(turned.norm(dim=0), torch.hypot(first, second))
    rotation = torch.stack([torch.stack([cosine, -sine]), torch.stack([sine, cosine])])
    with measure() as by_product:
        assert torch.allclose(rotation @ torch.stack([first, second]), turned, atol=1e-6)
    assert by_product.matmul_flops == 2 * 2 * 2 * pairs == 8000
    # The product counts an addition to zero for each result: that is the difference of two.
    # For a whole model: queries and keys of all heads have D features, D/2 pairs, each. That is 6D
    # per token, beside the 8D² of the projections next to them: 0.07 % for D = 1024.
    T, D = 64, 1024
    rotary = RotaryPositions(D, T, device="meta")
    x = torch.empty(T, D, device="meta")
    with measure() as both:
        for _ in range(2):
            rotary(x, torch.arange(T, device="meta"))
    assert both.other_flops == 6 * T * D == 393_216
    with measure() as projections:
        for _ in range(4):
            Linear(D, D, device="meta")(x)
    assert projections.matmul_flops == 8 * T * D**2
    assert round(100 * both.other_flops / projections.matmul_flops, 2) == 0.07


def softmax_survives_large_numbers():  # M15.6
    """Softmax survives large numbers.

    How do scores become weights that add up to 1? By *softmax*: the exponential of each, divided by
    the sum of all. Written just so, it fails on scores that are not even large.
    """
    scores = torch.tensor([1000.0, 1001])
    naive = scores.exp() / scores.exp().sum()  # @inspect naive
    assert naive.isnan().all()
    # In fp32 exponentials overflow from about 88.7 on. And infinity over infinity is not a number.
    assert torch.tensor(88.7).exp() < torch.inf
    assert torch.tensor(88.8).exp() == torch.inf
    # The same amount subtracted from all scores cancels in the quotient. If it is the largest
    # score, the largest exponential is 1.
    weights = softmax(scores)  # @inspect weights
    assert [round(weight, 4) for weight in weights.tolist()] == [0.2689, 0.7311]
    assert torch.equal(softmax(scores - 1000), weights)
    assert torch.allclose(weights, torch.softmax(scores, dim=-1))
    # What is lost at the other end does no harm: weights too small to be written are 0. A score of
    # minus infinity says "never", and its weight is exactly 0.
    assert softmax(torch.tensor([0.0, -200, -torch.inf])).tolist() == [1, 0, 0]
    # Only when all scores say so, there is no answer. Attention has to leave something to look at.
    assert softmax(torch.tensor([-torch.inf, -torch.inf])).isnan().all()


@shape_checked
def softmax_left_to_autograd(scores: Float[Tensor, "*lead S"]) -> Float[Tensor, "*lead S"]:
    """Write softmax with PyTorch's operations, which keep what they need one by one."""
    exponentials = (scores - scores.detach().amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def what_is_kept_is_a_choice():  # M15.6
    """What is kept for the way back is a choice.

    Written with PyTorch's operations, softmax keeps the exponentials, and what comes next keeps its
    result w. Are both needed? From $w_i = e^{s_i}/\\sum_j e^{s_j}$ follows that the gradient needs
    nothing but w: a gradient g for the weights becomes $w_i\\,(g_i - \\sum_j g_j w_j)$ for score i.
    """
    rows, columns = 64, 256
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(rows, columns, generator=generator, requires_grad=True)
    with measure() as left_to_autograd:
        written_out = softmax_left_to_autograd(scores)
        written_out.mean()
    # `softmax` in `lecture/lib/transformer.py` is a `torch.autograd.Function`: it says itself what
    # it keeps, and how to go back.
    with measure() as ours:
        weights = softmax(scores)
        weights.mean()
    assert torch.allclose(weights, written_out)
    copy_bytes = 4 * rows * columns
    assert ours.live_bytes["activations"] == copy_bytes == 65_536
    # Left to autograd, the exponentials are kept too, and the sum of each row.
    assert left_to_autograd.live_bytes["activations"] == 2 * copy_bytes + 4 * rows
    # For T tokens and h heads the weights are h·T² numbers in each layer: long texts make them the
    # largest thing in memory, and one copy less is worth a dozen lines. The FLOPs are the same.
    assert ours.other_flops == left_to_autograd.other_flops
    # The gradient is PyTorch's.
    g = torch.randn(rows, columns, generator=generator)
    (mine,) = torch.autograd.grad(weights, scores, g)
    (theirs,) = torch.autograd.grad(torch.softmax(scores, dim=1), scores, g)
    assert torch.allclose(mine, theirs, atol=1e-7)
    # Weights add up to 1, so moving all scores of a row together changes nothing.
    assert mine.sum(dim=1).abs().max() < 1e-6


@shape_checked
def attend_by_loops(
    query: Float[Tensor, "T K"],
    key: Float[Tensor, "S K"],
    value: Float[Tensor, "S K"],
    visible: Bool[Tensor, "T S"],
) -> Float[Tensor, "T K"]:  # @stepover
    """Take, for each query, the mean of the visible values, weighted by exp(query · key / √K)."""
    T, K = query.shape
    S = key.shape[0]
    mixed = torch.zeros(T, K)
    for t in range(T):
        places = [s for s in range(S) if visible[t, s]]
        weights = [math.exp(query[t] @ key[s] / math.sqrt(K)) for s in places]
        for s, weight in zip(places, weights, strict=True):
            mixed[t] += weight / sum(weights) * value[s]
    return mixed


def attention_takes_a_weighted_mean():  # M15.7
    """Attention takes a weighted mean.

    How does a token learn from others? It asks with a *query*; each token offers a *key* and a
    *value*. The dot product of query and key is a score, softmax turns the scores into weights, and
    the answer is the mean of the values with these weights.
    """
    T, K = 8, 4
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, T, K, generator=generator).unbind()
    # Tokens do not see those after them, or predicting the next would be no task: the [*causal
    # mask*](#masked_scores_leave_nothing_for_the_future).
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    with measure() as cost:
        mixed = attend(query, key, value, visible)
    assert torch.allclose(mixed, attend_by_loops(query, key, value, visible), atol=1e-6)
    assert torch.allclose(
        mixed, functional.scaled_dot_product_attention(query, key, value, is_causal=True), atol=1e-6
    )
    # The values of an identity matrix are the weights themselves. A row is a token that asks.
    some_visible = visible[:4, :4]
    weights = attend(query[:4], key[:4], torch.eye(4), some_visible)  # @inspect weights
    assert torch.allclose(weights.sum(dim=1), torch.ones(4))
    assert (weights[~some_visible] == 0).all()
    assert torch.allclose(weights @ value[:4], mixed[:4], atol=1e-6)
    # The first token sees only itself.
    assert torch.allclose(mixed[0], value[0])
    # Two products of T×T×K: one for the scores, one for the mean. [Nearly
    # half](#half_of_the_scores_are_masked) of the scores are masked after they have been computed.
    assert cost.matmul_flops == 4 * T**2 * K == 1024


def the_future_is_hidden():  # M15.7
    """The future is hidden, and the scores are scaled.

    How to be sure that no token peeks? Change one token, and see which results move. And why does
    the formula divide by $\\sqrt{K}$?
    """
    T, K = 8, 64
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, T, K, generator=generator).unbind()
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    for changed in (key, value):
        before = attend(query, key, value, visible)
        changed[5].zero_()
        after = attend(query, key, value, visible)
        moved = (after != before).any(dim=1).tolist()  # @inspect moved
        assert moved == [False] * 5 + [True] * 3
    # If numbers have a standard deviation of 1, the dot product of K of them with K others has one
    # of $\sqrt{K}$. Divided by it, scores are of the size of 1 whatever the width of the head.
    one, other = torch.randn(2, 10_000, K, generator=generator).unbind()
    scores = (one * other).sum(dim=1)
    assert math.isclose(scores.std().item(), math.sqrt(K), rel_tol=0.05)
    assert (len(scores), math.sqrt(K)) == (10_000, 8)
    # Without it, softmax would give nearly all weight to one token, and scores that lose get hardly
    # any gradient. Here 64 tokens are looked at, by 1000 queries.
    spread = torch.randn(1000, 64, generator=generator) * math.sqrt(K)
    largest = {
        name: softmax(scores).amax(dim=1).mean().item()
        for name, scores in (("plain", spread), ("scaled", spread / math.sqrt(K)))
    }  # @inspect largest
    assert largest["plain"] > 0.75
    assert largest["scaled"] < 0.15


def heads_share_out_the_features():  # M15.8
    """Heads share out the features.

    One mean per token is little: a token may need its subject and its tense. So D features are
    [shared out](#heads_are_split_without_moving_data) among h *heads* of K = D/h, each with scores
    of its own. Four matrices make the queries, keys and values, and bring together what the heads
    found.
    """
    T, D = 32, 64
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, T, D, generator=generator)
    costs = {}
    for h in (1, 4, 16):
        attention = Attention(D, h, RotaryPositions(D // h, T), generator=generator)
        assert sum(weight.numel() for weight in attention.parameters()) == 4 * D**2
        with measure() as costs[h]:
            y = attention(x)
        assert y.shape == (1, T, D)
        # Projections and the two products of attention; h heads of D/h make the same number.
        assert costs[h].matmul_flops == 8 * T * D**2 + 4 * T**2 * D == 1_310_720
    # But each head has T² weights of its own, and these are what has to be kept: with many heads
    # the memory of attention grows while its matmul FLOPs do not.
    kept = {h: cost.live_bytes["activations"] for h, cost in costs.items()}  # @inspect kept
    assert kept[16] - kept[4] == 4 * (16 - 4) * T**2
    assert kept[4] - kept[1] == 4 * (4 - 1) * T**2
    # The layer numbers its tokens itself, from 0. A common mistake is a block that turns only when
    # it is handed positions, and is silently without them when it is not. It would show here:
    # tokens before the last one change places, and the last one should notice.
    swapped = x[:, [1, 0, *range(2, T)]]
    assert (attention(swapped)[:, -1] - y[:, -1]).abs().max() > 1e-3
    without = Attention(D, 16, RotaryPositions(4, T), generator=generator)
    without.rotary.cosine.fill_(1)
    without.rotary.sine.fill_(0)
    assert torch.equal(without.rotary(x[..., :4], torch.arange(T)), x[..., :4])
    assert torch.allclose(without(swapped)[:, -1], without(x)[:, -1], atol=1e-6)


def a_block_adds_to_what_came_in():  # M15.9 E80
    """A block adds to what came in.

    How are attention and the feed-forward network put together? Each stands behind a norm, and what
    it finds is added to its input. The sums, from the embedding to the head, are the *residual
    stream*.
    """
    T, D, h, F = 16, 48, 4, 128
    generator = torch.Generator().manual_seed(0)
    block = Block(D, h, F, RotaryPositions(D // h, T), generator=generator)
    parameters = {name: weight.numel() for name, weight in block.named_parameters()}
    # The gains of the norms are few, but [part of the model](#the_shape_of_gpt2_xl).
    assert sum(parameters.values()) == 4 * D**2 + 3 * D * F + 2 * D == 27_744
    assert parameters["attention_norm.gain"] + parameters["feed_forward_norm.gain"] == 2 * D == 96
    x = torch.randn(2, T, D, generator=generator)
    middle = x + block.attention(block.attention_norm(x))
    assert torch.equal(block(x), middle + block.feed_forward(block.feed_forward_norm(middle)))
    # With the norms in front, the way straight through is free of any operation but additions: if
    # both parts say nothing, the block returns its input, and the gradient arrives as it left.
    with torch.no_grad():
        block.attention.output.weight.zero_()
        block.feed_forward.down.weight.zero_()
    x.requires_grad_()
    y = block(x)
    assert torch.equal(y, x)
    assert y.shape == (2, 16, 48)
    gradient = torch.randn(2, T, D, generator=generator)
    y.backward(gradient)
    assert torch.equal(x.grad, gradient)
    # The original Transformer had its norms behind the sums, where nothing passes unchanged:
    behind = block.attention_norm(x)
    assert not torch.allclose(behind, x, atol=0.1)


def a_model_starts_by_guessing():  # M15.10
    """A model starts by guessing.

    Which loss should a model have before it has learnt anything? If all V entries of the
    vocabulary are equally likely, the right one gets 1/V, and the loss is ln V.
    """
    generator = torch.Generator().manual_seed(0)
    losses = {}
    for V in (10_000, 50_257):
        config = TransformerConfig(V, context=16, layers=2, width=16, heads=2, feed_forward=48)
        model = TransformerLM(config, generator=generator)  # @stepover
        tokens = torch.randint(V, (8, config.context + 1), generator=generator)
        logits = model(tokens[:, :-1])
        assert logits.shape == (8, 16, V)
        losses[V] = cross_entropy(logits, tokens[:, 1:]).item()  # @inspect losses
    # It is close to that, as the logits start small.
    guessing = {V: round(math.log(V), 3) for V in losses}  # @inspect guessing
    assert guessing == {10_000: 9.21, 50_257: 10.825}
    assert all(abs(losses[V] - math.log(V)) < 0.05 for V in losses)
    # That makes a first test of a model that costs one forward pass. With a head that starts as
    # large as the other matrices, it would begin by believing in something, and be wrong.
    with torch.no_grad():
        model.head.weight *= math.sqrt(config.width)
    loud = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:]).item()
    assert 0.3 < loud - math.log(50_257) < 0.7
    # Embedding and head are tables of the same size, and most of a model as small as this one. Some
    # models [use one table for both](#looked_up_parameters_cost_no_products); here they are two.
    assert model.head.weight.shape == model.embedding.weight.shape == (50_257, 16)
    assert not same_storage(model.head.weight, model.embedding.weight)
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters == 1_614_960
    assert 2 * 50_257 * 16 / parameters > 0.99


def cross_entropy_takes_no_detour():  # M15.11
    """Cross-entropy takes no detour through probabilities.

    What is the loss of one prediction? Minus the logarithm of the probability that the right token
    got: 0 if it was certain, more the more it was a surprise. (With the natural logarithm its unit
    is the *nat*.)
    """
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5, 7, 100, generator=generator)
    targets = torch.randint(logits.shape[-1], (5, 7), generator=generator)
    loss = cross_entropy(logits, targets)  # @inspect loss
    hit = softmax(logits).gather(-1, targets[..., None])
    assert torch.allclose(loss, -hit.log().mean())
    assert torch.allclose(loss, functional.cross_entropy(logits.flatten(0, 1), targets.flatten()))
    # The detour fails when the right token was very unlikely: its probability is written as 0. The
    # logarithm of the quotient is a difference, $\log\sum_i e^{z_i} - z_{target}$, and needs none.
    sure, first = torch.tensor([[0.0, 200]]), torch.tensor([0])
    assert -softmax(sure)[0, 0].log() == torch.inf
    assert cross_entropy(sure, first) == 200
    # Its gradient is as simple: the probabilities, with 1 taken from the right one.
    logits = logits[0, :1].requires_grad_()
    loss_of_one = cross_entropy(logits, targets[0, :1])
    loss_of_one.backward()
    wanted = softmax(logits.detach()) - functional.one_hot(targets[0, :1], 100)
    assert torch.allclose(logits.grad, wanted, atol=1e-6)


def perplexity_counts_the_choices():  # M15.11
    """Perplexity counts the choices.

    Suppose that a small model, trained on children's stories, reaches a loss of 1.6569. What does
    that mean? A model that hesitates evenly between n tokens has the loss ln n, so the exponential
    of the loss, the *perplexity*, says between how many.
    """
    between_fifty = cross_entropy(torch.zeros(1, 50), torch.tensor([0]))
    assert round(between_fifty.exp().item(), 3) == 50
    # So 1.6569 is a hesitation among a little more than five.
    assert round(math.exp(1.6569), 2) == 5.24
    # It is the inverse of the geometric mean of the probabilities that the right tokens got. One
    # token that was thought impossible costs more than many sure ones make up for.
    probabilities = torch.tensor([0.5, 0.9, 0.001, 0.9])
    yes_or_no = torch.stack([probabilities, 1 - probabilities], dim=1).log()
    loss = cross_entropy(yes_or_no, torch.zeros(4, dtype=torch.int64))
    perplexity = loss.exp().item()  # @inspect perplexity
    assert math.isclose(perplexity, probabilities.prod().item() ** (-1 / 4), rel_tol=1e-5)
    assert perplexity > 7
    # Two models can be compared by it only if their tokens are the same: with longer tokens there
    # are fewer of them, and each is harder. [Per byte](#bytes_per_token_has_two_conventions) it is
    # fair, if the losses are *added up* over the same text. A loss of 1.6569 for each token of 4
    # bytes is 0.414 for each byte.
    assert round(1.6569 / 4, 3) == 0.414
    # Two bytes of noise as two tokens, or as one of 65 536 kinds: the mean is twice as large, the
    # loss per byte the same.
    byte_by_byte = cross_entropy(torch.zeros(2, 256), torch.zeros(2, dtype=torch.int64))
    both_at_once = cross_entropy(torch.zeros(1, 256**2), torch.zeros(1, dtype=torch.int64))
    assert math.isclose(both_at_once, 2 * byte_by_byte, rel_tol=1e-6)


def device_and_dtype_reach_every_part():  # M15.12
    """Device and dtype reach every part.

    Where is a model built? If its parts ask no one, on the CPU and in fp32, and it has to be moved
    when it may already be too large. So each part takes `device` and `dtype` and hands them on.
    """
    config = TransformerConfig(
        vocabulary=50_257, context=1024, layers=48, width=1600, heads=25, feed_forward=6400
    )
    # With the sizes of GPT-2 XL and without a byte: two billion parameters in a moment.
    with measure() as cost:
        model = TransformerLM(config, device="meta", dtype=torch.bfloat16)  # @stepover
    assert {weight.device.type for weight in model.parameters()} == {"meta"}
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}
    numel = sum(weight.numel() for weight in model.parameters())
    assert numel == 2_127_057_600
    # The meter counts the memory that it would take.
    assert cost.live_bytes["parameters"] == 2 * numel
    # The cosines and sines stay in fp32: an angle near 257 would be one near 256 in bf16. (To
    # build in fp32 and call `model.bfloat16()` would round them.)
    assert {buffer.dtype for buffer in model.buffers()} == {torch.float32}
    assert torch.tensor(257.0).bfloat16() == 256
    assert RotaryPositions(2, 1).bfloat16().cosine.dtype == torch.bfloat16
    # What goes in decides the device of all that is made on the way, such as positions and masks.
    logits = model(torch.zeros(1, 3, dtype=torch.int64, device="meta"))  # @stepover
    assert (logits.device.type, logits.shape) == ("meta", (1, 3, 50_257))
    assert logits.dtype == torch.bfloat16
    # There are 48 blocks and one table of cosines: all attention layers share the same module.
    tables = {id(block.attention.rotary) for block in model.blocks}
    assert len(tables) == 1
    assert sum(buffer.numel() for buffer in model.buffers()) == 2 * 1024 * 32


def the_next_token_is_drawn():  # M15.10
    """The next token is drawn.

    A model gives a probability for each entry. Which one is written? Always the most likely makes
    dull text that runs in circles. Drawing from the probabilities now and then draws one from
    the long tail that spoils the rest. Three settings lie in between.
    """
    logits = torch.tensor([[0.5, 0.25, 0.15, 0.06, 0.04]]).log()
    assert sample(logits, temperature=0).item() == 0
    generator = torch.Generator().manual_seed(0)

    def shares(**settings: float) -> list[float]:  # @stepover
        drawn = sample(logits.expand(20_000, -1), **settings, generator=generator)
        return (drawn.bincount(minlength=5) / len(drawn)).tolist()

    # The *temperature* divides the logits: at 1 they stay, below 1 the likely become likelier. At
    # one half, probabilities are squared and made to add up to 1 again.
    plain = shares()  # @inspect plain
    assert max(abs(a - b) for a, b in zip(plain, logits[0].exp().tolist(), strict=True)) <= 0.02
    cooler = shares(temperature=0.5)  # @inspect cooler
    squares = logits[0].exp().square().tolist()
    assert all(abs(cooler[i] - squares[i] / sum(squares)) <= 0.02 for i in range(5))
    # *Top-k* draws among the k most likely, *top-p* among the fewest that together reach p
    # ([Holtzman and others](https://arxiv.org/abs/1904.09751)): many where the model hesitates, few
    # where it is sure.
    assert keep_top_k(logits, 2).isfinite().tolist() == [[True] * 2 + [False] * 3]
    assert keep_top_p(logits, 0.8).isfinite().tolist() == [[True] * 3 + [False] * 2]
    assert keep_top_p(logits, 0.5).isfinite().tolist() == [[True] + [False] * 4]
    assert shares(top_k=2)[2:] == [0, 0, 0]
    assert abs(shares(top_k=2)[0] - 0.5 / 0.75) <= 0.02


def a_cache_reads_each_token_once():  # M15.10
    """A cache reads each token once.

    To write the next token, must the model read the whole text again? The keys and values of
    earlier tokens do not depend on later ones, since no token sees the future. They can be kept:
    the *KV cache*, which [takes memory](#training_needs_no_cache). Then only the new token passes
    through the model.
    """
    config = TransformerConfig(
        vocabulary=100, context=10, layers=2, width=32, heads=4, feed_forward=96
    )
    generator = torch.Generator().manual_seed(0)
    model = TransformerLM(config, generator=generator)
    prompt = torch.randint(100, (1, 4), generator=generator)
    costs, texts = {}, {}
    for cached in (False, True):
        seeded = torch.Generator().manual_seed(1)
        with measure() as costs[cached]:
            texts[cached] = generate(  # @stepover
                model, prompt, 6, generator=seeded, cached=cached
            )
    # The same tokens, for a fraction of the FLOPs.
    assert texts[True].shape == (1, 10)
    assert torch.equal(texts[True], texts[False])
    ratio = costs[False].matmul_flops / costs[True].matmul_flops  # @inspect ratio
    assert 4 < ratio < 5
    # Each of 9 tokens passes once through blocks and head. The four of the prompt come together,
    # with 4×4 scores; a later token, the t-th, looks at t keys in each layer.
    D, F, V = config.width, config.feed_forward, config.vocabulary
    matrices = 2 * (2 * (4 * D**2 + 3 * D * F) + D * V)
    seen = 4 * 4 + sum(range(5, 10))
    assert costs[True].matmul_flops == 9 * matrices + 2 * 4 * D * seen
    # Without it, a text of t tokens, 4 to 9 of them, passes as a whole, with t² scores. The ratio
    # grows with the length of the text.
    assert costs[False].matmul_flops == sum(t * matrices + 2 * 4 * D * t**2 for t in range(4, 10))
    # This chapter in short: a Transformer is a table, blocks of attention and feed-forward networks
    # that add to a stream of vectors, and a head. Nearly all of its FLOPs are in the products of
    # the blocks and of the head; of what it keeps, the weights of attention grow with the square of
    # the context.
