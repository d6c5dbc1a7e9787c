"""Why count? Two currencies, two estimates on a napkin, and landmarks."""

import math

import torch

from lecture.facts import (
    A100_SXM,
    EU_AI_ACT_THRESHOLD_FLOPS,
    GPT3_BATCH_TOKENS,
    GPT3_FEED_FORWARD_WIDTH,
    GPT3_NAMED_PARAMETERS,
    GPT3_PARAMETERS,
    GPT3_SMALL_PARAMETERS,
    GPT3_SMALL_TRAINING_FLOPS,
    GPT3_TRAINING_FLOPS,
    GPT3_TRAINING_TOKENS,
    GPT3_WIDTH,
    GPT4_TRAINING_FLOPS_ESTIMATE,
    GROK4_TRAINING_FLOPS_ESTIMATE,
    H100_PCIE,
    H100_SXM,
    LIGHT_YEAR_METRES,
    LLAMA3_70B_GPU_HOURS,
    LLAMA3_70B_PARAMETERS,
    LLAMA3_405B_MFU,
    LLAMA3_405B_PARAMETERS,
    LLAMA3_405B_TRAINING_FLOPS,
    LLAMA3_405B_TRAINING_TOKENS,
    LLAMA3_TRAINING_TOKENS,
    PALM_MFU,
    SECONDS_PER_DAY,
    TRANSFORMER_BIG_TRAINING_FLOPS,
    US_REPORTING_THRESHOLD_FLOPS,
    ZERO_BYTES_PER_PARAMETER,
)
from lecture.lib.hardware import mfu
from lecture.lib.memory import held_bytes
from lecture.lib.optim import AdamW
from lecture.part1_why import m01_figures as figures
from lecture.syllabus import PARTS
from trace.costs import measure

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

LANDMARKS: dict[str, tuple[float, str]] = {
    "Transformer (big), 2017": (TRANSFORMER_BIG_TRAINING_FLOPS, "time × assumed rate"),
    "GPT-3 Small": (GPT3_SMALL_TRAINING_FLOPS, "stated in its paper"),
    "8 H100, 1 week at peak": (
        8 * H100_SXM.dense_flops_per_second["bf16"] * 7 * SECONDS_PER_DAY,
        "derived",
    ),
    "GPT-3": (GPT3_TRAINING_FLOPS, "stated in its paper"),
    "70B on 15T tokens": (6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS, "derived"),
    "EU AI Act": (EU_AI_ACT_THRESHOLD_FLOPS, "threshold"),
    "GPT-4": (GPT4_TRAINING_FLOPS_ESTIMATE, "estimated by others"),
    "Llama 3 405B": (LLAMA3_405B_TRAINING_FLOPS, "stated in its paper"),
    "US, revoked": (US_REPORTING_THRESHOLD_FLOPS, "threshold"),
    "Grok 4": (GROK4_TRAINING_FLOPS_ESTIMATE, "estimated by others"),
}


def every_chapter_pays_in_two_currencies():  # M1.1
    """Every chapter pays in two currencies.

    Why take a language model apart at all, when one line of a library trains it? Because at scale
    every wasted byte and every wasted operation is bought and paid for. So each chapter asks the
    same two questions of its subject: how many bytes, how many FLOPs?
    """
    # The way leads from text and tensors over models to their training.
    lecture_map = figures.lecture_map(PARTS)  # @inspect lecture_map
    # One layer of a network, in numbers: each row of the input is multiplied with a matrix.
    B, D, K = 4, 5, 3
    x, w = torch.ones(B, D), torch.ones(D, K)
    with measure() as one_batch:
        x @ w
    with measure() as double_batch:
        torch.cat([x, x]) @ w
    # Twice the rows, twice the operations: that much is no surprise.
    assert double_batch.matmul_flops == 2 * one_batch.matmul_flops == 240
    # The bytes do not follow. To double the batch, `cat` wrote it twice into new memory, and that
    # alone outweighs both results. Operations and bytes are separate accounts.
    assert one_batch.allocated_bytes == 4 * B * K == 48
    assert double_batch.allocated_bytes == 2 * one_batch.allocated_bytes + 4 * (2 * B * D) == 256


