"""Parts of a Transformer: embedding, normalization, feed-forward network, attention."""

import functools
import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
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


def the_parts_fit_together():  # M15.10
    """The parts fit together.

    We can count the cost of a linear layer and of a stack of them. What is the model that all this
    counting is for? A *Transformer* turns tokens into vectors, passes them through *blocks* (its
    layers), each of which adds to the vectors twice, and turns the last vectors into a score for
    each entry of the vocabulary: the *logits*. This chapter takes it apart. Its parts are written
    out in `lecture/lib/transformer.py`, with little of PyTorch but tensors, modules and gradients.
    """
    config = TransformerConfig(
        vocabulary=1000, context=64, layers=2, width=32, heads=4, feed_forward=96
    )
    # On the device `meta` PyTorch computes shapes and no numbers, so a model takes no memory.
    model = TransformerLM(config, device="meta")
    diagram = figures.block_diagram(config)  # @inspect diagram
    tokens = torch.zeros(3, config.context, dtype=torch.int64, device="meta")
    x = model.embedding(tokens)
    assert x.shape == (3, 64, 32)  # @predict
    # A block returns the shape that it was given, B×T×D. That is why we can stack as many blocks as
    # we like.
    for block in model.blocks:
        x = block(x)
        assert x.shape == (3, 64, 32)
    # The *LM head*, a linear layer from D to V, makes the logits. (Attention has
    # [heads](#heads_share_out_the_features), too; the word is all that they share.)
    logits = model.head(model.final_norm(x))
    assert logits.shape == model(tokens).shape == (3, 64, 1000)
    # How many parameters should this model have? Add up the picture: two tables of V·D, in each
    # block 4D² + 3DF and two gains of D, and one more gain at the end.
    V, D, F, L = 1000, 32, 96, 2
    numel = sum(weight.numel() for weight in model.parameters())  # @inspect numel
    assert numel == 2 * V * D + L * (4 * D**2 + 3 * D * F + 2 * D) + D


def an_embedding_is_a_table_of_vectors():  # M15.1
    """An embedding is a table of vectors.

    How does a token, an integer, become D numbers? We look it up. The *embedding* is a table with a
    row of D features for each of V entries of the vocabulary, and its rows are parameters that
    training changes like all others. What does the lookup cost?
    """
    V, D = 100, 8
    embedding = Embedding(V, D, generator=torch.Generator().manual_seed(0))
    tokens = torch.tensor([3, 1, 3])
    with measure() as lookup:
        x = embedding(tokens)
    assert torch.equal(x[0], x[2])
    # No FLOPs: rows are copied. The table counts among the parameters, and not in the FLOPs.
    assert lookup.matmul_flops == lookup.other_flops == 0
    assert lookup.written_bytes == 4 * 3 * D
    # The same [as a matmul](#looked_up_parameters_cost_no_products): turn each token into a
    # *one-hot* vector, 1 at its own place and 0 elsewhere, and multiply. That costs 2·3·V·D FLOPs.
    one_hot = functional.one_hot(tokens, V).float()
    with measure() as product:
        assert torch.equal(one_hot @ embedding.weight, x)
    assert product.matmul_flops == 2 * 3 * V * D
    # In the backward pass, a row that was never looked up gets zeros, and a token that comes twice
    # gets both gradients.
    x.sum().backward()
    gradient = embedding.weight.grad
    assert gradient.sum(dim=1).nonzero()[:, 0].tolist() == [1, 3]
    assert gradient[3].tolist() == [2.0] * D
    # You pay for the zeros all the same: the gradient is as large as the table.
    assert gradient.nbytes == embedding.weight.nbytes == 4 * V * D


def a_row_of_the_matrix_for_each_output():  # M15.2
    """A linear layer stores one row for each output.

    In which order does a [linear layer](#a_linear_layer_is_one_product) keep its matrix? From here
    on we do it as PyTorch does: (outputs, inputs), so that the numbers one output needs lie side by
    side. The layer multiplies by the transpose, $y = x W^\\top$.
    """
    inputs, outputs, T = 48, 32, 10
    generator = torch.Generator().manual_seed(0)
    layer = Linear(inputs, outputs, generator=generator)
    assert layer.weight.shape == (outputs, inputs)
    x = torch.randn(T, inputs, generator=generator)
    with measure() as cost:
        y = layer(x)
    assert torch.allclose(y[4, 7], (layer.weight[7] * x[4]).sum(), atol=1e-5)
    assert torch.allclose(y, functional.linear(x, layer.weight), atol=1e-6)
    assert cost.matmul_flops == 2 * T * inputs * outputs
    # Does transposing cost memory? No: the transpose [is a view](#views_share_storage), and the
    # layer allocates its result and nothing else.
    assert cost.allocated_bytes == 4 * T * outputs


