"""Why count? Two currencies, two estimates on a napkin, and a ruler."""

import math

import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture import figures
from lecture.facts import (
    A100_SXM,
    EU_AI_ACT_THRESHOLD_FLOPS,
    GPT3_BATCH_TOKENS,
    GPT3_PARAMETERS,
    GPT3_TRAINING_FLOPS,
    GPT3_TRAINING_TOKENS,
    GPT4_TRAINING_FLOPS_RUMOUR,
    H100_PCIE,
    H100_SXM,
    LLAMA3_70B_GPU_HOURS,
    LLAMA3_70B_PARAMETERS,
    LLAMA3_TRAINING_TOKENS,
    US_REPORTING_THRESHOLD_FLOPS,
)
from lecture.shapes import shape_checked
from lecture.syllabus import GROUPS, PARTS, TOPICS
from trace.costs import measure

SECONDS_PER_DAY = 24 * 60 * 60

RECIPES: dict[str, dict[str, torch.dtype]] = {
    "all fp32": {
        "weights": torch.float32,
        "gradients": torch.float32,
        "Adam m": torch.float32,
        "Adam v": torch.float32,
    },
    "bf16 + fp32 master": {
        "weights": torch.bfloat16,
        "gradients": torch.bfloat16,
        "master weights": torch.float32,
        "Adam m": torch.float32,
        "Adam v": torch.float32,
    },
    "same, fp32 gradients": {
        "weights": torch.bfloat16,
        "gradients": torch.float32,
        "master weights": torch.float32,
        "Adam m": torch.float32,
        "Adam v": torch.float32,
    },
    "bf16, fp32 m and v": {
        "weights": torch.bfloat16,
        "gradients": torch.bfloat16,
        "Adam m": torch.float32,
        "Adam v": torch.float32,
    },
    "all bf16": {
        "weights": torch.bfloat16,
        "gradients": torch.bfloat16,
        "Adam m": torch.bfloat16,
        "Adam v": torch.bfloat16,
    },
}


def every_chapter_pays_in_two_currencies():  # M1.1
    """Every chapter pays in two currencies.

    Why take a language model apart at all, when one line of a library trains it? Because at scale
    every wasted byte and every wasted operation is bought and paid for. So each chapter asks the
    same two questions of its subject: how many bytes, how many FLOPs?
    """
    # One layer of a network, in numbers: each row of the input is multiplied with a matrix.
    B, D, K = 4, 5, 3
    x, w = torch.ones(B, D), torch.ones(D, K)
    with measure() as one_batch:
        x @ w
    with measure() as double_batch:
        torch.cat([x, x]) @ w
    # Twice the rows, twice the operations: that much is no surprise.
    assert double_batch.matmul_flops == 2 * one_batch.matmul_flops == 240
    # The bytes do not follow. Gluing the input together made a copy of it, and that copy alone
    # outweighs all that was allocated before. Operations and bytes are separate accounts.
    assert one_batch.allocated_bytes == 4 * B * K == 48
    assert double_batch.allocated_bytes == 2 * one_batch.allocated_bytes + 4 * (2 * B * D) == 256
    # The way goes upwards: numbers and tensors first, then models made of them, then the optimizer
    # that changes the models, then the loop that runs for months. Filled boxes are chapters you
    # can read here.
    lecture_map = figures.lecture_map(PARTS, GROUPS, TOPICS)  # @inspect lecture_map
    assert [group for groups in PARTS.values() for group in groups] == list(GROUPS)


def intuition_has_no_assert():  # M1.7
    """Intuition has no assert.

    What can be learned from small programs about models that cost millions? Three kinds of
    knowledge, and they do not travel equally well.
    """
    # *Mechanics*: what an operation does. It is the same at every size.
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 6, generator=generator)
    w = torch.randn(6, 5, generator=generator)
    with measure() as cost:
        y = x @ w
    assert torch.allclose(y[1, 2], (x[1] * w[:, 2]).sum(), atol=1e-6)  # another order of additions
    # *Mindset*: to say what something costs before it runs, and to look afterwards. It scales too.
    expected_flops = 2 * x.shape[0] * w.numel()
    assert cost.matmul_flops == expected_flops
    # *Intuition*: which choice of data and architecture makes a better model. It has to be earned
    # at scale and fits in no assert; even those who find such choices may not know why they work.
    # The [paper](https://arxiv.org/abs/2002.05202) behind the layer that many current models use
    # closes: "We offer no explanation as to why these architectures seem to work; we attribute
    # their success, as all else, to divine benevolence." This lecture gives the first two.