def training_time_is_work_over_rate():  # M1.2
    """Training time is work over rate.

    How long do 1024 H100 cards need to train a model of 70 billion parameters on 15 trillion
    tokens? A *parameter* is one of the numbers that training adjusts; an H100 is an accelerator, a
    card with a processor made for matrix products, also called a GPU.
    """
    # The work: 6 FLOPs for each parameter and each token. The next section shows why 6.
    work_flops = 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS  # @inspect work_flops
    assert work_flops == 6.3e24
    # The rate: what the data sheet of the SXM card promises for bf16, a 2-byte number format, times
    # the share of it that arrives as useful work, the *[model FLOP/s
    # utilization](https://arxiv.org/abs/2204.02311)* or MFU. [A later
    # section](#utilization_is_useful_over_promised) measures it; here we guess one half.
    cards, mfu = 1024, 0.5
    card_flops_per_second = H100_SXM.dense_flops_per_second["bf16"] * mfu
    work_flops_per_day = cards * card_flops_per_second * SECONDS_PER_DAY
    assert math.isclose(work_flops_per_day, 4.37723136e22)
    # That makes 144 days. The claim has more digits, to notice every change; the estimate is only
    # as good as its guess.
    days = work_flops / work_flops_per_day  # @inspect days
    assert round(days, 4) == 143.9266
    # At this rate one card works through about 1200 tokens per second.
    card_tokens_per_second = card_flops_per_second / (6 * LLAMA3_70B_PARAMETERS)
    assert round(card_tokens_per_second) == 1178


def training_costs_six_flops_per_parameter_and_token():  # M1.3 E1
    """Training costs 6 FLOPs per parameter and token.

    Where does the 6 come from? From counting matrix products: 2 on the way forward, also called
    *forward pass*, 4 on the way back, the *backward pass*. Here is the count for a small network;
    [a later chapter](#two_plus_four_is_six) derives it.
    """
    T, D, K = 4, 5, 3
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(T, D, generator=generator, requires_grad=True)
    first = torch.randn(D, D, generator=generator, requires_grad=True)
    second = torch.randn(D, K, generator=generator, requires_grad=True)
    parameters = first.numel() + second.numel()
    # Forward: each parameter is multiplied with one number of each token, and the product is added
    # to a sum. Two FLOPs. At the end stands the *loss*, one number that says how wrong the result
    # is.
    with measure() as forward:
        loss = (x @ first @ second).square().mean()
    assert forward.matmul_flops == 2 * parameters * T == 320
    # Backward: each layer computes two *gradients*, which say how the loss changes. One with
    # respect to its parameters; one with respect to its input, which the layer below is waiting
    # for (so `x` asks for one too: it stands for such a layer). Each is a matrix product with as
    # many FLOPs as the way forward.
    with measure() as backward:
        loss.backward()
    assert backward.matmul_flops == 4 * parameters * T
    assert (forward.matmul_flops + backward.matmul_flops) / (parameters * T) == 6


def the_optimizer_is_not_in_the_six():  # M1.3 E1
    """The 6 does not contain the optimizer.

    What else happens in a training step, and is it in the 6? A common mistake is to take the 6 for
    a measured constant that includes the *optimizer*, the rule that changes the parameters, and
    all other small work.
    """
    weight = torch.ones(5, 3, requires_grad=True)
    optimizer = torch.optim.AdamW([weight])
    weight.grad = torch.ones(5, 3)
    # The 6 counts matrix products. The update multiplies no matrices.
    with measure() as update:
        optimizer.step()
    assert update.matmul_flops == 0
    # It is elementwise work, [33 FLOPs](#adamw_costs_33_flops_per_parameter) for each parameter: 3
    # for the running mean of the gradients, 4 for that of their squares, 24 for the step itself
    # (its square root counted as 20), 2 for the decay. One more FLOP counts the steps.
    assert update.other_flops == (3 + 4 + 24 + 2) * weight.numel() + 1
    # And it runs once per step, however many tokens the step has read. Of a step of GPT-3, which
    # reads 3.2 million of them, that is less than 2 millionths.
    update_share = 33 / (6 * GPT3_BATCH_TOKENS)
    assert round(update_share, 8) == 1.72e-6
    # Where the rule [really errs](#shared_weights_are_paid_for_at_every_use) is in the model. An
    # *embedding*, the table that turns a token into features, has parameters that are looked up and
    # multiply nothing.
    table, tokens = torch.arange(35.0).view(7, 5), torch.tensor([3, 0, 3, 6])
    with measure() as look_up:
        features = table[tokens]
    assert features[:, 0].tolist() == [15, 0, 15, 30]
    assert look_up.matmul_flops == 0
    # Attention is the opposite: it multiplies tokens with tokens, work without parameters.
    with measure() as attention:
        features @ features.T
    assert attention.matmul_flops == 4 * 4 * (5 + 5)


