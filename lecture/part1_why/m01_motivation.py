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
    LLAMA3_70B_LAYERS,
    LLAMA3_70B_PARAMETERS,
    LLAMA3_70B_WIDTH,
    LLAMA3_405B_MFU,
    LLAMA3_405B_PARAMETERS,
    LLAMA3_405B_TRAINING_FLOPS,
    LLAMA3_405B_TRAINING_TOKENS,
    LLAMA3_CONTEXT_TOKENS,
    LLAMA3_TRAINING_TOKENS,
    PALM_MFU,
    SECONDS_PER_DAY,
    TRANSFORMER_BIG_TRAINING_FLOPS,
    US_REPORTING_THRESHOLD_FLOPS,
    ZERO_BYTES_PER_PARAMETER,
)
from lecture.lib.memory import held_bytes
from lecture.lib.optim import AdamW
from lecture.part1_why import m01_figures as figures
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
    "EU AI Act threshold": (EU_AI_ACT_THRESHOLD_FLOPS, "threshold"),
    "GPT-4": (GPT4_TRAINING_FLOPS_ESTIMATE, "estimated by others"),
    "Llama 3 405B": (LLAMA3_405B_TRAINING_FLOPS, "stated in its paper"),
    "US threshold, revoked": (US_REPORTING_THRESHOLD_FLOPS, "threshold"),
    "Grok 4": (GROK4_TRAINING_FLOPS_ESTIMATE, "estimated by others"),
}


def every_chapter_pays_in_two_currencies():  # M1.1 @core
    """We pay in two currencies.

    One line of a library trains a language model. Why take it apart? Because we want to train one,
    and to know what it costs before we pay. There are two currencies, and most chapters ask for
    both: how many bytes, how many FLOPs?
    """
    # @note Ask for hands before the claims: do the FLOPs double, the bytes, both, neither?
    # Afterwards ask what would have to be large for the bytes to double as well. (R, beside D and
    # F.)
    #
    # This is the path: from text and tensors over models to their training. Text comes first
    # because a model's work is counted in tokens. If you know what a token is, start with tensors.
    # (The front page has a map of the chapters.)
    # Here is one layer of a network: w multiplies each of R rows. We double the rows. Which of the
    # two prices doubles?
    R, D, F = 4, 100, 100
    rows, w = torch.ones(R, D), torch.ones(D, F)
    twice_the_rows = torch.ones(2 * R, D)
    with measure() as once:
        rows @ w
    with measure() as twice:
        twice_the_rows @ w
    # The FLOPs double: they are $2RDF$.
    assert twice.matmul_flops == 2 * once.matmul_flops == 2 * (2 * R * D * F)
    # The bytes moved hardly grow: they are $4(RD+DF+RF)$, four bytes a number, if the machine
    # loads the weights once for all rows. Twice the work costs 7 % more bytes.
    once_bytes = once.read_bytes + once.written_bytes
    twice_bytes = twice.read_bytes + twice.written_bytes
    assert once_bytes == 4 * (R * D + D * F + R * F)
    assert round(100 * (twice_bytes / once_bytes - 1)) == 7  # @predict @inspect once_bytes
    # So: two accounts, and a change in one says little about the other.


