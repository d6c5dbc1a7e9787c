"""The cost of a Transformer: parameters, FLOPs and bytes, part by part."""

from collections import Counter
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from lecture.accounting.formulas import (
    active_parameters,
    cache_bytes,
    forward_flops,
    forward_flops_by_part,
    parameters_by_part,
    step_flops,
)
from lecture.facts import (
    A100_SXM,
    CACHE_BYTES_PER_TOKEN,
    DEEPSEEK_V3,
    DEEPSEEK_V3_NAMED_PARAMETERS,
    GPT2_PAPER_PARAMETERS,
    GPT2_SIZES,
    H100_SXM,
    MIXTRAL_NAMED_PARAMETERS,
    Accelerator,
    DeepSeekV3,
)
from lecture.lib.gpt2 import LONG_XL, XL, measured
from lecture.lib.presets import PRESETS
from lecture.lib.transformer import (
    Block,
    Embedding,
    LayerCache,
    Linear,
    RMSNorm,
    RotaryPositions,
    SwiGLU,
    TransformerConfig,
    TransformerLM,
    attend,
    cross_entropy,
)
from lecture.part5_models import m16_figures as figures
from trace.costs import measure

FAMILY = {name: PRESETS[f"gpt2-{name}"] for name in GPT2_SIZES} | {"xl, T·16": LONG_XL}


