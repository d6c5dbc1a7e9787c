"""The sheet: the whole lecture to calculate with."""

import functools
from dataclasses import replace
from typing import Any

import torch

from lecture.accounting import memory
from lecture.accounting.memory import Training
from lecture.accounting.sharding import bytes_per_parameter, sent_bytes_per_parameter
from lecture.facts import (
    CACHE_BYTES_PER_TOKEN,
    H100_NVLINK_BYTES_PER_SECOND,
    H100_SXM,
    INFINIBAND_NDR_BYTES_PER_SECOND,
    LLAMA3_70B_GPU_HOURS,
    LLAMA3_70B_PARAMETERS,
    LLAMA3_CONTEXT_TOKENS,
    LLAMA3_TRAINING_TOKENS,
    SECONDS_PER_DAY,
    ZERO_GIGABYTES_BY_STAGE,
)
from lecture.lib.gpt2 import XL, measured
from lecture.lib.optim import AdamW
from lecture.lib.presets import PRESETS
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import LayerCache, TransformerConfig, TransformerLM
from lecture.part7_after import m28_answers as answers
from lecture.part7_after import m28_figures as figures
from lecture.part7_after.m28_answers import letters_of
from lecture.part7_after.m28_words import WORDS
from trace.costs import measure

SHAPES = {name: PRESETS[name] for name in ("gpt2-small", "gpt2-xl", "llama-3-8b")}
EXAMPLE = "GPT-2 XL's shape, one sequence"


@functools.cache
def update_of_xl() -> Any:  # @stepover
    """Let AdamW change a model of the shape of GPT-2 XL, on the device `meta`; return the costs."""
    optimizer = AdamW(measured(XL).model.parameters(), lr=1e-4)
    with measure() as update:
        optimizer.step()
    return update


def everything_is_a_product_and_a_little_more():  # M28.1
    """The sheet: FLOPs.

    What is left of the lecture if one sheet of paper has to do? Formulas, in the letters of [the
    first page](#letters_name_the_axes): B sequences of T tokens are R = B·T rows; D features, F
    inside the feed-forward network, H heads of K features, G of them with keys and values of their
    own; L layers, V entries of the vocabulary. Are they right? Three models, of two families, are
    counted on the device `meta`.
    """
    shares = []
    for config in SHAPES.values():
        a, step = letters_of(config), measured(config)
        assert step.parameters == answers.parameters(a)
        assert step.forward_flops == answers.forward_flops(a)
        assert step.backward_flops == 2 * answers.forward_flops(a)
        shares.append(6 * a.N * a.R / (step.forward_flops + step.backward_flops))
    # The rule of thumb, $6NR$, comes near the step. It leaves out the scores of attention, and
    # counts the embedding, which multiplies nothing: too little for long contexts, too much for
    # small models.
    assert [round(share, 2) for share in shares] == [1.12, 0.97, 0.83]  # @inspect shares
    a, step, update = letters_of(XL), measured(XL), update_of_xl()
    by_the_rule = 6 * a.N * a.R
    # AdamW does 13 FLOPs and a square root for each parameter, once a step, whatever the batch.
    # (The meter's price for a root is 20.)
    assert update.matmul_flops == 0  # @predict
    assert update.other_flops == (13 + 20) * a.N
    layer = r"2D^2+2DGK+3DF"
    multiplying = r"N-VD-(2L+1)D"
    entries = (
        ("parameters N", rf"2VD+L({layer})+(2L+1)D", a.N, "parameters_are_counted_part_by_part"),
        (
            "forward pass",
            rf"2R({multiplying})+4LRTD",
            step.forward_flops,
            "tokens_times_parameters_with_corrections",
        ),
        ("backward pass", r"2\times\text{forward}", step.backward_flops, "two_plus_four_is_six"),
        ("a step, by the rule", r"6NR", by_the_rule, "two_plus_four_is_six"),
        ("AdamW", r"13N+N\text{ roots}", 13 * a.N, "adamw_costs_33_flops_per_parameter"),
    )
    table = [
        (name, formula, figures.in_units(value), link) for name, formula, value, link in entries
    ]
    sheet = figures.Sheet(EXAMPLE, table)  # @inspect sheet