def a_peak_has_conditions():  # M1.2 E2 E3 E5
    """The peak on a data sheet has conditions.

    Which number on the data sheet is the right one? The estimate is only as good as the peak under
    it, and the largest number comes with a footnote.
    """
    # For bf16 the H100 sheet prints 1979e12 FLOP/s, "with sparsity": for matrices in which [two of
    # every four weights](#two_of_every_four_weights_are_zero) are zero. Ordinary training has no
    # such zeros and gets half, as can be seen on the sheet of the predecessor, the A100, which
    # prints both rates.
    a100_dense = A100_SXM.dense_flops_per_second["bf16"]
    a100_sparse = A100_SXM.sparse_flops_per_second["bf16"]
    assert a100_sparse / a100_dense == 2
    sparse, dense = H100_SXM.sparse_flops_per_second, H100_SXM.dense_flops_per_second
    # A common mistake is to plan with the printed number. It promises half the time.
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    useful_card_seconds_per_day = 1024 * 0.5 * SECONDS_PER_DAY
    promised_days = work_flops / sparse["bf16"] / useful_card_seconds_per_day
    assert round(promised_days, 2) == 71.96
    # Another is to take 1979e12 for the rate of fp8, a 1-byte format, and to halve it because bf16
    # is twice as wide. The result is right and the reason wrong: fp8 does reach 1979e12, but
    # without sparsity.
    assert dense["fp8"] / dense["bf16"] == 2
    # More than one card is called H100. The one for the PCIe slot is slower than the SXM card.
    pcie_bf16 = H100_PCIE.dense_flops_per_second["bf16"]
    pcie_days = work_flops / pcie_bf16 / useful_card_seconds_per_day
    assert round(pcie_days, 1) == 188.3
    # And a comparison of two cards has to be like with like: dense with dense, sparse with sparse.
    # Sparse H100 against dense A100 looks like 6.3 times; a fair pair says 3.2.
    assert round(sparse["bf16"] / a100_dense, 1) == 6.3
    assert round(dense["bf16"] / a100_dense, 2) == round(sparse["bf16"] / a100_sparse, 2) == 3.17


def utilization_decides_the_bill():  # M1.2
    """Utilization decides the bill.

    How much does the estimate depend on the guess of one half? Time is proportional to 1/MFU.
    """
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    card_flops_per_second = H100_SXM.dense_flops_per_second["bf16"]
    peak_days = work_flops / (1024 * card_flops_per_second) / SECONDS_PER_DAY
    days = {percent: round(100 * peak_days / percent, 1) for percent in range(20, 65, 5)}
    assert days[50] == 143.9
    assert days[40] == 179.9
    days_by_mfu = figures.days_by_mfu(days)  # @inspect days_by_mfu
    # What do others reach? The paper that introduced the term reports 46 % for
    # [PaLM](https://arxiv.org/abs/2204.02311), the [Llama 3
    # report](https://arxiv.org/abs/2407.21783) 38 to 43 % for its largest model. With these our
    # model would take 156, or 167 to 189 days.
    assert round(peak_days / PALM_MFU) == 156
    assert [round(peak_days / mfu) for mfu in LLAMA3_405B_MFU] == [189, 167]
    # For the Llama 3 model with 70 billion parameters the [model
    # card](https://github.com/meta-llama/llama3/blob/main/MODEL_CARD.md) books 6.4 million hours
    # on H100 cards, 1.8 times our estimate.
    estimated_gpu_hours = peak_days / 0.5 * 24 * 1024  # @inspect estimated_gpu_hours
    assert round(estimated_gpu_hours / 1e6, 3) == 3.537
    assert round(LLAMA3_70B_GPU_HOURS / estimated_gpu_hours, 2) == 1.81
    # Read backwards: each booked hour moved 651 tokens per second, useful work at 28 % of the peak
    # by the rule of 6. What else the hours contain, such as restarts, the card does not say.
    tokens_per_second = LLAMA3_TRAINING_TOKENS / (LLAMA3_70B_GPU_HOURS * 60 * 60)
    assert round(tokens_per_second) == 651
    useful_flops_per_second = 6 * LLAMA3_70B_PARAMETERS * tokens_per_second
    assert round(100 * mfu(useful_flops_per_second, card_flops_per_second), 1) == 27.6