def training_time_is_work_over_rate():  # M1.2
    """Training time is work over rate.

    How long do 1024 H100 cards need to train a model of 70 billion parameters on 15 trillion
    tokens? A *parameter* is one of the numbers that training adjusts; a *token* is a piece of
    text.
    """
    # The work: 6 FLOPs for each parameter and each token. The next section shows why 6.
    work_flops = 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS  # @inspect work_flops
    assert work_flops == 6.3e24
    # The rate: what the data sheet promises for bf16, a 2-byte number format, times the share of
    # it that arrives as useful work, the *model FLOP/s utilization* or MFU. The
    # [paper](https://arxiv.org/abs/2204.02311) that introduced the term reports 0.46 for its own
    # run; we guess one half.
    cards, mfu = 1024, 0.5
    card_flops_per_second = H100_SXM.dense_flops_per_second["bf16"] * mfu
    work_flops_per_day = cards * card_flops_per_second * SECONDS_PER_DAY
    assert math.isclose(work_flops_per_day, 4.37723136e22)
    days = work_flops / work_flops_per_day  # @inspect days
    assert round(days, 4) == 143.9266
    # The same answer from below. One card handles some thousand tokens per second, and its share
    # is one in 1024 of the tokens.
    card_tokens_per_second = card_flops_per_second / (6 * LLAMA3_70B_PARAMETERS)
    card_seconds = LLAMA3_TRAINING_TOKENS / cards / card_tokens_per_second
    assert round(card_tokens_per_second) == 1178
    assert math.isclose(card_seconds / SECONDS_PER_DAY, days)


def training_costs_six_flops_per_parameter_and_token():  # M1.3 E1
    """Training costs 6 FLOPs per parameter and token.

    Where does the 6 come from? From counting matrix products: 2 on the way forward, 4 on the way
    back. Here is the count for a small network; the chapter on gradients derives it.
    """
    B, D, K = 4, 5, 3
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, generator=generator, requires_grad=True)
    first = torch.randn(D, D, generator=generator, requires_grad=True)
    second = torch.randn(D, K, generator=generator, requires_grad=True)
    parameters = first.numel() + second.numel()
    # Forward: each parameter is multiplied with one number of each token, and the product is added
    # to a sum. Two FLOPs.
    with measure() as forward:
        loss = (x @ first @ second).square().mean()
    assert forward.matmul_flops == 2 * parameters * B
    # Backward: each layer computes two *gradients*, which say how the loss changes. One with
    # respect to its parameters; one with respect to its input, which the layer below is waiting
    # for (so `x` asks for one too: it stands for such a layer). Each is a matrix product with the
    # FLOPs of the first.
    with measure() as backward:
        loss.backward()
    assert backward.matmul_flops == 4 * parameters * B
    assert (forward.matmul_flops + backward.matmul_flops) / (parameters * B) == 6


def the_optimizer_is_not_in_the_six():  # M1.3 E1
    """The optimizer is not in the six.

    What else happens in a training step, and does the 6 contain it? A common mistake is to take
    the 6 for an empirical constant into which the *optimizer*, the rule that changes the
    parameters, has been mixed, and dropout and normalization with it.
    """
    weight = torch.ones(5, 3, requires_grad=True)
    optimizer = torch.optim.AdamW([weight])
    weight.grad = torch.ones(5, 3)
    # The 6 counts matrix products. The update multiplies no matrices.
    with measure() as update:
        optimizer.step()
    assert update.matmul_flops == 0
    # And it runs once per step, however many tokens the step has read. Grant it a generous hundred
    # FLOPs per parameter: beside GPT-3's 3.2 million tokens per step it is a few parts in a
    # million.
    update_share = 100 / (6 * GPT3_BATCH_TOKENS)  # @inspect update_share
    assert 5e-6 < update_share < 6e-6
    # Where the rule is really off is in the model. Attention multiplies tokens with tokens, work
    # without parameters. An *embedding*, the table that turns a token into features, is the
    # opposite: parameters that are looked up and multiply nothing.
    table, tokens = torch.ones(7, 5), torch.tensor([3, 0, 3, 6])
    with measure() as look_up:
        features = table[tokens]
    assert features.shape == (4, 5)
    assert look_up.matmul_flops == 0