def memory_has_four_parts():  # M28.1
    """The sheet: what training keeps.

    What has to fit? Weights, gradients and the optimizer's state know nothing of the batch. The
    activations grow with each row.
    """
    for config in SHAPES.values():
        a, step = letters_of(config), measured(config)
        assert step.building.live_bytes["parameters"] == 4 * a.N
        assert step.backward.live_bytes["gradients"] == 4 * a.N
        assert step.forward.live_bytes["activations"] == answers.activation_bytes(a)
    a = letters_of(XL)
    assert update_of_xl().live_bytes["optimizer state"] // a.N == 4 + 4  # @predict
    # Written out, attention keeps T weights for each row and head: more than a third of it at
    # T = 1024, and nine tenths at 16 384. Fused, it keeps one number, and the mean once more.
    a_token = [answers.activation_bytes(a, fused) / a.R for fused in (False, True)]
    training = Training(a.T, attention="fused")
    assert answers.activation_bytes(a, fused=True) == memory.activation_bytes(XL, training)
    assert round(a_token[False] / a_token[True], 2) == 1.54
    longer = replace(a, T=16_384)
    weights = [4 * a.L * a.H * b.T**2 / answers.activation_bytes(b) for b in (a, longer)]
    assert [round(share, 2) for share in weights] == [0.37, 0.91]  # @inspect weights
    rest = r"4F+8D+2GK+2"
    state, written, fused = (figures.in_units(size, "B") for size in (16 * a.N, *a_token))
    table = (
        ("fp32: weights, gradients, m, v", r"(4+4+8)N", state),
        ("bf16: weights, gradients, fp32 copy, m, v", r"(2+2+12)N", state),
        ("activations of a token, fp32", rf"4\,(L(HT+{rest})+3D+V+2)", written),
        ("the same, attention fused", rf"4\,(L(H+D+{rest})+3D+V+2)", fused),
    )
    links = (
        "adamw_keeps_four_numbers_per_parameter",
        "each_recipe_has_its_bytes_per_parameter",
        "a_block_keeps_42_vectors_of_each_token",
        "fused_attention_keeps_a_number_for_each_row",
    )
    rows = [(*row, link) for row, link in zip(table, links, strict=True)]
    sheet = figures.Sheet(EXAMPLE, rows)  # @inspect sheet


def the_peak_is_the_largest_of_a_few_moments():  # M28.1
    """The sheet: the moments of the peak.

    Does the sum have to fit? More than that, or less: [not all of it is there at
    once](#the_sum_is_no_peak). What counts is the largest of a few moments of a step.
    """
    a = letters_of(XL)
    kept, waiting = 16 * a.N, answers.activation_bytes(a)
    moments = memory.moments(XL, Training(a.T))
    gib = {moment: round(size / 2**30, 1) for moment, size in moments.items()}  # @inspect gib
    # Around the loss: weights, m and v, all activations, and two more tables of logits. No
    # gradients yet.
    at_the_loss = 12 * a.N + waiting + answers.loss_bytes(a)
    assert round(moments["loss, backward"] / at_the_loss, 3) == 1.002  # masks and angles
    # In a step that adds to gradients which are there already, they are:
    accumulating = memory.moments(XL, Training(a.T, accumulating=True))
    with_gradients = at_the_loss + 4 * a.N
    assert round(accumulating["loss, backward"] / with_gradients, 3) == 1.002
    # In the backward pass of the last layer's attention: the logits are gone, four tensors like its
    # weights have come, and a few gradients.
    in_attention = 12 * a.N + waiting + 4 * (4 * a.H * a.R * a.T)
    assert abs(moments["attention, last layer"] / in_attention - 1) < 0.01
    # In the optimizer: no activations, all 16N. (PyTorch's default on a GPU, which works on all
    # parameters at once, needs 4N more there.)
    assert round(moments["optimizer"] / kept, 2) == 1.01
    # The meter finds the same peak.
    peak = max(moments.values())
    assert abs(peak / (12 * a.N + measured(XL).peak_bytes) - 1) < 1e-4
    table = (
        ("at the loss", r"12N+A+8RV", at_the_loss),
        ("at the loss, accumulating", r"16N+A+8RV", with_gradients),
        ("in the last attention, written out", r"12N+A+16HRT", in_attention),
        ("in the optimizer", r"16N", kept),
    )
    link = "the_sum_is_no_peak"
    rows = [(name, formula, figures.in_units(size, "B"), link) for name, formula, size in table]
    sheet = figures.Sheet("GPT-2 XL's shape; A: activations", rows)  # @inspect sheet