def adamw_keeps_four_numbers_per_parameter():  # M1.4
    """AdamW keeps four numbers per parameter.

    What has to be in memory to train one parameter? More than the parameter: its gradient, and
    what the optimizer remembers. [AdamW](https://arxiv.org/abs/1711.05101), the usual optimizer,
    remembers two running averages, of the gradient (called m) and of its square (v).
    """
    kept_bytes = {}
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.ones(1000, dtype=dtype, requires_grad=True)
        optimizer = torch.optim.AdamW([weight])
        weight.sum().backward()
        optimizer.step()
        state = optimizer.state[weight]
        kept = (weight, weight.grad, state["exp_avg"], state["exp_avg_sq"])
        kept_bytes[str(dtype)] = sum(map(held_bytes, kept))  # @inspect kept_bytes
    # A thousand parameters in fp32, four bytes a number: 4 + 4 + 4 + 4 for each.
    assert kept_bytes["torch.float32"] == 1000 * (4 + 4 + 4 + 4)
    # Numbers of two bytes halve all four: PyTorch's AdamW keeps m and v in the format of the
    # weight.
    assert kept_bytes["torch.bfloat16"] == 1000 * (2 + 2 + 2 + 2)
    # There is a fifth item that does not grow: one step counter for each tensor.
    assert held_bytes(state["step"]) == 4


def bytes_of_parts(recipe: dict[str, torch.dtype]) -> dict[str, float]:  # @stepover
    """Train a thousand parameters for a step; return what each part then holds, by parameter."""
    weights = torch.ones(1000, dtype=recipe["weights"], requires_grad=True)
    weights.square().sum().backward()
    parts = {"weights": weights, "gradients": weights.grad.to(recipe["gradients"])}
    # With a master, the optimizer changes that, and the weights are rounded copies of it.
    trained = weights
    if "master weights" in recipe:
        parts["master weights"] = trained = weights.detach().float()
    # PyTorch's AdamW keeps m and v in the format of what it changes, that of the lecture in fp32.
    own = recipe["Adam m"] != trained.dtype
    optimizer = AdamW([trained]) if own else torch.optim.AdamW([trained])
    trained.grad = parts["gradients"].to(trained.dtype)
    optimizer.step()
    m, v = [kept for kept in optimizer.state[trained].values() if kept_for_each(kept, weights)]
    parts |= {"Adam m": m, "Adam v": v}
    assert {part: kept.dtype for part, kept in parts.items()} == recipe
    return {part: held_bytes(kept) / 1000 for part, kept in parts.items()}


def kept_for_each(kept: object, weights: torch.Tensor) -> bool:  # @stepover
    """Tell what an optimizer keeps for each weight from a counter of steps."""
    return isinstance(kept, torch.Tensor) and kept.shape == weights.shape