def rmsnorm_divides_by_the_root_mean_square():  # M15.3
    """RMSNorm divides by the root mean square.

    Every block adds to the vectors, and they can [grow](#layers_that_add_start_smaller). How does
    the next matrix get inputs of a fixed scale? A *normalization layer* stands in front of it.
    *RMSNorm* ([Zhang and Sennrich](https://arxiv.org/abs/1910.07467)) divides each vector by the
    root of the mean of its squares, and multiplies each feature by a learnt *gain* g, which starts
    at 1:
    $y_i = g_i\\, x_i / \\sqrt{\\tfrac1D \\sum_j x_j^2 + \\varepsilon}$.
    """
    D = 512
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, D, generator=generator)
    norm = RMSNorm(D)
    with measure() as cost:
        y = norm(x)
    assert torch.allclose(y, functional.rms_norm(x, (D,), norm.gain, 1e-5))
    root_mean_square = y.square().mean().sqrt().item()  # @inspect root_mean_square
    assert abs(root_mean_square - 1) < 1e-5
    # How long was the vector? The result does not know: a hundred times as long makes the same.
    # Only the direction passes on (if the mean of the squares is far above ε).
    assert torch.allclose(norm(100 * x), y, atol=1e-5)
    # What does it cost for one vector? D squares, D for their mean, D to scale, D for the gain; one
    # addition of ε, which prevents a division by 0; and one root, 20 FLOPs [by
    # convention](#the_meter_knows_four_kinds_of_things). That is 4 per feature, where a matmul next
    # to it, with D results, costs 2D. So it hardly shows among the FLOPs. It moves more than four
    # bytes for each of them.
    assert cost.other_flops == 4 * D + 1 + 20
    assert cost.read_bytes + cost.written_bytes > 4 * cost.other_flops
    assert cost.matmul_flops == 0  # @predict
    # The gain belongs to the feature: change one, and one feature of every vector changes.
    with torch.no_grad():
        norm.gain[7] = 5
    assert torch.allclose(norm(x)[:, 7], 5 * y[:, 7])
    assert torch.equal(norm(x)[:, :7], y[:, :7])


def rmsnorm_rounds_once():  # M15.3
    """RMSNorm rounds once.

    Why does its first line say `x.float()`, when the model computes in fp16 or bf16? In fp16 for
    range: the format [ends at 65 504](#fp16_ends_soon_on_both_sides), and squares get there early.
    """
    D = 512
    x = torch.full((D,), 300.0, dtype=torch.float16)
    assert (x.square().max(), x.float().square().max()) == (torch.inf, 90_000)
    assert (RMSNorm(D, dtype=torch.float16)(x) == 1).all()
    # bf16 reaches about as far as fp32. What is left to gain? Guess which step hurts most in bf16:
    # the sum of 512 squares, or the factor that multiplies every feature? We try all combinations.
    # (PyTorch adds up bf16 numbers in fp32 inside anyway; rounded are the squares and the mean.)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1000, D, generator=generator).bfloat16()
    exact = x.double() / x.double().square().mean(dim=1, keepdim=True).sqrt()
    errors = {}
    for mean_in in (torch.bfloat16, torch.float32):
        for factor_in in (torch.bfloat16, torch.float32):
            mean = x.to(mean_in).square().mean(dim=1, keepdim=True)
            factor = mean.float().rsqrt().to(factor_in)
            y = (x.to(factor_in) * factor).bfloat16()
            error = ((y.double() - exact) / exact).abs().max().item()
            # In half steps of bf16, $2^{-8}$: rounding the result alone can be off by 1.
            errors[f"mean {mean_in}, factor {factor_in}"] = round(error * 2**8, 1)
    all_bf16, only_mean_bf16, only_factor_bf16, all_fp32 = errors.values()  # @inspect errors
    # The factor hurts more. Its rounding is wrong in full, for all features of a token at once; the
    # root halves what is wrong with the mean. With everything in fp32 there is one rounding to
    # bf16, at the end, and no number is off by noticeably more than half a step.
    assert all_fp32 <= 1 < only_mean_bf16 < only_factor_bf16 < all_bf16
    at_the_end = RMSNorm(D, dtype=torch.bfloat16)(x)
    assert ((at_the_end.double() - exact) / exact).abs().max() <= 2**-8
    # So: bf16 in, fp32 inside, one rounding on the way out. Softmax [does the
    # same](#softmax_survives_large_numbers).