def training_time_is_work_over_rate():  # M1.2 @core
    """Training time is work over rate.

    We have 1024 H100 for a model of 70 billion parameters and 15 trillion tokens. Will it take
    days, months or years? A *parameter*, or *weight*, is one of the numbers that training adjusts.
    An H100 is an *accelerator*, a processor made for matmuls with memory of its own; nearly
    all in this lecture are graphics processors, GPUs.
    """
    # @note Let everybody write down a number of days first. Then ask for the unit of each factor
    # and cancel them aloud. If somebody doubts the one half, promise the section on utilization.
    #
    # The work: 6 FLOPs for each parameter and each token of the run, $6N\cdot\text{tokens}$. The
    # next section shows why 6.
    work_flops = 6.0 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS  # @inspect work_flops
    # The rate: the data sheet promises a *peak*, 0.99e15 FLOP/s for bf16, a format of two bytes.
    # What arrives as useful work is a share of it, the *[model FLOPs
    # utilization](https://arxiv.org/abs/2204.02311)* or MFU. Here we guess one half; [a later
    # section](#utilization_is_useful_over_promised) says what others reached.
    gpus, mfu = 1024, 0.5
    gpu_flops_per_second = H100_SXM.dense_flops_per_second["bf16"] * mfu
    days = work_flops / (gpus * gpu_flops_per_second) / SECONDS_PER_DAY
    assert round(days) == 144  # @predict @inspect days
    # (166 with an MFU that counts [attention](#utilization_decides_the_bill), which 6N leaves out.)
    # At this rate, one GPU has a *throughput* of about 1200 tokens per second.
    gpu_tokens_per_second = gpu_flops_per_second / (6 * LLAMA3_70B_PARAMETERS)
    assert round(gpu_tokens_per_second, -2) == 1200
    # The rule to keep, with all tokens of the run:
    #
    # $$\text{seconds}=\frac{6N\cdot\text{tokens}}{\text{GPUs}\cdot\text{peak}\cdot\text{MFU}}.$$


def training_costs_six_flops_per_parameter_and_token():  # M1.3 E1 @core
    """Training costs 6 FLOPs per parameter and token.

    Where does the 6 come from? We train a small network for one step and count: 2 in the *forward
    pass*, which computes the result, and 4 in the *backward pass*, which finds out how to change
    the parameters. [A later chapter](#two_plus_four_is_six) derives it.
    """
    # @note Only count here; a later section says why. Ask why one product forward needs two
    # backward, take one or two answers, and leave it open.
    R, D, F = 4, 5, 3
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator, requires_grad=True)
    first = torch.randn(D, D, generator=generator, requires_grad=True)
    second = torch.randn(D, F, generator=generator, requires_grad=True)
    N = first.numel() + second.numel()
    # Forward: for each of R rows, each parameter is multiplied with one number, and the product is
    # added to a sum. Two FLOPs. At the end stands the *loss*, one number that says how wrong the
    # result is.
    with measure() as forward:
        loss = (x @ first @ second).square().mean()
    assert forward.matmul_flops == 2 * N * R == 320
    # Backward: each layer computes two *gradients*, which say how the loss changes with a number.
    # One is for its parameters, one for its input, since the layer below needs it (so `x` asks for
    # one, too: it stands for such a layer). Each gradient is a matmul with as many FLOPs as that
    # layer's forward pass.
    with measure() as backward:
        loss.backward()
    assert backward.matmul_flops == 2 * forward.matmul_flops
    assert (forward.matmul_flops + backward.matmul_flops) / (N * R) == 6


def the_optimizer_is_not_in_the_six():  # M1.3 E1
    """The 6 does not contain the optimizer.

    A training step does more than matmuls: the *optimizer*, the rule that changes the parameters,
    has work to do as well. Does the 6 include it? No: it was counted, and covers matmuls.
    """
    weight = torch.ones(5, 3, requires_grad=True)
    optimizer = torch.optim.AdamW([weight])
    weight.grad = torch.ones(5, 3)
    with measure() as update:
        optimizer.step()
    assert update.matmul_flops == 0  # @predict
    # The update goes through the parameters number by number. Each needs 13 additions,
    # multiplications and divisions, and a square root. By our convention a root costs 20, so [33
    # FLOPs](#adamw_costs_33_flops_per_parameter) in all, and one more to count the steps.
    assert update.other_flops == (13 + 20) * weight.numel() + 1
    # And it runs once per step. A step of GPT-3 reads 3.2 million tokens, which leaves the update
    # less than 2 millionths of the matmuls. (At eight times the price of a root it would still be
    # less than a hundred-thousandth.)
    update_share = 33 / (6 * GPT3_BATCH_TOKENS)  # @inspect update_share
    assert 1e-6 < update_share < 2e-6
    assert (13 + 8 * 20) / (6 * GPT3_BATCH_TOKENS) < 1e-5
    # Where does the rule err, then? For one, in parts of the model that do not multiply tokens with
    # parameters. An *embedding* is a table with a row of parameters for each token of the
    # vocabulary. The model looks rows up and multiplies nothing.
    table, tokens = torch.arange(35.0).view(7, 5), torch.tensor([3, 0, 3, 6])
    with measure() as look_up:
        features = table[tokens]  # @inspect features
    assert look_up.matmul_flops == 0  # @predict
    # *Attention* (*self-attention*, in full) is the opposite. In it, tokens look at each other: the
    # features of each token are multiplied with those of every token, which gives a score for each
    # pair. By these scores, a token gathers information from the others. That is [work without
    # parameters](#attention_takes_a_weighted_mean).
    with measure() as scores:
        features @ features.T
    assert scores.matmul_flops == 4 * 4 * (5 + 5)  # @predict


