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
    constant_bytes,
    largest_batch,
    moments,
    peak_bytes,
    training_bytes,
    training_bytes_by_part,
)
from lecture.facts import A100_SXM, COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER, SECONDS_PER_DAY
from lecture.lib.gpt2 import LONG_XL, XL, measured
from lecture.lib.memory import held_bytes
from lecture.lib.optim import AdamW
from lecture.lib.transformer import (
    LayerCache,
    TransformerConfig,
    TransformerLM,
    attend,
    cross_entropy,
)
from lecture.part6_training import m18b_figures as figures
from trace.costs import measure

GIB = 2**30


def a_block_keeps_42_vectors_of_each_token():  # M18.6 E74
    """A block keeps 42 vectors for each token.

    How much of a Transformer waits for the way back? One block more is so many bytes more: here of
    the shape of GPT-2 XL, in fp32, for one sequence of 1024 tokens.
    """
    T, D, h, F = 1024, 1600, 25, 6400
    one, two = (measured(replace(XL, layers=L)).kept_bytes for L in (1, 2))  # @stepover
    block_bytes = two["activations"] - one["activations"]  # @inspect block_bytes
    # Counted in vectors of D numbers for each token. Inside the feed-forward network four tensors
    # wait, F wide: 4F/D = 16. The weights of attention are T numbers in each head: hT/D = 16 more.
    # Then queries, keys, values and their mean; and for each of two norms what came in, what was
    # divided, and the result.
    vectors = 4 * F / D + h * T / D + 4 + 2 * 3
    # That is all of it, 16 + 16 + 4 + 6 = 42, with a number per token for each norm.
    assert block_bytes == 4 * (vectors * T * D + 2 * T) == 275_259_392
    # A common mistake is a formula such as $9TD+2T^2$: each of the heads has scores of its own, and
    # the feed-forward network is wider than the model. It makes 3 GiB of the 12 of 48 blocks.
    formula_bytes = 4 * (9 * T * D + 2 * T**2)
    assert round(48 * block_bytes / GIB, 3) == 12.305
    assert round(block_bytes / formula_bytes, 1) == 4.1
    # With the heads put in, it comes close: 9 + 2·16 = 41 vectors. But not for the right reason. It
    # keeps scores and weights and forgets the feed-forward network; ours [keeps the weights
    # only](#what_is_kept_is_a_choice). With twice the context, they part: 73 vectors to 58.
    with_heads_bytes = 4 * (9 * T * D + 2 * h * T**2)
    assert round(block_bytes / with_heads_bytes, 2) == 1.02
    longer = [measured(replace(XL, layers=L, context=2048)).kept_bytes for L in (1, 2)]  # @stepover
    longer_bytes = longer[1]["activations"] - longer[0]["activations"]
    assert longer_bytes == 4 * ((42 + 16) * 2 * T * D + 2 * 2 * T)
    with_heads_bytes = 4 * (9 * 2 * T * D + 2 * h * (2 * T) ** 2)
    assert round(longer_bytes / with_heads_bytes, 2) == round(58 / 73, 2)