def swiglu_lets_one_half_gate_the_other():  # M15.4 E77
    """SwiGLU lets one half gate the other.

    Where do most parameters of a block sit? In the *feed-forward network*, which works on each
    token by itself. Two matrices lead up from D features to F, its *inner width*. One result passes
    through the *SiLU*, $\\mathrm{SiLU}(z) = z/(1+e^{-z})$, and multiplies the other: it lets pass
    or not. A third matrix leads down ([Shazeer](https://arxiv.org/abs/2002.05202)):
    $y = W_{down}\\,(\\mathrm{SiLU}(W_{gate}\\,x) \\odot W_{up}\\,x)$.
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
    # Three matrices of D·F: 3DF parameters and, at 2 FLOPs each, 6TDF FLOPs.
    assert sum(weight.numel() for weight in network.parameters()) == 3 * D * F
    assert cost.matmul_flops == 6 * T * D * F
    # Why F = 128 for D = 48? The first Transformer had two matrices and F = 4D: 8D² parameters.
    # With three, $F = \tfrac83 D$ makes as many, and as many FLOPs. That is where this odd ratio
    # comes from.
    older = nn.Sequential(nn.Linear(D, 4 * D, False), nn.GELU(), nn.Linear(4 * D, D, False))
    with measure() as of_older:
        older(x)
    assert cost.matmul_flops == of_older.matmul_flops == 16 * T * D**2
    # Tokens do not meet here: each row is computed as if it were alone.
    assert torch.allclose(network(x[2:3]), y[2:3], atol=1e-6)
    # Four tensors of T×F wait for the backward pass: both ways up, the SiLU, and the product of the
    # two. Beside them lies the result, T×D.
    assert cost.live_bytes["activations"] == 4 * (4 * T * F) + y.nbytes


def softmax_survives_large_numbers():  # M15.6
    """Softmax survives large numbers.

    How do scores become weights that are positive and add up to 1? *Softmax* takes the exponential
    of each and divides by the sum of all: $w_i = e^{s_i} / \\sum_j e^{s_j}$. Try it as written, on
    the scores 1000 and 1001.
    """
    scores = torch.tensor([1000.0, 1001])
    naive = scores.exp() / scores.exp().sum()  # @inspect naive
    assert naive.isnan().all()
    # Infinity over infinity is not a number. In fp32 an exponential overflows from about 88.7 on,
    # the logarithm of the largest number.
    assert math.log(torch.finfo(torch.float32).max) < 88.8
    assert torch.tensor(88.7).exp() < torch.tensor(88.8).exp() == torch.inf
    # Subtract the same amount from all scores, and it cancels in the fraction. Subtract the largest
    # score, and the largest exponential is 1.
    weights = softmax(scores)  # @inspect weights
    assert torch.equal(softmax(scores - 1000), weights)
    assert torch.allclose(weights, torch.softmax(scores, dim=-1))
    # At the other end, a weight that is too small for the format becomes 0. A score of
    # minus infinity says "never", and its weight is exactly 0. If all scores say so, there is no
    # answer; so attention always has to leave something to look at.
    assert softmax(torch.tensor([0.0, -200, -torch.inf])).tolist() == [1, 0, 0]
    assert softmax(torch.tensor([-torch.inf, -torch.inf])).isnan().all()
    # And the format? Spelled out in bf16, each step rounds. Ours takes exponentials and sum in fp32
    # and rounds the weights once; so does PyTorch's, here on a CPU.
    scores = torch.randn(200, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    exact = torch.softmax(scores.double(), dim=-1)
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    step_by_step = exponentials / exponentials.sum(dim=-1, keepdim=True)
    half_steps = [
        ((found.double() - exact) / exact).abs().max().item() * 2**8
        for found in (step_by_step, softmax(scores), torch.softmax(scores, dim=-1))
    ]  # @inspect half_steps
    assert max(half_steps[1:]) < 1.01 < 2 < half_steps[0] < 8


@shape_checked
def softmax_left_to_autograd(scores: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Spell softmax out; autograd then keeps what each operation needs."""
    exponentials = (scores - scores.detach().amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def what_is_kept_is_a_choice():  # M15.6
    """What is kept for the backward pass is a choice.

    If we spell softmax out as exponentials and a division, autograd keeps the exponentials, and
    what comes next keeps the weights w. Do we need both? From $w_i = e^{s_i}/\\sum_j e^{s_j}$
    follows $\\partial w_i/\\partial s_i = w_i(1-w_i)$ and, for $i \\ne j$, $-w_i w_j$. So a
    gradient g of the weights becomes $w_i\\,(g_i - \\sum_j g_j w_j)$ for score i: the weights are
    enough.
    """
    rows, columns = 64, 256
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(rows, columns, generator=generator, requires_grad=True)
    # Three ways to compute the same. A square stands for what comes next: to find its slope, it
    # keeps what it squares.
    ways = {
        "spelled out": softmax_left_to_autograd,
        "ours": softmax,
        "PyTorch's": functools.partial(torch.softmax, dim=-1),
    }
    kept_bytes = {}
    for name, way in ways.items():
        with measure() as cost:
            loss = way(scores).square().mean()
        assert torch.allclose(loss, softmax(scores).square().mean())
        kept_bytes[name] = cost.live_bytes["activations"] - loss.nbytes  # @inspect kept_bytes
    spelled_out, ours, pytorch = kept_bytes.values()
    # Spelled out, two tables wait, and the sum of each row. The `softmax` of our Transformer is a
    # `torch.autograd.Function`: it says itself what it keeps and how to go back, and keeps half.
    # PyTorch's own softmax is as thrifty.
    assert ours == pytorch == scores.nbytes
    assert spelled_out == 2 * scores.nbytes + 4 * rows
    # The gradient by the formula above is PyTorch's.
    g = torch.randn(rows, columns, generator=generator)
    (mine,) = torch.autograd.grad(softmax(scores), scores, g)
    (theirs,) = torch.autograd.grad(torch.softmax(scores, dim=1), scores, g)
    assert torch.allclose(mine, theirs, atol=1e-7)
    # Moving all scores of a row together changes no weight, so a row's gradients add up to 0.
    assert mine.sum(dim=1).abs().max() < 1e-6
    # Keep in mind: the more you spell out, the more autograd may keep. A fused operation can keep
    # less, and
    # [attention can do without the weights altogether](#attention_needs_no_table_of_weights).


SENTENCE = ("the", "dog", "wagged", "its", "tail")


def attention_takes_a_weighted_mean():  # M15.7 @core
    """Attention takes a weighted mean.

    In "the dog wagged its tail", whose tail is it? The vector of "its" alone cannot know. So far
    tokens never met; *self-attention* is where each token learns from the others. Three matrices
    make three vectors of each token: a *query* (what am I looking for?), a *key* (what do I have to
    offer?) and a *value* (what do I pass on?).
    """
    # @note Ask whom "its" should look at before the picture is shown; then read its row aloud as a
    # sentence. Say twice that these numbers were put in by hand and that training would have to
    # find them.
    #
    # Training finds the numbers. Here we put them in by hand, with four features that we can name:
    # an animal, something done, a word that says whose, a part of a body.
    x = torch.cat([torch.zeros(1, 4), torch.eye(4)])  # "the" has none of them
    T, K = len(SENTENCE), 2
    # Queries: "wagged" and "its" look for an animal, "tail" for a word that says whose. Keys: the
    # animal answers to the first, "its" to the second. Values: who it is, and whether it is "its".
    to_query = torch.tensor([[0.0, 3, 3, 0], [0, 0, 0, 3]])
    to_key = torch.tensor([[2.0, 0, 0, 0], [0, 0, 2, 0]])
    to_value = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0]])
    query, key, value = x @ to_query.T, x @ to_key.T, x @ to_value.T
    assert query.shape == key.shape == value.shape == (T, K)
    # The dot product of a query and a key is a *score*. Softmax turns the scores of a token into
    # its *attention weights*. Each token sees itself and those before it; we come back to that.
    scores = query @ key.T / math.sqrt(K)  # @inspect scores
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    weights = softmax(scores.masked_fill(~visible, -torch.inf))
    picture = figures.attention_map(weights, SENTENCE)  # @inspect picture
    # A row is a word that asks. "its" finds the dog, and "tail" finds "its".
    its, tail = SENTENCE.index("its"), SENTENCE.index("tail")
    assert [SENTENCE[weights[row].argmax()] for row in (its, tail)] == ["dog", "its"]
    # By hand for "its": the dog scores 3·2/√2, the other three words 0.
    exponential = math.exp(3 * 2 / math.sqrt(2))
    assert math.isclose(weights[its, 1], exponential / (exponential + 3), rel_tol=1e-5)
    # Write q, k and v for the matrices with a query, a key and a value in each row. What "its" gets
    # is the mean of the values with these weights, its row of $\text{softmax}(qk^\top/\sqrt K)\,v$:
    # nearly all of it says "animal". A second layer could now tell "tail" whose it is.
    mixed = attend(query, key, value, visible)  # @inspect mixed
    assert torch.allclose(mixed[its], weights[its, 1] * value[1] + weights[its, its] * value[its])


