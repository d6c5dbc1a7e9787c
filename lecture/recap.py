"""The whole on one page: the headline numbers, measured once more."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import torch

from lecture.facts import (
    GPT2_VOCABULARY,
    H100_SXM,
    LLAMA3_70B_PARAMETERS,
    LLAMA3_TRAINING_TOKENS,
)
from lecture.figures.recap import Sheet, TwoAnswers
from lecture.optim import AdamW
from lecture.syllabus import PARTS
from lecture.transformer import TransformerConfig, TransformerLM, cross_entropy
from trace.costs import measure

GPT2_XL_SHAPE = TransformerConfig(
    vocabulary=GPT2_VOCABULARY, context=1024, layers=48, width=1600, heads=25, feed_forward=6400
)
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Step:
    """What one training step of a model costs, in its four phases."""

    parameters: int
    building: Any  # what the meter found, as are the others
    forward: Any
    backward: Any
    update: Any


@functools.cache
def step_of_xl() -> Step:  # @stepover
    """Train a model of the shape of GPT-2 XL for a step on one text, on the device `meta`."""
    config = GPT2_XL_SHAPE
    with measure() as building:
        model = TransformerLM(config, device="meta")
    text = torch.zeros(1, config.context, dtype=torch.int64, device="meta")
    optimizer = AdamW(model.parameters(), lr=1e-4)
    with measure() as forward:
        loss = cross_entropy(model(text), text)
    with measure() as backward:
        loss.backward()
    with measure() as update:
        optimizer.step()
    parameters = sum(weight.numel() for weight in model.parameters())
    return Step(parameters, building, forward, backward, update)


def everything_is_a_product_and_a_little_more():  # M27.1
    """Everything is a product, and a little more.

    What is left of the lecture, if one sheet of paper has to do? One training step of a model of
    the shape of GPT-2 XL, on one text of 1024 tokens. First the work.
    """
    T = GPT2_XL_SHAPE.context
    step = step_of_xl()
    N = step.parameters
    work_flops = step.forward.matmul_flops + step.backward.matmul_flops
    assert step.backward.matmul_flops == 2 * step.forward.matmul_flops
    # The rule of thumb, 6 FLOPs per parameter and token, misses a few percent. What it leaves out
    # are the scores of attention; what it has too much are parameters that are only looked up.
    rule_flops = 6 * N * T
    assert round(rule_flops / work_flops, 3) == 0.965
    looked_up = GPT2_XL_SHAPE.vocabulary * GPT2_XL_SHAPE.width
    gains = (2 * GPT2_XL_SHAPE.layers + 1) * GPT2_XL_SHAPE.width
    scores_flops = 3 * GPT2_XL_SHAPE.layers * 4 * T**2 * GPT2_XL_SHAPE.width
    assert work_flops == 6 * (N - looked_up - gains) * T + scores_flops
    # The update is 33 FLOPs for each parameter, whatever the batch: at a thousand tokens half a
    # percent, at a million nothing.
    assert step.update.other_flops == 33 * N
    assert step.update.matmul_flops == 0
    forward, backward = (cost.matmul_flops / N / T for cost in (step.forward, step.backward))
    update = step.update.other_flops / N
    results = {
        "forward": (f"{forward:.2f}", "forward_is_two_flops_per_parameter_and_token"),
        "backward": (f"{backward:.2f}", "backward_costs_twice_forward"),
        "update, without the token": (f"{update:.0f}", "adamw_costs_33_flops_per_parameter"),
    }
    sheet = Sheet("FLOPs per parameter and token", results)  # @inspect sheet
    assert 0.005 < step.update.other_flops / work_flops < 0.006


def memory_has_four_parts():  # M27.1
    """Memory has four parts.

    And what has to fit? Parameters, gradients, what the optimizer keeps, and the activations. The
    first three do not ask how long the text is.
    """
    step = step_of_xl()
    N = step.parameters
    model_bytes = step.building.live_bytes["parameters"]
    gradient_bytes = step.backward.live_bytes["gradients"]
    state_bytes = step.update.live_bytes["optimizer state"]
    activation_bytes = step.forward.live_bytes["activations"]
    assert model_bytes == gradient_bytes == 4 * N
    # In fp32, AdamW needs 16 bytes for each parameter; the few bytes on top count its steps.
    assert state_bytes // N == 8
    assert (model_bytes + gradient_bytes + state_bytes) // N == 16
    # What grows with the batch are the activations. After the way back they are gone.
    assert step.backward.freed_bytes > activation_bytes
    parts = {
        "parameters": (model_bytes, "parameters_are_counted_by_name"),
        "gradients": (gradient_bytes, "four_things_fill_the_memory"),
        "optimizer state": (state_bytes, "an_optimizer_is_paid_for_in_memory"),
        "activations of one text": (activation_bytes, "a_weight_needs_what_it_multiplied"),
    }
    sheet = Sheet(
        "GiB of a step",
        {name: (f"{size / 2**30:.2f}", section) for name, (size, section) in parts.items()},
    )  # @inspect sheet
    total_gib = sum(size for size, _ in parts.values()) / 2**30  # @inspect total_gib
    assert 43 < total_gib < 45
    # So one text fits on a card with 80 GB, and a batch of four does not. Accumulation buys a
    # larger batch with more steps at the same FLOPs, checkpoints of activations with a third more.
    free_bytes = H100_SXM.memory_bytes - model_bytes - gradient_bytes - state_bytes
    assert free_bytes // activation_bytes == 3


def bytes_loaded_want_to_be_used_often():  # M27.1
    """Bytes loaded want to be used often.

    What is waited for, products or memory? Products, if each byte that was loaded is used often
    enough; how often, an accelerator says by its two rates.
    """
    # In bf16: a product of large matrices, and the same matrix times a single vector.
    n = 4096
    with torch.device("meta"):
        matrix, rows, vector = (
            torch.empty(n, columns, dtype=torch.bfloat16) for columns in (n, n, 1)
        )
    costs = {}
    with measure() as costs["training"]:
        matrix @ rows
    with measure() as costs["writing"]:
        matrix @ vector
    training, writing = (
        cost.matmul_flops / (cost.read_bytes + cost.written_bytes) for cost in costs.values()
    )
    assert math.isclose(training, n / 3)
    assert round(writing, 2) == 1
    # An H100 multiplies 295 times while a byte arrives.
    needed = H100_SXM.dense_flops_per_second["bf16"] / H100_SXM.memory_bytes_per_second
    assert writing < round(needed) == 295 < training
    sheet = Sheet(
        "FLOPs per byte",
        {
            "what an H100 needs": (f"{needed:.0f}", "an_accelerator_has_an_intensity"),
            "training": (f"{training:.0f}", "a_matrix_product_uses_each_number_often"),
            "writing": (f"{writing:.1f}", "a_matrix_times_a_vector_uses_each_weight_once"),
        },
    )  # @inspect sheet


def training_is_paid_in_days_and_writing_in_bandwidth():  # M27.1
    """Training is paid in days, writing in bandwidth.

    How long does it take, then? Training waits for products: work over rate. Writing waits for
    memory: bytes over bandwidth, one walk through all weights for each token.
    """
    # The rate is what the data sheet promises for the format in use, dense, times the MFU that is
    # reached. Half is good. A promise doubled by a sparsity that is not there halves the days on
    # paper only.
    card_flops_per_second = 0.5 * H100_SXM.dense_flops_per_second["bf16"]
    work_flops = 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    days = work_flops / (1024 * card_flops_per_second) / SECONDS_PER_DAY
    assert round(days) == 144
    # The weights of 70 billion parameters in bf16 need two cards to lie on, and come through memory
    # once for each token of a text. Many texts at once share the walk.
    weight_bytes = 2 * LLAMA3_70B_PARAMETERS
    assert math.ceil(weight_bytes / H100_SXM.memory_bytes) == 2
    tokens_per_second = 2 * H100_SXM.memory_bytes_per_second / weight_bytes
    assert round(tokens_per_second) == 48
    sheet = Sheet(
        "A model of 70 billion parameters",
        {
            "days on 1024 H100": (f"{days:.0f}", "training_time_is_work_over_rate"),
            "tokens per second on 2": (
                f"{tokens_per_second:.0f}",
                "a_written_token_costs_a_walk_through_all_weights",
            ),
        },
    )  # @inspect sheet


# By group: how many bytes, how many FLOPs, and a section where that is measured.
ANSWERS = {
    "M1": (
        "16 per parameter in training",
        "6 per parameter and token",
        "training_costs_six_flops_per_parameter_and_token",
    ),
    "M2": ("1 to 4 per character", "none", "bytes_are_an_alphabet_for_every_text"),
    "M3": ("the counts of words, not the text", "none; pairs are counted", "the_ladder_so_far"),
    "M4": (
        "2 per token on disk",
        "none; merges are looked up",
        "two_bytes_are_enough_for_65536_ids",
    ),
    "M5": ("elements times element size", "none", "bytes_are_elements_times_element_size"),
    "M6": ("4, 2, 1 or half per number", "the same in every format", "each_format_has_its_job"),
    "M7": ("none for a view", "none", "views_share_storage"),
    "M8": (
        "each result has its own",
        "2 per triple of a product",
        "every_triple_multiplies_and_adds",
    ),
    "M9": (
        "none for splitting heads",
        "by the order of products",
        "the_order_of_products_decides_their_price",
    ),
    "M10": (
        "none for counting",
        "2 per parameter and token",
        "forward_is_two_flops_per_parameter_and_token",
    ),
    "M11": (
        "decide the time below 295 FLOPs each",
        "decide it above",
        "the_roofline_bounds_every_operation",
    ),
    "M12": (
        "a gradient as large as its tensor",
        "4 per parameter and token",
        "backward_costs_twice_forward",
    ),
    "M13": (
        "4 per parameter in fp32",
        "none; numbers are drawn",
        "a_parameter_is_a_tensor_that_modules_register",
    ),
    "M14": ("counted by name", "2 per parameter and row", "parameters_are_counted_by_name"),
    "M15": (
        "h·T² weights in each layer",
        "8TD² + 4T²D + 6TDF per block",
        "heads_share_out_the_features",
    ),
    "M16": ("8.5 GB of weights for XL", "4.5e12 for 1024 tokens", "one_forward_pass_of_xl"),
    "M17": ("8 per parameter for AdamW", "33 per parameter", "adamw_costs_33_flops_per_parameter"),
    "M18": ("four parts; one grows with the batch", "none", "four_things_fill_the_memory"),
    "M19": ("activations of one part", "the same", "accumulation_spends_no_flops"),
    "M20": ("a root of the layers", "8 in place of 6", "a_second_way_forward_makes_eight_of_six"),
    "M21": ("a few thousand for a generator", "none", "each_purpose_gets_its_own_stream"),
    "M22": ("the pages that are touched", "none", "a_batch_touches_few_pages"),
    "M23": ("one batch at a time", "6 per parameter and token, again", "six_moves_make_a_step"),
    "M24": ("12 per parameter on disk", "none", "a_checkpoint_holds_parameters_and_state"),
    "M25": ("16 per parameter, or 12", "the same, at a higher rate", "two_recipes_go_by_one_name"),
    "M26": (
        "2, 1 or half per weight",
        "2 per parameter and token",
        "writing_reads_every_weight_for_a_token",
    ),
    "M27": (
        "16 per parameter and the activations",
        "6 per parameter and token",
        "memory_has_four_parts",
    ),
}


def every_chapter_has_two_answers():  # M1.1 M27.1
    """Every chapter has two answers.

    How many bytes, how many FLOPs? Each chapter was asked; here is what they said.
    """
    chapters = {name: title for part in PARTS.values() for name, title in part.items()}
    assert list(ANSWERS) == list(chapters)
    answers = TwoAnswers({chapters[name]: ANSWERS[name] for name in chapters})  # @inspect answers