def the_context_decides_what_is_kept():  # M18.6
    """The context decides what is kept.

    Which parts of the model keep how much? The calculator has a formula for each, and their sum is
    what the meter finds: in XL, and in two of its layers in bf16 and with 16 times the context.
    """
    two, long_two = replace(XL, layers=2), replace(LONG_XL, layers=2)
    for config, dtype in ((XL, torch.float32), (two, torch.bfloat16), (long_two, torch.float32)):
        precision = "fp32" if dtype == torch.float32 else "bf16-weights"
        training = Training(config.context, precision=precision)
        found = measured(config, 1, dtype).kept_bytes
        assert activation_bytes(config, training) == found["activations"]
        assert constant_bytes(config, training) == found["other tensors"]
    parts = {
        "fp32": activation_bytes_by_part(XL, Training(1024)),
        "bf16": activation_bytes_by_part(XL, Training(1024, precision="bf16-weights")),
    }  # @stepover
    breakdown = figures.bytes_of_parts(parts, "One sequence, 1024 tokens", 90)  # @inspect breakdown
    gib = {name: round(sum(found.values()) / GIB, 3) for name, found in parts.items()}
    assert gib == {"fp32": 12.515, "bf16": 6.946}  # @inspect gib
    # In bf16 it is a little more than half, as norms and loss compute in fp32 and keep that. The
    # loss keeps one table of T×V exponentials, 196 MiB, and not the logits.
    assert 2 * parts["bf16"]["norms"] > parts["fp32"]["norms"]
    assert parts["bf16"]["loss"] == parts["fp32"]["loss"] == 4 * (1024 * 50_257 + 1024 + 1)
    # Masks, cosines and sines wait as well. Every layer makes its own; 0.07 GiB, once for all
    # sequences.
    assert constant_bytes(XL, Training(1024)) == 75_505_664
    # With 16 times the context the weights of attention grow 256 times. They were 37 % and are 91 %
    # of 1325 GiB, for one sequence.
    by_context = {
        tokens: activation_bytes_by_part(XL, Training(tokens))
        for tokens in (1024 * 2**n for n in range(5))
    }  # @stepover
    short, long = by_context[1024], by_context[16_384]
    assert round(sum(long.values()) / GIB, 1) == 1325.2
    percent = [
        round(100 * one["attention weights"] / sum(one.values())) for one in (short, long)
    ]  # @inspect percent
    assert percent == [37, 91]
    assert long["attention weights"] == 256 * short["attention weights"] == 1200 * GIB
    assert long["feed-forward"] == 16 * short["feed-forward"] == 75 * GIB
    growth = figures.activations_by_context(by_context)  # @inspect growth


@functools.cache
def live_in_training(config: TransformerConfig) -> dict[str, int]:  # @stepover
    """Train a step with AdamW, without numbers; measure the next forward pass beside it."""
    tokens = torch.zeros(1, config.context, dtype=torch.int64, device="meta")
    with measure() as cost:
        model = TransformerLM(config, device="meta")
        optimizer = AdamW(model.parameters())
        cross_entropy(model(tokens), tokens).backward()
        optimizer.step()
        loss = cross_entropy(model(tokens), tokens)
        live = cost.live_bytes
    del loss
    return live


def one_model_has_one_width():  # M18.7 E75
    """Training a model of GPT-2 XL's shape takes 44 GiB.

    How much memory does it need, with AdamW in fp32 and one sequence at a time? Parameters,
    gradients, two numbers of state for each, and the activations. All of it is in memory at once
    when a second loss has been computed and the gradients of the first are still there.
    """
    live = live_in_training(XL)  # @inspect live
    by_formula = training_bytes_by_part(XL, Training(1024))  # @inspect by_formula
    for part in ("parameters", "gradients", "optimizer state", "activations"):
        assert live[part] == by_formula[part]
    assert live["other tensors"] == by_formula["masks and positions"]
    gib = {part: round(found / GIB, 2) for part, found in by_formula.items()}  # @inspect gib
    assert list(gib.values()) == [7.92, 7.92, 15.85, 12.52, 0.07]
    assert round(training_bytes(XL, Training(1024)) / GIB, 2) == 44.28
    bar = figures.bytes_of_parts(
        {"fp32": by_formula}, "Training on one sequence", 50
    )  # @inspect bar
    # What does not depend on the batch is 31.7 GiB: [16 bytes for each
    # parameter](#adamw_keeps_four_numbers_per_parameter).
    fixed_gib = 16 * parameters(XL) / GIB  # @inspect fixed_gib
    assert round(fixed_gib, 2) == 31.7
    # A common mistake is to change the model on the way: to count the FLOPs with F = 4D and the
    # memory with F = 8/3·D, where a block has 12D² parameters. Weights, gradients and state shrink.
    narrow = 48 * 12 * XL.width**2 + 2 * XL.vocabulary * XL.width
    assert narrow == 1_635_382_400
    narrow_gib = [round(found * narrow / GIB, 2) for found in (4, 4, 8)]
    assert narrow_gib == [6.09, 6.09, 12.18]
    # Together with the 3.01 GiB for activations of the [first
    # section](#a_block_keeps_42_vectors_of_each_token), it comes to 27.4 GiB: 17 are missing.
    assert round(sum(narrow_gib) + 3.01, 1) == 27.4


