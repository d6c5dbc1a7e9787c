"""Parts of a Transformer: positions, heads, the block, the model, its loss and its text."""

import math

import torch
from torch.nn import functional

from lecture.lib.generation import generate, keep_top_k, keep_top_p, sample
from lecture.lib.memory import same_storage
from lecture.lib.transformer import (
    Attention,
    Block,
    Experts,
    LayerCache,
    Linear,
    RotaryPositions,
    TransformerConfig,
    TransformerLM,
    attend,
    cross_entropy,
    softmax,
)
from lecture.part5_models import m15_figures as figures
from trace.costs import measure


def rotary_positions_turn_pairs():  # M15.5
    """Rotary positions turn pairs of features.

    Attention compares vectors, and a vector does not say where in the text it stands: "dog bites
    man" and "man bites dog" are the same three vectors. How do we tell the places? *Rotary position
    embedding*, RoPE ([RoFormer](https://arxiv.org/abs/2104.09864)), takes the features of a head
    two by two, as points in a plane, and turns each point by an angle that grows with the position.
    Of K features, pair p turns by $10\\,000^{-2p/K}$ radians per position: the first by 1 radian,
    each further one more slowly.
    """
    K, context = 8, 128
    rotary = RotaryPositions(K, context)
    radians = torch.atan2(rotary.sine[1], rotary.cosine[1])  # @inspect radians
    assert torch.allclose(radians, torch.tensor([1, 0.1, 0.01, 0.001]))
    ones = torch.tensor([[1.0, 0]]).repeat(context, K // 2)
    turned = rotary(ones, torch.arange(context))
    assert torch.allclose(turned[1, ::2], radians.cos())
    # Like the hands of a clock, together they tell near positions apart and far ones, too.
    picture = figures.pairs_turning(turned[:7])  # @inspect picture
    # At position 0 nothing turns. And no turn changes a length, so scores keep their scale.
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(context, K, generator=generator)
    y = rotary(x, torch.arange(context))
    assert torch.equal(y[0], x[0])
    assert not torch.allclose(y[1], x[1])
    assert torch.allclose(y.norm(dim=1), x.norm(dim=1))
    # The same with complex numbers: a pair times $e^{i\cdot angle}$.
    angle = torch.arange(context)[:, None] * 10_000 ** (-2 * torch.arange(K // 2) / K)
    pairs = torch.view_as_complex(x.view(context, K // 2, 2)) * torch.polar(
        torch.ones_like(angle), angle
    )
    assert torch.allclose(torch.view_as_real(pairs).view(context, K), y, atol=1e-4)
    # Nothing is learnt. The cosines and sines are *buffers*: tensors that move with the module and
    # are no parameters. Here they are not saved either, as we can derive them.
    assert list(rotary.parameters()) == list(rotary.state_dict()) == []
    assert {name for name, _ in rotary.named_buffers()} == {"cosine", "sine"}


def only_the_offset_matters():  # M15.5
    """Only the offset matters.

    Why turn vectors, and not add a vector for the position? Because attention takes the dot product
    of a query and a key. Turn both by the same angle, and their dot product stays. So if a query
    turns by its position and a key by its own, what remains is the difference of the two. Guess:
    do the positions (3, 1), (10, 8) and (1, 3) of query and key give the same score?
    """
    K = 16
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, K, generator=generator).unbind()
    rotary = RotaryPositions(K, context=128)

    def score(query_position: int, key_position: int) -> float:
        turned_query = rotary(query, torch.tensor([query_position]))
        turned_key = rotary(key, torch.tensor([key_position]))
        return (turned_query * turned_key).sum().item()

    # The first two do: the same offset gives the same score, wherever the two stand.
    two_behind = [score(3, 1), score(10, 8), score(103, 101)]  # @inspect two_behind
    assert max(two_behind) - min(two_behind) < 1e-5
    # Another distance gives another one. And so does the other direction: a key two places ahead is
    # not a key two places behind.
    one_behind, two_ahead = score(3, 2), score(1, 3)  # @inspect one_behind two_ahead
    assert min(abs(one_behind - two_behind[0]), abs(two_ahead - two_behind[0])) > 0.1
    # At offset 0 it is the plain dot product, anywhere.
    assert math.isclose(score(77, 77), (query * key).sum().item(), rel_tol=1e-5)


def rotary_pairs_come_in_two_orders():  # M15.5
    """Rotary pairs come in two orders.

    Which features are a pair? The paper turns neighbours, 2p and 2p+1, and so do Meta's own files
    of Llama. The library GPT-NeoX turns p and p + K/2, and so does Hugging Face's for Llama. Both
    are right. What if we load the weights of one into the other?
    """
    config = TransformerConfig(100, context=16, layers=2, width=32, heads=2, feed_forward=48)
    generator = torch.Generator().manual_seed(0)
    neighbours = TransformerLM(config, generator=generator)
    in_halves = TransformerConfig(**{**vars(config), "rotary_halves": True})
    halves = TransformerLM(in_halves, generator=generator)
    tokens = torch.randint(100, (1, 16), generator=generator)
    wanted = neighbours(tokens)
    # No error: all shapes fit. And the logits are others: here their difference is a quarter as
    # large as they are.
    halves.load_state_dict(neighbours.state_dict())
    off = ((halves(tokens) - wanted).norm() / wanted.norm()).item()  # @inspect off
    assert 0.2 < off < 0.3
    # The cure is to reorder the rows that make queries and keys, head by head: first the first of
    # each pair, then the second of each. (The [script that converts
    # Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/convert_llama_weights_to_hf.py)
    # does this.) Dot products do not mind the order of features.
    K = config.width // config.heads
    order = torch.cat([torch.arange(0, K, 2), torch.arange(1, K, 2)])
    rows = torch.cat([head * K + order for head in range(config.heads)])
    with torch.no_grad():
        for block in halves.blocks:
            for part in (block.attention.query, block.attention.key):
                part.weight.copy_(part.weight[rows])
    assert torch.allclose(halves(tokens), wanted, atol=1e-5)


def a_turn_takes_six_flops():  # M15.5 E78
    """A turn takes six FLOPs.

    What does it cost to turn one pair of features? As a matmul of a 2×2 matrix and 2 numbers, [two
    FLOPs per triple](#a_product_costs_two_flops_per_triple), it would be 2·2·2·1 = 8. Do we need a
    matmul?
    """
    pairs = 1000
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, pairs, generator=generator).unbind()
    cosine, sine = torch.tensor(0.3).cos(), torch.tensor(0.3).sin()
    with measure() as by_hand:
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine])
    # Written out, a pair takes four multiplications, a subtraction and an addition.
    assert by_hand.other_flops == 6 * pairs
    rotation = torch.stack([torch.stack([cosine, -sine]), torch.stack([sine, cosine])])
    with measure() as by_matmul:
        assert torch.allclose(rotation @ torch.stack([first, second]), turned, atol=1e-6)
    # (A matmul [counts an addition to zero](#the_last_addition_is_not_made) for each of the two
    # results.)
    assert by_matmul.matmul_flops == 2 * 2 * 2 * pairs == by_hand.other_flops + 2 * pairs
    # Is it worth a thought in a whole model? The queries of a token have D features, which are D/2
    # pairs, and so do its keys: 6D FLOPs, beside the $8D^2$ of the four projections around them.
    T, D = 64, 1024
    rotary = RotaryPositions(D, T, device="meta")
    x = torch.empty(T, D, device="meta")
    with measure() as turns:
        for _ in ("queries", "keys"):
            rotary(x, torch.arange(T, device="meta"))
    with measure() as projections:
        for _ in range(4):
            Linear(D, D, device="meta")(x)
    assert projections.matmul_flops == 8 * T * D**2
    # Less than a thousandth at this width: RoPE costs next to no FLOPs.
    share = turns.other_flops / projections.matmul_flops  # @inspect share
    assert share == 6 / (8 * D) < 1 / 1000