def decoding_pays_for_each_token():  # M28.1
    """The sheet: the KV cache.

    And when the model is used? Gradients, state and activations go. The keys and values of all
    tokens stay.
    """
    config = TransformerConfig(
        vocabulary=64, context=8, layers=3, width=32, heads=4, feed_forward=48, key_value_heads=2
    )
    model = TransformerLM(config, generator=torch.Generator().manual_seed(0))  # @stepover
    caches = [LayerCache() for _ in model.blocks]  # @stepover
    with torch.inference_mode(), without_checks():
        model(torch.zeros(1, 8, dtype=torch.int64), caches)  # @stepover
    kept_bytes = sum(cache.key.nbytes + cache.value.nbytes for cache in caches)
    assert kept_bytes == 8 * answers.cache_bytes_per_token(letters_of(config), element=4)
    # A key and a value of K numbers, for each layer and each of the G heads that has its own. In
    # bf16:
    models = {"GPT-2 XL": XL, "Llama 3 8B": PRESETS["llama-3-8b"]}
    models |= {"Llama 3 70B": PRESETS["llama-3-70b"], "Llama 3 405B": PRESETS["llama-3-405b"]}
    bytes_of = {
        name: answers.cache_bytes_per_token(letters_of(shape)) for name, shape in models.items()
    }  # @inspect bytes_of
    assert bytes_of["Llama 3 405B"] == CACHE_BYTES_PER_TOKEN["Llama 3.1 405B"]
    # GPT-2 XL has no shared heads, and keeps more for a token than a model over five times its
    # size. (Ours in its shape is larger than [the real one](#the_real_gpt2_has_other_parts).)
    assert bytes_of["GPT-2 XL"] > 2 * bytes_of["Llama 3 8B"]
    link = "grouped_queries_shrink_the_cache"
    rows = [
        (name, r"2LGK\cdot 2", figures.in_units(size, "B"), link) for name, size in bytes_of.items()
    ]
    sheet = figures.Sheet("bytes per token, bf16", rows)  # @inspect sheet


def bytes_loaded_want_to_be_used_often():  # M28.1
    """The sheet: what we wait for.

    Compute, or memory, or a link? A GPU has a rate for each: C FLOPs per second at its peak, and W
    bytes per second from memory or over a link. It does C/W FLOPs while a byte arrives. An
    operation with fewer waits for the bytes.
    """
    n = 4096
    bf16 = {"dtype": torch.bfloat16, "device": "meta"}
    matrix, rows, vector = (torch.empty(n, columns, **bf16) for columns in (n, n, 1))
    costs = {}
    with measure() as costs["training"]:
        matrix @ rows
    with measure() as costs["decoding"]:
        matrix @ vector
    training, decoding = (
        cost.matmul_flops / (cost.read_bytes + cost.written_bytes) for cost in costs.values()
    )
    assert round(training / n, 3) == round(1 / 3, 3)
    assert round(decoding, 2) == 1
    peak = H100_SXM.dense_flops_per_second["bf16"]
    rates = {
        "HBM": H100_SXM.memory_bytes_per_second,
        "NVLink": H100_NVLINK_BYTES_PER_SECOND,
        "InfiniBand": INFINIBAND_NDR_BYTES_PER_SECOND,
    }
    needed = {name: peak / rate for name, rate in rates.items()}
    assert decoding < needed["HBM"] < training < needed["NVLink"]
    links = dict.fromkeys(needed, "a_link_has_a_roofline")
    links["HBM"] = "an_accelerator_has_an_intensity"
    table = [
        (f"an H100 needs, from {name}", r"C/W", f"{flops:.0f}", links[name])
        for name, flops in needed.items()
    ]
    of_matmul, of_vector = (
        "a_matrix_product_uses_each_number_often",
        "a_matrix_times_a_vector_uses_each_weight_once",
    )
    table += [
        ("n×n times n×n has", r"n/3", f"{training:.0f}", of_matmul),
        ("n×n times a vector has", r"1", f"{decoding:.0f}", of_vector),
        ("data parallelism has, of its link", r"1.5R", "1.5 a row", "a_link_has_a_roofline"),
    ]
    sheet = figures.Sheet("FLOPs per byte, bf16", table)  # @inspect sheet


