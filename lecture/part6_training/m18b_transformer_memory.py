"""The memory and the time that training a Transformer takes."""

import functools
import math
from dataclasses import replace

import torch
from torch.nn.functional import scaled_dot_product_attention

from lecture.accounting.formulas import cache_bytes, parameters, training_days
from lecture.accounting.memory import (
    Training,
    activation_bytes,
    activation_bytes_by_part,
    largest_batch,
    moments,
    peak_bytes,
    training_bytes,
    training_bytes_by_part,
)
from lecture.facts import (
    A100_SXM,
    COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER,
    H100_SXM,
    SECONDS_PER_DAY,
)
from lecture.lib.gpt2 import LONG_XL, XL, measured
from lecture.lib.memory import held_bytes
from lecture.lib.optim import AdamW
from lecture.lib.presets import PRESETS
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import (
    LayerCache,
    Linear,
    TransformerConfig,
    TransformerLM,
    attend,
    cross_entropy,
)
from lecture.part6_training import m18b_figures as figures
from trace.costs import measure

GIB = 2**30


def a_block_keeps_42_vectors_of_each_token():  # M18.6 E74
    r"""A block keeps 42 vectors for each token.

    How much of a Transformer waits for the backward pass? Build it with one block and with two: the
    difference is what a block keeps. Here it has the shape of GPT-2 XL, in fp32, for one sequence,
    and attention is written out.
    """
    T, D, H, F = 1024, 1600, 25, 6400
    one, two = (measured(replace(XL, layers=L)).kept_bytes for L in (1, 2))  # @stepover
    block_bytes = two["activations"] - one["activations"]  # @inspect block_bytes
    # Count in vectors of D numbers per token. The feed-forward network keeps four tensors of width
    # F: $4F/D=16$ vectors. Attention keeps its weights, T in each of H heads: $HT/D=16$. Then
    # queries, keys, values and their mean: 4. Each of two normalization layers keeps what came in,
    # what was divided, and the result: 6. In all $\frac{4F+HT}{D}+10=42$.
    vectors = (4 * F + H * T) / D + 4 + 2 * 3
    assert block_bytes == 4 * (vectors * T * D + 2 * T)  # and a number per token and normalization
    figure = figures.vectors_of_a_block(
        {
            "feed-forward network": 4 * F / D,
            "attention weights": H * T / D,
            "queries, keys, values, mean": 4,
            "normalization layers": 6,
        }
    )  # @inspect figure
    # The 48 blocks keep 12 GiB for a thousand tokens.
    assert round(48 * block_bytes / GIB, 1) == 12.3
    # A well-known formula, [34 + 5HT/D](https://arxiv.org/abs/2205.05198) bytes per token and
    # feature, is for GPT's block in 16 bits with dropout. It gives 114 bytes here. Ours keeps 92 in
    # bf16: more for the gate and for normalization in fp32, and no masks of dropout or second copy
    # of the attention weights. A formula belongs to one implementation.
    one, two = (measured(replace(XL, layers=L), 1, torch.bfloat16) for L in (1, 2))  # @stepover
    in_bf16 = two.kept_bytes["activations"] - one.kept_bytes["activations"]
    bytes_each = {"published": 34 + 5 * H * T / D, "ours": in_bf16 / (T * D)}
    assert round(bytes_each["ours"]) == 92  # @inspect bytes_each
    assert bytes_each["published"] == 114
    # It is easy to forget factors. Count nine results of D numbers per token and two of T, as if
    # there were one head and no inner width: $9TD+2T^2$ numbers are a quarter of this.
    assert round(block_bytes / (4 * (9 * T * D + 2 * T**2)), 1) == 4.1