@shape_checked
def attend_by_loops(
    query: Float[Tensor, "T K"],
    key: Float[Tensor, "T K"],
    value: Float[Tensor, "T K"],
    visible: Bool[Tensor, "T T"],
) -> Float[Tensor, "T K"]:  # @stepover
    """For each query, average the visible values, weighted by exp(query · key / √K)."""
    T, K = query.shape
    mixed = torch.zeros(T, K)
    for asking in range(T):
        seen = [place for place in range(T) if visible[asking, place]]
        weights = [math.exp(query[asking] @ key[place] / math.sqrt(K)) for place in seen]
        for place, weight in zip(seen, weights, strict=True):
            mixed[asking] += weight / sum(weights) * value[place]
    return mixed


def attention_is_two_matmuls():  # M15.7
    """Attention is two matmuls.

    What does it cost when T tokens look at each other? `attend_by_loops`, above, goes through all
    pairs of tokens. As matrices, all scores are one matmul of queries and keys, T×K by K×T, and all
    means are another, of weights and values, T×T by T×K.
    """
    T, K = 8, 4
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, T, K, generator=generator).unbind()
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    with measure() as cost:
        mixed = attend(query, key, value, visible)
    # Loops, our matmuls and PyTorch's own function agree.
    assert torch.allclose(mixed, attend_by_loops(query, key, value, visible), atol=1e-6)
    pytorch = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    assert torch.allclose(mixed, pytorch, atol=1e-6)
    # Two matmuls of $2T^2K$ FLOPs each. No parameter takes part, and the cost grows with the square
    # of T: with twice the tokens it is four times as much. [Nearly
    # half](#half_of_the_scores_are_masked) of the scores are hidden after they have been computed.
    assert cost.matmul_flops == 2 * (2 * T**2 * K)
    # A way to look inside: give attention the identity matrix as values, and its output is the
    # attention weights.
    few = visible[:K, :K]
    weights = attend(query[:K], key[:K], torch.eye(K), few)  # @inspect weights
    assert torch.allclose(weights.sum(dim=1), torch.ones(K))
    assert (weights[~few] == 0).all()
    assert torch.allclose(weights @ value[:K], mixed[:K], atol=1e-6)