def a_peak_has_conditions():  # M1.2 E2 E3 E5
    """The peak on a data sheet has conditions.

    Our estimate is only as good as the peak it divides by. For each of its cards, the H100 sheet
    prints one number for bf16. Is it ours? That of the SXM, 1979e12 FLOP/s, comes with a footnote.
    """
    # "With sparsity", it says: for matrices in which [two of every four
    # weights](#two_of_every_four_weights_are_zero) are zero. Ordinary training has no such zeros
    # and gets the *dense* rate, one half. The sheet of the A100, the GPU before, prints both.
    a100_dense = A100_SXM.dense_flops_per_second["bf16"]
    a100_sparse = A100_SXM.sparse_flops_per_second["bf16"]
    assert a100_sparse / a100_dense == 2  # @predict
    # If you plan with the printed number, you promise half the time: 72 days instead of 144.
    sparse, dense = H100_SXM.sparse_flops_per_second, H100_SXM.dense_flops_per_second
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    useful_gpu_seconds_per_day = 1024 * 0.5 * SECONDS_PER_DAY
    promised_days = work_flops / sparse["bf16"] / useful_gpu_seconds_per_day
    assert round(promised_days) == 72  # @predict
    # There is more than one H100, too. The card for the PCIe slot is slower than the SXM module for
    # servers, and at half of its own peak needs 188 days.
    pcie_bf16 = H100_PCIE.dense_flops_per_second["bf16"]
    pcie_days = work_flops / pcie_bf16 / useful_gpu_seconds_per_day
    assert round(pcie_days) == 188  # @predict
    # And a comparison has to be like with like. A sparse H100 beside a dense A100 looks 6.3 times
    # as fast; dense beside dense, or sparse beside sparse, it is 3.2 times.
    assert round(sparse["bf16"] / a100_dense, 1) == 6.3
    assert round(dense["bf16"] / a100_dense, 1) == round(sparse["bf16"] / a100_sparse, 1) == 3.2
    # So: name the GPU, the format, and dense.


