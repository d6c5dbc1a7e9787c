"""Parts of a Transformer: embedding, norm, feed-forward network, attention."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from lecture.lib.shapes import shape_checked
from lecture.lib.transformer import (
    Embedding,
    Linear,
    RMSNorm,
    SwiGLU,
    TransformerConfig,
    TransformerLM,
    attend,
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