def the_future_is_hidden():  # M15.7 @core
    """The future is hidden, and scores are scaled.

    The model learns to predict the next token, so no token may see it. The [*causal
    mask*](#masked_scores_leave_nothing_for_the_future) hides it. How do we know that nobody peeks?
    Change one token, and see which results move.
    """
    # @note Before `moved` is shown: token 5 of 8 changes, counting from 0; which results may move?
    # Pause there. The square root is a second subject, and deserves a fresh question: what does a
    # sum of K products do as K grows?
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
    # And why does the formula divide by $\sqrt K$? Take independent numbers of mean 0 and standard
    # deviation 1. The dot product of K of them with K others has a standard deviation of $\sqrt K$.
    # Divided by $\sqrt K$, scores have a standard deviation of 1 for every K.
    one, other = torch.randn(2, 10_000, K, generator=generator).unbind()
    dot_products = (one * other).sum(dim=1)
    assert math.isclose(dot_products.std().item(), math.sqrt(K), rel_tol=0.05)
    # Without it, softmax nearly chooses one token. Here 1000 queries look at 64 tokens each. How
    # do weights still answer to scores? The slope of each by its own score is $w_i(1 - w_i)$.
    scores = torch.randn(1000, 64, generator=generator)
    largest, slopes = {}, {}
    for name, factor in (("scaled", 1), ("not scaled", math.sqrt(K))):
        weights = softmax(factor * scores)
        largest[name] = weights.amax(dim=1).mean().item()  # @inspect largest
        slopes[name] = (weights * (1 - weights)).sum(dim=1).mean().item()  # @inspect slopes
    # Not scaled, the winner takes more than three quarters on average, and the slopes add up to
    # less than a third of what they do for scaled scores.
    assert largest["scaled"] < 0.15 < 0.75 < largest["not scaled"]
    assert slopes["not scaled"] < slopes["scaled"] / 3