def bytes_per_parameter_depend_on_the_recipe():  # M1.4 M1.5 E6 E11 E12
    """Bytes per parameter depend on the recipe.

    Is it always 16? One reads 8, 12, 16 and 18, and each is right about some recipe. Recipes
    differ in the format of each part, fp32 (4 bytes) or bf16 (2 bytes, [the range of fp32 with
    fewer digits](#bf16_trades_resolution_for_range)), and in whether there is a *master*: a second
    copy of the weights, in fp32.
    """
    parts = {name: bytes_of_parts(recipe) for name, recipe in RECIPES.items()}
    measured = {name: sum(part_bytes.values()) for name, part_bytes in parts.items()}
    # On the right: weights + gradients, then the master if there is one, then (m + v).
    assert measured["all fp32"] == 4 + 4 + (4 + 4) == 16
    assert measured["bf16 + fp32 master"] == 2 + 2 + 4 + (4 + 4) == 16
    assert measured["same, fp32 gradients"] == 2 + 4 + 4 + (4 + 4) == 18
    assert measured["bf16, fp32 m and v"] == 2 + 2 + (4 + 4) == 12
    assert measured["all bf16"] == 2 + 2 + (2 + 2) == 8
    recipe_chart = figures.bytes_per_parameter(parts)  # @inspect recipe_chart
    # The first two surprise: with a master, computing in bf16 saves nothing per parameter. The
    # [ZeRO paper](https://arxiv.org/abs/1910.02054) counts 16 bytes for such a recipe, too.
    assert measured["bf16 + fp32 master"] == ZERO_BYTES_PER_PARAMETER
    # What bf16 buys is speed: a peak 14.8 times that of fp32 proper, outside the [tensor
    # cores](#tensor_cores_multiply_tiles). One order of magnitude, not several.
    peaks = H100_SXM.dense_flops_per_second
    assert round(peaks["bf16"] / peaks["fp32"], 1) == 14.8
    # [Why keep a master?](#a_master_collects_small_updates) A common mistake is to drop it and call
    # the 12 bytes safe because m and v are in fp32. But the weight itself forgets: next to 1, bf16
    # has no other number within 0.001.
    weight = torch.tensor(1.0, dtype=torch.bfloat16)
    assert weight - 0.001 == 1
    master = torch.tensor(1.0, dtype=torch.float32)
    assert 0.998 < master - 0.001 < 1


def eight_cards_hold_forty_billion_parameters():  # M1.4 E11 E13
    """Eight cards hold 42 billion parameters.

    What is the largest model that eight H100 cards can train with AdamW? Capacity divided by bytes
    per parameter, if the cards share everything and nothing is kept twice, as
    [ZeRO](https://arxiv.org/abs/1910.02054) does.
    """
    # The sheet says "80GB". That is neither 80 gigabytes nor 80 gibibytes: the device reports 81
    # 089 MiB, which are 85.0 gigabytes.
    capacity_bytes = 8 * H100_SXM.memory_bytes
    assert round(capacity_bytes / 8 / 10**9, 1) == 85.0
    largest_billions = {
        name: round(capacity_bytes / sum(bytes_of_parts(recipe).values()) / 1e9, 2)
        for name, recipe in RECIPES.items()
    }  # @inspect largest_billions
    assert largest_billions["all fp32"] == largest_billions["bf16 + fp32 master"] == 42.51
    # Without the master it would be a third more, and fp32 gradients cost a ninth.
    assert largest_billions["bf16, fp32 m and v"] == 56.69
    assert largest_billions["same, fp32 gradients"] == 37.79
    assert largest_billions["all bf16"] == 85.03