def a_peak_has_conditions():  # M1.2 E2 E3 E5
    """A peak has conditions.

    Which number on the data sheet is the right one? The estimate is only as good as the peak under
    it, and the boldest number on the page comes with a footnote.
    """
    # The H100 sheet prints 1979e12 FLOP/s for bf16, "with sparsity": for matrices in which two of
    # every four weights are zero. Ordinary training has no such zeros and gets half.
    sparse, dense = H100_SXM.sparse_flops_per_second, H100_SXM.dense_flops_per_second
    assert sparse["bf16"] / 2 == dense["bf16"] == 989.5e12
    # A common mistake: to plan with the number in bold. It promises half the time.
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    half_cluster_day_seconds = 1024 * 0.5 * SECONDS_PER_DAY
    promised_days = work_flops / sparse["bf16"] / half_cluster_day_seconds
    assert round(promised_days, 2) == 71.96
    # Another: to call 1979e12 the rate of fp8, a 1-byte format. It is that too, but dense; halving
    # it "because of fp8" gives the right number for the wrong reason.
    assert dense["fp8"] == sparse["bf16"]
    # The letters after the name count as well: the H100 for the PCIe slot is a slower card.
    pcie_days = work_flops / H100_PCIE.dense_flops_per_second["bf16"] / half_cluster_day_seconds
    assert round(pcie_days, 1) == 188.3
    # And a comparison of two cards has to be like with like: dense with dense, sparse with sparse.
    # Sparse H100 against dense A100 looks like 6.3 times; either fair pair says 3.2.
    old_dense = A100_SXM.dense_flops_per_second["bf16"]
    old_sparse = A100_SXM.sparse_flops_per_second["bf16"]
    assert round(dense["bf16"] / old_dense, 2) == round(sparse["bf16"] / old_sparse, 2) == 3.17
    assert round(sparse["bf16"] / old_dense, 1) == 6.3


def utilization_decides_the_bill():  # M1.2
    """Utilization decides the bill.

    How much does the estimate hang on the guess of one half? Time goes with one over MFU.
    """
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    card_flops_per_second = H100_SXM.dense_flops_per_second["bf16"]
    days = {}
    for mfu_percent in range(20, 65, 5):
        rate_flops_per_second = 1024 * card_flops_per_second * mfu_percent / 100
        days[mfu_percent] = round(work_flops / rate_flops_per_second / SECONDS_PER_DAY, 1)
    assert days[50] == 143.9
    assert days[40] == 179.9
    days_by_mfu = figures.days_by_mfu(days)  # @inspect days_by_mfu
    # Reality is stern. The [Llama 3 report](https://arxiv.org/abs/2407.21783) gives an MFU of 38
    # to 43 % for its largest model. For the one with 70 billion parameters the [model
    # card](https://github.com/meta-llama/llama3/blob/main/MODEL_CARD.md) books 6.4 million hours
    # on H100 cards, where our napkin books this many:
    card_flops_per_hour = card_flops_per_second * 60 * 60
    napkin_gpu_hours = work_flops / (0.5 * card_flops_per_hour)  # @inspect napkin_gpu_hours
    assert round(napkin_gpu_hours / 1e6, 3) == 3.537
    assert round(LLAMA3_70B_GPU_HOURS / napkin_gpu_hours, 2) == 1.81
    # Read backwards: by the rule of 6, the booked hours carried useful work at 28 % of the peak.
    # The MFU of a healthy stretch can only have been higher, for restarts and waiting are booked
    # too.
    booked_flops = LLAMA3_70B_GPU_HOURS * card_flops_per_hour
    assert round(100 * work_flops / booked_flops, 1) == 27.6


@shape_checked
def held_bytes(*tensors: Shaped[Tensor, "..."]) -> int:
    """Add up the bytes of memory that the tensors hold."""
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


def adamw_keeps_four_numbers_per_parameter():  # M1.4
    """AdamW keeps four numbers per parameter.

    What has to be in memory to train one parameter? More than the parameter: its gradient, and
    what the optimizer remembers. [AdamW](https://arxiv.org/abs/1711.05101), the usual optimizer,
    remembers two running averages, of the gradient (called m) and of its square (v).
    """
    parameters = 1000
    bytes_per_parameter = {}
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.ones(parameters, dtype=dtype, requires_grad=True)
        optimizer = torch.optim.AdamW([weight])
        weight.sum().backward()
        optimizer.step()
        state = optimizer.state[weight]
        held = held_bytes(weight, weight.grad, state["exp_avg"], state["exp_avg_sq"])
        bytes_per_parameter[str(dtype)] = held / parameters  # @inspect bytes_per_parameter
    # In fp32, four bytes a number, that makes 4 + 4 + 4 + 4.
    assert bytes_per_parameter["torch.float32"] == 4 + 4 + 4 + 4
    # Numbers of two bytes halve all four: this optimizer keeps m and v in the format of the
    # weight, whatever recipe one had in mind.
    assert bytes_per_parameter["torch.bfloat16"] == 2 + 2 + 2 + 2
    # There is a fifth item that does not grow: one step counter for each tensor.
    assert held_bytes(state["step"]) == 4


