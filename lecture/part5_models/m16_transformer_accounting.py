"""The bill of a Transformer: parameters and FLOPs, part by part."""

from collections import Counter
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from lecture.accounting.formulas import forward_flops, forward_flops_by_part, parameters_by_part
from lecture.facts import GPT2_PAPER_PARAMETERS, GPT2_SIZES
from lecture.lib.gpt2 import LONG_XL, XL, measured
from lecture.lib.presets import PRESETS
from lecture.lib.transformer import (
    LayerCache,
    Linear,
    SwiGLU,
    TransformerConfig,
    TransformerLM,
    attend,
)
from lecture.part5_models import m16_figures as figures
from trace.costs import measure

FAMILY = {name: PRESETS[f"gpt2-{name}"] for name in GPT2_SIZES} | {"xl, T·16": LONG_XL}


def flops_of_products(T: int, D: int, F: int, h: int) -> dict[str, int]:
    """Run the products of one block on T tokens, without numbers, and count."""
    x = torch.empty(T, D, device="meta")
    network = SwiGLU(D, F, device="meta")
    with measure() as feed_forward:
        network(x)
    matrices = [Linear(D, D, device="meta") for _ in ("query", "key", "value", "output")]
    with measure() as projections:
        for matrix in matrices:
            matrix(x)
    heads = torch.empty(h, T, D // h, device="meta")
    visible = torch.ones(T, T, dtype=torch.bool, device="meta")
    with measure() as scores_and_values:
        attend(heads, heads, heads, visible)
    return {
        "feed-forward": feed_forward.matmul_flops,
        "projections": projections.matmul_flops,
        "scores and values": scores_and_values.matmul_flops,
    }


def a_block_is_nine_products():  # M16.1
    """A block is nine products.

    What does a Transformer cost before it is run? Nearly all of its FLOPs are in matrix products,
    and each of L blocks has nine: three in the feed-forward network, four projections, and two in
    attention. So its bill is a formula with the sizes in it.
    """
    T, D, F, h, V, L = 10, 48, 128, 4, 100, 3
    flops = flops_of_products(T, D, F, h)  # @inspect flops
    # [Twice tokens times parameters](#forward_is_two_flops_per_parameter_and_token) for all that
    # has a weight. Attention has T² pairs of tokens, and each takes D multiplications and D
    # additions for its scores in all heads, and as many again for its share of the values.
    assert flops["feed-forward"] == 2 * T * (3 * D * F)
    assert flops["projections"] == 2 * T * (4 * D**2)
    assert flops["scores and values"] == 2 * (2 * T**2 * D)
    # With F = 8/3·D the block comes to $24TD^2+4T^2D$.
    assert sum(flops.values()) == 24 * T * D**2 + 4 * T**2 * D == 572_160
    # `lecture/accounting/formulas.py` has a function for each line of the bill. That its sums are
    # right is measured on a model of these sizes: L times the block, and once the head.
    config = TransformerConfig(V, context=T, layers=L, width=D, heads=h, feed_forward=F)
    by_formula = forward_flops_by_part(config, T)  # @inspect by_formula
    assert [by_formula[part] for part in flops] == [L * found for found in flops.values()]
    assert by_formula["head"] == 2 * T * D * V
    found = measured(config)
    assert found.forward_flops == sum(by_formula.values()) == 3 * 572_160 + 96_000
    # The way back is exactly twice as long. Each product has two factors, and both need a gradient;
    # also in the first block, as what enters it comes from the embedding, which is learnt.
    assert found.backward_flops == 2 * found.forward_flops


def parameters_of(model: nn.Module) -> dict[str, int]:  # @stepover
    """Count the parameters of each part of a model, by their names."""
    found: Counter[str] = Counter()
    parts = {"norm": "norms", "embedding": "embedding", "head": "head", "attention": "attention"}
    for name, weight in model.named_parameters():
        part = next((parts[word] for word in parts if word in name), "feed-forward")
        found[part] += weight.numel()
    return dict(found)


def parameters_are_counted_part_by_part():  # M16.2
    """Parameters are counted part by part.

    And the parameters? They follow from the same sizes, but not the length of the text: tokens
    share all weights.
    """
    D, F, h, V, L = 48, 128, 4, 100, 3
    config = TransformerConfig(V, context=10, layers=L, width=D, heads=h, feed_forward=F)
    model = TransformerLM(config, device="meta")  # @stepover
    found = parameters_of(model)  # @inspect found
    assert found["embedding"] == found["head"] == V * D
    assert found["attention"] == L * (4 * D**2)
    assert found["feed-forward"] == L * (3 * D * F)
    # Two norms in each block, and one in front of the head.
    assert found["norms"] == (2 * L + 1) * D
    assert parameters_by_part(config) == found
    assert sum(found.values()) == measured(config).parameters == 92_880
    # Neither the context nor the number of heads changes anything.
    for other in (replace(config, context=1000), replace(config, heads=12)):
        other_model = TransformerLM(other, device="meta")  # @stepover
        assert parameters_of(other_model) == found
    # To make a model larger one can make it deeper or wider. Twice as deep is twice the blocks;
    # twice as wide, with F in proportion, four times.
    deeper = parameters_by_part(replace(config, layers=6))
    wider = parameters_by_part(replace(config, width=96, feed_forward=256))
    for part in ("attention", "feed-forward"):
        assert deeper[part] == 2 * found[part]
        assert wider[part] == 4 * found[part]


def the_shape_of_gpt2_xl():  # M16.3 E80 E81
    """A model in the shape of GPT-2 XL has 2.1 billion parameters.

    From here on, one model is the example: 48 blocks, 1600 features, 25 heads, F = 6400. These are
    the sizes of [GPT-2 XL](https://openai.com/index/better-language-models), put into the parts of
    the last chapter; [the real one](#the_real_gpt2_has_other_parts) has others. On the device
    `meta` it can be built on any machine.
    """
    model = TransformerLM(XL, device="meta")  # @stepover
    parameters = parameters_of(model)  # @inspect parameters
    picture = figures.parameter_map(XL)  # @inspect picture
    assert parameters["embedding"] == parameters["head"] == 50_257 * 1600 == 80_411_200
    # Three quarters of each block are its feed-forward network.
    attention, feed_forward = (parameters[part] // 48 for part in ("attention", "feed-forward"))
    assert (attention, feed_forward) == (10_240_000, 30_720_000)
    assert 48 * (attention + feed_forward) == 1_966_080_000
    # A common mistake is to add up the matrices and to forget the norms. Their 155 200 gains are
    # few, but a formula that is checked to the last parameter has to have them.
    matrices = sum(parameters.values()) - parameters["norms"]
    assert matrices == 2_126_902_400
    assert sum(parameters.values()) == matrices + 97 * 1600 == 2_127_057_600
    # In fp32, 4 bytes each. Another mistake is to divide by 1024 and to call the result MB or GB:
    # the same model has 7.92 GiB and 8.51 GB, [two units](#giga_is_not_gibi).
    model_bytes = sum(weight.untyped_storage().nbytes() for weight in model.parameters())
    assert model_bytes == 4 * 2_127_057_600
    assert round(model_bytes / 2**30, 3) == 7.924
    assert round(model_bytes / 1e9, 3) == 8.508
    mebibytes = [
        4 * part / 2**20 for part in (parameters["head"], attention + feed_forward)
    ]  # @inspect mebibytes
    assert [round(part, 2) for part in mebibytes] == [306.74, 156.25]


def one_forward_pass_of_xl():  # M16.4 E82
    """One forward pass of XL takes 4.5 trillion FLOPs.

    What does it cost to send one full context, 1024 tokens, through that model?
    """
    T, D, F, h, V, L = 1024, 1600, 6400, 25, 50_257, 48
    block = flops_of_products(T, D, F, h)  # @stepover
    flops = {part: L * found for part, found in block.items()}  # @inspect flops
    assert flops["feed-forward"] == 3_019_898_880_000
    assert flops["projections"] == 1_006_632_960_000
    assert flops["scores and values"] == 322_122_547_200
    blocks_flops = sum(flops.values())
    percent = [round(100 * part / blocks_flops, 2) for part in flops.values()]  # @inspect percent
    assert percent == [69.44, 23.15, 7.41]
    # A common mistake is to stop here. The head is a product like the others, one for each entry of
    # the vocabulary, and the meter sees it.
    head_flops = measured(XL).forward_flops - blocks_flops  # @inspect head_flops
    assert head_flops == 2 * T * D * V == 164_682_137_600
    assert measured(XL).forward_flops == 4_513_336_524_800
    assert sum(forward_flops_by_part(XL, T).values()) == measured(XL).forward_flops
    # A step of training on one sequence: the same again twice, for the way back.
    step_flops = measured(XL).forward_flops + measured(XL).backward_flops
    assert step_flops == 3 * measured(XL).forward_flops
    assert round(step_flops / 1e12, 2) == 13.54


def heads_weigh_on_small_models():  # M16.5 E82
    """In a small model the head is a fifth of the bill.

    GPT-2 came in four sizes. How does the bill change with the size? The same parts, 1024 tokens,
    F = 4D; and once more the largest, with 16 times the context.
    """
    flops = {
        name: forward_flops_by_part(config, config.context) for name, config in FAMILY.items()
    }  # @stepover
    # Each total is what the meter counts.
    totals = {name: sum(parts.values()) for name, parts in flops.items()}  # @inspect totals
    assert totals == {name: measured(config).forward_flops for name, config in FAMILY.items()}
    assert list(totals.values()) == [
        349_630_365_696,
        1_033_109_504_000,
        2_257_754_521_600,
        4_513_336_524_800,
        149_522_795_724_800,
    ]
    numbers = [measured(config).parameters for config in FAMILY.values()]  # @inspect numbers
    assert numbers == [190_460_160, 505_629_696, 1_072_469_760, 2_127_057_600, 2_127_057_600]
    shares = figures.shares_of_models(flops)  # @inspect shares
    # The vocabulary is the same for all, so the head is more than a fifth of the smallest model.
    # Leaving it out would be a mistake of 22.6 % there, and of 3.65 % in the largest.
    head_percent = [
        round(100 * parts["head"] / totals[name], 2) for name, parts in flops.items()
    ]  # @inspect head_percent
    assert head_percent == [22.61, 10.2, 5.84, 3.65, 1.76]
    # For all five the way back is twice the way forward, to the last FLOP.
    for config in FAMILY.values():
        assert measured(config).backward_flops == 2 * measured(config).forward_flops


def the_feed_forward_network_dominates():  # M16.6 E79 E88
    """The feed-forward network dominates.

    Which part is worth making faster? A common mistake is to say attention, of which everybody
    speaks.
    """
    percent = {}
    for name, (_, D, h) in GPT2_SIZES.items():
        block = flops_of_products(1024, D, 4 * D, h)  # @stepover
        total = sum(block.values())
        percent[name] = [round(100 * part / total, 2) for part in block.values()]
    # At 1024 tokens, two thirds of a block are its feed-forward network, and the wider the model
    # the more. Scores and values fall behind.
    assert percent == {
        "small": [64.29, 21.43, 14.29],
        "medium": [66.67, 22.22, 11.11],
        "large": [68.18, 22.73, 9.09],
        "xl": [69.44, 23.15, 7.41],
    }  # @inspect percent
    # The reason is how each part grows. Let the model become twice as wide, then the text twice as
    # long:
    block = flops_of_products(1024, 1600, 6400, 25)  # @stepover
    wider = flops_of_products(1024, 3200, 12_800, 50)  # @stepover
    longer = flops_of_products(2048, 1600, 6400, 25)  # @stepover
    by_width = [wider[part] / block[part] for part in block]  # @inspect by_width
    by_length = [longer[part] / block[part] for part in block]  # @inspect by_length
    assert by_width == [4, 4, 2]
    assert by_length == [2, 2, 4]
    # So it is not quite right that one part grows with the width and the other with the length:
    # scores grow with both, as T²·D. Everything with a weight grows as T·D², and in wide models
    # that wins as long as T is small beside D.


def long_contexts_belong_to_attention():  # M16.7 E83
    """Long contexts belong to attention.

    And when T is not small beside D? The same model with 16 times the context:
    """
    short, long = (flops_of_products(T, 1600, 6400, 25) for T in (1024, 16_384))  # @stepover
    times = {part: long[part] / short[part] for part in short}  # @inspect times
    assert list(times.values()) == [16, 16, 16**2]
    # A common mistake is to say that all this makes two orders of magnitude. Only the scores grow
    # by 256, and they were 7 %: it is 34 times in the blocks, and 33 with the head.
    assert round(sum(long.values()) / sum(short.values()), 2) == 33.78
    with_head = measured(LONG_XL).forward_flops / measured(XL).forward_flops
    assert round(with_head, 2) == 33.13
    # Now the scores have most of it, 56 % of the blocks.
    assert round(100 * long["scores and values"] / sum(long.values()), 2) == 56.14
    # They reach the feed-forward network where $4T^2D=24TD^2$: at T = 6D, 9600 tokens. At 8D they
    # are half of the block.
    equal, half = (flops_of_products(n * 1600, 1600, 6400, 25) for n in (6, 8))  # @stepover
    assert equal["scores and values"] == equal["feed-forward"]
    assert 2 * half["scores and values"] == sum(half.values())
    contexts = {
        T: forward_flops_by_part(XL, T) for T in (512 * 2**n for n in range(8))
    }  # @stepover
    assert max(contexts) == 65_536
    by_context = figures.shares_by_context(contexts)  # @inspect by_context
    # Of a context of 65 536 tokens, 83 % of the bill are scores.
    longest = contexts[65_536]
    assert round(100 * longest["scores and values"] / sum(longest.values())) == 83


def tokens_times_parameters_with_corrections():  # M16.8
    """Two corrections make 2NT exact.

    A forward pass takes about two FLOPs for each of N parameters and T tokens. How good is that for
    a Transformer? Two things are wrong with it. Embedding and norms have parameters that multiply
    no matrix; and attention multiplies without parameters.
    """
    plain = {}
    for name, config in FAMILY.items():
        D, T, L = config.width, config.context, config.layers
        found = measured(config)
        multiplying = found.parameters - config.vocabulary * D - (2 * L + 1) * D
        # With both corrections it is no approximation any more.
        assert found.forward_flops == 2 * T * multiplying + 4 * L * T**2 * D
        plain[name] = round(2 * T * found.parameters / found.forward_flops, 3)
    # Without them it is 12 % too much for the smallest model, 3.5 % too little for the largest, and
    # less than half of the truth for a long context.
    assert list(plain.values()) == [1.116, 1.002, 0.973, 0.965, 0.466]  # @inspect plain
    # That the second is right within 0.3 % is luck: the two errors have opposite signs. For the way
    # back all is twice as much, so the same shares hold for 6NT.
    small = measured(FAMILY["small"])
    step_flops = small.forward_flops + small.backward_flops
    assert round(6 * 1024 * small.parameters / step_flops, 3) == plain["small"]


def numel(*parts: nn.Module) -> int:  # @stepover
    """Count the parameters of some parts."""
    return sum(weight.numel() for part in parts for weight in part.parameters())


def the_real_gpt2_has_other_parts():  # M16.9 E84
    """The real GPT-2 has other parts.

    Are these the four GPT-2 models? In shape only. GPT-2 has two matrices and GELU in its
    feed-forward network, biases everywhere, LayerNorm (which also subtracts the mean), learnt
    positions, and one table for embedding and head. PyTorch has all of these.
    """
    counts = {}
    for name, (L, D, h) in GPT2_SIZES.items():
        block = nn.TransformerEncoderLayer(
            D, h, 4 * D, dropout=0.0, activation="gelu", norm_first=True, device="meta"
        )  # @stepover
        tables = [nn.Embedding(rows, D, device="meta") for rows in (XL.vocabulary, XL.context)]
        counts[name] = L * numel(block) + numel(*tables, nn.LayerNorm(D, device="meta"))
    assert list(counts.values()) == [124_439_808, 354_823_168, 774_030_080, 1_557_611_200]
    # Of ours, the largest is more than a third larger: 16 D² in a block instead of 12, and two
    # tables of words instead of one.
    assert numel(block) == 12 * 1600**2 + 13 * 1600
    assert round(measured(XL).parameters / counts["xl"], 3) == 1.366  # @inspect counts
    # The bill of a block follows the parameters.
    x = torch.empty(1024, 1600, device="meta")
    mask = torch.empty(1024, 1024, device="meta")
    with measure() as real:
        block(x, src_mask=mask)  # @stepover
    assert real.matmul_flops == 24 * 1024 * 1600**2 + 4 * 1024**2 * 1600
    ours = sum(flops_of_products(1024, 1600, 6400, 25).values())  # @stepover
    assert ours - real.matmul_flops == 8 * 1024 * 1600**2
    # Counting seems to be hard: the paper itself gives 117, 345, 762 and 1542 million, and was
    # corrected where the weights are published. That is up to 6 % too little.
    missing = [
        round(100 * (1 - GPT2_PAPER_PARAMETERS[name] / counts[name]), 1) for name in counts
    ]  # @inspect missing
    assert missing == [6.0, 2.8, 1.6, 1.0]


def half_of_the_scores_are_masked():  # M16.10
    """Nearly half of the scores are masked.

    Each of T tokens is compared with all T, and may see itself and those before. Are the others
    work? They are computed and then thrown away, so our counts have them.
    """
    T, D, L = 12, 48, 3
    pairs = torch.ones(T, T).tril().sum()
    assert pairs == T * (T + 1) / 2 == 78
    # What is useful can be measured as well. A text that is read token by token, with the keys and
    # values of earlier ones kept, meets visible pairs only. (Its first two tokens are read at once,
    # with the one pair hidden between them: one score alone is no matrix product to PyTorch.)
    config = TransformerConfig(100, context=T, layers=L, width=D, heads=4, feed_forward=128)
    model = TransformerLM(config, device="meta")  # @stepover
    tokens = torch.zeros(1, T, dtype=torch.int64, device="meta")
    caches = [LayerCache() for _ in range(L)]  # @stepover
    with measure() as one_by_one:
        for piece in tokens.split([2, *[1] * (T - 2)], dim=1):
            model(piece, caches)  # @stepover
    wasted = measured(config).forward_flops - one_by_one.matmul_flops  # @inspect wasted
    assert wasted == L * 4 * D * (T**2 - 78 - 1) == 37_440
    # Conventions differ, so a count has to say which it follows. PyTorch's does not discount what
    # is masked, not even where the kernel skips it.
    query = torch.empty(1, 4, T, 12, device="meta")
    with measure() as causal:
        scaled_dot_product_attention(query, query, query, is_causal=True)
    assert causal.matmul_flops == 4 * T**2 * D
    # Nor does [the formula](#long_contexts_add_work_without_parameters) $6N+12LDT$ of
    # [PaLM](https://arxiv.org/abs/2204.02311). The speeds in the paper on
    # [FlashAttention-2](https://arxiv.org/abs/2307.08691) are based on half.
    percent = {}
    for name, large in {"xl": XL, "xl, T·16": LONG_XL}.items():
        T, D, L = large.context, large.width, large.layers
        hidden_flops = L * 4 * D * T * (T - 1) // 2
        percent[name] = round(100 * hidden_flops / forward_flops(large, T), 2)
    # For 1024 tokens the question is of little weight; for 16 384 it decides on a quarter of the
    # bill, and so of the utilization.
    assert percent == {"xl": 3.57, "xl, T·16": 27.57}  # @inspect percent
    # This chapter in short: the bill of a Transformer follows from its sizes, to the last parameter
    # and the last FLOP. The feed-forward networks have most of it; the head weighs on small models,
    # and attention on long contexts.