def activations_come_on_top():  # M1.5
    """Activations come on top.

    What does this estimate leave out? Parameters are there before the first token arrives. The
    *activations*, what layers compute on the way forward and [keep for the way
    back](#a_weight_needs_what_it_multiplied), come on top.
    """
    D, K = 8, 6
    weight = torch.ones(D, K, requires_grad=True)
    kept_bytes = []
    for shape in ((2, 5, D), (4, 5, D), (4, 10, D)):
        x = torch.ones(shape)
        with measure() as cost:
            loss = torch.relu(x @ weight).sum()
        alive_bytes = cost.allocated_bytes - cost.freed_bytes
        kept_bytes.append(alive_bytes - held_bytes(loss))  # @inspect kept_bytes
    # No name refers to the output of the layer, and yet it is alive: the loss holds on to it until
    # the way back is done. Twice the sequences, or twice the tokens in each: twice the memory.
    assert kept_bytes == [4 * 2 * 5 * K, 4 * 4 * 5 * K, 4 * 4 * 10 * K] == [240, 480, 960]
    # The weights stay as they are, and here even the smallest batch outweighs them. So 40 billion
    # parameters is an upper limit; how far below it one has to stay depends on [the
    # batch](#memory_limits_the_batch).
    assert held_bytes(weight) == 4 * D * K == 192 < min(kept_bytes)
    # Without a way back nothing is kept.
    with torch.no_grad(), measure() as cost:
        loss = torch.relu(x @ weight).sum()
    assert cost.allocated_bytes - cost.freed_bytes == held_bytes(loss)


def gpt3_can_be_recomputed():  # M1.6
    """The rule of 6 gives the bill of GPT-3.

    What did it take to train a famous model? The [GPT-3 paper](https://arxiv.org/abs/2005.14165)
    states 3.14e23 FLOPs. The model is named for 175 billion parameters and saw 300 billion tokens.
    """
    from_the_name_flops = 6.0 * GPT3_NAMED_PARAMETERS * GPT3_TRAINING_TOKENS
    assert from_the_name_flops == 3.15e23
    difference_percent = 100 * (from_the_name_flops / GPT3_TRAINING_FLOPS - 1)
    assert round(difference_percent, 3) == 0.318
    # Even the third of a percent has an explanation: the name is rounded. With the 174.6 billion
    # of the paper's own table the three digits agree.
    from_the_table_flops = 6 * GPT3_PARAMETERS * GPT3_TRAINING_TOKENS
    assert round(from_the_table_flops / 1e23, 2) == GPT3_TRAINING_FLOPS / 1e23
    # That is no accident: nobody measured the 3.14e23. The table applies the same rule and has the
    # 6 in a column of its own.


def a_week_on_eight_cards_is_little_beside_gpt3():  # M1.6 E4
    """A week on eight cards is 1.5 % of GPT-3.

    Where does one box of eight H100 cards stand beside famous models, and beside the thresholds
    that governments have set?
    """
    box_flops_per_second = 8 * H100_SXM.dense_flops_per_second["bf16"]
    week_flops = box_flops_per_second * 7 * SECONDS_PER_DAY
    assert math.isclose(week_flops, 4.7876e21, rel_tol=1e-4)
    assert round(100 * week_flops / GPT3_TRAINING_FLOPS, 2) == 1.52
    # That is a week at the full peak, which nobody reaches. A common mistake is to quote such a
    # number without its MFU: two weeks at the peak give twice as much, and two weeks at half the
    # peak give the same. At half the peak, GPT-3 would take the box 131 weeks.
    two_weeks_flops = box_flops_per_second * 14 * SECONDS_PER_DAY
    assert round(two_weeks_flops / 1e21, 3) == 9.575
    assert round(0.5 * two_weeks_flops / 1e21, 4) == 4.7876
    assert round(GPT3_TRAINING_FLOPS / (0.5 * week_flops)) == 131
    # The European threshold is a *presumption of systemic risk* above 1e25 FLOPs. The American
    # one, a duty to report above 1e26, was set in October 2023 and revoked in January 2025. For
    # GPT-4 there is only an outside estimate, twice the first and a fifth of the second.
    assert round(GPT4_TRAINING_FLOPS_ESTIMATE / EU_AI_ACT_THRESHOLD_FLOPS, 1) == 2.1
    assert round(US_REPORTING_THRESHOLD_FLOPS / GPT4_TRAINING_FLOPS_ESTIMATE, 1) == 4.8
    # The 70B run of this chapter takes as much as twenty GPT-3s and stays below the European
    # threshold.
    run_flops, _ = LANDMARKS["70B on 15T tokens"]
    assert round(run_flops / GPT3_TRAINING_FLOPS) == 20
    assert run_flops / EU_AI_ACT_THRESHOLD_FLOPS == 0.63