def bytes_of_parts(recipe: dict[str, torch.dtype]) -> dict[str, float]:  # @stepover
    """Measure the bytes per parameter of each part, by allocating it for a thousand parameters."""
    parameters = 1000
    part_bytes = {}
    for part, dtype in recipe.items():
        with measure() as cost:
            torch.zeros(parameters, dtype=dtype)
        part_bytes[part] = cost.allocated_bytes / parameters
    return part_bytes


def bytes_per_parameter_depend_on_the_recipe():  # M1.4 M1.5 E6 E11 E12
    """Bytes per parameter depend on the recipe.

    Is it always 16? One reads 8, 12, 16 and 18, and each is right about some recipe. Recipes
    differ in which parts are kept, and in which of two formats: fp32 (4 bytes) or bf16 (2 bytes,
    the range of fp32 with fewer digits).
    """
    parts = {name: bytes_of_parts(recipe) for name, recipe in RECIPES.items()}
    measured = {name: sum(part_bytes.values()) for name, part_bytes in parts.items()}
    assert measured["all fp32"] == 4 + 4 + (4 + 4) == 16
    assert measured["bf16 + fp32 master"] == 2 + 2 + 4 + (4 + 4) == 16
    assert measured["same, fp32 gradients"] == 2 + 4 + 4 + (4 + 4) == 18
    assert measured["bf16, fp32 m and v"] == 2 + 2 + (4 + 4) == 12
    assert measured["all bf16"] == 2 + 2 + (2 + 2) == 8
    recipe_chart = figures.bytes_per_parameter(parts)  # @inspect recipe_chart
    # The first two surprise: computing in bf16 saves nothing per parameter if a copy of the
    # weights, the *master*, is kept in fp32. What it buys is speed: on an H100, a peak one order
    # of magnitude higher (one, not "orders").
    assert measured["bf16 + fp32 master"] == measured["all fp32"]
    peaks = H100_SXM.dense_flops_per_second
    assert round(peaks["bf16"] / peaks["fp32"], 1) == 14.8
    # Why keep a master? A common mistake is to drop it and call the 12 bytes safe because m and v
    # are in fp32. But the weight itself forgets: bf16 has no number close enough to 1 for a small
    # step.
    weight = torch.tensor(1.0, dtype=torch.bfloat16)
    assert weight - 0.001 == weight
    master = torch.tensor(1.0, dtype=torch.float32)
    assert master - 0.001 != master


def eight_cards_hold_forty_billion_parameters():  # M1.4 E11 E13
    """Eight cards hold 40 billion parameters.

    What is the largest model that eight H100 cards can train with AdamW? Capacity divided by bytes
    per parameter, if the cards share everything and nothing is kept twice, as
    [ZeRO](https://arxiv.org/abs/1910.02054) does. That paper, too, counts 16 bytes.
    """
    capacity_bytes = 8 * H100_SXM.memory_bytes
    assert capacity_bytes == 640 * 10**9
    largest_billions = {
        name: round(capacity_bytes / sum(bytes_of_parts(recipe).values()) / 1e9, 2)
        for name, recipe in RECIPES.items()
    }  # @inspect largest_billions
    # Whoever leaves out the master promises a model a third larger.
    assert largest_billions["all fp32"] == largest_billions["bf16 + fp32 master"] == 40.0
    assert largest_billions["bf16, fp32 m and v"] == 53.33
    assert largest_billions["same, fp32 gradients"] == 35.56
    assert largest_billions["all bf16"] == 80.0
    # The unit matters as well. The sheet says "80GB"; with 80 GiB on each card, 7.4 % more would
    # fit. A card in the machine knows: `torch.cuda.get_device_properties(0).total_memory` is in
    # bytes.
    with_gibibytes_billions = 8 * 80 * 2**30 / 16 / 1e9  # @inspect with_gibibytes_billions
    assert round(with_gibibytes_billions, 2) == 42.95
    assert round(with_gibibytes_billions / largest_billions["all fp32"], 3) == 1.074