def utilization_decides_the_bill():  # M1.2
    """Utilization decides how long it takes.

    We guessed that half of the peak arrives. What if it is less? Time goes with 1/MFU, and with
    1/GPUs: move the slider. How many GPUs would finish in a month? (The axis of days is
    logarithmic: equal steps up multiply.)
    """
    work_flops = 6 * LLAMA3_70B_PARAMETERS * LLAMA3_TRAINING_TOKENS
    gpu_flops_per_second = H100_SXM.dense_flops_per_second["bf16"]
    peak_days = work_flops / (1024 * gpu_flops_per_second) / SECONDS_PER_DAY
    days = {percent: round(100 * peak_days / percent, 1) for percent in range(20, 65, 5)}
    assert round(days[50]) == 144  # the estimate above @predict
    days_by_mfu = figures.days_by_mfu(days, gpus=1024)  # @inspect days_by_mfu
    # What do others reach? [PaLM](https://arxiv.org/abs/2204.02311), whose paper introduced the
    # term, 46 %; [Llama 3 405B](https://arxiv.org/abs/2407.21783) 38 to 43 %. With these our run
    # would take 156, or 167 to 189 days, if they counted what the rule of 6 counts.
    assert round(peak_days / PALM_MFU) == 156  # @predict
    assert [round(peak_days / mfu) for mfu in LLAMA3_405B_MFU] == [189, 167]
    # Our run is no invention: it is Llama 3 70B. Its [model
    # card](https://github.com/meta-llama/llama3/blob/main/MODEL_CARD.md) reports 6.4 million GPU
    # hours, 1.8 times our estimate.
    estimated_gpu_hours = peak_days / 0.5 * 24 * 1024  # @inspect estimated_gpu_hours
    assert round(LLAMA3_70B_GPU_HOURS / estimated_gpu_hours, 1) == 1.8
    # Turned around: each GPU processed 651 tokens per second, which by the rule of 6 is 28 % of its
    # peak. (What else those hours contain, such as restarts, the card does not say.)
    tokens_per_second = LLAMA3_TRAINING_TOKENS / (LLAMA3_70B_GPU_HOURS * 60 * 60)
    assert round(tokens_per_second) == 651  # @predict
    by_the_rule_of_6 = 6 * LLAMA3_70B_PARAMETERS * tokens_per_second / gpu_flops_per_second
    assert round(100 * by_the_rule_of_6) == 28
    # Can we set that beside the 38 to 46 %? MFU, as PaLM defined it, counts attention, too, and the
    # rule of 6 does not. Attention adds [$12LDT$ FLOPs to a
    # token](#long_contexts_add_work_without_parameters), here 15 %: our 28 % become 32 %.
    attention_flops = 12 * LLAMA3_70B_LAYERS * LLAMA3_70B_WIDTH * LLAMA3_CONTEXT_TOKENS
    with_attention = by_the_rule_of_6 * (1 + attention_flops / (6 * LLAMA3_70B_PARAMETERS))
    assert round(100 * with_attention) == 32
    # So at their MFUs, if all count attention, our run takes 180, or 193 to 218 days, and 166 at an
    # MFU of one half.
    more = with_attention / by_the_rule_of_6
    at_their_mfus = [round(more * peak_days / mfu) for mfu in (PALM_MFU, *LLAMA3_405B_MFU, 0.5)]
    assert at_their_mfus == [180, 218, 193, 166]


def adamw_keeps_four_numbers_per_parameter():  # M1.4 @core
    """Training with AdamW keeps four numbers per parameter.

    Time is one napkin; memory is the other. How many numbers do we keep to train one parameter?
    More than one: its gradient, and what the optimizer remembers.
    [AdamW](https://arxiv.org/abs/1711.05101), the usual optimizer, remembers two running averages,
    of the gradient (called m) and of its square (called v).
    """
    # @note Ask for the four by name. If only weight and gradient come, ask what the optimizer must
    # remember from one step to the next. The claims wait for a guess: take one from the class and
    # type it in.
    kept_bytes = {}
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.ones(1000, dtype=dtype, requires_grad=True)
        optimizer = torch.optim.AdamW([weight])
        weight.sum().backward()
        optimizer.step()
        state = optimizer.state[weight]
        kept = (weight, weight.grad, state["exp_avg"], state["exp_avg_sq"])
        kept_bytes[str(dtype)] = sum(map(held_bytes, kept))
    # A thousand parameters in fp32, the format of four bytes: parameter, gradient, m and v.
    assert kept_bytes["torch.float32"] == 1000 * (4 + 4 + 4 + 4)  # @predict
    # In bf16 all four halve, as PyTorch's AdamW keeps m and v in the format of the parameter.
    assert kept_bytes["torch.bfloat16"] == 1000 * (2 + 2 + 2 + 2)  # @predict @inspect kept_bytes
    # (A fifth item does not grow: one step counter for each tensor.)
    assert held_bytes(state["step"]) == 4