def training_is_paid_in_days_and_writing_in_bandwidth():  # M28.1
    """The sheet: days and tokens per second.

    How long does it take? Training is work over rate: n GPUs reach a share, the MFU, of their peak
    of C FLOPs per second. Decoding is bytes over bandwidth, W bytes per second: every step reads P
    parameters, all but the embedding, and for each of B sequences T tokens of cache, c bytes each.
    """
    N, tokens, gpus = LLAMA3_70B_PARAMETERS, LLAMA3_TRAINING_TOKENS, 1024
    peak = H100_SXM.dense_flops_per_second["bf16"]
    rate = 0.4 * peak
    days = 6 * N * tokens / (gpus * rate) / SECONDS_PER_DAY  # @inspect days
    assert round(days) == 180
    # Is an MFU of 0.4 a fair guess? From the hours that were booked for this very model:
    by_6 = 6 * N * tokens / (LLAMA3_70B_GPU_HOURS * 3600) / peak
    a = letters_of(PRESETS["llama-3-70b"])
    mfu = by_6 * (1 + 12 * a.L * a.D * LLAMA3_CONTEXT_TOKENS / (6 * N))  # @inspect by_6 mfu
    assert (round(by_6, 2), round(mfu, 2)) == (0.28, 0.32)
    # It is less by the rule of 6, and with attention, which an MFU [counts as
    # well](#utilization_decides_the_bill); but booked are all hours, 260 days of these GPUs.
    assert round(LLAMA3_70B_GPU_HOURS / 24 / gpus) == 260
    # Decoding with two GPUs at best, their messages left out, 2000 tokens in each cache:
    bandwidth = 2 * H100_SXM.memory_bytes_per_second
    of_cache = 2000 * answers.cache_bytes_per_token(a)
    P = a.N - a.V * a.D
    steps = {batch: bandwidth / (2 * P + batch * of_cache) for batch in (1, 16)}
    assert [round(rate) for rate in steps.values()] == [48, 45]  # @inspect steps
    # Sixteen users get nearly what one would get. So: batch.
    table = (
        ("days to train", r"\frac{6N\cdot\text{tokens}}{n\cdot\text{MFU}\cdot C}", f"{days:.0f}"),
        ("steps per second, one sequence", r"\frac{W}{2P+BTc}", f"{steps[1]:.0f}"),
        ("tokens per second, B = 16", r"B\,\frac{W}{2P+BTc}", f"{16 * steps[16]:.0f}"),
    )
    links = (
        "training_time_is_work_over_rate",
        "writing_reads_every_weight_for_a_token",
        "a_batch_shares_the_weights_until_the_cache_rules",
    )
    rows = [(*row, link) for row, link in zip(table, links, strict=True)]
    sheet = figures.Sheet("Llama 3 70B, bf16, H100s", rows)  # @inspect sheet


def many_devices_divide_and_send():  # M28.1
    """The sheet: many devices.

    What does each of n devices keep, and what does it send? Here for n = 64 and 7.5 billion
    parameters in bf16 with an fp32 copy.
    """
    n, N = 64, 7.5e9
    kept = {stage: bytes_per_parameter(stage, n) * N for stage in range(4)}
    # As the paper on ZeRO says. (The 120 GB of stage 0 fit on no H100.)
    assert [round(size / 1e9, 1) for size in kept.values()] == list(ZERO_GIGABYTES_BY_STAGE)
    sent = {stage: sent_bytes_per_parameter(stage, n) * N for stage in (1, 3)}
    # How long does the sending take in a step, over InfiniBand and with one GPU in a box? (Eight in
    # a box add up over NVLink first. They take about a ninth of it if both links work at the same
    # time, else a fifth.)
    seconds = {stage: size / INFINIBAND_NDR_BYTES_PER_SECOND for stage, size in sent.items()}
    assert [round(time, 2) for time in seconds.values()] == [0.59, 0.89]  # @inspect seconds
    zero, ring = "zero_divides_what_every_rank_keeps", "an_all_reduce_moves_twice_the_tensor"
    bubble = "a_pipeline_waits_at_both_ends"
    formulas = {0: "16N", 1: r"(4+12/n)N", 2: r"(2+14/n)N", 3: r"16N/n"}
    table = [
        (f"kept, stage {stage}", formulas[stage], figures.in_units(kept[stage], "B"), zero)
        for stage in range(4)
    ]
    table += [
        (
            "sent, stages 0 to 2",
            r"2\cdot\frac{n-1}{n}\cdot 2N",
            figures.in_units(sent[1], "B"),
            ring,
        ),
        ("sent, stage 3", r"3\cdot\frac{n-1}{n}\cdot 2N", figures.in_units(sent[3], "B"), zero),
        (
            "tensor parallel, a layer, forward",
            r"2\cdot\frac{2(n-1)}{n}\cdot 2RD",
            "grows with R",
            "a_block_meets_twice_each_way",
        ),
        ("bubble of p stages, m parts", r"\frac{p-1}{m+p-1}", "p = 4, m = 8: 27 %", bubble),
    ]
    sheet = figures.Sheet("7.5 billion parameters, n = 64", table)  # @inspect sheet
    # Before you start a run, fill in this sheet. During the run, compare it with what you see.
    # Where it is wrong, you have learned something, and a claim on this page is the place to look.


def every_word_has_its_sentence():  # M28.1
    """The words, in a sentence each.

    What was a residual stream again? The text explains a word where we first need it, with what
    stands around it. Here are the words whose sentence there would not do alone.
    """
    words = figures.WordTable(WORDS)  # @inspect words
    # Each sentence names its word, so you can read it without the others.
    unnamed = [word for word, meaning in WORDS.items() if word.lower() not in meaning.lower()]
    assert unnamed == []
    # The glossary, key `W`, has these and all other words, with links to where they are explained.