def activations_come_on_top():  # M1.5
    """Activations come on top.

    What does the napkin leave out? Parameters are there before the first token arrives. The
    *activations*, what layers compute on the way forward and keep for the way back, come on top.
    """
    D, K = 8, 6
    weight = torch.ones(D, K, requires_grad=True)
    kept_bytes = []
    for B, T in ((2, 5), (4, 5), (4, 10)):
        x = torch.ones(B, T, D)
        with measure() as cost:
            loss = torch.relu(x @ weight).sum()
        alive_bytes = cost.allocated_bytes - cost.freed_bytes
        kept_bytes.append(alive_bytes - held_bytes(loss))  # @inspect kept_bytes
    # No name refers to the output of the layer, and yet it is alive: the loss holds on to it until
    # the way back is done. Twice the sequences, or twice the tokens in each: twice the memory.
    assert kept_bytes == [4 * 2 * 5 * K, 4 * 4 * 5 * K, 4 * 4 * 10 * K]
    # Without a way back nothing is kept.
    with torch.no_grad(), measure() as cost:
        loss = torch.relu(x @ weight).sum()
    assert cost.allocated_bytes - cost.freed_bytes == held_bytes(loss)
    # The weights are the same all along. So 40 billion parameters is an upper limit, and how far
    # below it one has to stay depends on the batch.
    assert held_bytes(weight) == 4 * D * K


def gpt3_can_be_recomputed():  # M1.6
    """The bill of GPT-3 can be recomputed.

    Does the rule of 6 match a model that was really trained? The [GPT-3
    paper](https://arxiv.org/abs/2005.14165) states 3.14e23 FLOPs. Its name says 175 billion
    parameters; they saw 300 billion tokens.
    """
    from_the_name_flops = 6 * 175e9 * GPT3_TRAINING_TOKENS  # @inspect from_the_name_flops
    assert from_the_name_flops == 3.15e23
    difference_percent = 100 * (from_the_name_flops / GPT3_TRAINING_FLOPS - 1)
    assert round(difference_percent, 2) == 0.32
    # Even the third of a percent has an explanation: the name is rounded. With the 174.6 billion
    # of the paper's own table the three digits agree.
    from_the_table_flops = 6 * GPT3_PARAMETERS * GPT3_TRAINING_TOKENS
    assert round(from_the_table_flops / 1e23, 2) == GPT3_TRAINING_FLOPS / 1e23 == 3.14


def a_week_on_eight_cards_is_a_percent_of_gpt3():  # M1.6 E4
    """A week on eight cards is 1.5 % of GPT-3.

    Where does one box of eight H100 cards stand beside the famous models, and beside the limits
    that lawmakers drew?
    """
    box_flops_per_second = 8 * H100_SXM.dense_flops_per_second["bf16"]
    week_flops = box_flops_per_second * 7 * SECONDS_PER_DAY
    assert math.isclose(week_flops, 4.7876e21, rel_tol=1e-4)
    assert round(100 * week_flops / GPT3_TRAINING_FLOPS, 2) == 1.52
    # That is a week at the full peak, which nobody reaches. A common mistake is to quote such a
    # number without its MFU: two weeks at the peak are twice that, two weeks at half of it the
    # same.
    two_weeks_flops = box_flops_per_second * 14 * SECONDS_PER_DAY
    assert round(two_weeks_flops / 1e21, 3) == 9.575
    assert 0.5 * two_weeks_flops == week_flops
    # The European limit is a *presumption of systemic risk* above 1e25 FLOPs. The American one, a
    # duty to report above 1e26, was set in October 2023 and revoked in January 2025. For GPT-4
    # there is only an outside estimate.
    landmarks = {
        "8 H100, one week at peak": week_flops,
        "GPT-3": GPT3_TRAINING_FLOPS,
        "70B on 15T tokens": 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS,
        "EU AI Act threshold": EU_AI_ACT_THRESHOLD_FLOPS,
        "GPT-4 (estimate)": GPT4_TRAINING_FLOPS_RUMOUR,
        "US threshold (revoked)": US_REPORTING_THRESHOLD_FLOPS,
    }
    ruler = figures.flop_ruler(landmarks)  # @inspect ruler
    assert list(landmarks.values()) == sorted(landmarks.values())
    # The 70B run of this chapter takes twenty GPT-3s and stays under the European limit.
    assert round(landmarks["70B on 15T tokens"] / GPT3_TRAINING_FLOPS) == 20
    assert landmarks["70B on 15T tokens"] / EU_AI_ACT_THRESHOLD_FLOPS == 0.63