def bytes_of_parts(recipe: dict[str, torch.dtype]) -> dict[str, float]:  # @stepover
    """Train a thousand parameters for a step; return what each part then holds, by parameter."""
    with measure() as cost:
        weights = torch.ones(1000, dtype=recipe["weights"], requires_grad=True)
        weights.square().sum().backward()
        parts = {"weights": weights, "gradients": weights.grad.to(recipe["gradients"])}
        weights.grad = None
        # With a master, the optimizer changes that, and the weights are rounded copies of it.
        trained = weights
        if "master weights" in recipe:
            parts["master weights"] = trained = weights.detach().float()
        # PyTorch's AdamW keeps m and v in the format of what it changes, that of the lecture in
        # fp32.
        own = recipe["Adam m"] != trained.dtype
        optimizer = AdamW([trained]) if own else torch.optim.AdamW([trained])
        trained.grad = parts["gradients"].to(trained.dtype)
        optimizer.step()
        trained.grad = None  # if it was a copy of the gradients for this step, it is gone
        with torch.no_grad():
            weights.copy_(trained)
    m, v = [kept for kept in optimizer.state[trained].values() if kept_for_each(kept, weights)]
    parts |= {"Adam m": m, "Adam v": v}
    assert {part: kept.dtype for part, kept in parts.items()} == recipe
    # Nothing else is left, but for the counter of steps that PyTorch's AdamW has.
    others_bytes = sum(cost.live_bytes.values()) - sum(map(held_bytes, parts.values()))
    assert others_bytes == (0 if own else 4)
    return {part: held_bytes(kept) / 1000 for part, kept in parts.items()}


def kept_for_each(kept: object, weights: torch.Tensor) -> bool:  # @stepover
    """Tell what an optimizer keeps for each weight from a counter of steps."""
    return isinstance(kept, torch.Tensor) and kept.shape == weights.shape


def bytes_per_parameter_depend_on_the_recipe():  # M1.4 M1.5 E6 E11 E12
    """Bytes per parameter depend on the recipe.

    So is it always 16 bytes? You will see 8, 12, 16 and 18 quoted; each is right for some recipe. A
    recipe says which part is in fp32 (4 bytes) and which in bf16 (2 bytes, [the range of fp32 with
    fewer digits](#bf16_trades_resolution_for_range)), and whether there is a *master*, a second
    copy of the weights in fp32. `bytes_of_parts` trains a thousand parameters by each recipe and
    weighs what is left in memory after a step. (During the step there [may be
    more](#an_optimizer_needs_room_to_work), such as an fp32 copy of bf16 gradients.)
    """
    parts = {name: bytes_of_parts(recipe) for name, recipe in RECIPES.items()}
    measured = {name: sum(part_bytes.values()) for name, part_bytes in parts.items()}
    # On the right: weights + gradients, then the master if there is one, then (m + v).
    assert measured["all fp32"] == 4 + 4 + (4 + 4) == 16
    assert measured["bf16 + fp32 master"] == 2 + 2 + 4 + (4 + 4) == ZERO_BYTES_PER_PARAMETER
    assert measured["same, fp32 gradients"] == 2 + 4 + 4 + (4 + 4) == 18
    assert measured["bf16, fp32 m and v"] == 2 + 2 + (4 + 4) == 12
    assert measured["all bf16"] == 2 + 2 + (2 + 2) == 8
    recipe_chart = figures.bytes_per_parameter(parts)  # @inspect recipe_chart
    # Look at the first two: with a master, bf16 saves nothing per parameter.
    # ([ZeRO](https://arxiv.org/abs/1910.02054) counts 16 bytes, too.) Then why use it? It halves
    # most activations, which come below, and it is fast. In matmuls an H100 promises twice
    # the rate of TF32, which is fp32 rounded for the same units, and 15 times that of full fp32.
    peaks = H100_SXM.dense_flops_per_second
    assert round(peaks["bf16"] / peaks["tf32"]) == 2
    assert round(peaks["bf16"] / peaks["fp32"]) == 15  # @predict
    # And why the master? If you drop it, you save 4 bytes of 16, and the weight itself forgets:
    # next to 1, bf16 has no other number within 0.001, so [small
    # updates](#a_master_collects_small_updates) are lost, however precise m and v are.
    weight = torch.tensor(1.0, dtype=torch.bfloat16)
    assert weight - 0.001 == 1
    master = torch.tensor(1.0, dtype=torch.float32)
    assert 0.998 < master - 0.001 < 1


