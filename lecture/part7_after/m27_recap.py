"""The whole on one page: the headline numbers, measured once more."""

import math

import torch

from lecture.facts import H100_SXM, LLAMA3_70B_PARAMETERS, LLAMA3_TRAINING_TOKENS, SECONDS_PER_DAY
from lecture.lib.gpt2 import XL, measured
from lecture.part7_after.m27_answers import figures_of, update_of_xl
from lecture.part7_after.m27_figures import Sheet, TwoAnswers
from trace.costs import measure


def everything_is_a_product_and_a_little_more():  # M27.1
    """Everything is a product, and a little more.

    What is left of the lecture, if one sheet of paper has to do? One training step of a model of
    the shape of GPT-2 XL, on one text of 1024 tokens. First the work.
    """
    T = XL.context
    step, update = measured(XL), update_of_xl()
    N = step.parameters
    work_flops = step.forward_flops + step.backward_flops
    assert step.backward_flops == 2 * step.forward_flops
    # The rule of thumb, 6 FLOPs per parameter and token, misses a few percent. What it leaves out
    # are the scores of attention; what it has too much are parameters that are only looked up.
    rule_flops = 6 * N * T
    assert round(rule_flops / work_flops, 3) == 0.965
    looked_up = XL.vocabulary * XL.width
    gains = (2 * XL.layers + 1) * XL.width
    scores_flops = 3 * XL.layers * 4 * T**2 * XL.width
    assert work_flops == 6 * (N - looked_up - gains) * T + scores_flops
    # The update is 33 FLOPs for each parameter, whatever the batch: at a thousand tokens half a
    # percent, at a million nothing.
    assert update.other_flops == 33 * N
    assert update.matmul_flops == 0
    forward, backward = step.forward_flops / N / T, step.backward_flops / N / T
    results = {
        "forward": (f"{forward:.2f}", "forward_is_two_flops_per_parameter_and_token"),
        "backward": (f"{backward:.2f}", "backward_costs_twice_forward"),
        "update, per parameter only": (
            f"{update.other_flops / N:.0f}",
            "adamw_costs_33_flops_per_parameter",
        ),
    }
    sheet = Sheet("FLOPs per parameter and token", results)  # @inspect sheet
    assert 0.005 < update.other_flops / work_flops < 0.006


def memory_has_four_parts():  # M27.1
    """Memory has four parts.

    And what has to fit? Parameters, gradients, what the optimizer keeps, and the activations. The
    first three do not ask how long the text is.
    """
    step, update = measured(XL), update_of_xl()
    N = step.parameters
    model_bytes = step.building.live_bytes["parameters"]
    gradient_bytes = step.backward.live_bytes["gradients"]
    state_bytes = update.live_bytes["optimizer state"]
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
    # reached. Half is good.
    card_flops_per_second = 0.5 * H100_SXM.dense_flops_per_second["bf16"]
    work_flops = 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    days = work_flops / (1024 * card_flops_per_second) / SECONDS_PER_DAY
    assert round(days) == 144
    # A promise doubled by a sparsity that is not there halves the days, on paper only.
    sparse_over_dense = (
        H100_SXM.sparse_flops_per_second["bf16"] / H100_SXM.dense_flops_per_second["bf16"]
    )
    assert round(days / sparse_over_dense) == 72
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


def text_and_tensors_have_two_answers():  # M1.1 M27.1
    """Text and tensors have two answers.

    How many bytes, how many FLOPs? Each chapter is asked once more, by a small experiment under the
    meter; all stand in `lecture/part7_after/m27_answers.py`. Each has a size n, and what it finds
    is divided by something that grows with n. Figures that are the same at two sizes belong to the
    chapter and not to the experiment.
    """
    # For each chapter, bytes per unit and FLOPs per unit. The table says what the units are.
    answers = {
        "From text to bytes": ((1, 4), ()),
        "Learning a vocabulary": ((1,), ()),
        "Encoding and decoding": ((2,), ()),
        "Tensors and their bytes": ((4,), (0,)),
        "Floating-point formats": ((4, 2, 1), (2, 2)),
        "Storage, strides, views": ((0,), (0,)),
        "Elementwise and matmul": ((4,), (2,)),
        "Axes with names": ((0,), (4, 2)),
    }
    for size in (4, 6):
        found = figures_of("Text", "Tensors", size=size)
        assert len(found) == len(answers)
        for chapter, answer in answers.items():
            assert found[chapter] == answer
    table = TwoAnswers(answers)  # @inspect table
    # Text is looked up, compared and counted, on no tensor, and the meter has nothing to say of it.
    # Tensors have FLOPs as soon as two of them are multiplied, and a shorter format makes these
    # cheaper to store, not fewer.


def models_have_two_answers():  # M1.1 M27.1
    """Models have two answers.

    Products of matrices, their gradients, and what is built from them: where do the FLOPs come
    from?
    """
    answers = {
        "Why count": ((16,), (6,)),
        "Counting FLOPs": ((4,), (2,)),
        "Bytes against FLOPs": ((6,), (2,)),
        "Gradients and their price": ((4,), (4,)),
        "Parameters at the start": ((4,), (4,)),
        "Small models": ((4,), (2,)),
        "Parts of a Transformer": ((4,), (4,)),
        "Bill of a Transformer": ((8.5,), (4.5,)),
    }
    for size in (4, 6):
        found = figures_of("Why", "Compute", "Models", size=size)
        assert len(found) == len(answers)
        for chapter, answer in answers.items():
            assert found[chapter] == answer
    table = TwoAnswers(answers)  # @inspect table
    # Two forward and four back for each parameter that multiplies a token. Only what meets in
    # pairs, the scores of attention, grows faster than the text.


def training_has_two_answers():  # M1.1 M27.1
    """Training has two answers.

    What comes on top when a model is trained and used? Mostly bytes, and ways to pay for them with
    FLOPs.
    """
    answers = {
        "Optimizers": ((8,), (33,)),
        "Memory in training": ((8,), (2,)),
        "Gradient accumulation": ((1,), (1,)),
        "Activation checkpoints": ((1,), (8,)),
        "Randomness": ((5056,), ()),
        "Feeding data": ((8,), (0,)),
        "The training loop": ((0,), (6,)),
        "Saving and resuming": ((12,), ()),
        "Mixed precision": ((16, 12), (6, 6)),
        "Inference, quantization": ((2, 1, 0.5), (2,)),
        "The whole on one page": ((16,), (6.2,)),
    }
    for size in (4, 6):
        found = figures_of("Training", "After", size=size)
        assert len(found) == len(answers)
        for chapter, answer in answers.items():
            assert found[chapter] == answer
    table = TwoAnswers(answers)  # @inspect table
    # With these figures the bill of a run can be written down before it begins. Where the bill is
    # wrong, a claim on this page is the place to look.