def fused_attention_keeps_a_number_for_each_row():  # M18.6
    """Fused attention keeps a number for each row.

    So far this chapter has attention written out, which keeps the T×T attention weights of each
    head. Almost nobody trains so any more. What does [fused
    attention](#fused_attention_does_not_store_its_scores) keep?
    """
    B, h, T, K = 2, 3, 64, 8
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(B, h, T, K, generator=generator, requires_grad=True) for _ in range(3))
    visible = torch.ones(T, T).tril().bool()
    with measure() as written_out:
        y = attend(q, k, v, visible)
    with measure() as fused:
        same_y = scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(y, same_y, atol=1e-5)
    # Beside the result, which both make, the first keeps a number for each pair of tokens, the
    # other one for each row: the logarithm of its sum of exponentials, from which the backward pass
    # computes the weights again, a tile at a time.
    kept = [cost.live_bytes["activations"] - y.nbytes for cost in (written_out, fused)]
    assert kept == [4 * B * h * T * T, 4 * B * h * T]  # @inspect kept
    # In GPT-2 XL's shape that is 8.1 GiB in place of 12.5 for a sequence of 1024 tokens, and 130 in
    # place of 1325 for one of 16 384: what is kept no longer grows with the square of the context.
    gib = {
        (way, T): round(activation_bytes(XL, Training(T, attention=way)) / GIB, 1)
        for way in ("written-out", "fused")
        for T in (1024, 16_384)
    }  # @inspect gib
    assert (gib["written-out", 1024], gib["fused", 1024]) == (12.5, 8.1)
    assert gib["written-out", 16_384] > 10 * gib["fused", 16_384]
    assert math.isclose(gib["fused", 16_384], 16 * gib["fused", 1024], rel_tol=0.01)


def memory_limits_the_batch():  # M18.8 E76
    """Memory limits the batch.

    How many sequences can pass at once on a card that reports 79.2 GiB, as an A100 of "80 GB" does?
    Nearly all of the memory grows by the same amount with each.
    """
    one, four = (measured(XL, B).kept_bytes["activations"] for B in (1, 4))  # @stepover
    each_bytes = (four - one) / 3  # @inspect each_bytes
    assert round(each_bytes / GIB, 3) == 12.515
    plain, card_bytes = Training(1024), A100_SXM.memory_bytes
    batches = {
        "plain": largest_batch(XL, plain, card_bytes),
        "in parts": largest_batch(XL, replace(plain, accumulating=True), card_bytes),
        "fused": largest_batch(XL, replace(plain, attention="fused"), card_bytes),
    }  # @inspect batches
    assert batches == {"plain": 4, "in parts": 3, "fused": 6}
    # A common mistake is to trust a formula for activations that nobody measured. 9TD + 2T² in each
    # block, with the narrower model of the last section, promises 18. Scores of all heads put in,
    # 4.
    fixed_bytes = 16 * 1_635_382_400
    T, D, h = 1024, XL.width, XL.heads
    guess_bytes, with_heads_bytes = (48 * 4 * (9 * T * D + 2 * n * T**2) for n in (1, h))
    assert (card_bytes - fixed_bytes) // guess_bytes == 18
    assert (card_bytes - fixed_bytes) // with_heads_bytes == 4
    by_batch = figures.memory_by_batch(
        {
            "this implementation": (training_bytes(XL, replace(plain, batch=0)), each_bytes),
            "9TD + 2T², F = 8/3·D": (fixed_bytes, guess_bytes),
            "the same with heads": (fixed_bytes, with_heads_bytes),
        },
        {"an A100 of 80 GB": card_bytes},
    )  # @inspect by_batch
    # Eighteen would need 257 GiB.
    assert round(training_bytes(XL, replace(plain, batch=18)) / GIB) == 257