def eight_cards_hold_forty_billion_parameters():  # M1.4 E11 E13 @core
    """Eight H100 hold 42 billion parameters.

    What is the largest model that eight H100 can train with AdamW? $N=\\text{capacity}/\\text{bytes
    per parameter}$, if the GPUs divide everything among them and keep nothing twice, as
    [ZeRO](https://arxiv.org/abs/1910.02054) does in its last stage.
    """
    # @note Move the slider of the chart and let them call out what happens at twice the GPUs. Then
    # ask what is missing from the bytes per parameter. (The activations.)
    #
    # The sheet says "80GB". That is neither 80 gigabytes nor 80 gibibytes: devices report
    # about 81 080 MiB.
    gpus = 8
    capacity_bytes = gpus * H100_SXM.memory_bytes
    assert round(capacity_bytes / gpus / 10**9, 1) == 85.0  # @predict
    largest_billions = {
        name: round(capacity_bytes / sum(bytes_of_parts(recipe).values()) / 1e9, 1)
        for name, recipe in RECIPES.items()
    }
    fitting = figures.largest_models(largest_billions, gpus)  # @inspect fitting
    assert largest_billions["all fp32"] == largest_billions["bf16 + fp32 master"] == 42.5
    # Without the master there is room for a third more parameters. fp32 gradients on top of the
    # master leave room for a ninth fewer.
    assert largest_billions["bf16, fp32 m and v"] == 56.7
    assert largest_billions["same, fp32 gradients"] == 37.8
    assert largest_billions["all bf16"] == 85.0
    # So: capacity over 16 bytes, and not one activation yet. (Move the number of GPUs.)


def activations_come_on_top():  # M1.5
    """Activations come on top.

    Do we really get 42 billion? Parameters are there before the first token arrives.
    *Activations*, the numbers that layers compute in the forward pass and [keep for the backward
    pass](#a_weight_needs_what_it_multiplied), come on top. How do they grow?
    """
    D, F = 8, 6
    weight = torch.ones(D, F, requires_grad=True)
    kept_bytes = []
    for B, T in ((2, 5), (4, 5), (4, 10)):
        x = torch.ones(B, T, D)
        with measure() as cost:
            loss = torch.relu(x @ weight).sum()
        alive_bytes = cost.allocated_bytes - cost.freed_bytes
        kept_bytes.append(alive_bytes - held_bytes(loss))  # @inspect kept_bytes
    # (`relu` replaces negative numbers by 0.) No name refers to the output of the layer, and yet it
    # is alive: the loss holds on to it until the backward pass is done. Twice the sequences, or
    # twice the tokens in each, need twice the memory: $4BTF$ bytes.
    assert kept_bytes == [4 * 2 * 5 * F, 4 * 4 * 5 * F, 4 * 4 * 10 * F] == [240, 480, 960]
    # The weights stay as they are, and even the smallest batch outweighs them here. So 42 billion
    # is an upper limit. How far below it we have to stay depends on [the
    # batch](#memory_limits_the_batch).
    assert held_bytes(weight) == 4 * D * F == 192 < min(kept_bytes)
    # Without a backward pass to come, nothing is kept.
    with torch.no_grad(), measure() as cost:
        loss = torch.relu(x @ weight).sum()
    assert cost.allocated_bytes - cost.freed_bytes == held_bytes(loss)