def fused_attention_keeps_a_number_for_each_row():  # M18.6
    """Fused attention keeps a number for each row.

    Must attention keep a weight for each pair of tokens?
    [FlashAttention](https://arxiv.org/abs/2205.14135) computes it [in one
    kernel](#fused_attention_does_not_store_its_scores), tile by tile. What does that keep?
    """
    B, H, T, K = 2, 3, 64, 8
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(B, H, T, K, generator=generator, requires_grad=True) for _ in range(3))
    visible = torch.ones(T, T).tril().bool()
    with measure() as written_out:
        y = attend(q, k, v, visible)
    with measure() as fused:
        same_y = scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(y, same_y, atol=1e-5)
    # Both return the result. Beside it, written-out attention keeps a weight for each pair of
    # tokens, fused attention one number for each row: the logarithm of its sum of exponentials.
    # From that the backward pass recomputes the weights, a tile at a time.
    kept = [cost.live_bytes["activations"] - y.nbytes for cost in (written_out, fused)]
    assert kept == [4 * B * H * T * T, 4 * B * H * T]  # @inspect kept
    # With all other activations of GPT-2 XL's shape, in fp32, that is 8.1 GiB instead of 12.5 for a
    # sequence of 1024 tokens, and 130 instead of 1325 for one of 16 384.
    gib = {
        (way, T): round(activation_bytes(XL, Training(T, attention=way)) / GIB, 1)
        for way in ("written-out", "fused")
        for T in (1024, 16_384)
    }  # @inspect gib
    assert [*gib.values()] == [12.5, 1325.2, 8.1, 130.0]
    # What is kept now grows with the context and no longer with its square. So turn fused attention
    # on first, before you pay for anything below.
    assert math.isclose(gib["fused", 16_384], 16 * gib["fused", 1024], rel_tol=0.01)


def the_context_decides_what_is_kept():  # M18.6
    """The context decides what is kept.

    Which part of the model keeps most? The calculator has a formula for each part. The meter
    confirms their sum for XL, and for two layers of it in bf16 and with 16 times the context.
    """
    two, long_two = replace(XL, layers=2), replace(LONG_XL, layers=2)
    for config, dtype in ((XL, torch.float32), (two, torch.bfloat16), (long_two, torch.float32)):
        precision = "fp32" if dtype == torch.float32 else "bf16-weights"
        training = Training(config.context, precision=precision)
        found = measured(config, 1, dtype).kept_bytes
        assert activation_bytes(config, training) == found["activations"]
    parts = {
        "fp32": activation_bytes_by_part(XL, Training(1024)),
        "bf16": activation_bytes_by_part(XL, Training(1024, precision="bf16-weights")),
        "bf16, fused": activation_bytes_by_part(
            XL, Training(1024, precision="bf16-weights", attention="fused")
        ),
    }  # @stepover
    breakdown = figures.bytes_of_parts(
        parts, "One sequence, 1024 tokens", 130
    )  # @inspect breakdown
    gib = {name: round(sum(found.values()) / GIB, 1) for name, found in parts.items()}
    # bf16 takes a little more than half of 12.5 GiB: normalization layers and the loss compute in
    # fp32. The loss keeps one table of T×V exponentials, not the logits.
    assert gib["fp32"] == 12.5
    assert 0.5 < gib["bf16"] / gib["fp32"] < 0.6  # @inspect gib
    assert parts["bf16"]["loss"] == parts["fp32"]["loss"] == 4 * (1024 * 50_257 + 1024 + 1)
    # With 16 times the context, written-out attention weights grow 256 times: from 37 % to 91 % of
    # all, which is then 1.3 TiB for one sequence. The feed-forward network grows 16 times.
    by_context = {
        tokens: activation_bytes_by_part(XL, Training(tokens))
        for tokens in (1024 * 2**n for n in range(5))
    }  # @stepover
    growth = figures.activations_by_context(by_context)  # @inspect growth
    short, long = by_context[1024], by_context[16_384]
    percent = [
        round(100 * one["attention weights"] / sum(one.values())) for one in (short, long)
    ]  # @inspect percent
    assert percent == [37, 91]
    assert long["attention weights"] == 256 * short["attention weights"]
    assert long["feed-forward"] == 16 * short["feed-forward"]


@functools.cache
def live_in_training(config: TransformerConfig) -> dict[str, int]:  # @stepover
    """Follow up a measured step with AdamW and the next forward pass; return what is live then."""
    first = measured(config)  # its model still has the gradients
    tokens = torch.zeros(1, config.context, dtype=torch.int64, device="meta")
    with without_checks(), measure() as second:
        optimizer = AdamW(first.model.parameters())
        optimizer.step()
        loss = cross_entropy(first.model(tokens), tokens)
        live = second.live_bytes
    del loss
    before = first.building.live_bytes, first.backward.live_bytes
    return {part: live[part] + sum(found[part] for found in before) for part in live}