def costs_of_a_block(
    T: int, D: int, F: int, H: int, dtype: torch.dtype = torch.float32
) -> dict[str, object]:
    """Run one block without its norms and rotations on T tokens, on `meta`; measure each part."""
    x = torch.empty(T, D, device="meta", dtype=dtype)
    network = SwiGLU(D, F, device="meta", dtype=dtype)
    with measure() as feed_forward:
        network(x)
    matrices = [Linear(D, D, device="meta", dtype=dtype) for _ in range(4)]
    with measure() as projections:
        for matrix in matrices:
            matrix(x)
    query, key, value = torch.empty(3, H, T, D // H, device="meta", dtype=dtype).unbind()
    visible = torch.ones(T, T, dtype=torch.bool, device="meta")
    with measure() as scores_and_values:
        attend(query, key, value, visible)
    return {
        "feed-forward": feed_forward,
        "projections": projections,
        "scores and values": scores_and_values,
    }


def flops_of_a_block(T: int, D: int, F: int, H: int) -> dict[str, int]:  # @stepover
    """Count the matmul FLOPs of each part of a block."""
    return {part: cost.matmul_flops for part, cost in costs_of_a_block(T, D, F, H).items()}


def a_block_is_nine_products():  # M16.1
    """A block is nine matmuls.

    What does a Transformer cost before it runs? Nearly all FLOPs of a large one are matmuls. Each
    of L blocks has nine: three in the feed-forward network, four *projections* (queries, keys,
    values, output), and two in attention. [Twice tokens times
    parameters](#forward_is_two_flops_per_parameter_and_token) for the seven that have parameters:
    $2T\\cdot 3DF + 2T\\cdot 4D^2$. And the scores? There are T² pairs of tokens, and each takes D
    multiply-adds for its scores in all heads, and D more for the values: $4T^2D$.
    """
    T, D, F, H, V, L = 10, 48, 128, 4, 100, 3
    flops = flops_of_a_block(T, D, F, H)  # @inspect flops
    assert flops["feed-forward"] == 2 * T * (3 * D * F)
    assert flops["projections"] == 2 * T * (4 * D**2)
    assert flops["scores and values"] == 2 * (2 * T**2 * D)
    # With F = 8/3·D a block comes to $24TD^2+4T^2D$, a formula worth remembering.
    assert sum(flops.values()) == 24 * T * D**2 + 4 * T**2 * D
    # `lecture/accounting/formulas.py` has a function for each line. Does a whole model of these
    # sizes agree? L times the block, and once the LM head with 2TDV.
    config = TransformerConfig(V, context=T, layers=L, width=D, heads=H, feed_forward=F)
    by_formula = forward_flops_by_part(config, T)  # @inspect by_formula
    assert [by_formula[part] for part in flops] == [L * found for found in flops.values()]
    found = measured(config)
    assert (
        found.forward_flops == sum(by_formula.values()) == L * sum(flops.values()) + 2 * T * D * V
    )
    # The backward pass costs exactly twice as much: each matmul has two factors, and both need a
    # gradient. That holds for the first block, too, as its input comes from the embedding.
    assert found.backward_flops == 2 * found.forward_flops


def parameters_of(model: nn.Module) -> dict[str, int]:  # @stepover
    """Count the parameters of each part of a model, by their names."""
    found: Counter[str] = Counter()
    parts = {"norm": "norms", "embedding": "embedding", "head": "head", "attention": "attention"}
    for name, weight in model.named_parameters():
        part = next((parts[word] for word in parts if word in name), "feed-forward")
        found[part] += weight.numel()
    return dict(found)


def parameters_are_counted_part_by_part():  # M16.2 @core
    """Parameters are counted part by part.

    And the parameters? They follow from the same sizes: V·D for the embedding and as many for the
    LM head, $4D^2 + 3DF$ in each block, and D for the gain of each norm. Which sizes of a model do
    not matter?
    """
    # @note Vote on each size before the claims: context, heads, depth, width; which changes the
    # number of parameters? Stay with the heads until somebody says why more of them cost nothing
    # here. (Each is narrower.)
    D, F, H, V, L = 48, 128, 4, 100, 3
    config = TransformerConfig(V, context=10, layers=L, width=D, heads=H, feed_forward=F)
    model = TransformerLM(config, device="meta")  # @stepover
    found = parameters_of(model)  # @inspect found
    assert found["embedding"] == found["head"] == V * D
    assert found["attention"] == L * (4 * D**2)
    assert found["feed-forward"] == L * (3 * D * F)
    # Two norms in each block, and one in front of the LM head.
    assert found["norms"] == (2 * L + 1) * D
    assert parameters_by_part(config) == found
    # The context does not matter, as rotary positions have no parameters. Nor does the number
    # of heads.
    for other in (replace(config, context=1000), replace(config, heads=12)):
        other_model = TransformerLM(other, device="meta")  # @stepover
        assert parameters_of(other_model) == found
    # Deeper or wider? Twice the depth is twice the blocks; twice the width, with F in proportion,
    # makes each matrix of a block four times as large.
    deeper = parameters_by_part(replace(config, layers=2 * L))
    wider = parameters_by_part(replace(config, width=2 * D, feed_forward=2 * F))
    for part in ("attention", "feed-forward"):
        assert deeper[part] == 2 * found[part]
        assert wider[part] == 4 * found[part]


def the_shape_of_gpt2_xl():  # M16.3 E80 E81
    """A model in the shape of GPT-2 XL has 2.1 billion parameters.

    From here on, one model is our example: 48 blocks, width 1600, 25 heads, F = 6400. These are the
    sizes of [GPT-2 XL](https://openai.com/index/better-language-models), put into the parts of the
    chapter before; [the real one](#the_real_gpt2_has_other_parts) has other parts. Where do you
    expect most of its parameters?
    """
    model = TransformerLM(XL, device="meta")  # @stepover
    parameters = parameters_of(model)  # @inspect parameters
    picture = figures.parameter_map(XL)  # @inspect picture
    # Three quarters of each block are its feed-forward network: 3DF = 12D² against 4D².
    D, L, V = 1600, 48, 50_257
    assert parameters["feed-forward"] == 3 * parameters["attention"] == L * 12 * D**2
    assert parameters["embedding"] == parameters["head"] == V * D
    # A common mistake is to add up the matrices and to forget the norms. Their gains are few, but a
    # formula that we check to the last parameter has to have them.
    total = sum(parameters.values())  # @inspect total
    assert total - parameters["norms"] == 2_126_902_400
    assert total == 2_126_902_400 + (2 * L + 1) * D
    # In fp32, with 4 bytes each, the model has 8.51 GB or 7.92 GiB: [two
    # units](#giga_is_not_gibi), and one model.
    model_bytes = sum(weight.untyped_storage().nbytes() for weight in model.parameters())
    assert model_bytes == 4 * total
    assert (round(model_bytes / 1e9, 2), round(model_bytes / 2**30, 2)) == (8.51, 7.92)


def one_forward_pass_of_xl():  # M16.4 E82
    """One forward pass of XL takes 4.5 trillion FLOPs.

    What does it cost to send one full context, 1024 tokens, through that model? As a guess, $2NT$
    is $2\\cdot 2.13\\cdot 10^9\\cdot 1024 \\approx 4.4\\cdot 10^{12}$. Now part by part.
    """
    T, D, F, H, V, L = 1024, 1600, 6400, 25, 50_257, 48
    flops = {part: L * found for part, found in flops_of_a_block(T, D, F, H).items()}
    blocks_flops = sum(flops.values())  # @inspect flops blocks_flops
    percent = [round(100 * part / blocks_flops, 2) for part in flops.values()]  # @inspect percent
    assert percent == [69.44, 23.15, 7.41]
    # It is tempting to stop here. But the LM head is a matmul like the others, with 2TDV FLOPs, and
    # the meter sees it.
    found = measured(XL)
    head_flops = found.forward_flops - blocks_flops  # @inspect head_flops
    assert head_flops == 2 * T * D * V
    # What is no matmul, by the meter's conventions, is less than a hundredth of that.
    assert found.forward.other_flops < found.forward_flops / 100
    assert sum(forward_flops_by_part(XL, T).values()) == found.forward_flops == 4_513_336_524_800
    # So our guess was 3.5 % too low. A training step on one sequence costs three times the forward
    # pass: once forward, and twice that backward.
    assert round(100 * (1 - 2 * found.parameters * T / found.forward_flops), 1) == 3.5
    step = found.forward_flops + found.backward_flops  # @inspect step
    assert step == 3 * found.forward_flops == step_flops(XL, T)


def heads_weigh_on_small_models():  # M16.5 E82
    """In a small model the LM head is a fifth of the FLOPs.

    GPT-2 came in four sizes, with one vocabulary. How do the shares change with the size? We take
    the same parts, 1024 tokens, F = 4D; and once more the largest, with 16 times the context.
    """
    flops = {
        name: forward_flops_by_part(config, config.context) for name, config in FAMILY.items()
    }  # @stepover
    totals = {name: sum(parts.values()) for name, parts in flops.items()}  # @inspect totals
    # The meter counts the same in the smallest and in the largest; with the long context we let it
    # count a model of two blocks. The backward pass costs twice the forward pass, to the last FLOP.
    for config in (FAMILY["small"], XL, replace(LONG_XL, layers=2)):
        found = measured(config)
        assert found.forward_flops == sum(forward_flops_by_part(config, config.context).values())
        assert found.backward_flops == 2 * found.forward_flops
        assert found.parameters == sum(parameters_by_part(config).values())
    shares = figures.shares_of_models(flops)  # @inspect shares
    # The blocks grow with L·D², and the LM head only with D. So it is more than a fifth of the
    # smallest model: if you leave it out, you are wrong by 22.6 % there, and by 3.65 % in XL.
    head_percent = [
        round(100 * parts["head"] / totals[name], 2) for name, parts in flops.items()
    ]  # @inspect head_percent
    assert head_percent == [22.61, 10.2, 5.84, 3.65, 1.76]


def most_flops_are_in_the_feed_forward_network():  # M16.6 E79 E88
    """At 1024 tokens most FLOPs are in the feed-forward network.

    Which part of a block has most FLOPs: the feed-forward network, the projections, or the scores
    and values of attention, which are most talked about? We count, for 1024 tokens.
    """
    percent = {}
    for name, (_, D, H) in GPT2_SIZES.items():
        block = flops_of_a_block(1024, D, 4 * D, H)  # @stepover
        percent[name] = [round(100 * part / sum(block.values()), 1) for part in block.values()]
    # About two thirds are in the feed-forward network, and the wider the model, the more. Scores
    # and values fall behind.
    feed_forward, _, scores = zip(*percent.values(), strict=True)  # @inspect percent
    assert list(feed_forward) == sorted(feed_forward) == [64.3, 66.7, 68.2, 69.4]
    assert list(scores) == sorted(scores, reverse=True) == [14.3, 11.1, 9.1, 7.4]
    # The reason is how the parts grow. Make the model twice as wide, then the text twice as long.
    block = flops_of_a_block(1024, 1600, 6400, 25)  # @stepover
    wider = flops_of_a_block(1024, 3200, 12_800, 50)  # @stepover
    longer = flops_of_a_block(2048, 1600, 6400, 25)  # @stepover
    by_width = [wider[part] / block[part] for part in block]  # @inspect by_width
    by_length = [longer[part] / block[part] for part in block]  # @inspect by_length
    assert by_width == [4, 4, 2]
    assert by_length == [2, 2, 4]
    # What has parameters grows as T·D², scores and values as T²·D. So the ratio of T to D decides,
    # and wide models with short texts are nearly all matmuls with parameters.


def milliseconds(flops: int, moved_bytes: int, card: Accelerator) -> tuple[float, float]:
    """Return the least time for the FLOPs in bf16, and for the bytes, on a card's data sheet."""
    compute = flops / card.dense_flops_per_second["bf16"]
    memory = moved_bytes / card.memory_bytes_per_second
    return 1000 * compute, 1000 * memory


def attention_can_take_most_time():  # M16.6
    """Attention that stores its weights can take most time.

    FLOPs [are not time](#the_roofline_bounds_every_operation). Scores and values have 7 % of XL's
    FLOPs in a block. Which share of the time do they take, in bf16? We ask the meter for the bytes
    moved, too, and divide both by the data sheets of two cards: the larger is the least time.
    """
    T, D, F, H = 1024, 1600, 6400, 25
    costs = costs_of_a_block(T, D, F, H, torch.bfloat16)
    heads = torch.zeros(1, H, T, D // H, dtype=torch.bfloat16)
    query, key, value = heads, heads.clone(), heads.clone()
    with measure() as costs["scores, fused"]:
        scaled_dot_product_attention(query, key, value, is_causal=True)
    least = {}
    for card in (A100_SXM, H100_SXM):
        for part, cost in costs.items():
            moved_bytes = cost.read_bytes + cost.written_bytes
            least[card.name, part] = milliseconds(cost.matmul_flops, moved_bytes, card)
    on_h100 = {part: least[H100_SXM.name, part] for part in costs}
    bars = figures.least_times(on_h100)  # @inspect bars
    # Attention written out, as in `attend`, reads and writes tables of H·T² numbers, one for each
    # operation on the scores. So it is memory-bound, and its least time is longer than that of the
    # feed-forward network, which has nine times its FLOPs.
    for name in (A100_SXM.name, H100_SXM.name):
        compute, memory = least[name, "scores and values"]
        assert memory > 20 * compute
        network_compute, network_memory = least[name, "feed-forward"]
        assert memory > 2 * network_compute > 2 * network_memory
    # [Fused](#attention_needs_no_table_of_weights), the same FLOPs move a ninetieth of the bytes,
    # and their least time is below a ninth of the feed-forward network's. (Bytes moved are the
    # ideal, each once. [The real traffic](#fused_attention_does_not_store_its_scores) is more.)
    written_out, fused = costs["scores and values"], costs["scores, fused"]
    moved = [cost.read_bytes + cost.written_bytes for cost in (written_out, fused)]
    assert 90 < moved[0] / moved[1] < 95
    assert written_out.matmul_flops == fused.matmul_flops
    for name in (A100_SXM.name, H100_SXM.name):
        assert max(least[name, "scores, fused"]) < max(least[name, "feed-forward"]) / 9


def long_contexts_belong_to_attention():  # M16.7 E83 @core
    """Long contexts belong to attention.

    And if T is not small beside D? We take XL with 16 times the context, 16 384 tokens. How much
    more does a forward pass cost: 16 times, 256 times, or something between?
    """
    # @note Vote: 16 times, 256 times, or between? Then ask in which matmuls T stands twice. In the
    # chart, let them find the context at which scores and values are half.
    short, long = (flops_of_a_block(T, 1600, 6400, 25) for T in (1024, 16_384))  # @stepover
    times = {part: long[part] / short[part] for part in short}  # @inspect times
    assert list(times.values()) == [16, 16, 16**2]
    # Only scores and values grow by 256, and they were 7 %. It is 34 times in the blocks, and 33
    # with the LM head: one order of magnitude and a half.
    assert round(sum(long.values()) / sum(short.values()), 1) == 33.8
    with_head = sum(forward_flops_by_part(LONG_XL, 16_384).values()) / measured(XL).forward_flops
    assert round(with_head, 1) == 33.1
    # Where do scores reach the feed-forward network? With F = 4D where $4T^2D=24TD^2$: at T = 6D,
    # for XL 9600 tokens. At 8D they are half of the block.
    equal, half = (flops_of_a_block(n * 1600, 1600, 6400, 25) for n in (6, 8))  # @stepover
    assert equal["scores and values"] == equal["feed-forward"]
    assert 2 * half["scores and values"] == sum(half.values())
    contexts = {
        T: forward_flops_by_part(XL, T) for T in (512 * 2**n for n in range(8))
    }  # @stepover
    by_context = figures.shares_by_context(contexts)  # @inspect by_context
    # At 65 536 tokens, 83 % of the FLOPs are scores and values.
    T, longest = max(contexts.items())
    assert T == 65_536
    assert round(100 * longest["scores and values"] / sum(longest.values())) == 83


def tokens_times_parameters_with_corrections():  # M16.8
    """Two corrections make 2NT exact.

    A forward pass costs about two FLOPs for each of N parameters and T tokens. How good is that for
    a Transformer? Two things are wrong with it. Embedding and norms have parameters that are in no
    matmul, and attention multiplies without parameters. With two tables, as here, exact is
    $2T\\,(N - VD - (2L+1)D) + 4LT^2D$.
    """
    plain = {}
    for name, config in FAMILY.items():
        D, T, L = config.width, config.context, config.layers
        N = sum(parameters_by_part(config).values())
        flops = sum(forward_flops_by_part(config, T).values())
        multiplying = N - config.vocabulary * D - (2 * L + 1) * D
        assert flops == 2 * T * multiplying + 4 * L * T**2 * D
        plain[name] = round(2 * T * N / flops, 3)
    # Without the corrections, 2NT is 12 % too high for the smallest model, 3.5 % too low for XL,
    # and less than half of the truth for a long context.
    assert list(plain.values()) == [1.116, 1.002, 0.973, 0.965, 0.466]  # @inspect plain
    # That it fits the second within 0.2 % is luck: the two errors have opposite signs. A training
    # step is three times as much, so the same ratios hold for 6NT.
    small = measured(FAMILY["small"])
    step = small.forward_flops + small.backward_flops
    assert round(6 * 1024 * small.parameters / step, 3) == plain["small"]


def numel(*parts: nn.Module) -> int:  # @stepover
    """Count the parameters of some parts."""
    return sum(weight.numel() for part in parts for weight in part.parameters())


def the_real_gpt2_has_other_parts():  # M16.9 E84
    """The real GPT-2 has other parts.

    Are these the four GPT-2 models? In shape only. GPT-2 has two matrices and GELU in its
    feed-forward network, biases in every block, LayerNorm (which also subtracts the mean), learnt
    positions, and tied embeddings. PyTorch has all of these, so we can count.
    """
    counts = {}
    for name, (L, D, H) in GPT2_SIZES.items():
        block = nn.TransformerEncoderLayer(
            D, H, 4 * D, dropout=0.0, activation="gelu", norm_first=True, device="meta"
        )  # @stepover
        tables = [nn.Embedding(rows, D, device="meta") for rows in (XL.vocabulary, XL.context)]
        counts[name] = L * numel(block) + numel(*tables, nn.LayerNorm(D, device="meta"))
    assert list(counts.values()) == [124_439_808, 354_823_168, 774_030_080, 1_557_611_200]
    # Our largest is more than a third larger: 16D² in a block instead of 12D², and two tables
    # instead of one.
    assert numel(block) == 12 * 1600**2 + 13 * 1600  # @predict
    assert round(measured(XL).parameters / counts["xl"], 2) == 1.37  # @inspect counts
    # The FLOPs of a block follow its parameters.
    x = torch.empty(1024, 1600, device="meta")
    mask = torch.empty(1024, 1024, device="meta")
    with measure() as real:
        block(x, src_mask=mask)  # @stepover
    assert real.matmul_flops == 24 * 1024 * 1600**2 + 4 * 1024**2 * 1600
    ours = sum(flops_of_a_block(1024, 1600, 6400, 25).values())  # @stepover
    assert ours - real.matmul_flops == 8 * 1024 * 1600**2
    # Counting is easy to get wrong: the paper gives 117, 345, 762 and 1542 million, up to 6 % too
    # few, and its authors corrected it where they published the weights.
    missing = [
        round(100 * (1 - GPT2_PAPER_PARAMETERS[name] / counts[name]), 1) for name in counts
    ]  # @inspect missing
    assert missing == [6.0, 2.8, 1.6, 1.0]


def published_shapes_come_out():  # M16.2
    """Published shapes come out.

    Do the formulas hold for models that people use? Llama 3 has the very parts that we built,
    with [grouped queries](#groups_of_heads_share_keys_and_values): each block has
    $2D^2 + 2D \\cdot K \\cdot$ groups parameters in attention, and $3DF$. Its report names models
    of 8, 70 and 405 billion. We build them from the published sizes, without a byte.
    """
    rows = {}
    for name in ("llama-3-8b", "llama-3-70b", "llama-3-405b"):
        config = PRESETS[name]
        model = TransformerLM(config, device="meta", dtype=torch.bfloat16)  # @stepover
        parameters = numel(model)
        assert parameters == sum(parameters_by_part(config).values())
        # The KV cache of one token, in one layer: what a block really keeps.
        D, H, groups = config.width, config.heads, config.key_value_heads
        rotary = RotaryPositions(D // H, context=2, device="meta")
        made = {"device": "meta", "dtype": torch.bfloat16}
        block = Block(D, H, config.feed_forward, rotary, key_value_heads=groups, **made)
        cache = LayerCache()  # @stepover
        with torch.no_grad():
            block(torch.empty(1, 2, D, **made), cache)  # @stepover
        per_token = config.layers * (cache.key.nbytes + cache.value.nbytes) // 2
        assert per_token == cache_bytes(config, 1, element_bytes=2)
        every_head = cache_bytes(replace(config, key_value_heads=None), 1, element_bytes=2)
        rows[name] = (round(parameters / 1e9, 2), per_token, every_head // per_token)
    # Billions of parameters, bytes of the cache for each token, and how many times that it would be
    # with keys and values for every head. The names agree, and for the largest [a report on
    # DeepSeek-V3](https://arxiv.org/abs/2505.09343) prints the same bytes.
    assert rows == {
        "llama-3-8b": (8.03, 131_072, 4),
        "llama-3-70b": (70.55, 327_680, 8),
        "llama-3-405b": (405.85, CACHE_BYTES_PER_TOKEN["Llama 3.1 405B"], 16),
    }  # @inspect rows
    # A context of 8192 tokens of the 70B model: 2.5 GiB in place of 20.
    of_a_context = 8192 * rows["llama-3-70b"][1] / 2**30  # @inspect of_a_context
    assert of_a_context == 2.5


def only_active_parameters_cost_flops():  # M16.8
    """Only active parameters cost FLOPs.

    Mixtral 8x7B has [eight experts](#a_router_chooses_experts) in each layer, of which each token
    passes two. Eight times 7 billion would be 56. How many parameters has it, and how many does a
    token pay for?
    """
    config = PRESETS["mixtral-8x7b"]
    model = TransformerLM(config, device="meta", dtype=torch.bfloat16)  # @stepover
    counts = {"all": numel(model), "active": active_parameters(config)}  # @inspect counts
    # 47 and 13 billion, as its report says. The experts share attention, embedding and LM head, so
    # it is not 56; and two of them are not 14.
    named = {name: round(count / 1e9) * 10**9 for name, count in counts.items()}
    assert named == MIXTRAL_NAMED_PARAMETERS
    # The *active* parameters are those of all tensors that get a gradient from one token, the whole
    # embedding among them. In a small model with four experts, of which two are active:
    small = TransformerConfig(
        vocabulary=50,
        context=12,
        layers=3,
        width=24,
        heads=4,
        feed_forward=20,
        experts=4,
        active_experts=2,
    )
    model = TransformerLM(small, generator=torch.Generator().manual_seed(0))  # @stepover
    model(torch.tensor([[7]])).sum().backward()  # @stepover
    met = sum(weight.numel() for weight in model.parameters() if weight.grad is not None)
    assert met == active_parameters(small) < numel(model)
    # And a training step on T tokens costs $6T$ per active parameter, with the two corrections of
    # before. Whatever the router chooses: each token makes two choices.
    V, T, L, D = small.vocabulary, small.context, small.layers, small.width
    tokens = torch.randint(V, (1, T), generator=torch.Generator().manual_seed(1))
    with measure() as step:
        cross_entropy(model(tokens), tokens).backward()  # @stepover
    multiplying = met - V * D - (2 * L + 1) * D
    assert step.matmul_flops == 6 * T * multiplying + 3 * (4 * L * T**2 * D)
    # So: 6N with N active for the FLOPs of training, and N in all for the memory.
    share = counts["active"] / counts["all"]  # @inspect share
    assert 0.25 < share < 0.3


def latent_attention(size: DeepSeekV3) -> dict[str, nn.Module]:
    """Build the parts of DeepSeek-V3's attention in one layer, without numbers."""
    made = {"device": "meta", "dtype": torch.bfloat16}
    of_a_query = size.plain_features + size.rotary_features
    of_a_key_and_value = size.plain_features + size.value_features
    return {
        "queries": nn.Sequential(
            Linear(size.width, size.query_rank, **made),
            RMSNorm(size.query_rank, **made),
            Linear(size.query_rank, size.heads * of_a_query, **made),
        ),
        "latent": Linear(size.width, size.key_value_rank + size.rotary_features, **made),
        "keys and values": nn.Sequential(
            RMSNorm(size.key_value_rank, **made),
            Linear(size.key_value_rank, size.heads * of_a_key_and_value, **made),
        ),
        "output": Linear(size.heads * size.value_features, size.width, **made),
    }


def one_latent_serves_all_heads():  # M16.2
    """One latent vector serves all heads.

    DeepSeek-V3 has 128 heads in 61 layers, and its report names 671 billion parameters, "37B
    activated for each token". Its *multi-head latent attention*, MLA, caches no head's keys or
    values. It caches one short vector per token and layer, the *latent*, from which a matrix makes
    the keys and values of all heads; and 64 features of a key that all share, turned by position.
    How much is that?
    """
    size, made = DEEPSEEK_V3, {"device": "meta", "dtype": torch.bfloat16}
    attention = latent_attention(size)  # @stepover
    x = torch.empty(1, size.width, **made)
    latent = attention["latent"](x)  # @stepover
    per_token = size.layers * latent.nbytes  # @inspect per_token
    assert per_token == CACHE_BYTES_PER_TOKEN["DeepSeek-V3"]
    # Keys and values for every head would be 71 times as large: a key is as long as a query, and a
    # value is what the output matrix reads.
    queries = attention["queries"](x)  # @stepover
    of_heads = attention["keys and values"](latent[:, : size.key_value_rank])  # @stepover
    parts = [size.plain_features, size.value_features]
    _, values = of_heads.unflatten(1, (size.heads, -1)).split(parts, dim=2)
    assert attention["output"](values.flatten(1)).shape == x.shape
    assert round(size.layers * (queries.nbytes + values.nbytes) / per_token) == 71  # @predict
    # Now the parameters, layer by layer. Three layers have a plain feed-forward network, the other
    # 58 have 256 experts, of which a token passes eight, and one more for every token. A bias for
    # each expert helps to balance them.
    D, experts = size.width, size.routed_experts
    embedding = Embedding(size.vocabulary, width=D, **made)
    norm = RMSNorm(D, **made)
    dense = SwiGLU(width=D, feed_forward=size.dense_feed_forward, **made)
    expert = SwiGLU(width=D, feed_forward=size.expert_feed_forward, **made)
    router = nn.Linear(in_features=D, out_features=experts, bias=True, **made)
    every_layer = numel(*attention.values(), norm, norm)
    sparse = numel(router, *[expert] * (experts + size.shared_experts))
    sparse_layers = size.layers - size.dense_layers
    # The embedding and the LM head are equally large.
    total = size.layers * every_layer + numel(embedding, embedding, norm)
    total += size.dense_layers * numel(dense) + sparse_layers * sparse  # @inspect total
    assert round(total / 1e9) * 10**9 == DEEPSEEK_V3_NAMED_PARAMETERS["all"]
    # Take away the experts that a token does not meet.
    idle = experts - size.active_experts
    active = total - sparse_layers * idle * numel(expert)  # @inspect active
    # 37.6 billion, or 36.6 without the embedding, which multiplies nothing. An eighteenth of all.
    assert active - size.vocabulary * D < DEEPSEEK_V3_NAMED_PARAMETERS["active"] < active
    assert round(total / active) == 18


def visible_pairs(T: int) -> int:
    """Count the pairs of T tokens of which the second is not hidden from the first."""
    return T * (T + 1) // 2


def half_of_the_scores_are_masked():  # M16.10
    """Nearly half of the scores are masked.

    Each of T tokens is compared with all T, and may see itself and those before: T(T+1)/2 pairs of
    T². The others are computed and thrown away. Do they count? In our FLOPs they do.
    """
    T, D, L = 12, 48, 3
    pairs = int(torch.ones(T, T).tril().sum())
    assert pairs == visible_pairs(T)
    # We can measure what is useful. With a cache, a model that decodes token by token meets visible
    # pairs only. Here it reads a prompt of four tokens at once, as in prefill, then one by one. So
    # only the four hide pairs from each other, 4·3/2 of them.
    config = TransformerConfig(100, context=T, layers=L, width=D, heads=4, feed_forward=128)
    model = TransformerLM(config, device="meta")  # @stepover
    tokens = torch.zeros(1, T, dtype=torch.int64, device="meta")
    caches = [LayerCache() for _ in range(L)]  # @stepover
    with measure() as one_by_one:
        for piece in tokens.split([4, *[1] * (T - 4)], dim=1):
            model(piece, caches)  # @stepover
    wasted = measured(config).forward_flops - one_by_one.matmul_flops  # @inspect wasted
    assert wasted == L * 4 * D * (T**2 - pairs - 4 * 3 // 2)
    # Conventions differ, so a count has to name its own. Ours counts what is masked even where a
    # kernel skips it, and so does PyTorch's counter for this operation on a GPU.
    query = torch.zeros(1, 4, T, D // 4)
    with measure() as causal:
        scaled_dot_product_attention(query, query, query, is_causal=True)
    assert causal.matmul_flops == 4 * T**2 * D
    # So does [the formula](#long_contexts_add_work_without_parameters) $6N+12LDT$ of
    # [PaLM](https://arxiv.org/abs/2204.02311). The speeds in the paper on
    # [FlashAttention-2](https://arxiv.org/abs/2307.08691) count half.
    percent = {}
    for name, large in {"xl": XL, "xl, T·16": LONG_XL}.items():
        T, D, L = large.context, large.width, large.layers
        hidden_flops = L * 4 * D * (T**2 - visible_pairs(T))
        percent[name] = round(100 * hidden_flops / forward_flops(large, T), 1)
    # With 1024 tokens the question hardly matters. With 16 384 it decides on a quarter of the
    # FLOPs, and so of the utilization.
    assert percent == {"xl": 3.6, "xl, T·16": 27.6}  # @inspect percent
    # What we can do now: say what a Transformer costs from its sizes alone. A block costs
    # $2T(4D^2+3DF) + 4T^2D$ FLOPs forward; for FLOPs count active parameters, for memory all; the
    # LM head weighs on small models, scores on long contexts, and on time if they are stored.


def exercise_deep_or_wide():  # M16.6 @exercise
    """Exercise: deep or wide.

    Two models have as many parameters in the matrices of their blocks: 12 layers of width 1536, or
    48 layers of width 768, with F = 4D. Whose blocks cost more FLOPs for a context of 1024 tokens,
    and which model needs the larger KV cache? Commit to an answer for each.
    """
    wide = TransformerConfig(
        1000, context=1024, layers=12, width=1536, heads=12, feed_forward=4 * 1536
    )
    deep = TransformerConfig(
        1000, context=1024, layers=48, width=768, heads=12, feed_forward=4 * 768
    )
    of_wide, of_deep = (
        {
            part: config.layers * flops
            for part, flops in flops_of_a_block(
                1024, D=config.width, F=config.feed_forward, H=12
            ).items()
        }
        for config in (wide, deep)
    )
    ratios = {part: of_deep[part] / of_wide[part] for part in of_wide}  # @inspect ratios
    assert ratios == {"feed-forward": 1, "projections": 1, "scores and values": 2}
    # The deep one, in both: scores and cache follow L·D, which is twice as much, and only the
    # matrices follow L·D². It also has four times as many steps that wait for each other. (The LM
    # head is twice as large in the wide one. With GPT-2's 50 257 entries that makes up for it.)
    assert cache_bytes(deep, 1024) == 2 * cache_bytes(wide, 1024)
    whole = [forward_flops(replace(config, vocabulary=50_257), 1024) for config in (wide, deep)]
    assert 0.99 < whole[1] / whole[0] < 1  # @inspect whole


def exercise_twice_the_context():  # M16.7 @exercise
    """Exercise: twice the context.

    XL's context grows from 1024 to 2048 tokens. Attention is quadratic. By how much does the cost
    per token rise: hardly, by half, or to twice as much?
    """
    per_token = [forward_flops(XL, T) / T for T in (1024, 2048)]  # @inspect per_token
    rise = 100 * (per_token[1] / per_token[0] - 1)  # @inspect rise
    # By 7 %: scores and values were 7 % of the FLOPs, and these double for each token.
    assert round(rise) == 7