def gpt3_can_be_recomputed():  # M1.6 @core
    """The rule of 6 gives the cost of GPT-3.

    Can we find out what a famous model took to train? The [GPT-3
    paper](https://arxiv.org/abs/2005.14165) states 3.14e23 FLOPs, for 300 billion tokens. The model
    is named for 175 billion parameters. Try the rule before you read on.
    """
    # @note Have it worked out on paper, powers of ten first: 6 times 175e9 times 300e9. Show the
    # claims only when two neighbours agree.
    from_the_name_flops = 6.0 * GPT3_NAMED_PARAMETERS * GPT3_TRAINING_TOKENS
    assert from_the_name_flops == 3.15e23  # @inspect from_the_name_flops
    # Off by a third of a percent, since the name is rounded. With the 174.6 billion parameters of
    # the paper's own table, all three digits agree.
    from_the_table_flops = 6 * GPT3_PARAMETERS * GPT3_TRAINING_TOKENS
    assert round(from_the_table_flops / 1e23, 2) == GPT3_TRAINING_FLOPS / 1e23
    # That is agreement and no evidence: nobody measured the 3.14e23. The authors used the rule
    # themselves; their table has the 6 in a column of its own.


def a_week_on_eight_cards_is_little_beside_gpt3():  # M1.6 E4
    """A week on eight H100 is at most some 1.5 % of GPT-3.

    Where does a box of eight H100 stand beside famous models, and beside the thresholds that
    governments have set?
    """
    box_flops_per_second = 8 * H100_SXM.dense_flops_per_second["bf16"]
    week_flops = box_flops_per_second * 7 * SECONDS_PER_DAY  # @inspect week_flops
    assert round(100 * week_flops / GPT3_TRAINING_FLOPS, 1) == 1.5
    # That is a week at the full peak, which nobody reaches. (Two weeks at half the peak are the
    # same amount: such a number needs its MFU.) At half the peak, GPT-3 would take the box two and
    # a half years.
    weeks = GPT3_TRAINING_FLOPS / (0.5 * week_flops)  # @inspect weeks
    assert round(weeks / 52, 1) == 2.5
    # The European threshold is a *presumption of systemic risk* above 1e25 FLOPs. The American one,
    # a duty to report above 1e26, was set in October 2023 and revoked in January 2025. (California
    # and New York have since put the same 1e26 into laws of their own.) Our 70B run takes as much
    # as twenty GPT-3s and stays below both.
    run_flops, _ = LANDMARKS["70B on 15T tokens"]
    assert round(run_flops / GPT3_TRAINING_FLOPS) == 20  # @predict
    assert run_flops / EU_AI_ACT_THRESHOLD_FLOPS == 0.63
    assert run_flops / US_REPORTING_THRESHOLD_FLOPS < 0.1


def the_ruler_spans_twenty_one_powers_of_ten():  # M1.6 @cover
    """The ruler spans twenty-one powers of ten.

    How far is it from an example on this page to the largest training runs? A ruler holds both if
    each step to the right multiplies.
    """
    # Its left end is one MFLOP, a million FLOPs, small enough to be counted here.
    with measure() as small:
        torch.ones(100, 50) @ torch.ones(50, 100)
    assert small.matmul_flops == 10**6  # @predict
    # One token through one of the 192 feed-forward matrices of GPT-3 is a thousand times as much.
    token = torch.empty(1, GPT3_WIDTH, device="meta")
    with measure() as pass_matrix:
        token @ torch.empty(GPT3_WIDTH, GPT3_FEED_FORWARD_WIDTH, device="meta")
    assert round(pass_matrix.matmul_flops / 1e9, 1) == 1.2
    # To train the whole model on that token takes a TFLOP. An H100 promises a thousand of those per
    # second, a PFLOP. After that come whole runs.
    train_flops = 6 * GPT3_PARAMETERS
    assert round(train_flops / 1e12, 1) == 1.0
    amounts = {
        "matmul of this lecture": (small.matmul_flops, "counted here"),
        "GPT-3 matrix, 1 token": (pass_matrix.matmul_flops, "counted here"),
        "GPT-3 training, 1 token": (train_flops, "derived"),
        "H100, 1 second at peak": (H100_SXM.dense_flops_per_second["bf16"], "derived"),
    }
    ruler = figures.flop_ruler(amounts | LANDMARKS)  # @inspect ruler
    # Mind the colours. GPT-3 agrees with the rule of 6 because its authors used it, and Llama 3
    # 405B probably for the same reason. The authors of the Transformer multiplied the time of their
    # GPUs with an assumed rate, which counts idle units as work. GPT-4 and Grok 4 are estimates by
    # others. That of Grok 4, the end of our ruler, is a single one that we could not check.
    assert 6 * GPT3_SMALL_PARAMETERS * GPT3_TRAINING_TOKENS == GPT3_SMALL_TRAINING_FLOPS
    llama_flops = 6 * LLAMA3_405B_PARAMETERS * LLAMA3_405B_TRAINING_TOKENS
    assert round(llama_flops / 1e25, 1) == LLAMA3_405B_TRAINING_FLOPS / 1e25
    # If one MFLOP were a millimetre, the largest of these runs would be, as estimated, some 50
    # light years long.
    largest_mm = GROK4_TRAINING_FLOPS_ESTIMATE / small.matmul_flops
    assert round(math.log10(largest_mm)) == 21
    assert round(largest_mm / 1000 / LIGHT_YEAR_METRES, -1) == 50