def peak_without_numbers(config: TransformerConfig, training: Training) -> int:  # @stepover
    """Train two steps on `meta`; measure the most that was in memory during the second."""
    tokens = torch.zeros(training.batch, training.tokens, dtype=torch.int64, device="meta")
    with measure() as cost:
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

    Are the four parts ever in memory together? If gradients are cleared after each step, there are
    none when the backward pass begins; and as they come, activations go. So the peak of a plain
    step is between forward and backward, and it is lower than the sum.
    """
    peaks = {}
    for B in (1, 4):
        found = measured(XL, B)  # @stepover
        held_bytes = sum(found.building.live_bytes.values()) + 8 * found.parameters
        peaks[B] = held_bytes + found.peak_bytes
        # The calculator looks at the few moments that can be the peak, and finds the same.
        assert peaks[B] == peak_bytes(XL, Training(1024, B))
    peaks_gib = {B: round(peak / GIB, 1) for B, peak in peaks.items()}  # @inspect peaks_gib
    assert peaks_gib == {1: 36.8, 4: 75.4}
    assert peaks[4] < A100_SXM.memory_bytes < training_bytes(XL, Training(1024, 4))
    # If a batch is [taken in parts](#parts_of_a_batch_add_up_to_it), as in the next chapter, the
    # gradients stay, and the peak is above the sum: the loss needs two more tables of logits for a
    # moment. For a small model these outweigh everything else.
    two_layers, in_parts = replace(XL, layers=2), Training(1024, 2, accumulating=True)
    in_parts_bytes = peak_without_numbers(two_layers, in_parts)
    assert in_parts_bytes == peak_bytes(two_layers, in_parts)
    table_bytes = 4 * 2 * 1024 * 50_257
    over = (in_parts_bytes - training_bytes(two_layers, in_parts)) / table_bytes  # @inspect over
    assert round(over, 3) == 2
    # And PyTorch's AdamW, in the form that it prefers on a GPU, makes a denominator for all
    # parameters at once. With one sequence that is the peak: 20 bytes for each parameter.
    default = moments(XL, Training(1024, optimizer="adamw-foreach"))  # @inspect default
    assert max(default, key=default.get) == "optimizer"
    assert default["optimizer"] // parameters(XL) == 20
    # What none of these has: the memory of the CUDA context, and gaps between the pieces that an
    # allocator hands out.


def one_card_takes_18_years():  # M18.9 E85 E86
    """One card takes 18 years.

    Suppose the memory is there. Then [time is work over rate](#training_time_is_work_over_rate).
    How long does one A100 take for 400 000 steps with 1024 sequences each, if half of its peak
    arrives? First in fp32, 19.5·10¹² FLOP/s.
    """
    steps, B, T, mfu = 400_000, 1024, 1024, 0.5
    peak = A100_SXM.dense_flops_per_second
    step_flops = B * (measured(XL).forward_flops + measured(XL).backward_flops)
    step_seconds = step_flops / (mfu * peak["fp32"])  # @inspect step_seconds
    assert round(step_seconds) == 1422
    days = training_days(XL, T, steps * B * T, peak["fp32"], mfu)  # @inspect days
    assert round(days) == round(steps * step_seconds / SECONDS_PER_DAY) == 6584
    assert round(days / 365.25) == 18
    # Without the head it would look like 1370 seconds and 6343 days.
    head_flops = 3 * B * 2 * T * XL.width * XL.vocabulary
    blocks_seconds = (step_flops - head_flops) / (mfu * peak["fp32"])
    assert round(blocks_seconds) == 1370
    assert round(steps * blocks_seconds / SECONDS_PER_DAY) == 6343
    # A common mistake is to round on the way. "About 1000 seconds" for a step becomes 4630 days,
    # and almost two thousand are lost. Round at the end.
    assert round(steps * 1000 / SECONDS_PER_DAY) == 4630
    # The other mistake is the peak. This is the rate outside the tensor cores; in bf16, the same
    # card has 16 times as much, and takes 411 days.
    assert peak["bf16"] / peak["fp32"] == 16
    bf16_days = training_days(XL, T, steps * B * T, peak["bf16"], mfu)  # @inspect bf16_days
    assert round(bf16_days) == 411
    # With 512 such cards it would be done in a day, if the half still arrives on each.
    assert round(bf16_days / 512, 2) == 0.8


def tokens_go_with_parameters():  # M18.10 E87
    """Tokens go with parameters.

    Is 400 000 steps of a million tokens a good plan? For a given number of FLOPs, a model can be
    larger, or read more. [Hoffmann and others](https://arxiv.org/abs/2203.15556) found that both
    should grow alike. Their own model had 20 tokens for each parameter, which became a rule.
    """
    N = 2 * 10**9
    tokens = COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER * N
    assert tokens == 4 * 10**10
    # That needs 6·N for each token.
    work_flops = 6 * N * tokens  # @inspect work_flops
    assert work_flops == 4.8e20
    # One A100 with 10¹³ FLOP/s, about half of its peak in fp32, takes a year and a half; 100 of
    # them less than six days. "Five days" is rounded the wrong way, and 9.75·10¹² makes it 5.7.
    days = [work_flops / rate / SECONDS_PER_DAY for rate in (1e13, 100 * 1e13, 100 * 9.75e12)]
    assert [round(found, 2) for found in days] == [555.56, 5.56, 5.7]  # @inspect days
    # The plan reads 10 times as much.
    planned_tokens = 400_000 * 1024 * 1024
    assert round(planned_tokens / tokens, 1) == 10.5
    # That is no mistake by itself. A model that will be used a lot is cheaper to use if it is
    # small, so many are trained longer than is optimal for the training alone.
    # For the model of this chapter, counted to the last product: 3.6 % more than 6N per token.
    step_flops = measured(XL).forward_flops + measured(XL).backward_flops
    own_tokens = COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER * parameters(XL)
    own_flops = step_flops / 1024 * own_tokens  # @inspect own_flops
    assert round(own_flops / (6 * parameters(XL) * own_tokens), 3) == 1.036


def training_needs_no_cache():  # M18.11 E73
    """Only writing needs a cache.

    A model that writes [keeps the keys and values](#a_cache_reads_each_token_once) of all tokens so
    far, two vectors for each layer and token. What does that take, in bf16?
    """
    T = 16
    model = TransformerLM(XL, device="meta", dtype=torch.bfloat16)  # @stepover
    caches = [LayerCache() for _ in range(XL.layers)]  # @stepover
    with torch.no_grad():
        model(torch.zeros(1, T, dtype=torch.int64, device="meta"), caches)  # @stepover
    found_bytes = sum(held_bytes(cache.key) + held_bytes(cache.value) for cache in caches)
    assert found_bytes == cache_bytes(XL, T, element_bytes=2) == 2 * 48 * T * 1600 * 2
    assert found_bytes / T == 307_200
    # For a full context 300 MiB, and 4.7 GiB with 16 times the context: more than the weights.
    assert cache_bytes(XL, 1024, element_bytes=2) == 300 * 2**20
    assert cache_bytes(XL, 16_384, element_bytes=2) > 2 * parameters(XL)
    # A common mistake is to find training out of memory and to blame this cache. In training there
    # is none: all tokens pass at once. Keys and values are activations like others, and small ones.
    # What fills the memory are the weights of attention, h·T² in each layer, 16 times as much as a
    # tensor of T×D; and for this context as much again in the feed-forward network.
    weights, one_tensor = 25 * 1024**2, 1024 * 1600
    parts = activation_bytes_by_part(XL, Training(1024))  # @inspect parts
    assert parts["attention weights"] == parts["feed-forward"] == 48 * 4 * weights
    keys_and_values_bytes = 48 * 2 * 4 * one_tensor
    assert keys_and_values_bytes == cache_bytes(XL, 1024) < 0.05 * sum(parts.values())
    # This chapter in short: of the memory, batch and context decide about the activations, the
    # recipe about the rest; the time is work over rate. Both can be known before anything is
    # bought, if the formula is that of the model.