def the_ruler_spans_twenty_one_powers_of_ten():  # M1.6
    """The ruler spans twenty-one powers of ten.

    How far is it from an example on this page to the largest training runs? A ruler holds both if
    each step to the right multiplies.
    """
    # Its left end is one MFLOP, a million FLOPs, small enough to be counted here.
    with measure() as small:
        torch.ones(100, 50) @ torch.ones(50, 100)
    assert small.matmul_flops == 10**6
    # To take one token through one of the 192 feed-forward matrices of GPT-3 is a thousand times as
    # much. The device `meta` keeps shapes and no numbers, and shapes are all that the meter needs.
    token = torch.empty(1, GPT3_WIDTH, device="meta")
    with measure() as pass_matrix:
        token @ torch.empty(GPT3_WIDTH, GPT3_FEED_FORWARD_WIDTH, device="meta")
    assert pass_matrix.matmul_flops == 1_207_959_552
    # To be trained on the token, the whole model takes a TFLOP, of which an H100 promises a
    # thousand per second, a PFLOP. After that come whole runs.
    train_flops = 6 * GPT3_PARAMETERS
    assert round(train_flops / 1e12, 2) == 1.05
    amounts = {
        "product on this page": (small.matmul_flops, "counted here"),
        "GPT-3 matrix, 1 token": (pass_matrix.matmul_flops, "counted here"),
        "GPT-3 training, 1 token": (train_flops, "derived"),
        "H100, 1 second at peak": (H100_SXM.dense_flops_per_second["bf16"], "derived"),
    }
    ruler = figures.flop_ruler(amounts | LANDMARKS)  # @inspect ruler
    # Where a paper states its FLOPs, the rule of 6 finds them: for the smallest GPT-3 to the last
    # digit, for [Llama 3 405B](https://arxiv.org/abs/2407.21783) to the two digits given.
    assert 6 * GPT3_SMALL_PARAMETERS * GPT3_TRAINING_TOKENS == GPT3_SMALL_TRAINING_FLOPS
    llama_flops = 6 * LLAMA3_405B_PARAMETERS * LLAMA3_405B_TRAINING_TOKENS
    assert round(llama_flops / 1e25, 1) == LLAMA3_405B_TRAINING_FLOPS / 1e25
    # Between the ends lie 20.7 powers of ten. If one MFLOP were a millimetre, the largest run would
    # be 53 light years long.
    largest_mm = GROK4_TRAINING_FLOPS_ESTIMATE / small.matmul_flops
    assert round(math.log10(largest_mm), 1) == 20.7
    assert round(largest_mm / 1000 / LIGHT_YEAR_METRES) == 53


def intuition_has_no_assert():  # M1.7
    """Mechanics and mindset can be asserted, intuition cannot.

    What can be learnt from small programs about models that cost millions? There are three kinds
    of knowledge, and they do not travel equally well.

    *Intuition* is to know which choice of data and architecture makes a better model. It has to be
    earned at scale and fits in no assert; even those who find such choices may not know why they
    work. The [paper](https://arxiv.org/abs/2002.05202) behind [the
    layer](#swiglu_lets_one_half_gate_the_other) that many current models use closes: "We offer no
    explanation as to why these architectures seem to work; we attribute their success, as all else,
    to divine benevolence." This lecture gives the other two.
    """
    # *Mindset* is to say what something costs before it runs, and to look afterwards.
    T, D, K = 4, 6, 5
    expected_flops = 2 * T * D * K
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(T, D, generator=generator)
    w = torch.randn(D, K, generator=generator)
    with measure() as cost:
        y = x @ w
    assert cost.matmul_flops == expected_flops == 240
    # *Mechanics* is to know what an operation does: here, that row 1 of one matrix and column 2 of
    # the other make element (1, 2) of the product. Both kinds hold at every size.
    assert torch.allclose(y[1, 2], (x[1] * w[:, 2]).sum(), atol=1e-6)  # another order of additions
    # This chapter in short: training takes 6 FLOPs for each parameter and token, and 16 bytes for
    # each parameter besides the activations; time is work over a rate, and the rate is the share of
    # a peak that arrives. The other chapters take these numbers apart.