def heads_share_out_the_features():  # M15.8
    """Heads share out the features.

    One weighted mean per token is little: "its" may need its animal and its verb. *Multi-head
    attention* makes queries, keys and values from all D features of a token, and [shares
    out](#heads_are_split_without_moving_data) theirs among H *heads* of K features each, K = D/H,
    with scores of their own. Four matrices of D×D surround them: for queries, keys, values, and one
    that mixes what the heads found. What do more heads cost?
    """
    T, D = 32, 64
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, T, D, generator=generator)
    costs = {}
    for H in (1, 4, 16):
        attention = Attention(D, H, RotaryPositions(D // H, T), generator=generator)
        assert sum(weight.numel() for weight in attention.parameters()) == 4 * D**2
        with measure() as costs[H]:
            y = attention(x)
        # No parameters and no matmul FLOPs: H heads of K features multiply as much as one head of
        # H·K. But each head scales, masks and softmaxes T² scores of its own.
        assert costs[H].matmul_flops == 8 * T * D**2 + 4 * T**2 * D
    apart = {H: cost.other_flops for H, cost in costs.items()}  # @inspect apart
    assert apart[16] - apart[4] == 4 * (apart[4] - apart[1]) > 4 * T**2 * 20
    # They cost memory. Each head has T² attention weights, which wait for the backward pass, if
    # attention stores them. ([It need not](#attention_needs_no_table_of_weights).)
    kept = {H: cost.live_bytes["activations"] for H, cost in costs.items()}  # @inspect kept
    assert kept[16] - kept[4] == 4 * (16 - 4) * T**2
    assert kept[4] - kept[1] == 4 * (4 - 1) * T**2
    # Does the layer know the order of its tokens? Exchange the first two, and the last token should
    # notice. It does, and without the rotation it does not.
    swapped = x[:, [1, 0, *range(2, T)]]
    assert (attention(swapped)[:, -1] - y[:, -1]).abs().max() > 1e-3
    without = Attention(D, 16, RotaryPositions(4, T), generator=generator)
    without.load_state_dict(attention.state_dict())
    without.rotary.cosine.fill_(1)
    without.rotary.sine.fill_(0)
    assert torch.allclose(without(swapped)[:, -1], without(x)[:, -1], atol=1e-6)
    assert not torch.allclose(without(x), y, atol=1e-3)


def groups_of_heads_share_keys_and_values():  # M15.8
    """Groups of heads share keys and values.

    When a model decodes, it [keeps the keys and values](#a_cache_reads_each_token_once) of all
    tokens so far, and reads all of them for each new token. Must each head have its own?
    In *grouped-query attention*, GQA ([Ainslie and others](https://arxiv.org/abs/2305.13245)), the
    heads of a group have keys and values in common. With a single group it is *multi-query
    attention*. Llama 3 8B has 32 heads in 8 groups.
    """
    T, D, H = 32, 64, 8
    K = D // H
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, T, D, generator=generator)
    costs, cached_bytes, layers = {}, {}, {}
    rotary = RotaryPositions(K, T)
    for groups in (8, 2, 1):
        layers[groups] = Attention(D, H, rotary, key_value_heads=groups, generator=generator)
        # The matrices for keys and values shrink: $2D^2 + 2D \cdot K \cdot$ groups parameters, in
        # place of $4D^2$.
        parameters = sum(weight.numel() for weight in layers[groups].parameters())
        assert parameters == 2 * D**2 + 2 * D * (K * groups)
        cache = LayerCache()
        with measure() as costs[groups]:
            layers[groups](x, cache)
        cached_bytes[groups] = cache.key.nbytes + cache.value.nbytes  # @inspect cached_bytes
        # The scores do not: every query still meets every key.
        assert costs[groups].matmul_flops == 2 * T * parameters + 4 * T**2 * D
    # The cache holds 2K numbers per token, layer and group: with a quarter of the keys, a quarter
    # of the bytes. That is what grouped queries are for.
    assert cached_bytes == {groups: 4 * T * (2 * K * groups) for groups in layers}
    # A group is nothing new: it is multi-head attention in which several heads have the same
    # matrices for keys and values. Copy them, and the results agree.
    with torch.no_grad():
        for name in ("query", "key", "value", "output"):
            grouped = getattr(layers[2], name).weight
            heads = grouped.unflatten(0, (-1, K))
            copies = D // len(grouped)
            getattr(layers[8], name).weight.copy_(
                heads.repeat_interleave(copies, dim=0).flatten(0, 1)
            )
    assert torch.allclose(layers[2](x), layers[8](x), atol=1e-6)


def mixed_in_pieces(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average all values, a few keys at a time; also return log Σ exp(score) of each query."""
    largest = torch.full((len(query), 1), -torch.inf)
    total, mixed = torch.zeros(len(query), 1), torch.zeros_like(query)
    for some_keys, some_values in zip(key.split(size), value.split(size), strict=True):
        scores = query @ some_keys.T / math.sqrt(query.shape[1])
        new = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
        # A larger score has come: what was added up so far shrinks by the factor between the two.
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = shrink * total + weights.sum(dim=1, keepdim=True)
        mixed = shrink * mixed + weights @ some_values
        largest = new
    return mixed / total, (largest + total.log())[:, 0]


def attention_needs_no_table_of_weights():  # M15.7
    """Attention needs no table of weights.

    With T tokens, each head makes T² attention weights, only to multiply them by the values at
    once. Can we do without storing them? Softmax seems to need a whole row, for its largest score
    and its sum. `mixed_in_pieces`, above, keeps both as running numbers, and corrects them when a
    larger score comes. That is how
    [FlashAttention](https://arxiv.org/abs/2205.14135), a *fused* kernel, [never writes its
    scores](#fused_attention_does_not_store_its_scores) to memory.
    """
    T, D, H = 64, 32, 4
    K = D // H
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, T, K, generator=generator).unbind()
    pieces = [mixed_in_pieces(query, key, value, size) for size in (5, 64)]
    for mixed, _ in pieces:
        wanted = functional.scaled_dot_product_attention(query, key, value)
        assert torch.allclose(mixed, wanted, atol=1e-6)
    # And the backward pass, which needs the weights? It computes the scores again. From the one
    # number that is kept for each row, $\ell = \log\sum_j e^{s_j}$, each weight is $e^{s-\ell}$.
    scores = query @ key.T / math.sqrt(K)
    assert torch.allclose((scores - pieces[0][1][:, None]).exp(), softmax(scores), atol=1e-6)
    # PyTorch has such a kernel, and our layer uses it when `fused`. The result is the same. What
    # waits for the backward pass?
    x = torch.randn(1, T, D, generator=generator)
    costs, results = {}, {}
    for fused in (False, True):
        seeded = torch.Generator().manual_seed(1)
        layer = Attention(D, H, RotaryPositions(K, T), fused=fused, generator=seeded)
        with measure() as costs[fused]:
            results[fused] = layer(x)
            kept = costs[fused].live_bytes["activations"]  # @inspect kept
    assert torch.allclose(results[True], results[False], atol=1e-6)
    # Instead of a T×T table, a number for each row of each head, in fp32; and here the mean once
    # more, with its heads in another order. So: linear in T, where it was quadratic.
    before, after = (cost.live_bytes["activations"] for cost in costs.values())
    assert before - after == 4 * (H * T * T - H * T - T * D)
    assert costs[True].matmul_flops == costs[False].matmul_flops


def a_router_chooses_experts():  # M15.4
    """A router chooses experts.

    More parameters can make a better model, and in training [each costs 6 FLOPs per
    token](#training_costs_six_flops_per_parameter_and_token). Can a model have parameters that most
    tokens do not pay for? A *mixture of experts* ([Shazeer and
    others](https://arxiv.org/abs/1701.06538)) has several feed-forward networks in place of one,
    its *experts*. A *router*, a linear layer, scores them for each token. The token passes through
    the few with the highest scores, and their results are added up, weighted by a softmax of these
    scores.
    """
    T, D, F, count, active = 64, 32, 48, 8, 2
    generator = torch.Generator().manual_seed(0)
    experts = Experts(D, F, count, active, generator=generator)
    x = torch.randn(T, D, generator=generator)
    with measure() as cost:
        y = experts(x)
    # One token by hand:
    scores, chosen = experts.router(x[5]).topk(active)
    results = [experts.networks[number](x[5]) for number in chosen.tolist()]
    by_hand = sum(w * found for w, found in zip(softmax(scores), results, strict=True))
    assert torch.allclose(y[5], by_hand, atol=1e-6)
    # **Total** parameters are those of all experts. *Active* ones are those that a token meets, and
    # they decide the FLOPs: two per active parameter and token in a forward pass.
    total = sum(weight.numel() for weight in experts.parameters())  # @inspect total
    assert total == count * (3 * D * F) + D * count
    active_parameters = active * (3 * D * F) + D * count  # @inspect active_parameters
    assert cost.matmul_flops == 2 * T * active_parameters
    # Memory pays for all of them. A single token uses two experts; a batch soon needs every expert
    # in memory, and loads every expert.
    places = experts.router(x).topk(active).indices
    used = {tokens: len(places[:tokens].unique()) for tokens in (1, 4, T)}  # @inspect used
    assert used[1] == active < used[4] < used[T] == count
    # And nothing makes the router fair. An even share would be 16 tokens for each expert. Training
    # adds a term to the loss, or a bias to the scores, so that the busy ones get fewer.
    load = places.flatten().bincount(minlength=count).tolist()  # @inspect load
    picture = figures.tokens_of_experts(load, T * active / count)  # @inspect picture
    assert sum(load) == T * active
    assert min(load) < T * active / count < max(load)


def a_block_adds_to_what_came_in():  # M15.9 E80 @core
    """A block adds to what came in.

    How do attention and the feed-forward network make a block? Each is a *sublayer*: it reads a
    normalized copy of the vectors, and adds its result to the vectors themselves. The sums, from
    the embedding to the LM head, are the *residual stream*. Normalization in front of a sublayer is
    called *pre-norm*. Why there?
    """
    # @note Draw one straight line on the board, and both sublayers as loops that leave it and come
    # back. Ask what arrives at the end if both loops bring back zeros, and what that means for a
    # gradient on its way down.
    T, D, H, F = 16, 48, 4, 128
    generator = torch.Generator().manual_seed(0)
    block = Block(D, H, F, RotaryPositions(D // H, T), generator=generator)
    # The parameters of a block: $4D^2 + 3DF$, and the gains of two norms. [Few, but part of the
    # model](#the_shape_of_gpt2_xl).
    parameters = {name: weight.numel() for name, weight in block.named_parameters()}
    assert sum(parameters.values()) == 4 * D**2 + 3 * D * F + 2 * D
    assert parameters["attention_norm.gain"] + parameters["feed_forward_norm.gain"] == 2 * D
    x = torch.randn(2, T, D, generator=generator)
    middle = x + block.attention(block.attention_norm(x))
    assert torch.equal(block(x), middle + block.feed_forward(block.feed_forward_norm(middle)))
    # If both sublayers output zero, the block is the identity, forward and backward. So a deep
    # model can begin as one that hardly changes its input, and gradients reach the first block.
    with torch.no_grad():
        block.attention.output.weight.zero_()
        block.feed_forward.down.weight.zero_()
    x.requires_grad_()
    y = block(x)
    gradient = torch.randn(y.shape, generator=generator)
    y.backward(gradient)
    assert torch.equal(y, x)
    assert torch.equal(x.grad, gradient)
    # The first Transformer normalized the sums instead (*post-norm*), and nothing passed unchanged.
    post_norm = block.attention_norm(x)
    assert not torch.allclose(post_norm, x, atol=0.1)


def a_model_starts_by_guessing():  # M15.10
    """A model starts by guessing.

    Which loss should a model have before it has learnt anything? If all V entries of the vocabulary
    are equally likely, the right one gets 1/V, and the loss is ln V: 9.21 for 10 000 entries.
    """
    generator = torch.Generator().manual_seed(0)
    losses = {}
    for V in (10_000, 50_257):
        config = TransformerConfig(V, context=16, layers=2, width=16, heads=2, feed_forward=48)
        model = TransformerLM(config, generator=generator)  # @stepover
        tokens = torch.randint(V, (8, config.context + 1), generator=generator)
        losses[V] = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:]).item()  # @inspect losses
        assert abs(losses[V] - math.log(V)) < 0.05
    # This is a cheap test of a model: one forward pass. It works because our LM head starts small.
    # If it starts like the other matrices, the model begins by believing in something, and
    # is wrong.
    with torch.no_grad():
        model.head.weight *= math.sqrt(config.width)
    loud = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:]).item()
    assert 0.3 < loud - losses[50_257] < 0.7
    # Embedding and LM head are tables of the same shape, and most of a model as small as this one.
    parameters = sum(weight.numel() for weight in model.parameters())
    assert 2 * 50_257 * 16 / parameters > 0.99
    assert not same_storage(model.head.weight, model.embedding.weight)
    # Must there be two? *Tied* embeddings are one table in both roles, as in
    # [GPT-2](#the_real_gpt2_has_other_parts): V·D fewer parameters, and the same FLOPs.
    tied = TransformerLM(
        TransformerConfig(**{**vars(config), "tied": True}), generator=generator
    )  # @stepover
    assert same_storage(tied.head.weight, tied.embedding.weight)
    assert parameters - sum(weight.numel() for weight in tied.parameters()) == 50_257 * 16
    with measure() as one_table, torch.no_grad():
        tied(tokens[:, :-1])
    with measure() as two_tables, torch.no_grad():
        model(tokens[:, :-1])
    assert one_table.matmul_flops == two_tables.matmul_flops


def cross_entropy_takes_no_detour():  # M15.11
    """Cross-entropy takes no detour through probabilities.

    What is the loss of one prediction? *Cross-entropy* is minus the logarithm of the probability p
    that the model gave to the right token: 0 if it was certain, and the more, the more it was
    surprised. (With the natural logarithm the unit is the *nat*.) Softmax gives p. Shall we take
    its logarithm?
    """
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5, 7, 100, generator=generator)
    targets = torch.randint(logits.shape[-1], (5, 7), generator=generator)
    loss = cross_entropy(logits, targets)  # @inspect loss
    probability = softmax(logits).gather(-1, targets[..., None])
    assert torch.allclose(loss, -probability.log().mean())
    pytorch = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    assert torch.allclose(loss, pytorch)
    # The detour fails when the right token was very unlikely: its probability rounds to 0. But the
    # logarithm of a fraction is a difference, $-\ln p = \ln\sum_i e^{z_i} - z_{target}$, and needs
    # no probability.
    sure, first = torch.tensor([[0.0, 200]]), torch.tensor([0])
    assert -softmax(sure)[0, 0].log() == torch.inf
    assert cross_entropy(sure, first) == 200
    # Its gradient is as simple: the probabilities, minus 1 at the right token.
    logits = logits[0, :1].requires_grad_()
    cross_entropy(logits, targets[0, :1]).backward()
    wanted = softmax(logits.detach()) - functional.one_hot(targets[0, :1], 100)
    assert torch.allclose(logits.grad, wanted, atol=1e-6)


def perplexity_counts_the_choices():  # M15.11
    """Perplexity counts the choices.

    Suppose a model reaches a loss of 1.66. Is that good? A model that hesitates evenly between n
    tokens has the loss ln n. So the exponential of the loss, the *perplexity*, says between how
    many: here $e^{1.66}$, a little more than five.
    """
    between_five = cross_entropy(torch.zeros(1, 5), torch.tensor([0]))
    assert between_five < 1.66 < cross_entropy(torch.zeros(1, 6), torch.tensor([0]))
    # Perplexity is the inverse of the geometric mean of the probabilities of the right tokens. One
    # token with a probability of 0.001 adds as much to the loss as ten tokens with 0.5.
    probabilities = torch.tensor([0.5, 0.9, 0.001, 0.9])
    assert torch.isclose(probabilities[2].log(), 10 * probabilities[0].log(), rtol=0.01)
    yes_or_no = torch.stack([probabilities, 1 - probabilities], dim=1).log()
    loss = cross_entropy(yes_or_no, torch.zeros(4, dtype=torch.int64))
    perplexity = loss.exp().item()  # @inspect perplexity
    assert math.isclose(perplexity, probabilities.prod().item() ** (-1 / 4), rel_tol=1e-5)
    # Can we compare two models by it? Only if they have the same tokens. With longer tokens there
    # are fewer of them, and each is harder. Two bytes of noise as two tokens, or as one of 65 536:
    byte_by_byte = cross_entropy(torch.zeros(2, 256), torch.zeros(2, dtype=torch.int64))
    both_at_once = cross_entropy(torch.zeros(1, 256**2), torch.zeros(1, dtype=torch.int64))
    assert math.isclose(both_at_once, 2 * byte_by_byte, rel_tol=1e-6)
    # The same knowledge, and twice the loss per token. Fair is the loss of the whole text over its
    # [bytes](#bytes_per_token_has_two_conventions), usually in *bits per byte*, with the logarithm
    # to the base 2. Noise has 8.
    bits_per_byte = both_at_once.item() / math.log(2) / 2  # @inspect bits_per_byte
    assert math.isclose(bits_per_byte, 8, rel_tol=1e-6)


def device_and_dtype_reach_every_part():  # M15.12
    """Device and dtype reach every parameter.

    Where is a model built? If its parts ask nobody, on the CPU and in fp32; and then we move it,
    when it may already be too large. So parts with parameters take `device` and `dtype`.
    """
    config = TransformerConfig(
        vocabulary=50_257, context=1024, layers=48, width=1600, heads=25, feed_forward=6400
    )
    # The sizes of GPT-2 XL, without a byte: two billion parameters in a moment.
    with measure() as cost:
        model = TransformerLM(config, device="meta", dtype=torch.bfloat16)  # @stepover
    assert {weight.device.type for weight in model.parameters()} == {"meta"}
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}
    numel = sum(weight.numel() for weight in model.parameters())
    assert numel == 2_127_057_600
    # The meter counts the memory that it would take.
    assert cost.live_bytes["parameters"] == 2 * numel
    # One thing stays in fp32: the cosines and sines. In bf16 the angle 257 would be 256, a radian
    # off, so the angles are computed in fp32. Their cosines are kept in fp32 as well: to build in
    # fp32 and call `model.bfloat16()` would round them, by up to 1/512.
    assert {buffer.dtype for buffer in model.buffers()} == {torch.float32}
    assert torch.tensor(257.0).bfloat16() == 256
    in_fp32, rounded = RotaryPositions(2, 512).cosine, RotaryPositions(2, 512).bfloat16().cosine
    assert 0.9 / 512 < (rounded.float() - in_fp32).abs().max() <= 1 / 512
    # What goes in decides the device of all that is made on the way, such as positions and masks.
    logits = model(torch.zeros(1, 3, dtype=torch.int64, device="meta"))  # @stepover
    assert (logits.device.type, logits.shape) == ("meta", (1, 3, 50_257))
    assert logits.dtype == torch.bfloat16
    # The 48 attention layers share one table of cosines.
    tables = {id(block.attention.rotary) for block in model.blocks}
    assert len(tables) == 1  # @predict
    assert sum(buffer.numel() for buffer in model.buffers()) == 2 * 1024 * 32


def the_next_token_is_drawn():  # M15.10
    """The next token is drawn.

    A model gives a probability to each entry. Which one do we write? If we always take the most
    likely, the text often runs in circles. If we draw from the probabilities, now and then we draw
    one from the long tail, and all that follows builds on it. Three settings lie in between.
    """
    logits = torch.tensor([[0.5, 0.25, 0.15, 0.06, 0.04]]).log()
    assert sample(logits, temperature=0).item() == 0
    generator = torch.Generator().manual_seed(0)

    def shares(**settings: float) -> list[float]:  # @stepover
        drawn = sample(logits.expand(20_000, -1), **settings, generator=generator)
        return (drawn.bincount(minlength=5) / len(drawn)).tolist()

    # The *temperature* divides the logits: at 1 they stay, and below 1 they lie further apart. At
    # one half, probabilities are squared and made to add up to 1 again. Only the first gains.
    plain = shares()  # @inspect plain
    assert max(abs(a - b) for a, b in zip(plain, logits[0].exp().tolist(), strict=True)) <= 0.02
    cooler = shares(temperature=0.5)  # @inspect cooler
    squares = logits[0].exp().square().tolist()
    assert all(abs(cooler[i] - squares[i] / sum(squares)) <= 0.02 for i in range(5))
    assert [i for i in range(5) if cooler[i] > plain[i]] == [0]
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

    To write the next token, must the model read the whole text again? No token sees the future, so
    the keys and values of earlier tokens do not depend on later ones. We can keep them, in the *KV
    cache*, which [takes memory](#training_needs_no_cache). Then only the new token passes through
    the model. The prompt passes first and at once, which is called *prefill*; after it the model
    *decodes*, a token at a time.
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
    # Count them. With the cache, each of 9 tokens passes once through blocks and LM head. Prefill
    # makes 4×4 scores; then the t-th token looks at t keys in each layer.
    D, F, V = config.width, config.feed_forward, config.vocabulary
    per_token = 2 * (2 * (4 * D**2 + 3 * D * F) + D * V)
    seen = 4 * 4 + sum(range(5, 10))
    assert costs[True].matmul_flops == 9 * per_token + 2 * 4 * D * seen
    # Without it, a text of t tokens passes as a whole, with t² scores, for t from 4 to 9. So the
    # ratio grows with the length of the text.
    assert costs[False].matmul_flops == sum(t * per_token + 2 * 4 * D * t**2 for t in range(4, 10))
    # What we can do now: build a Transformer from a table, blocks that add to a stream of vectors,
    # and an LM head. Heads cost no matmul FLOPs; grouped queries shrink the cache, fused attention
    # stores no T×T table, and experts add parameters that most tokens do not pay for.


def exercise_attention_without_order():  # M15.7 @exercise
    """Exercise: attention without order.

    Take attention without a mask and without positions, and write the tokens in reverse order. What
    happens to the results: are they other numbers, or the same in another order?
    """
    T, K = 6, 4
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, T, K, generator=generator).unbind()
    everything = torch.ones(T, T, dtype=torch.bool)
    forwards = attend(query, key, value, everything)
    backwards = attend(query.flip(0), key.flip(0), value.flip(0), everything)
    # The same, in reverse. A weighted mean does not know in which order it adds up. The causal mask
    # does know an order: with it, a token that stood last stands first and sees only itself.
    assert torch.allclose(backwards.flip(0), forwards, atol=1e-6)
    masked = [
        attend(*(part.flip(0) if turned else part for part in (query, key, value)), mask)
        for turned, mask in ((False, everything.tril()), (True, everything.tril()))
    ]
    assert not torch.allclose(masked[1].flip(0), masked[0], atol=1e-2)


def exercise_a_gibibyte_of_cache():  # M15.8 @exercise
    """Exercise: a gibibyte of cache.

    A model has 32 layers of width 4096 and 32 heads, and keeps its KV cache in bf16. How many
    tokens fill a gibibyte? And with 8 groups of heads?
    """
    made = {"device": "meta", "dtype": torch.bfloat16}
    D, H, L = 4096, 32, 32
    fitting = {}
    for groups in (32, 8):
        rotary = RotaryPositions(D // H, 2, device="meta")
        layer, cache = Attention(D, H, rotary, key_value_heads=groups, **made), LayerCache()
        layer(torch.empty(1, 2, D, **made), cache)
        token_bytes = L * (cache.key.nbytes + cache.value.nbytes) // 2
        fitting[groups] = 2**30 // token_bytes  # @inspect fitting
    # 2·32·4096 numbers of two bytes for each token are half a mebibyte, and with 8 groups a quarter
    # of that.
    assert fitting == {32: 2048, 8: 8192}