def intuition_has_no_assert():  # M1.7
    """Mechanics and mindset can be asserted, intuition cannot.

    What can small programs teach about models that cost millions? There are three kinds of
    knowledge, and they do not travel equally well.

    *Intuition* is to know which choice of data and architecture makes a better model. It has to be
    earned at scale, and even those who have it may not know why it works. The
    [paper](https://arxiv.org/abs/2002.05202) behind [the
    layer](#swiglu_lets_one_half_gate_the_other) that many current models use closes: "We offer no
    explanation as to why these architectures seem to work; we attribute their success, as all else,
    to divine benevolence." This lecture gives the other two.
    """
    # *Mindset* is to say what something costs before it runs, and to look afterwards.
    R, D, F = 4, 6, 5
    expected_flops = 2 * R * D * F
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator)
    w = torch.randn(D, F, generator=generator)
    with measure() as cost:
        y = x @ w
    assert cost.matmul_flops == expected_flops
    # *Mechanics* is to know what an operation does: row 1 of x and column 2 of w make element
    # (1, 2) of the product, up to the order of the additions.
    assert torch.allclose(y[1, 2], (x[1] * w[:, 2]).sum(), atol=1e-6)
    # What we can do now: estimate a training run on a napkin. Training costs 6 FLOPs for each
    # parameter and token, and 16 bytes for each parameter, besides the activations. Time is work
    # over a rate, and the rate is the share of a peak that arrives. What we cannot do yet is say
    # why: the other chapters take these numbers apart.


def exercise_seven_billion_on_64_gpus():  # M1.2 @exercise
    """Exercise: seven billion on 64 GPUs.

    You have 64 A100, and reach half of their bf16 peak. How many days does a model of 7 billion
    parameters take to read a trillion tokens?

    **Hint.** Work over rate, and the work is $6N$ for each token.
    """
    work_flops = 6 * 7e9 * 1e12
    rate_flops_per_second = 64 * A100_SXM.dense_flops_per_second["bf16"] * 0.5
    days = work_flops / rate_flops_per_second / SECONDS_PER_DAY  # @inspect days
    assert round(days) == 49


def exercise_six_billion_in_one_gpu():  # M1.4 @exercise
    """Exercise: six billion in one GPU.

    Which recipes fit a model of 6 billion parameters into one H100, if we forget about activations?
    And is a recipe with fewer bytes always the better choice?
    """
    room_bytes_per_parameter = H100_SXM.memory_bytes / 6e9  # @inspect room_bytes_per_parameter
    needed = {name: sum(bytes_of_parts(recipe).values()) for name, recipe in RECIPES.items()}
    fitting = [name for name in needed if needed[name] <= room_bytes_per_parameter]
    # 14.2 bytes for each parameter. Both recipes that fit have given up the fp32 copy of the
    # weights, so [small updates get lost](#small_updates_are_lost): room is not everything.
    assert fitting == ["bf16, fp32 m and v", "all bf16"]  # @inspect fitting
