"""Parts of a Transformer: positions, heads, the block, the model, its loss and its text."""

import math

import torch
from torch.nn import functional

from lecture.lib.generation import generate, keep_top_k, keep_top_p, sample
from lecture.lib.memory import same_storage
from lecture.lib.transformer import (
    Attention,
    Block,
    Linear,
    RotaryPositions,
    TransformerConfig,
    TransformerLM,
    cross_entropy,
    softmax,
)
from lecture.part5_models import m15_figures as figures
from trace.costs import measure


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
    # So 1.6569, of which the exponential is 5.24, is a hesitation among a little more than five.
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
    #
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