def one_model_has_one_width():  # M18.7 E75
    """Four parts of GPT-2 XL's shape add up to 44 GiB.

    How much memory does training take, with AdamW in fp32, attention written out, and one sequence
    at a time? We add up parameters, gradients, two numbers of state for each, and activations. All
    are in memory at once when the second loss has been computed and the gradients of the first are
    still there.
    """
    live = live_in_training(XL)  # @inspect live
    by_formula = training_bytes_by_part(XL, Training(1024))  # @inspect by_formula
    for part in ("parameters", "gradients", "optimizer state", "activations"):
        assert live[part] == by_formula[part]
    bar = figures.bytes_of_parts(
        {"fp32": by_formula}, "Training on one sequence", 50
    )  # @inspect bar
    total_gib = training_bytes(XL, Training(1024)) / GIB  # @inspect total_gib
    assert round(total_gib, 1) == 44.3
    # What does not depend on the batch is 31.7 GiB: [16 bytes for each
    # parameter](#adamw_keeps_four_numbers_per_parameter).
    fixed_gib = 16 * parameters(XL) / GIB  # @inspect fixed_gib
    assert round(fixed_gib, 1) == 31.7
    # A sum is only as good as its model. SwiGLU with F = 4D has 16D² parameters in a block; with
    # F = 8/3·D, which keeps the parameters of an older block, it has 12D². If you count memory with
    # one and FLOPs with the other, a quarter of a block's parameters goes missing: 23 % of this
    # model's.
    D = XL.width
    narrow = parameters(replace(XL, feed_forward=D * 8 // 3))
    missing = (parameters(XL) - narrow) / parameters(XL)  # @inspect missing
    assert math.isclose(missing * parameters(XL), XL.layers * 4 * D**2, rel_tol=0.001)
    assert round(missing, 2) == 0.23


def peak_without_numbers(config: TransformerConfig, training: Training) -> int:  # @stepover
    """Train two steps on `meta`; measure the most that was in memory during the second."""
    tokens = torch.zeros(training.batch, training.tokens, dtype=torch.int64, device="meta")
    with without_checks(), measure() as cost:
        model = TransformerLM(config, device="meta")
        optimizer = AdamW(model.parameters())
        for _step in range(2):
            before = sum(cost.live_bytes.values())
            with measure() as found:
                for _ in range(1 + training.accumulating):
                    cross_entropy(model(tokens), tokens).backward()
                optimizer.step()
                optimizer.zero_grad()
    return before + found.peak_bytes


def the_sum_is_no_peak():  # M18.8
    """The sum is not the peak.

    Are the four parts ever in memory together? In a plain step, no: `zero_grad` cleared the
    gradients before the forward pass, and in the backward pass each activation is freed as it is
    used. Guess where memory peaks.
    """
    two_layers, peaks = replace(XL, layers=2), []
    for config, B in ((XL, 1), (two_layers, 4)):
        found = measured(config, B)  # @stepover
        held_bytes = sum(found.building.live_bytes.values()) + 8 * found.parameters
        peaks.append(held_bytes + found.peak_bytes)
        # The calculator looks at the few moments that can be the peak, and finds the same.
        assert peaks[-1] == peak_bytes(config, Training(1024, batch=B))
    # As the backward pass begins, and below the sum: 36.8 GiB instead of 44.3. (With one sequence
    # in the softmax of the last block, just above what it is at the loss; with four, at the loss.)
    assert round(peaks[0] / GIB, 1) == 36.8  # @inspect peaks
    # With [micro-batches](#parts_of_a_batch_add_up_to_it), as in the next chapter, gradients stay
    # from one to the next. Then the peak is above the sum: the loss needs two more tables of logits
    # for a moment. (In a small model these can outweigh the gradients, and a plain step peaks above
    # the sum, too: GPT-2 small's shape does from two sequences on.)
    in_parts = Training(1024, batch=2, accumulating=True)
    in_parts_bytes = peak_without_numbers(two_layers, in_parts)
    assert in_parts_bytes == peak_bytes(two_layers, in_parts)
    table_bytes = 4 * 2 * 1024 * 50_257
    over = (in_parts_bytes - training_bytes(two_layers, in_parts)) / table_bytes  # @inspect over
    assert round(over, 3) == 2
    small = [(PRESETS["gpt2-small"], Training(1024, batch=B)) for B in (1, 2)]
    assert [peak_bytes(*plan) > training_bytes(*plan) for plan in small] == [False, True]
    # PyTorch's AdamW, in the form that it prefers on a GPU (`foreach`), makes a denominator for all
    # parameters at once. With one sequence that is the peak: 20 bytes for each parameter.
    default = moments(XL, Training(1024, optimizer="adamw-foreach"))  # @inspect default
    assert max(default, key=default.get) == "optimizer"
    assert default["optimizer"] // parameters(XL) == 20
    # So plan with the largest of a few moments, for your optimizer and your batch, and leave a
    # margin: neither the CUDA context nor the allocator's fragmentation is in these numbers.


def memory_limits_the_batch():  # M18.8 E76
    """Memory limits the batch.

    How many sequences fit at once on a GPU that reports 79.2 GiB, as an A100 of "80 GB" does? The
    activations grow by the same amount with each.
    """
    one, four = (activation_bytes(XL, Training(1024, B)) for B in (1, 4))
    assert one == measured(XL).kept_bytes["activations"]
    each_bytes = (four - one) / 3  # @inspect each_bytes
    plain, gpu_bytes = Training(1024), A100_SXM.memory_bytes
    ways = {
        "written out": plain,
        "in micro-batches": replace(plain, accumulating=True),
        "fused": replace(plain, attention="fused"),
        "fused, autocast": replace(plain, attention="fused", precision="bf16"),
    }
    batches = {name: largest_batch(XL, way, gpu_bytes) for name, way in ways.items()}
    # Four with attention written out, six with fused attention, more in bf16.
    assert batches["written out"] == 4  # @inspect batches
    assert batches["in micro-batches"] == 3 < batches["written out"] < batches["fused"]
    assert batches["fused"] < batches["fused, autocast"]
    # One more would not fit; the calculator's answer is the last that does.
    for name, way in ways.items():
        assert peak_bytes(XL, replace(way, batch=batches[name])) <= gpu_bytes
        assert peak_bytes(XL, replace(way, batch=batches[name] + 1)) > gpu_bytes
    # Plan with one head and no inner width, $9TD+2T^2$ numbers in each block, and you promise 15
    # sequences. Those would need 219 GiB. (The lines are sums of all four parts: as in
    # micro-batches, three sequences fit. A plain step peaks below its sum, and four fit.)
    T, D = 1024, XL.width
    fixed_bytes = training_bytes(XL, replace(plain, batch=0))
    guess_bytes = XL.layers * 4 * (9 * T * D + 2 * T**2)
    by_batch = figures.memory_by_batch(
        {
            "this model, written out": (fixed_bytes, each_bytes),
            "9TD + 2T² in each block": (fixed_bytes, guess_bytes),
        },
        {"an A100 of 80 GB": gpu_bytes},
    )  # @inspect by_batch
    assert (gpu_bytes - fixed_bytes) // each_bytes == batches["in micro-batches"]
    assert (gpu_bytes - fixed_bytes) // guess_bytes == 15
    assert round(training_bytes(XL, replace(plain, batch=15)) / GIB) == 219


def one_card_takes_18_years():  # M18.9 E85 E86
    """One GPU takes 18 years.

    Suppose it fits. How long does it take? [Time is work over
    rate](#training_time_is_work_over_rate). The plan: 400 000 steps with 1024 sequences of 1024
    tokens, on one A100 that reaches half of its peak. Guess in years, for fp32.
    """
    steps, B, T, mfu = 400_000, 1024, 1024, 0.5
    peak = A100_SXM.dense_flops_per_second
    step_flops = B * (measured(XL).forward_flops + measured(XL).backward_flops)
    step_seconds = step_flops / (mfu * peak["fp32"])  # @inspect step_seconds
    days = training_days(XL, T, steps * B * T, peak["fp32"], mfu=mfu)  # @inspect days
    assert math.isclose(days, steps * step_seconds / SECONDS_PER_DAY)
    assert round(days / 365.25) == 18
    # The LM head is part of it: without it we would plan with 4 % less.
    head_flops = 3 * B * 2 * T * XL.width * XL.vocabulary
    assert round(100 * head_flops / step_flops) == 4
    # The largest mistake would be the wrong peak. 19.5·10¹² FLOP/s is the rate outside the tensor
    # cores; in bf16 the same GPU has 16 times as much.
    assert peak["bf16"] / peak["fp32"] == 16  # @predict
    bf16_days = training_days(XL, T, steps * B * T, peak["bf16"], mfu=mfu)  # @inspect bf16_days
    assert round(bf16_days) == 411
    # 512 such GPUs would do it in a day, if each still reaches its half while they exchange
    # gradients.
    assert bf16_days / 512 < 1


def tokens_go_with_parameters():  # M18.10 E87 @core
    r"""Tokens go with parameters.

    Are 400 000 steps of a million tokens a good plan? For given FLOPs, $6N\cdot\text{tokens}$, a
    model can be larger or read more. *[Chinchilla](https://arxiv.org/abs/2203.15556)*, a study of
    over 400 models, found that both should grow alike. Its own model had 20 tokens for each
    parameter, and that became the rule of thumb.
    """
    # @note Somebody will say that models of today read far more than 20 tokens per parameter. Do
    # not argue: ask who pays for training and who for use, and for which of the two the rule was
    # made.
    N = parameters(XL)
    tokens = COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER * N
    work_flops = 6 * N * tokens  # @inspect tokens work_flops
    # For our model that is 43 billion tokens. The plan reads ten times as many.
    planned_tokens = 400_000 * 1024 * 1024
    assert round(planned_tokens / tokens) == 10
    # Is it a mistake, then? Only if training is all you pay for. A smaller model that read more is
    # cheaper every time it is used: Llama 3's 8B read nearly 1900 tokens per parameter.
    #
    # Spend the plan's FLOPs the optimal way, $6N'\cdot20N'$ with another N'. They are ten times
    # $6N\cdot20N$, so both factors grow by $\sqrt{10}$.
    planned_flops = 6 * N * planned_tokens
    larger = math.sqrt(planned_flops / (6 * COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER))
    assert math.isclose((larger / N) ** 2, planned_tokens / tokens)  # @inspect larger
    assert round(larger / N, 1) == 3.1
    # The 6 is a rule, too. Counted to the last matmul, this model takes 3.6 % more FLOPs than 6N
    # for each token: attention's scores add more than the embedding, which is looked up, saves.
    counted = (measured(XL).forward_flops + measured(XL).backward_flops) / 1024
    assert round(counted / (6 * N), 3) == 1.036


class Adapted(torch.nn.Module):
    """A frozen layer, and beside it two narrow ones that are trained: LoRA."""

    def __init__(self, frozen: Linear, rank: int) -> None:
        super().__init__()
        outputs, inputs = frozen.weight.shape
        self.frozen = frozen
        self.down = Linear(inputs, rank, device="meta")
        self.up = Linear(rank, outputs, device="meta")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.frozen(x) + self.up(self.down(x))


def fine_tuning_costs(config: TransformerConfig, rank: int) -> dict[str, int]:  # @stepover
    """Make a step of fine-tuning without numbers, with attention written out: of all parameters, or
    with a rank of adapters."""
    model = TransformerLM(config, device="meta")
    if rank:
        model.requires_grad_(False)
        for block in model.blocks:
            for part in (block.attention, block.feed_forward):
                for name, layer in [*part.named_children()]:
                    if isinstance(layer, Linear):
                        setattr(part, name, Adapted(layer, rank))
    tokens = torch.zeros(1, 1024, dtype=torch.int64, device="meta")
    with measure() as step:
        loss = cross_entropy(model(tokens), tokens)
        activation_bytes = step.live_bytes["activations"]
        loss.backward()
        trained = [weight for weight in model.parameters() if weight.requires_grad]
        optimizer = AdamW(trained)
        optimizer.step()
    return {
        "trained": sum(weight.numel() for weight in trained),
        "gradients and state": step.live_bytes["gradients"] + step.live_bytes["optimizer state"],
        "activations": activation_bytes,
        "FLOPs": step.matmul_flops,
    }


def adapters_save_the_state():  # M18.4 M18.6
    """Adapters save the state, not the activations.

    Can we fine-tune a model on a GPU that can only just run it? Of the 16 bytes per parameter,
    12 are there for change, or 14 with bf16 weights.
    [LoRA](#small_updates_save_memory_and_a_third_of_the_work) freezes the weights and trains pairs
    of narrow matrices beside them, here beside all seven matrices of a block. Guess what that
    leaves for a block of Llama 3 8B, with 16 features between the two of a pair: of the gradients
    and the state, of the FLOPs, and of the activations?
    """
    shape = PRESETS["llama-3-8b"]
    of_block = {}
    for way, rank in (("all weights", 0), ("adapters", 16)):
        one, two = (fine_tuning_costs(replace(shape, layers=L), rank) for L in (1, 2))
        of_block[way] = {what: two[what] - one[what] for what in one}  # @inspect of_block
    left = {
        what: round(of_block["adapters"][what] / count, 3)
        for what, count in of_block["all weights"].items()
    }  # @inspect left
    # 0.6 % of the numbers are trained, and gradients and state go with them.
    assert of_block["all weights"]["gradients and state"] == 12 * of_block["all weights"]["trained"]
    assert left["trained"] == left["gradients and state"] == 0.006
    # Two thirds of the FLOPs stay: the forward pass, and the gradients that have to come through to
    # the adapters below. What falls away are the gradients of the frozen weights.
    assert 2 / 3 < left["FLOPs"] < 0.69
    # Nearly all activations stay, as each adapter needs the input of the layer beside it. (Only the
    # two normalization layers, whose gains are frozen, keep a tensor less.)
    assert 0.9 < left["activations"] < 1
    # So for the whole model: in place of 16 bytes for each of 8 billion parameters, 2 for each, and
    # 16 for those of the adapters. Before any activation, one GPU of 80 GB in place of two.
    N, adapters = parameters(shape), shape.layers * of_block["adapters"]["trained"]
    gigabytes = [16 * N / 1e9, (2 * N + 16 * adapters) / 1e9]  # @inspect gigabytes
    assert [round(size) for size in gigabytes] == [128, 17]
    # For activations, shorter sequences and [recomputation](#what_is_thrown_away_is_computed_again)
    # help, as in all training.


def training_needs_no_cache():  # M18.11 E73
    r"""Training needs no KV cache.

    A model that decodes [keeps the keys and values](#a_cache_reads_each_token_once) of all tokens
    so far. Is this *KV cache* what fills the memory in training? First its size: two vectors per
    layer and token, $2LD$ numbers, here in bf16.
    """
    T = 16
    model = TransformerLM(XL, device="meta", dtype=torch.bfloat16)  # @stepover
    caches = [LayerCache() for _ in range(XL.layers)]  # @stepover
    with torch.no_grad():
        model(torch.zeros(1, T, dtype=torch.int64, device="meta"), caches)  # @stepover
    found_bytes = sum(held_bytes(cache.key) + held_bytes(cache.value) for cache in caches)
    assert found_bytes == cache_bytes(XL, T, element_bytes=2) == 2 * (2 * XL.layers * 1600) * T
    # That is 300 KiB per token, 300 MiB for the full context, and with 16 times the context more
    # than the weights.
    assert cache_bytes(XL, 1024, element_bytes=2) == 300 * 2**20  # @predict
    assert cache_bytes(XL, 16_384, element_bytes=2) > 2 * parameters(XL)  # @inspect found_bytes
    # But training has no such cache: all tokens pass at once, and keys and values are activations
    # like others, under 5 % of all. Most of them are the feed-forward network's and, written out,
    # the attention weights.
    parts = activation_bytes_by_part(XL, Training(1024))  # @inspect parts
    assert cache_bytes(XL, 1024) < 0.05 * sum(parts.values())
    largest = sorted(parts, key=parts.get)[-2:]
    assert set(largest) == {"attention weights", "feed-forward"}
    # What we can do now: predict from a configuration what training will keep, where it will peak,
    # which batch fits, and how many days it takes. Batch, context and attention decide about the
    # activations, the recipe about the rest.


def exercise_a_context_twice_as_long():  # M18.8 @exercise
    """Exercise: a context twice as long.

    An A100 trains XL's shape on 4 sequences of 1024 tokens with attention written out, and on 6
    with fused attention. How many sequences of 2048 tokens fit, either way? Guess before you look.
    """
    gpu_bytes, longer = A100_SXM.memory_bytes, replace(XL, context=2048)
    found = {
        way: largest_batch(longer, Training(2048, attention=way), gpu_bytes)
        for way in ("written-out", "fused")
    }  # @inspect found
    # Fused, half as many: the same number of tokens. Written out, fewer than half, because
    # attention weights grow with the square.
    assert found["fused"] == 6 // 2
    assert found["written-out"] < 4 // 2


def exercise_llama_in_one_gpu():  # M18.4 @exercise
    """Exercise: Llama 3 8B in one GPU.

    Can an H100 with 79 GiB train the 8-billion-parameter Llama 3 with AdamW in fp32? Count before
    any activation. How many such GPUs hold it, if they share everything evenly?
    """
    N = parameters(PRESETS["llama-3-8b"])
    fixed_gib = 16 * N / GIB  # @inspect N fixed_gib
    # 16 bytes for each of 8.03 billion parameters are 120 GiB: two GPUs, without one activation.
    assert H100_SXM.memory_bytes < 16 * N < 2 * H100_SXM.memory_bytes
